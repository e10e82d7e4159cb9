import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { hostPortOf } from './host-and-origin.js';

/** The rights of a client: `read` may only read, `write` may do everything. */
export type Role = 'read' | 'write';

/** The tokens of the configuration. */
export interface TokenRules {
  /** The token with all rights. */
  readonly token?: string;
  /** Tokens with the right to read. */
  readonly readTokens?: readonly string[];
}

/**
 * Knows the tokens by their digests. Digests have equal lengths, which a comparison in constant time needs.
 */
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

  /** The role of a token; undefined for a wrong one. The time that it takes does not depend on the token. */
  roleOf(token: string): Role | undefined {
    const presented = digest(token);
    let role: Role | undefined;
    for (const known of this.#known) if (timingSafeEqual(presented, known.digest)) role = known.role;
    return role;
  }
}

/**
 * The token of an Authorization header; undefined if it has none. The case of the scheme does not matter (RFC
 * 9110, 11.1).
 */
export function bearerToken(header: string): string | undefined {
  return /^bearer +(.+)$/i.exec(header)?.[1];
}

/** The lifetime of a session, in s. */
export const LIFETIME_S = 12 * 60 * 60;
/** Most sessions of each role. A read-only client can't end the sessions of others by logging in often. */
const MOST_OF_A_ROLE = 64;

/** A client that is known by its token or by the session of its browser. */
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
  /**
   * Sessions by the digest of their identifier, so that the time of a look-up reveals nothing about an
   * identifier.
   */
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  /** @param now monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Begins a session. If there are too many, the oldest session of the same role ends.
   * @returns the identifier, which only the browser keeps
   */
  begin(role: Role): string {
    const same = Array.from(this.#sessions).filter(([, session]) => session.role === role);
    const [oldest] = same;
    if (oldest && same.length >= MOST_OF_A_ROLE) this.#sessions.delete(oldest[0]);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(digest(id).toString('hex'), { role, until: this.#now() + LIFETIME_S * 1000 });
    return id;
  }

  /** The client whose session has this identifier; undefined if there is no such session, or it is over. */
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

/** The identifier of a session in the cookies of a request (RFC 6265, 5.4); undefined without one. */
export function sessionIdOf(headers: IncomingHttpHeaders): string | undefined {
  const start = `${cookieName(headers)}=`;
  const pair = headers.cookie?.split(';').find((each) => each.trimStart().startsWith(start));
  return pair?.trim().slice(start.length);
}

/**
 * The Set-Cookie header that gives a browser its session. Scripts can't read the cookie, and other sites
 * can't have it sent.
 * @param id identifier of the session; empty text removes the cookie
 * @param isSecure whether the browser sends the cookie over HTTPS only
 */
export function sessionCookie(headers: IncomingHttpHeaders, id: string, isSecure: boolean): string {
  const lifetime = id === '' ? 0 : LIFETIME_S;
  const attributes = ['Path=/', `Max-Age=${lifetime}`, 'HttpOnly', 'SameSite=Strict'];
  return [`${cookieName(headers)}=${id}`, ...attributes, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/**
 * The name of the cookie. Browsers keep one set of cookies for all ports of a machine, so the name has the
 * port, as the browser knows it. Otherwise two simulators on one machine would end each other's sessions.
 */
function cookieName({ host = '' }: IncomingHttpHeaders): string {
  const port = hostPortOf(host);
  return port === '' ? 'modbus-sim' : `modbus-sim-${port}`;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
