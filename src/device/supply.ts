export type SupplyState = 'on' | 'off' | 'booting';

/** How the supply of a device is interrupted, in ms: for how long (absent: until it is turned on), and its boot time. */
export interface Interruption {
  readonly forMs?: number | undefined;
  readonly bootMs: number;
}

/** The supply of a device. Without it, and while it boots, the device answers nothing on any line. */
export class Supply {
  readonly #now: () => number;
  /** When the supply comes back, and when the device has booted, in ms of `now`. */
  #back = Number.NEGATIVE_INFINITY;
  #booted = Number.NEGATIVE_INFINITY;

  /** @param now real time in ms, never going back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get state(): SupplyState {
    const now = this.#now();
    if (now < this.#back) return 'off';
    return now < this.#booted ? 'booting' : 'on';
  }

  /** When the supply came back last, or will come back; infinite while nobody has turned it on again. */
  get back(): number {
    return this.#back;
  }

  /** Takes the supply away from now on. */
  interrupt({ forMs = Number.POSITIVE_INFINITY, bootMs }: Interruption): void {
    this.#back = this.#now() + forMs;
    this.#booted = this.#back + bootMs;
  }

  /** Gives the supply back; nothing happens to a device that has it. */
  restore(bootMs: number): void {
    if (this.state !== 'off') return;
    this.#back = this.#now();
    this.#booted = this.#back + bootMs;
  }
}
