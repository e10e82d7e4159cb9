import type { Clock } from '../modbus/transport/clock.js';

/** A timer of this length is set repeatedly, in ms, so any longer stall is seen. */
const EVERY_MS = 100;
/** A timer that is late by less than this, in ms, is on time: the clock lets pending input be read first. */
const ON_TIME_MS = 8;
/** Maximum number of late timers kept; the newest are kept. */
const MOST_KEPT = 10_000;

/**
 * Measures how late this machine is, with its own timer. If it is late, the times of requests and replies are
 * wrong, and a client on the same machine is late too.
 */
export class Lateness {
  readonly #clock: Clock;
  readonly #late: { readonly at: number; readonly ms: number }[] = [];
  #callOff = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Measures until `end`. */
  begin(): void {
    const due = this.#clock.now() + EVERY_MS;
    this.#callOff = this.#clock.callAfter(EVERY_MS, () => {
      const at = this.#clock.now();
      if (at - due > ON_TIME_MS) this.#late.push({ at, ms: at - due });
      if (this.#late.length > MOST_KEPT) this.#late.shift();
      this.begin();
    });
  }

  end(): void {
    this.#callOff();
  }

  /** The greatest lateness between two times, in ms; 0 if the machine was on time. */
  between(from: number, to = Number.POSITIVE_INFINITY): number {
    let most = 0;
    for (let i = this.#late.length - 1; i >= 0; i--) {
      const { at, ms } = this.#late[i] as { at: number; ms: number };
      if (at < from) break;
      // The lateness begins when the timer was due.
      if (at - ms <= to) most = Math.max(most, ms);
    }
    return most;
  }
}

/** Says how late this machine was, as a sentence. */
export function lateText(ms: number): string {
  return `this machine was ${Math.round(ms)} ms late`;
}
