import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { quote } from '../../../common/schema/problem.js';
import type { Code } from '../../../simulator/commands/refusal.js';

/** A refusal of a request by the rules of access. */
export interface AccessRefusal<Reason extends Code = Code> {
  readonly code: Reason;
  /** The part of the request that is wrong: a header, or its method. */
  readonly path: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The names of this machine in lower case. `host` is the host on which REST listens. */
export function namesOfMachine(host: string): ReadonlySet<string> {
  return new Set(['localhost', host, hostname(), `${hostname()}.local`].map((name) => name.toLowerCase()));
}

/**
 * Refuses a request without a Host header or with two of them (400, RFC 9112, 3.2). Refuses a Host that is no
 * name of this machine (421), because a foreign web page may have its own name resolve to this machine (DNS
 * rebinding).
 */
export function hostRefusal(
  { headers: { host }, rawHeaders }: IncomingMessage,
  names: ReadonlySet<string>,
): AccessRefusal | undefined {
  const hosts = rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === 'host');
  if (hosts.length > 1)
    return { code: 'request.invalid', path: 'Host', message: `expected one, got ${hosts.length}` };
  if (host === undefined)
    return { code: 'request.invalid', path: 'Host', message: 'missing, expected a name of this machine' };
  const name = hostName(host);
  if (name !== undefined && (names.has(name) || isIP(name))) return undefined;
  return { code: 'request.host', path: 'Host', message: 'not a name of this machine' };
}

/** The name or address in a Host header, without port and brackets. */
function hostName(header: string): string | undefined {
  const match = HOST.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** The port in a Host header; empty text if it has none. */
export function hostPortOf(header: string): string {
  return HOST.exec(header)?.[3] ?? '';
}

const HOST = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/;

/** Origins of other sites whose pages may use REST, such as `https://bench.example.org`. */
export type AllowedOrigins = ReadonlySet<string>;

/**
 * Refuses a request from a page of another site, unless the site is allowed (403).
 * @param isSecure whether pages of this server come by HTTPS only. Otherwise a proxy may have added HTTPS.
 */
export function originRefusal(
  headers: IncomingHttpHeaders,
  allowed: AllowedOrigins,
  isSecure: boolean,
): AccessRefusal | undefined {
  const { origin, host } = headers;
  if (origin === undefined || origin === `https://${host}` || allowed.has(origin)) return undefined;
  if (origin === `http://${host}` && !isSecure) return undefined;
  return {
    code: 'request.origin',
    path: 'Origin',
    message: `pages of ${quote(origin)} are refused; api.origins lists the sites whose pages are let in`,
  };
}

/**
 * The headers with which a browser lets a page of an allowed site read the answer (Fetch Standard, CORS).
 * Such a page can't send cookies; it sends a token.
 */
export function corsHeaders(
  { origin = '' }: IncomingHttpHeaders,
  allowed: AllowedOrigins,
): Readonly<Record<string, string>> {
  if (allowed.size === 0) return {};
  // A cache must not use the answer to one site for another.
  const vary = { vary: 'Origin' };
  if (!allowed.has(origin)) return vary;
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Allow, Retry-After, WWW-Authenticate',
  };
}

/**
 * Whether a request is a preflight for an allowed site: the browser asks whether the page may send the real
 * request. It carries no token.
 */
export function isPreflight({ method, headers }: IncomingMessage, allowed: AllowedOrigins): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    allowed.has(headers.origin ?? '')
  );
}

/**
 * The headers of the answer to a preflight, besides those of every answer. They do not depend on the path;
 * the request itself shows which methods the path has.
 */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'access-control-max-age': '600',
} as const;
