import type { Clock } from '../modbus/transport/clock.js';

/** A timer is set for this long again and again, in ms: a longer stall is always seen. */
const EVERY_MS = 100;
/** A timer that is late by less than this, in ms, is on time: the clock lets it wait for what is to be read. */
const ON_TIME_MS = 8;
/** How many late timers are kept, the newest ones. */
const MOST_KEPT = 10_000;

/**
 * Measures how late this machine is, by a timer of its own. Where it is, neither the times of requests nor those of
 * replies are what they would be, and a client on the same machine is late as well.
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

  /** By how much the machine was late at most between two times, in ms; 0 when it was on time. */
  between(from: number, to = Number.POSITIVE_INFINITY): number {
    let most = 0;
    for (let i = this.#late.length - 1; i >= 0; i--) {
      const { at, ms } = this.#late[i] as { at: number; ms: number };
      if (at < from) break;
      // A timer was due before it was late.
      if (at - ms <= to) most = Math.max(most, ms);
    }
    return most;
  }
}

/** Says by how much this machine was late, as a sentence. */
export function lateText(ms: number): string {
  return `this machine was ${Math.round(ms)} ms late`;
}
