/** Reports once that nothing has come for a time. A timer exists only while it is watching. */
export class SilenceTimer {
  readonly #ms: number;
  readonly #silent: () => void;
  #lastAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Immediate | undefined;

  constructor(ms: number, silent: () => void) {
    this.#ms = ms;
    this.#silent = silent;
  }

  /** Watches from now on; something came at `at`, `performance.now()` ms. Cheap when called again and again. */
  restart(at: number): void {
    this.#lastAt = at;
    if (this.#timer === undefined) this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#check);
    this.#timer = undefined;
  }

  #wait(): void {
    const left = this.#lastAt + this.#ms - performance.now();
    this.#timer = setTimeout(() => this.#due(), Math.max(1, Math.ceil(left)));
  }

  #due(): void {
    if (performance.now() - this.#lastAt < this.#ms) {
      this.#wait();
      return;
    }
    // If this program was busy for long, bytes that came meanwhile are read first.
    const lastAt = this.#lastAt;
    this.#check = setImmediate(() => {
      if (this.#lastAt === lastAt) {
        this.stop();
        this.#silent();
      } else this.#wait();
    });
  }
}
