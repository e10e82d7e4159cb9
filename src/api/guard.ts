import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Who may use the REST interface. */
export interface AccessRules {
  /** The host it listens on. */
  readonly host: string;
  /** Bearer token that every request but /healthz must carry; when absent, no token is required. */
  readonly token?: string;
}

/** Why a request is not let in. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 421;
  /** The header that is wrong. */
  readonly path: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Checks a request before anything else does; undefined lets it in. */
export type Guard = (request: IncomingMessage) => Refusal | undefined;

/**
 * Refuses requests without a Host header or with two of them (400, RFC 9112, 3.2). Refuses a Host that is no name of
 * this machine (421), because a foreign web page may have had its own name resolved to this machine. Refuses a foreign
 * Origin (403), and a missing or wrong token (401).
 */
export function accessGuard({ host, token }: AccessRules): Guard {
  const names = new Set(
    ['localhost', host, hostname(), `${hostname()}.local`].map((name) => name.toLowerCase()),
  );
  const expected = token === undefined ? undefined : digest(token);
  return ({ url, headers, rawHeaders }) => {
    const wrongHost = hostProblem(headers.host, rawHeaders, names);
    if (wrongHost) return wrongHost;
    if (isForeign(headers)) {
      return { status: 403, path: 'Origin', message: 'requests of other sites are refused' };
    }
    if (!expected || url === '/healthz') return undefined;
    if (timingSafeEqual(digest(bearerToken(headers.authorization)), expected)) return undefined;
    return {
      status: 401,
      path: 'Authorization',
      message: 'expected Bearer and the token of the configuration',
      headers: { 'www-authenticate': 'Bearer' },
    };
  };
}

function hostProblem(
  host: string | undefined,
  rawHeaders: readonly string[],
  names: ReadonlySet<string>,
): Refusal | undefined {
  const hosts = rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === 'host');
  if (hosts.length > 1) return { status: 400, path: 'Host', message: `expected one, got ${hosts.length}` };
  if (host === undefined)
    return { status: 400, path: 'Host', message: 'missing, expected a name of this machine' };
  const name = hostName(host);
  if (name !== undefined && (names.has(name) || isIP(name))) return undefined;
  return { status: 421, path: 'Host', message: 'not a name of this machine' };
}

/** Name or address of a Host header, without port and brackets. */
function hostName(header: string): string | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isForeign({ origin, host }: IncomingMessage['headers']): boolean {
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}

/** The token of an Authorization header; the scheme's case does not count (RFC 9110, 11.1). */
function bearerToken(header = ''): string {
  return /^bearer (.*)$/i.exec(header)?.[1] ?? '';
}

/** Digests have equal lengths, as the comparison needs, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
