import type { Clock } from './clock.js';

interface RetryTimes {
  /** The pause before the first attempt, in ms. Each further pause is twice as long. */
  readonly firstMs: number;
  readonly lastMs: number;
}

interface Attempts {
  /**
   * Tries once, and resolves with the reason if it fails. An attempt that was called off must undo what it
   * has opened.
   */
  attempt(isCalledOff: () => boolean): Promise<string | undefined>;
  /** Called after every failed attempt. @param isNew whether the reason differs from the previous one */
  failed(reason: string, isNew: boolean): void;
}

/** Tries to open something again and again, with growing pauses, until it opens or is called off. */
export class Reopening {
  readonly #clock: Clock;
  readonly #times: RetryTimes;
  readonly #attempts: Attempts;
  #cancel = (): void => {};
  /** Why the last attempt failed. A port may be missing for days, so each reason is reported once. */
  #reason: string | undefined;
  /** The last attempt, in progress or finished. */
  #attempt: Promise<void> | undefined;
  /** How many times `end` was called. An attempt that began before the last call is called off. */
  #ends = 0;

  constructor(clock: Clock, times: RetryTimes, attempts: Attempts) {
    this.#clock = clock;
    this.#times = times;
    this.#attempts = attempts;
  }

  /** @param reason why it is not open, if this has already been reported */
  begin(reason?: string): void {
    this.#reason = reason;
    this.#tryIn(this.#times.firstMs);
  }

  /** Calls off all attempts. Resolves when none is in progress. */
  async end(): Promise<void> {
    this.#ends++;
    this.#cancel();
    await this.#attempt;
  }

  #tryIn(delay: number): void {
    this.#cancel = this.#clock.callAfter(delay, () => {
      this.#attempt = this.#try(delay);
    });
  }

  async #try(delay: number): Promise<void> {
    const ends = this.#ends;
    const isCalledOff = () => this.#ends !== ends;
    const reason = await this.#attempts.attempt(isCalledOff);
    if (reason === undefined || isCalledOff()) return;
    const isNew = reason !== this.#reason;
    this.#reason = reason;
    this.#attempts.failed(reason, isNew);
    this.#tryIn(Math.min(2 * delay, this.#times.lastMs));
  }
}
