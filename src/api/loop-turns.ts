/** A piece of work that took no longer, in ms, is followed by the next one at once. */
const SHORT_MS = 1;
/** After a longer piece REST waits so many times as long, so that a request on a line meets one such piece, not several. */
const REST_FACTOR = 2;

/**
 * Spreads the work of the REST interface over turns of the event loop, one piece in each. The loop serves the lines
 * between any two pieces, so a line waits for one piece at most, however many REST clients are busy.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];
  /** When the rest after the last long piece is over, in ms of `performance.now()`. */
  #restUntil = Number.NEGATIVE_INFINITY;

  /** Runs a piece of work in its own turn, after the pieces that are already waiting. */
  take(work: () => void): void {
    this.#waiting.push(work);
    if (this.#waiting.length === 1) this.#schedule();
  }

  #schedule(): void {
    const rest = this.#restUntil - performance.now();
    if (rest > 0) setTimeout(() => this.#run(), rest);
    else setImmediate(() => this.#run());
  }

  #run(): void {
    const startedAt = performance.now();
    this.#waiting[0]?.();
    // Promises that the work has resolved run before the next turn, and belong to it.
    setImmediate(() => {
      const endedAt = performance.now();
      const took = endedAt - startedAt;
      if (took > SHORT_MS) this.#restUntil = endedAt + REST_FACTOR * took;
      this.#waiting.shift();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
