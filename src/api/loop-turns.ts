/** The work in ms, done in one or more turns, after which REST rests. */
const BURST_MS = 1;
/** REST rests so many times as long as it has worked. The lines so have two thirds of the event loop, at the least. */
const REST_FACTOR = 2;
/** REST does not rest when nothing has passed any line for so long, in ms. */
const QUIET_MS = 1000;

interface Piece {
  readonly work: () => void;
  readonly laterMs: number;
}

/**
 * Spreads the work of the REST interface over turns of the event loop, one piece in each. The loop serves the lines
 * between any two pieces, so a line waits for one piece at most. REST rests after a long piece and after many short
 * ones, so a request on a line meets one long piece and not several, however many REST clients are busy. While the lines
 * are quiet it does not rest, because nobody would gain by it: the first request meets one piece then, too.
 */
export class LoopTurns {
  /** A number that grows with everything that passes a line. */
  readonly #traffic: () => number;
  readonly #waiting: Piece[] = [];
  /** Work in ms that REST has not rested for. */
  #unrested = 0;
  /** When the last piece ended, in ms of `performance.now()`. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** What `#traffic` was when it was last looked at, and when it was found to have grown. */
  #passed = 0;
  #passedAt = Number.NEGATIVE_INFINITY;

  constructor(traffic: () => number) {
    this.#traffic = traffic;
  }

  /**
   * Runs a piece of work in its own turn, after the pieces that are already waiting.
   * @param laterMs work in ms that the piece causes at other times, for which REST rests too
   */
  take(work: () => void, laterMs = 0): void {
    this.#waiting.push({ work, laterMs });
    if (this.#waiting.length === 1) this.#schedule();
  }

  #schedule(): void {
    const now = performance.now();
    const left = REST_FACTOR * this.#unrested - (now - this.#endedAt);
    if (this.#unrested > BURST_MS && left > 0 && !this.#isQuiet(now)) setTimeout(() => this.#run(), left);
    else this.#run();
  }

  #isQuiet(now: number): boolean {
    const passed = this.#traffic();
    if (passed !== this.#passed) this.#passedAt = now;
    this.#passed = passed;
    return now - this.#passedAt > QUIET_MS;
  }

  #run(): void {
    setImmediate(() => {
      const startedAt = performance.now();
      this.#unrested = Math.max(0, this.#unrested - (startedAt - this.#endedAt) / REST_FACTOR);
      const piece = this.#waiting[0];
      piece?.work();
      // Up to the next turn, the promises that the work has resolved run, and Node reads what clients have sent.
      setImmediate(() => {
        this.#endedAt = performance.now();
        this.#unrested += this.#endedAt - startedAt + (piece?.laterMs ?? 0);
        this.#waiting.shift();
        if (this.#waiting.length > 0) this.#schedule();
      });
    });
  }
}
