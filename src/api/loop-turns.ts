/** The work in ms, done in one or more turns, after which REST rests. */
const BURST_MS = 1;
/** REST rests so many times as long as it has worked. The lines so have two thirds of the event loop, at the least. */
const REST_FACTOR = 2;
/** The work in ms that a turn may have done before another piece begins in it. */
const ROOM_MS = 0.25;
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
  /** How many of the waiting pieces go on with what this turn has begun. The piece of this turn is before them. */
  #following = 0;
  /** Work in ms that REST has not rested for. */
  #unrested = 0;
  /** When the piece of this turn began, in ms of `performance.now()`; before all times between two pieces. */
  #startedAt = Number.NEGATIVE_INFINITY;
  /** When the last piece ended, likewise. */
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

  /**
   * Whether this turn belongs to REST and has done little so far, so that what follows need not wait for another turn.
   * A short request passes through all of its stages in one turn: with a turn for each stage it took 0.1 ms longer,
   * most of which the event loop used for going round.
   */
  get hasRoom(): boolean {
    return performance.now() - this.#startedAt < ROOM_MS;
  }

  /**
   * Goes on with a request: runs its next piece of work at once where this turn has room, otherwise in the next turn. The
   * request so stays in front of those behind it. Between two turns this is `take`.
   */
  goOn(work: () => void): void {
    if (this.hasRoom) work();
    else if (this.#startedAt === Number.NEGATIVE_INFINITY) this.take(work);
    else this.#waiting.splice(1 + this.#following++, 0, { work, laterMs: 0 });
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
      this.#startedAt = startedAt;
      this.#following = 0;
      this.#unrested = Math.max(0, this.#unrested - (startedAt - this.#endedAt) / REST_FACTOR);
      const piece = this.#waiting[0];
      piece?.work();
      // Up to the next turn, the promises that the work has resolved run, and Node reads what clients have sent.
      setImmediate(() => {
        this.#startedAt = Number.NEGATIVE_INFINITY;
        this.#endedAt = performance.now();
        this.#unrested += this.#endedAt - startedAt + (piece?.laterMs ?? 0);
        this.#waiting.shift();
        if (this.#waiting.length > 0) this.#schedule();
      });
    });
  }
}
