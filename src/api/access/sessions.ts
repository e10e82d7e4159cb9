import { createHash, randomBytes } from 'node:crypto';
import type { Role } from './tokens.js';

/** How long a session lasts. */
export const LIFETIME_S = 12 * 60 * 60;
/** Of each role, so that a client that may only read can't end the sessions of the others by logging in often. */
const MOST_OF_A_ROLE = 64;

/** A client that is known: by its token, or by the session of its browser. */
export interface Client {
  readonly role: Role;
  /** Until its browser must log in again; null without a session. */
  readonly secondsLeft: number | null;
}

interface Session {
  readonly role: Role;
  /** In ms of the clock. */
  readonly until: number;
}

/** The sessions of browsers that have logged in. They last until the program ends, 12 hours at most. */
export class Sessions {
  /** By the digest of their identifiers, so that the time of a look-up shows nothing about an identifier. */
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  /** @param now the time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Begins a session. Where there are too many, the oldest of the same role ends.
   * @returns its identifier, which only the browser keeps
   */
  begin(role: Role): string {
    const same = Array.from(this.#sessions).filter(([, session]) => session.role === role);
    const [oldest] = same;
    if (oldest && same.length >= MOST_OF_A_ROLE) this.#sessions.delete(oldest[0]);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(digest(id), { role, until: this.#now() + LIFETIME_S * 1000 });
    return id;
  }

  /** The client whose session has this identifier; undefined when there is none, or it is over. */
  clientOf(id: string): Client | undefined {
    const key = digest(id);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    const msLeft = session.until - this.#now();
    if (msLeft > 0) return { role: session.role, secondsLeft: Math.ceil(msLeft / 1000) };
    this.#sessions.delete(key);
    return undefined;
  }

  end(id: string): void {
    this.#sessions.delete(digest(id));
  }
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
