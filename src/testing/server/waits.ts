/**
 * Waits in ms: for the first reply of all, for a reply that has to come (some servers take half a second for a
 * refusal or a write), for the reply to a request that was answered before, for one that must not come.
 */
const FIRST_TIMEOUT = 5000;
const REPLY_TIMEOUT = 1000;
const EXPECTED_TIMEOUT = 2000;
const SHORTEST_SILENCE = 250;
/** So many requests without an answer are waited for as long as the first: a server may take seconds to refuse. */
const PATIENT = 3;
/** Of a slow server, a reply may take this many times as long as the slowest, and this many ms more. */
const OF_SLOWEST = 1.5;
const BEYOND_SLOWEST = 500;
/** A server is slow from this time of a reply on, in ms: it gets fewer of many equal reads. */
const SLOW = 200;
const FEWEST_READS = 6;
/** A reply may take this many times as long as those before. */
const SLOWER = 6;
/**
 * How many of the newest times of a function count, without the longest few: a machine that stalls now and
 * then would make each later silence as long.
 */
const NEWEST = 100;
const LEFT_OUT = 0.03;

/** How long is waited for replies, by the times that the newest ones of each function took. */
export class ReplyWaits {
  readonly #newest = new Map<number, number[]>();
  /** The time of a slow reply of each function: asked for with every request, and sorted for with every reply. */
  readonly #slow = new Map<number, number>();
  readonly #least: number;
  #patience = PATIENT;
  /** How long the first reply may take, in ms. */
  readonly first: number;

  /** @param given how long the user lets a reply take, in ms; found from the replies when absent */
  constructor(given?: number) {
    this.first = given ?? FIRST_TIMEOUT;
    this.#least = given ?? REPLY_TIMEOUT;
  }

  /** Notes that a request got no answer within its time. */
  silent(): void {
    this.#patience--;
  }

  /** Notes how long the reply to a function took, in ms. */
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

  /** How long the reply to a question that was answered before may take, in ms. */
  get expected(): number {
    return Math.max(EXPECTED_TIMEOUT, this.#least, this.#ofSlowest);
  }

  /** True for a server that takes so long that repetitions are spent where they decide alone. */
  get isSlow(): boolean {
    return this.#slowest > SLOW;
  }

  /** How many equal reads to make of a server as fast as this one, where others get so many. */
  reads(many: number): number {
    const share = Math.min(1, SLOW / Math.max(1, this.#slowest));
    return Math.max(FEWEST_READS, Math.round(many * share ** 2));
  }

  /** How long is waited for a reply that must not come, in ms. */
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
