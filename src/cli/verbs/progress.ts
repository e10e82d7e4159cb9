import { printable } from '../../common/rest-client/printable.js';
import { type Doing, doingText } from '../../testing/doing.js';
import type { RunKind } from '../../testing/run-kinds.js';
import { standardError } from './standard.js';

/** Shows progress: on a terminal in one line that is overwritten, elsewhere in a new line from time to time. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #everyMs: number;
  #shownAt: number;

  /**
   * @param everyMs the time between two lines, in ms: on a terminal, and elsewhere
   * @param shownAt when a line was last shown
   */
  constructor(
    { terminal, file }: { readonly terminal: number; readonly file: number },
    shownAt = Number.NEGATIVE_INFINITY,
  ) {
    this.#everyMs = this.#isTerminal ? terminal : file;
    this.#shownAt = shownAt;
  }

  show(text: string): void {
    const now = performance.now();
    if (now - this.#shownAt < this.#everyMs) return;
    this.#shownAt = now;
    const shown = printable(text);
    standardError().offer(
      this.#isTerminal ? `\r\x1b[K${shown.slice(0, process.stderr.columns - 1)}` : `${shown}\n`,
    );
  }

  /** Clears the line on a terminal, so that something else can be printed. */
  clear(): void {
    if (this.#isTerminal) standardError().offer('\r\x1b[K');
  }
}

/** The time between two progress lines of a run, in ms. A file gets the first one after that time. */
const RUN_MS = { terminal: 900, file: 30_000 };
const SAY_MS = 1000;

/** Shows what a run is doing. All other output is printed above that. */
export class RunProgress {
  readonly #progress = new Progress(RUN_MS, performance.now());
  readonly #timer: NodeJS.Timeout;

  /** @param doing returns what the run is doing now; undefined if not known */
  constructor(kind: RunKind, doing: () => Doing | undefined) {
    this.#timer = setInterval(() => {
      const now = doing();
      if (now) this.#progress.show(doingText(kind, now));
    }, SAY_MS).unref();
  }

  /** Wraps a function so that it prints above the progress line. */
  above<Values extends readonly unknown[]>(
    print: (...values: Values) => unknown,
  ): (...values: Values) => void {
    return (...values) => {
      this.#progress.clear();
      print(...values);
    };
  }

  end(): void {
    clearInterval(this.#timer);
    this.#progress.clear();
  }
}
