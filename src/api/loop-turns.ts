/**
 * Spreads the work of the REST interface over turns of the event loop, one piece in each. Between any two pieces the
 * loop looks at the lines, so however many REST clients are busy, a line waits for one piece at most.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];

  /** Does a piece of work in a turn of its own, after those that wait already. */
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
