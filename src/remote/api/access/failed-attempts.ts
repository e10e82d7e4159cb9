/** Wrong tokens that an address may send in one window of time. */
export const ALLOWED_ATTEMPTS = 10;
export const WINDOW_S = 60;
/** Most addresses that are remembered; then the oldest is forgotten. */
const MOST_ADDRESSES = 1000;

interface Attempts {
  count: number;
  /** End of the window, in ms of the clock. */
  readonly until: number;
}

/** The record of an address after one more wrong token. */
export interface Failure {
  /** Number of wrong tokens from the address in this window. */
  readonly count: number;
  /** Whole seconds until the window ends. */
  readonly secondsLeft: number;
}

/** Counts wrong tokens for each address, in bounded memory. */
export class FailedAttempts {
  /** Attempts by address, in the order in which their windows began. */
  readonly #attempts = new Map<string, Attempts>();
  readonly #now: () => number;

  /** @param now monotonic time in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one wrong token from an address. */
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
 * The key under which an address is counted: an IPv4 address, or the first 64 bits of an IPv6 address, since
 * a client chooses the rest of those freely.
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
