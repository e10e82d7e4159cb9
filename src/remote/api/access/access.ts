import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusal } from '../../../simulator/commands/refusal.js';
import { refuse } from '../answers.js';
import { isConsolePath } from '../console/paths.js';
import {
  type AccessRefusal,
  type AllowedOrigins,
  bearerToken,
  corsHeaders,
  hostRefusal,
  isOwnOrigin,
  isPreflight,
  type KnownClient,
  LIFETIME_S,
  namesOfMachine,
  originRefusal,
  PREFLIGHT_HEADERS,
  Sessions,
  sessionCookie,
  sessionIdOf,
  type TokenRules,
  Tokens,
} from './clients.js';

/** Maximum number of wrong tokens that an address may send per time window. */
const ALLOWED_ATTEMPTS = 10;
const WINDOW_S = 60;
/** Maximum number of addresses remembered; beyond it, the oldest is dropped. */
const MOST_ADDRESSES = 1000;

interface Attempts {
  count: number;
  /** End of the window, in ms of the clock. */
  readonly until: number;
}

/** The state of an address after another wrong token. */
interface Failure {
  /** Number of wrong tokens from the address in this time window. */
  readonly count: number;
  /** Whole seconds until the window ends. */
  readonly secondsLeft: number;
}

/** Counts wrong tokens per address, in bounded memory. */
export class FailedAttempts {
  /** Attempts by address, in the order in which their time windows started. */
  readonly #attempts = new Map<string, Attempts>();
  readonly #now: () => number;

  /** @param now monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a wrong token from an address. */
  add(address: string): Failure {
    const now = this.#now();
    const network = networkOf(address);
    let attempts = this.#attempts.get(network);
    if (attempts === undefined || attempts.until <= now) {
      this.#attempts.delete(network);
      this.#makeRoom();
      attempts = { count: 0, until: now + WINDOW_S * 1000 };
      this.#attempts.set(network, attempts);
    }
    attempts.count++;
    return { count: attempts.count, secondsLeft: Math.ceil((attempts.until - now) / 1000) };
  }

  #makeRoom(): void {
    const [oldest] = this.#attempts.keys();
    if (oldest !== undefined && this.#attempts.size >= MOST_ADDRESSES) this.#attempts.delete(oldest);
  }
}

/**
 * The key under which an address is counted: an IPv4 address, or the first 64 bits of an IPv6 address,
 * because a client chooses the other 64 freely.
 */
function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head = '', tail] = address.toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  return [...front, ...Array<string>(zeros).fill('0'), ...back].slice(0, 4).join(':');
}

/** The access rules of the REST interface. Without a token, every program on this machine has access. */
export interface AccessRules extends TokenRules {
  /** Host name or address that REST listens on. */
  readonly host: string;
  /** Origins of other sites whose pages may use REST, such as `https://bench.example.org`. */
  readonly origins?: readonly string[];
}

/** The clock, log and transport that `Access` depends on. */
interface AccessContext {
  /** Monotonic time in ms. */
  now(): number;
  warn(details: object, message: string): void;
  /** Whether REST is served over HTTPS. */
  readonly isSecure: boolean;
}

type LogIn =
  | { readonly ok: true; readonly client: KnownClient; readonly cookie: string }
  | { readonly ok: false; readonly refusal: WrongToken };

type WrongToken = AccessRefusal<'access.token' | 'access.too_many_attempts'>;

const SESSION_PATH = '/api/v1/session';

/**
 * Requests that need no token, as `METHOD PATH`, in addition to the pages of the console. Every other request
 * needs one, even if its path does not exist.
 */
const OPEN: ReadonlySet<string> = new Set([
  ...['GET /healthz', 'HEAD /healthz', `POST ${SESSION_PATH}`],
  // An editor has no token, and the file schemas reveal nothing about this bench.
  ...['configuration', 'scenario', 'catalogue'].map((name) => `GET /api/v1/schemas/${name}`),
]);

/** Whether a request needs no token. @param method in upper case */
export function isOpen(method: string, url: string): boolean {
  if (OPEN.has(`${method} ${url}`)) return true;
  const [path = ''] = url.split('?');
  return (method === 'GET' || method === 'HEAD') && isConsolePath(path);
}

/** Requests that a read-only client may make although they change something. */
const OPEN_TO_READERS: ReadonlySet<string> = new Set([`DELETE ${SESSION_PATH}`, 'POST /api/v1/view']);

/** Decides what each client may do over REST. A client has a token, or a session that was started with a token. */
export class Access {
  readonly origins: AllowedOrigins;
  readonly #names: ReadonlySet<string>;
  readonly #tokens: Tokens;
  readonly #sessions: Sessions;
  readonly #failures: FailedAttempts;
  readonly #context: AccessContext;

  constructor(rules: AccessRules, context: AccessContext) {
    this.origins = new Set(rules.origins);
    this.#names = namesOfMachine(rules.host);
    this.#tokens = new Tokens(rules);
    this.#sessions = new Sessions(context.now);
    this.#failures = new FailedAttempts(context.now);
    this.#context = context;
  }

  /**
   * Checks the Host and the origin of a request, before anything else.
   * @returns undefined if the request may continue
   */
  refusalOfPlace(request: IncomingMessage): AccessRefusal | undefined {
    return (
      hostRefusal(request, this.#names) ??
      originRefusal(request.headers, this.origins, this.#context.isSecure)
    );
  }

  /** Checks whether the client may make the request. @returns undefined if it may */
  refusalOfClient(request: IncomingMessage): AccessRefusal | undefined {
    if (!this.needsToken) return undefined;
    const { method = '', url = '' } = request;
    if (isOpen(method, url)) return undefined;
    const client = this.clientOf(request);
    if (client === undefined) return this.#unknownClient(request);
    if (client.role === 'write' || method === 'GET' || method === 'HEAD') return undefined;
    if (OPEN_TO_READERS.has(`${method} ${url.split('?')[0]}`)) return undefined;
    return {
      code: 'access.read_only',
      path: 'method',
      message: 'a read-only token allows only GET and HEAD',
    };
  }

  /** The client of a request; undefined if it has neither a valid token nor a session. */
  clientOf({ headers }: IncomingMessage): KnownClient | undefined {
    if (!this.needsToken) return { role: 'write', secondsLeft: null };
    const { authorization, origin } = headers;
    if (authorization === undefined) {
      // A browser also sends the cookie with requests from pages of another port of this machine.
      if (origin !== undefined && !isOwnOrigin(headers, this.#context.isSecure)) return undefined;
      return this.#sessions.clientOf(sessionIdOf(headers) ?? '');
    }
    const role = this.#tokens.roleOf(bearerToken(authorization) ?? '');
    return role && { role, secondsLeft: null };
  }

  get needsToken(): boolean {
    return this.#tokens.areNeeded;
  }

  /** Starts a session if the token is valid. */
  logIn(request: IncomingMessage, token: string): LogIn {
    const role = this.#tokens.roleOf(token);
    if (role === undefined) return { ok: false, refusal: this.#wrongToken(request, WRONG_LOGIN) };
    const id = this.#sessions.begin(role);
    return { ok: true, client: { role, secondsLeft: LIFETIME_S }, cookie: this.#cookie(request, id) };
  }

  /**
   * Ends the session of a request, if it has one.
   * @returns the cookie that makes the browser forget the session
   */
  logOut(request: IncomingMessage): string {
    this.#sessions.end(sessionIdOf(request.headers) ?? '');
    return this.#cookie(request, '');
  }

  #cookie({ headers }: IncomingMessage, id: string): string {
    return sessionCookie(headers, id, this.#context.isSecure);
  }

  /**
   * Rejects an unknown client. Only a token that was sent counts as a guess: a browser whose session has
   * ended, or a client without a token, is not guessing.
   */
  #unknownClient(request: IncomingMessage): WrongToken {
    const guess = bearerToken(request.headers.authorization ?? '');
    return guess === undefined ? NO_TOKEN : this.#wrongToken(request, NO_TOKEN);
  }

  /**
   * Rejects a wrong token. A valid token is accepted however many wrong ones came from its address, because
   * many clients may share an address. So the limit only makes guessing visible, to the client and in the
   * log. What defeats guessing is the length of a token.
   */
  #wrongToken({ socket }: IncomingMessage, refusal: WrongToken): WrongToken {
    const address = socket.remoteAddress ?? 'unknown';
    const { count, secondsLeft } = this.#failures.add(address);
    if (count <= ALLOWED_ATTEMPTS) return refusal;
    const message = `more than ${ALLOWED_ATTEMPTS} wrong tokens within ${WINDOW_S} s`;
    if (count === ALLOWED_ATTEMPTS + 1) this.#context.warn({ address }, message);
    return {
      code: 'access.too_many_attempts',
      path: refusal.path,
      message: `${message} from this address`,
      headers: { 'retry-after': String(secondsLeft) },
    };
  }
}

const NO_TOKEN: WrongToken = {
  code: 'access.token',
  path: 'Authorization',
  message: 'expected Bearer and a configured token',
  headers: { 'www-authenticate': 'Bearer' },
};

const WRONG_LOGIN: WrongToken = {
  code: 'access.token',
  path: 'token',
  message: 'not a configured token',
};

/**
 * Security headers for browsers, sent with every answer: helmet's headers that apply here. Pages load
 * scripts, styles and data only from this server. Strict-Transport-Security is left out, because it would
 * apply to all ports of the machine, where other programs may serve plain HTTP.
 */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const;

/**
 * Checks a request before anything else does.
 * @returns the reply if the guard has answered; undefined lets the request pass
 */
type Guard = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

export function accessGuard(access: Access): Guard {
  const { origins } = access;
  return (request, reply) => {
    const { raw } = request;
    reply.headers(SECURITY_HEADERS).headers(corsHeaders(raw.headers, origins));
    const misplaced = access.refusalOfPlace(raw);
    if (misplaced) return refuseAccess(request, reply, misplaced);
    if (isPreflight(raw, origins)) return reply.code(204).headers(PREFLIGHT_HEADERS).send();
    const refused = access.refusalOfClient(raw);
    return refused && refuseAccess(request, reply, refused);
  };
}

function refuseAccess(
  request: FastifyRequest,
  reply: FastifyReply,
  { code, path, message, headers = {} }: AccessRefusal,
) {
  return refuse(request, reply.headers(headers), refusal(code, path, message));
}
