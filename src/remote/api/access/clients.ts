import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { quote } from '../../../common/schema/problem.js';
import type { Code } from '../../../simulator/commands/refusal.js';

/** A request rejected by the access rules. */
export interface AccessRefusal<Reason extends Code = Code> {
  readonly code: Reason;
  /** The part of the request that is wrong: a header, or the method. */
  readonly path: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The names of this machine in lower case. `host` is the host that REST listens on. */
export function namesOfMachine(host: string): ReadonlySet<string> {
  return new Set(['localhost', host, hostname(), `${hostname()}.local`].map((name) => name.toLowerCase()));
}

/**
 * The target of a request as a path. A target may also be a whole URL, whose host then overrides the Host
 * header (absolute-form, RFC 9112, 3.2.2): the header is set to it.
 */
export function targetOf(request: IncomingMessage): string {
  const { url = '', headers } = request;
  const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (host === undefined) return url;
  // A missing header is rejected whatever the target is.
  if (headers.host !== undefined) headers.host = host;
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Rejects a request without a Host header or with two of them (400, RFC 9112, 3.2). Rejects a Host that is
 * not a name of this machine (421), because another site may make its own name resolve to this machine (DNS
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
    return { code: 'request.invalid', path: 'Host', message: 'missing, expected the name of this machine' };
  const name = hostName(host);
  if (name !== undefined && (names.has(name) || isIP(name))) return undefined;
  return { code: 'request.host', path: 'Host', message: 'does not name this machine' };
}

/** The name or address in a Host header, without port and brackets. */
function hostName(header: string): string | undefined {
  const match = HOST.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** The port in a Host header; the empty string if it has none. */
function hostPortOf(header: string): string {
  return HOST.exec(header)?.[3] ?? '';
}

const HOST = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/;

/** Origins of other sites whose pages may use REST, such as `https://bench.example.org`. */
export type AllowedOrigins = ReadonlySet<string>;

/**
 * Rejects a request from a page of another site, unless the site is allowed (403).
 * @param isSecure whether this server's pages are served over HTTPS only. Otherwise a proxy may have added
 * HTTPS.
 */
export function originRefusal(
  headers: IncomingHttpHeaders,
  allowed: AllowedOrigins,
  isSecure: boolean,
): AccessRefusal | undefined {
  const { origin } = headers;
  if (origin === undefined || isOwnOrigin(headers, isSecure) || allowed.has(origin)) return undefined;
  return {
    code: 'request.origin',
    path: 'Origin',
    message: `pages of ${quote(origin)} are refused; list the site in api.origins to allow it`,
  };
}

/** Whether a request has the origin of this server's pages. @param isSecure as in `originRefusal` */
export function isOwnOrigin({ origin, host }: IncomingHttpHeaders, isSecure: boolean): boolean {
  return origin === `https://${host}` || (origin === `http://${host}` && !isSecure);
}

/** The headers that let a page of an allowed site read the answer (Fetch Standard, CORS). Such a page needs a token. */
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
 * Whether a request is a preflight for an allowed site: the browser asks whether the page may send the actual
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
 * The headers of the answer to a preflight, in addition to the headers of every answer. They do not depend on
 * the path; the actual request shows which methods the path has.
 */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'access-control-max-age': '600',
} as const;

/** The rights of a client: `read` may only read, `write` may do anything. */
type Role = 'read' | 'write';

export interface TokenRules {
  /** The token with all rights. */
  readonly token?: string;
  /** Read-only tokens. */
  readonly readTokens?: readonly string[];
}

/** Stores the tokens as digests. Digests have equal lengths, as constant-time comparison requires. */
export class Tokens {
  readonly #known: readonly { readonly digest: Buffer; readonly role: Role }[];

  constructor({ token, readTokens = [] }: TokenRules) {
    this.#known = [
      ...(token === undefined ? [] : [{ digest: digest(token), role: 'write' as const }]),
      ...readTokens.map((each) => ({ digest: digest(each), role: 'read' as const })),
    ];
  }

  /** Whether requests need a token. */
  get areNeeded(): boolean {
    return this.#known.length > 0;
  }

  /** The role of a token; undefined for a wrong one. The time it takes does not depend on the token. */
  roleOf(token: string): Role | undefined {
    const presented = digest(token);
    let role: Role | undefined;
    for (const known of this.#known) if (timingSafeEqual(presented, known.digest)) role = known.role;
    return role;
  }
}

/** The token in an Authorization header; undefined if it has none. The scheme is case-insensitive (RFC 9110, 11.1). */
export function bearerToken(header: string): string | undefined {
  return /^bearer +(.+)$/i.exec(header)?.[1];
}

/** The lifetime of a session, in s. */
export const LIFETIME_S = 12 * 60 * 60;
/** Maximum number of sessions per role. A read-only client can't end the sessions of others by logging in often. */
const MOST_OF_A_ROLE = 64;

/** A client identified by its token or by the session of its browser. */
export interface KnownClient {
  readonly role: Role;
  /** Seconds until the browser must log in again; null without a session. */
  readonly secondsLeft: number | null;
}

interface Session {
  readonly role: Role;
  /** End of the session, in ms of the clock. */
  readonly until: number;
}

/** The sessions of browsers that have logged in. A session ends after 12 hours, or with the program. */
export class Sessions {
  /** Sessions by the digest of their identifier, so that the look-up time reveals nothing about an identifier. */
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  /** @param now monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Starts a session. If there are too many, ends the oldest session with the same role.
   * @returns the identifier, which only the browser stores
   */
  begin(role: Role): string {
    const same = Array.from(this.#sessions).filter(([, session]) => session.role === role);
    const [oldest] = same;
    if (oldest && same.length >= MOST_OF_A_ROLE) this.#sessions.delete(oldest[0]);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(digest(id).toString('hex'), { role, until: this.#now() + LIFETIME_S * 1000 });
    return id;
  }

  /** The client whose session has this identifier; undefined if there is no such session, or it has ended. */
  clientOf(id: string): KnownClient | undefined {
    const key = digest(id).toString('hex');
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    const msLeft = session.until - this.#now();
    if (msLeft > 0) return { role: session.role, secondsLeft: Math.ceil(msLeft / 1000) };
    this.#sessions.delete(key);
    return undefined;
  }

  end(id: string): void {
    this.#sessions.delete(digest(id).toString('hex'));
  }
}

/** The session identifier in the cookies of a request (RFC 6265, 5.4); undefined without one. */
export function sessionIdOf(headers: IncomingHttpHeaders): string | undefined {
  const start = `${cookieName(headers)}=`;
  const pair = headers.cookie?.split(';').find((each) => each.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/**
 * The Set-Cookie header that gives a browser its session. Scripts can't read the cookie, and other sites
 * can't make the browser send it.
 * @param id identifier of the session; the empty string removes the cookie
 * @param isSecure whether the browser sends the cookie over HTTPS only
 */
export function sessionCookie(headers: IncomingHttpHeaders, id: string, isSecure: boolean): string {
  const lifetime = id === '' ? 0 : LIFETIME_S;
  const attributes = ['Path=/', `Max-Age=${lifetime}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${cookieName(headers)}=${id}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/**
 * The name of the cookie. Browsers store one set of cookies for all ports of a machine, so the name contains
 * the port that the browser uses. Otherwise two simulators on one machine would end each other's sessions.
 */
function cookieName({ host = '' }: IncomingHttpHeaders): string {
  const port = hostPortOf(host);
  return port === '' ? 'modbus-sim' : `modbus-sim-${port}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
