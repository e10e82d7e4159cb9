import { type Poll, timesBetween } from '../client/heard/exchange.js';
import type { WatchedClient } from '../client/watched-client.js';
import { durationText } from '../report/words.js';
import { isRequest } from '../tested-line.js';

/** How fast a client sends requests while it is not disturbed. */
interface Usual {
  /** The time from one request of its most frequent poll to the next, in ms. */
  readonly periodMs: number;
  readonly requestsPerMs: number;
}

/** Requests at this many times the usual rate, for this many ms and poll periods, count as endless. */
export const ENDLESS = 5;
const ENDLESS_MS = 2_000;
const ENDLESS_PERIODS = 5;
/**
 * A silence of this many ms, or half a poll period if that is longer, counts as a pause. A client that
 * repeats each request pauses afterwards.
 */
const PAUSE_MS = 50;
const PAUSE_PERIODS = 0.5;
/** After this many requests without a pause, and repetitions of one request, the client may be sending endlessly. */
const RACING = 20;
const REPEATING = 3;

/** Follows the pace of a client: whether it sends requests endlessly, and its longest silence. */
export class RequestPace {
  readonly #usual: Usual;
  readonly #onEndless: (text: string) => void;
  #streak = { since: 0, count: 0 };
  /** The newest request, and how many times in a row it has come. */
  #same = { poll: '', count: 0 };
  #last: number | undefined;
  #longest: number;

  /**
   * Follows a client whose usual pace is known.
   * @param target the poll that is disturbed
   * @param onEndless called with part of a sentence if the client sends requests endlessly
   */
  static of({ log }: WatchedClient, target: Poll, onEndless: (text: string) => void): RequestPace {
    const heard = log.newest();
    const ms = (heard.at(-1)?.at ?? 0) - (heard[0]?.at ?? 0);
    const requestsPerMs = (heard.length - 1) / Math.max(1, ms);
    const usual = { periodMs: target.periodMs ?? 0, requestsPerMs };
    const pace = new RequestPace(usual, Math.max(0, ...timesBetween(heard)), onEndless);
    log.onEvent((event) => {
      if (isRequest(event)) pace.add(event.at, log.after(event.seq - 1)[0]?.poll ?? '');
    });
    return pace;
  }

  /** @param longestMs the longest silence seen so far, in ms */
  private constructor(usual: Usual, longestMs: number, onEndless: (text: string) => void) {
    this.#usual = usual;
    this.#longest = longestMs;
    this.#onEndless = onEndless;
  }

  add(at: number, poll: string): void {
    const gap = at - (this.#last ?? at);
    this.#last = at;
    this.#longest = Math.max(this.#longest, gap);
    const isAfterPause = this.#streak.count === 0 || gap >= this.#pauseMs;
    if (isAfterPause) this.#streak = { since: at, count: 0 };
    if (isAfterPause || poll !== this.#same.poll) this.#same = { poll, count: 0 };
    this.#same.count++;
    this.#streak.count++;
    const ms = at - this.#streak.since;
    if (ms >= this.endlessMs && this.#isOften(ms))
      this.#onEndless(`polled endlessly: ${this.#streak.count} requests in ${durationText(Math.round(ms))}`);
  }

  /** Forgets all earlier requests, for a client that was restarted. */
  reset(): void {
    this.#last = undefined;
    this.#streak = { since: 0, count: 0 };
  }

  /** True while the client sends requests so fast, and without a pause, that it may be doing so endlessly. */
  isRacing(now: number): boolean {
    const { since, count } = this.#streak;
    const isMuch = count >= RACING || this.#same.count >= REPEATING;
    return isMuch && now - (this.#last ?? now) < this.#pauseMs && this.#isOften(now - since);
  }

  /** How long a client must keep up that rate, in ms. */
  get endlessMs(): number {
    return Math.max(ENDLESS_MS, ENDLESS_PERIODS * this.#usual.periodMs);
  }

  /** The longest silence that the client ended on its own, in ms. */
  get longestMs(): number {
    return this.#longest;
  }

  get #pauseMs(): number {
    return Math.max(PAUSE_MS, PAUSE_PERIODS * this.#usual.periodMs);
  }

  #isOften(ms: number): boolean {
    return this.#streak.count >= ENDLESS * this.#usual.requestsPerMs * Math.max(ms, 1);
  }
}
