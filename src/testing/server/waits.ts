/**
 * ReplyWaits in ms: for a reply that has to come (some servers take half a second for a refusal or a write), for
 * the reply to a question that was answered before, for one that must not come.
 */
const REPLY_TIMEOUT = 1000;
export const EXPECTED_TIMEOUT = 2000;
const SHORTEST_SILENCE = 250;
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

  /** Notes how long the reply to a function took, in ms. */
  add(code: number, ms: number): void {
    this.#newest.set(code, [...(this.#newest.get(code) ?? []), ms].slice(-NEWEST));
  }

  /** How long the reply to a function may take, in ms. */
  timeout(code: number): number {
    return this.#within(REPLY_TIMEOUT, this.#slow(code));
  }

  /** How long is waited for a reply that must not come, in ms. */
  get silence(): number {
    return this.#within(
      SHORTEST_SILENCE,
      Math.max(...[...this.#newest.keys()].map((code) => this.#slow(code))),
    );
  }

  #within(least: number, slow: number): number {
    return Math.min(EXPECTED_TIMEOUT, Math.max(least, SLOWER * slow + 100));
  }

  #slow(code: number): number {
    const times = (this.#newest.get(code) ?? []).toSorted((a, b) => b - a);
    return times[Math.floor(LEFT_OUT * times.length)] ?? 0;
  }
}
