import { type Poll, timesBetween } from '../client/heard/exchange.js';
import type { WatchedClient } from '../client/watched-client.js';
import { durationText } from '../report/words.js';
import { isRequest } from '../tested-line.js';

/** How often a client asks, while nothing disturbs it. */
interface Usual {
  /** The time from one request of its most frequent poll to the next, in ms. */
  readonly periodMs: number;
  readonly requestsPerMs: number;
}

/** Requests this many times as often as usual, for this many ms and poll periods, are requests without end. */
export const ENDLESS = 5;
const ENDLESS_MS = 2_000;
const ENDLESS_PERIODS = 5;
/** How long a client that repeats each request pauses after that: half a poll period, or this many ms. */
const PAUSE_MS = 50;
const PAUSE_PERIODS = 0.5;
/** After how many requests without a pause, and repetitions of one request, a client may ask without end. */
const RACING = 20;
const REPEATING = 3;

/** Listens to the pace of a client: whether it asks without end, and how long it was silent at most. */
export class RequestPace {
  readonly #usual: Usual;
  readonly #onEndless: (text: string) => void;
  #streak = { since: 0, count: 0 };
  /** The request that came last, and how often in a row. */
  #same = { poll: '', count: 0 };
  #last: number | undefined;
  #longest: number;

  /**
   * Listens to a client whose pace was watched before.
   * @param target the poll that is disturbed
   * @param onEndless called with a part of a sentence when the client asks without end
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

  /** @param longestMs the longest silence that was seen, in ms */
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

  /** Forgets what came before, as when the client was started again. */
  reset(): void {
    this.#last = undefined;
    this.#streak = { since: 0, count: 0 };
  }

  /** True while the client asks so fast, and without a pause, that it may ask without end. */
  isRacing(now: number): boolean {
    const { since, count } = this.#streak;
    const isMuch = count >= RACING || this.#same.count >= REPEATING;
    return isMuch && now - (this.#last ?? now) < this.#pauseMs && this.#isOften(now - since);
  }

  /** How long a client has to ask that often, in ms. */
  get endlessMs(): number {
    return Math.max(ENDLESS_MS, ENDLESS_PERIODS * this.#usual.periodMs);
  }

  /** The longest silence that the client has ended by itself, in ms. */
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
