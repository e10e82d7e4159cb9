export type SupplyState = 'on' | 'off' | 'booting';

/**
 * An interruption of the supply: its length in ms (if absent, until the supply is restored), and the boot
 * time in ms.
 */
export interface Interruption {
  readonly forMs?: number | undefined;
  readonly bootMs: number;
}

/** The supply of a device. A device without supply, or while booting, answers nothing on any line. */
export class Supply {
  readonly #now: () => number;
  /** When the supply comes back, and when the device has finished booting, in ms of `now`. */
  #back = Number.NEGATIVE_INFINITY;
  #booted = Number.NEGATIVE_INFINITY;

  /** Begins with the supply on. @param now returns real time in ms, which never goes back */
  constructor(now: () => number) {
    this.#now = now;
  }

  get state(): SupplyState {
    const now = this.#now();
    if (now < this.#back) return 'off';
    return now < this.#booted ? 'booting' : 'on';
  }

  /** When the supply last came back, or will come back; infinite until `restore` when there is no end. */
  get back(): number {
    return this.#back;
  }

  /** Is as another supply, which has the same time, from now on. */
  adopt(other: Supply): void {
    this.#back = other.#back;
    this.#booted = other.#booted;
  }

  /** Takes the supply away from now on. */
  interrupt({ forMs = Number.POSITIVE_INFINITY, bootMs }: Interruption): void {
    this.#back = this.#now() + forMs;
    this.#booted = this.#back + bootMs;
  }

  /** Gives the supply back. Call this only while the supply is off. */
  restore(bootMs: number): void {
    this.#back = this.#now();
    this.#booted = this.#back + bootMs;
  }
}
