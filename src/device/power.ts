export type PowerState = 'on' | 'off' | 'booting';

/** A power interruption: its length in ms (if absent, until the power is restored), and the boot time in ms. */
export interface Interruption {
  readonly forMs?: number | undefined;
  readonly bootMs: number;
}

/** The power of a device. A device without power, or while booting, answers nothing on any line. */
export class Power {
  readonly #now: () => number;
  /** When the power returns, and when the device has finished booting, in ms of `now`. */
  #back = Number.NEGATIVE_INFINITY;
  #booted = Number.NEGATIVE_INFINITY;

  /** Starts with the power on. @param now returns real time in ms, which never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  get state(): PowerState {
    const now = this.#now();
    if (now < this.#back) return 'off';
    return now < this.#booted ? 'booting' : 'on';
  }

  /** When the power last returned, or will return; infinite until `restore` if the interruption has no end. */
  get back(): number {
    return this.#back;
  }

  /** Takes over the state of another power with the same clock. */
  adopt(other: Power): void {
    this.#back = other.#back;
    this.#booted = other.#booted;
  }

  /** Switches the power off now. */
  interrupt({ forMs = Number.POSITIVE_INFINITY, bootMs }: Interruption): void {
    this.#back = this.#now() + forMs;
    this.#booted = this.#back + bootMs;
  }

  /** Switches the power on. Call this only while it is off. */
  restore(bootMs: number): void {
    this.#back = this.#now();
    this.#booted = this.#back + bootMs;
  }
}
