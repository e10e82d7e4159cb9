export type PowerState = 'on' | 'off' | 'booting';

/**
 * An interruption of the power: its length in ms (if absent, until the power is restored), and the boot
 * time in ms.
 */
export interface Interruption {
  readonly forMs?: number | undefined;
  readonly bootMs: number;
}

/** The power of a device. A device without power, or while booting, answers nothing on any line. */
export class Power {
  readonly #now: () => number;
  /** When the power comes back, and when the device has finished booting, in ms of `now`. */
  #back = Number.NEGATIVE_INFINITY;
  #booted = Number.NEGATIVE_INFINITY;

  /** Begins with the power on. @param now returns real time in ms, which never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  get state(): PowerState {
    const now = this.#now();
    if (now < this.#back) return 'off';
    return now < this.#booted ? 'booting' : 'on';
  }

  /** When the power last came back, or will come back; infinite until `restore` when there is no end. */
  get back(): number {
    return this.#back;
  }

  /** Is as another power, which has the same time, from now on. */
  adopt(other: Power): void {
    this.#back = other.#back;
    this.#booted = other.#booted;
  }

  /** Takes the power away from now on. */
  interrupt({ forMs = Number.POSITIVE_INFINITY, bootMs }: Interruption): void {
    this.#back = this.#now() + forMs;
    this.#booted = this.#back + bootMs;
  }

  /** Gives the power back. Call this only while the power is off. */
  restore(bootMs: number): void {
    this.#back = this.#now();
    this.#booted = this.#back + bootMs;
  }
}
