/**
 * One message that arrives damaged is told in several reports: its damaged characters, and what could be read of it
 * as noise. This tells them from those of the next message. Pure: the caller brings the clock.
 */
export class MessageDamage {
  #isTold = false;
  /** Has another message begun since? What was heard before it may still be reported behind its beginning. */
  #isPast = false;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** Has damage been told of a message whose rest is still to be reported? It is noise, and no other error. */
  get isTold(): boolean {
    return this.#isTold;
  }

  /**
   * Characters came at `at`, damaged or not, since damage was told.
   * @param longestPause between two pieces of one message, in ms
   */
  heard(at: number, longestPause: number): void {
    if (at - this.#lastAt > longestPause) this.#isPast = true;
    this.#lastAt = at;
  }

  /** A character came that begins a message wherever it stands. */
  begun(): void {
    this.#isPast = true;
  }

  /** Damage that came at `at` is told. @returns whether it is that of a message of which it was told before. */
  tell(at: number): boolean {
    this.#lastAt = at;
    const isRest = this.#isTold && !this.#isPast;
    this.#isTold = true;
    this.#isPast = false;
    return isRest;
  }

  /** The message is over, and all of it was reported. */
  ended(): void {
    this.#isTold = false;
  }
}
