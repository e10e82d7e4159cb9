import { printable } from '../../common/rest-client/printable.js';
import { type Doing, doingText } from '../../testing/doing.js';
import type { RunKind } from '../../testing/run-kinds.js';
import { standardError } from './standard.js';

/** Shows progress: on a terminal in one line that is replaced, elsewhere now and then in a new line. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #everyMs: number;
  #shownAt: number;

  /**
   * @param everyMs the time between two lines, in ms: on a terminal, and elsewhere
   * @param shownAt when a line was shown last
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

/** The time between two lines about a run, in ms. A file gets the first one after that time. */
const RUN_MS = { terminal: 900, file: 30_000 };
const SAY_MS = 1000;

/** Says what a run does now. Everything else is printed above that. */
export class RunProgress {
  readonly #progress = new Progress(RUN_MS, performance.now());
  readonly #timer: NodeJS.Timeout;

  /** @param doing what the run does now; undefined when that is not known */
  constructor(kind: RunKind, doing: () => Doing | undefined) {
    this.#timer = setInterval(() => {
      const now = doing();
      if (now) this.#progress.show(doingText(kind, now));
    }, SAY_MS).unref();
  }

  /** Makes a function that prints above the progress. */
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
