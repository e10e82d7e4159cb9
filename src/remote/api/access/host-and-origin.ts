import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { quote } from '../../../common/schema/problem.js';
import type { Code } from '../../../simulator/commands/refusal.js';

/** Why a request is not let in. */
export interface AccessRefusal<Reason extends Code = Code> {
  readonly code: Reason;
  /** The part of the request that is wrong: a header, or its method. */
  readonly path: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The names of this machine in lower case; `host` is where REST listens. */
export function namesOfMachine(host: string): ReadonlySet<string> {
  return new Set(['localhost', host, hostname(), `${hostname()}.local`].map((name) => name.toLowerCase()));
}

/**
 * Refuses a request without a Host header or with two of them (400, RFC 9112, 3.2). Refuses a Host that is no name of
 * this machine (421), because a foreign web page may have had its own name resolved to this machine (DNS rebinding).
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

/** Name or address of a Host header, without port and brackets. */
function hostName(header: string): string | undefined {
  const match = HOST.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** The port of a Host header; empty text where the header has none. */
export function hostPortOf(header: string): string {
  return HOST.exec(header)?.[3] ?? '';
}

const HOST = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/;

/** The sites besides this one whose pages may use REST: origins such as `https://bench.example.org`. */
export type AllowedOrigins = ReadonlySet<string>;

/**
 * Refuses a request that a page of another site has sent, unless the site is allowed (403).
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
 * The headers by which a browser lets a page of an allowed site read the answer (Fetch Standard, CORS). Cookies are not
 * among what such a page may send: it sends a token.
 */
export function corsHeaders(
  { origin = '' }: IncomingHttpHeaders,
  allowed: AllowedOrigins,
): Readonly<Record<string, string>> {
  if (allowed.size === 0) return {};
  // A cache must not give the answer for one site to another.
  const vary = { vary: 'Origin' };
  if (!allowed.has(origin)) return vary;
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Allow, Retry-After, WWW-Authenticate',
  };
}

/** True for the question of a browser whether a page of an allowed site may send a request. It carries no token. */
export function isPreflight({ method, headers }: IncomingMessage, allowed: AllowedOrigins): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    allowed.has(headers.origin ?? '')
  );
}

/** The answer to a preflight, besides the headers of every answer. Which methods a path has, the request itself shows. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'access-control-max-age': '600',
} as const;
