/**
 * Time-outs in ms: for the very first reply; for a reply that must come (some servers take half a second for
 * a refusal or a write); for the reply to a request that was answered before; and for one that must not come.
 */
const FIRST_TIMEOUT = 5000;
const REPLY_TIMEOUT = 1000;
const EXPECTED_TIMEOUT = 2000;
const SHORTEST_SILENCE = 250;
/** This many unanswered requests get the time-out of the first: a server may take seconds to refuse. */
const PATIENT = 3;
/** For a slow server, a reply may take this many times as long as the slowest one, plus this many ms. */
const OF_SLOWEST = 1.5;
const BEYOND_SLOWEST = 500;
/** A server counts as slow from this reply time on, in ms: it gets fewer of a series of equal reads. */
const SLOW = 200;
const FEWEST_READS = 6;
/** A reply may take this many times as long as earlier ones. */
const SLOWER = 6;
/**
 * How many of a function's newest times count, without the longest few: otherwise, a machine that stalls
 * occasionally would make every later silence as long.
 */
const NEWEST = 100;
const LEFT_OUT = 0.03;

/** Derives how long to wait for replies from the newest reply times of each function. */
export class ReplyWaits {
  readonly #newest = new Map<number, number[]>();
  /**
   * The time of a slow reply for each function, cached: it is needed for every request, and computing it
   * sorts the times.
   */
  readonly #slow = new Map<number, number>();
  readonly #least: number;
  #patience = PATIENT;
  /** How long the first reply may take, in ms. */
  readonly first: number;

  /** @param given the user's time-out for replies, in ms; absent: derived from the replies */
  constructor(given?: number) {
    this.first = given ?? FIRST_TIMEOUT;
    this.#least = given ?? REPLY_TIMEOUT;
  }

  /** Records that a request got no answer in time. */
  silent(): void {
    this.#patience--;
  }

  /** Records how long the reply to a function took, in ms. */
  add(code: number, ms: number): void {
    const newest = [...(this.#newest.get(code) ?? []), ms].slice(-NEWEST);
    this.#newest.set(code, newest);
    const slowest = newest.toSorted((a, b) => b - a);
    this.#slow.set(code, slowest[Math.floor(LEFT_OUT * slowest.length)] ?? 0);
  }

  /** How long the reply to a function may take, in ms. */
  timeout(code: number): number {
    if (this.#patience > 0) return Math.max(this.first, this.#ofSlowest);
    return Math.max(
      this.#least,
      this.#within(Math.max(this.#least, this.#ofSlowest), this.#slow.get(code) ?? 0),
    );
  }

  /** How long the reply to a request that was answered before may take, in ms. */
  get expected(): number {
    return Math.max(EXPECTED_TIMEOUT, this.#least, this.#ofSlowest);
  }

  /** True for a server so slow that requests are repeated only where the repetition decides. */
  get isSlow(): boolean {
    return this.#slowest > SLOW;
  }

  /** How many equal reads a server of this speed gets, if others get `many`. */
  reads(many: number): number {
    const share = Math.min(1, SLOW / Math.max(1, this.#slowest));
    return Math.max(FEWEST_READS, Math.round(many * share ** 2));
  }

  /** How long to wait for a reply that must not come, in ms. */
  get silence(): number {
    const slow = this.#slowest;
    return Math.max(SHORTEST_SILENCE, Math.min(SLOWER * slow + 100, OF_SLOWEST * slow + BEYOND_SLOWEST));
  }

  get #slowest(): number {
    return Math.max(0, ...this.#slow.values());
  }

  get #ofSlowest(): number {
    return OF_SLOWEST * this.#slowest + BEYOND_SLOWEST;
  }

  #within(least: number, slow: number): number {
    return Math.min(this.expected, Math.max(least, SLOWER * slow + 100));
  }
}
