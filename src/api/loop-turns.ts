/**
 * Spreads the work of the REST interface over turns of the event loop, one piece in each. The loop serves the lines
 * between any two pieces, so a line waits for one piece at most, however many REST clients are busy.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];

  /** Runs a piece of work in its own turn, after the pieces that are already waiting. */
  take(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length === 1) this.#schedule();
  }

  #schedule(): void {
    setImmediate(() => {
      const work = this.#waiting.shift();
      if (this.#waiting.length > 0) this.#schedule();
      work?.();
    });
  }
}
