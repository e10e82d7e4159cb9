import type { Clock } from './clock.js';

interface RetryTimes {
  /** The pause before the first attempt, in ms. Each further pause is twice as long. */
  readonly firstMs: number;
  readonly lastMs: number;
}

interface Attempts {
  /**
   * Tries once, and resolves with the reason of a failure. An attempt that finds itself called off undoes
   * what it has opened.
   */
  attempt(isCalledOff: () => boolean): Promise<string | undefined>;
  /** Is called at every failed attempt, with the pause before the next attempt in ms. */
  failed(reason: string, inMs: number): void;
}

/** Tries to open something again and again, with growing pauses, until it opens or is called off. */
export class Retries {
  readonly #clock: Clock;
  readonly #times: RetryTimes;
  readonly #attempts: Attempts;
  #cancel = (): void => {};
  /** The last attempt, under way or over. */
  #attempt: Promise<void> | undefined;
  /** How often `end` was called. An attempt that began before the last call is called off. */
  #ends = 0;

  constructor(clock: Clock, times: RetryTimes, attempts: Attempts) {
    this.#clock = clock;
    this.#times = times;
    this.#attempts = attempts;
  }

  begin(): void {
    this.#tryIn(this.#times.firstMs);
  }

  /** Calls the attempts off. Resolves when no attempt is under way any more. */
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
    const inMs = Math.min(2 * delay, this.#times.lastMs);
    this.#attempts.failed(reason, inMs);
    this.#tryIn(inMs);
  }
}
