/** How often a client asks, while nothing disturbs it. */
interface Usual {
  /** The time from one asking of its most frequent question to the next, in ms. */
  readonly periodMs: number;
  readonly requestsPerMs: number;
}

/** Asking this many times as often as usual, for this many ms and poll periods, is asking without end. */
const ENDLESS = 5;
const ENDLESS_MS = 2_000;
const ENDLESS_PERIODS = 5;
/** A client that repeats each request a few times has a pause after that: half a poll period, or this many ms. */
const PAUSE_MS = 50;
const PAUSE_PERIODS = 0.5;
/** So many requests without a pause, as often as that, may go on without end; and so many askings of one question. */
const RACING = 20;
const REPEATING = 3;

/** Listens to the pace of a client: whether it asks without end, and how long it was silent at most. */
export class AskingPace {
  readonly #usual: Usual;
  readonly #onEndless: (requests: number, ms: number) => void;
  #streak = { since: 0, count: 0 };
  /** The question that was asked last, and how often on end. */
  #same = { question: '', count: 0 };
  #last: number | undefined;
  #longest: number;

  /** @param longestMs the longest silence that was seen, in ms */
  constructor(usual: Usual, longestMs: number, onEndless: (requests: number, ms: number) => void) {
    this.#usual = usual;
    this.#longest = longestMs;
    this.#onEndless = onEndless;
  }

  /** A request has come. */
  add(at: number, question: string): void {
    const gap = at - (this.#last ?? at);
    this.#last = at;
    this.#longest = Math.max(this.#longest, gap);
    const isAfterPause = this.#streak.count === 0 || gap >= this.#pauseMs;
    if (isAfterPause) this.#streak = { since: at, count: 0 };
    if (isAfterPause || question !== this.#same.question) this.#same = { question, count: 0 };
    this.#same.count++;
    this.#streak.count++;
    const ms = at - this.#streak.since;
    if (ms >= this.endlessMs && this.#isOften(ms)) this.#onEndless(this.#streak.count, ms);
  }

  /** Forgets what came before, as when the client was started again. */
  reset(): void {
    this.#last = undefined;
    this.#streak = { since: 0, count: 0 };
  }

  /** True while the client asks as one does that asks without end. */
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
