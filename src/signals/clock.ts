/** How a device's clock runs. */
export interface ClockSettings {
  /** Seconds of the device for each second. */
  readonly speed: number;
  readonly paused: boolean;
}

/** The fastest clock: a year in five minutes. */
export const MAX_SPEED = 100_000;

/**
 * The clock of a device, which its signals follow. It can run faster, stand still, jump ahead and begin again, and it
 * never goes back otherwise.
 */
export class DeviceClock {
  readonly #now: () => number;
  #settings: ClockSettings;
  /** The device's time at a moment of the real one, both in ms. */
  #known: { readonly time: number; readonly real: number };

  /** @param now real time in ms, never going back; it need not be the time of day. */
  constructor(now: () => number, settings: Partial<ClockSettings> = {}) {
    this.#now = now;
    this.#settings = { speed: 1, paused: false, ...settings };
    this.#known = { time: 0, real: now() };
  }

  /** ms of the device's time since it began. */
  get time(): number {
    const { time, real } = this.#known;
    const { speed, paused } = this.#settings;
    return paused ? time : time + (this.#now() - real) * speed;
  }

  get settings(): ClockSettings {
    return this.#settings;
  }

  /** Runs on from now as the settings say. */
  set(settings: Partial<ClockSettings>): void {
    this.#goOnFrom(this.time);
    this.#settings = { ...this.#settings, ...settings };
  }

  /** Jumps ahead by so many ms of the device's time, whether or not the clock is paused. */
  step(ms: number): void {
    this.#goOnFrom(this.time + ms);
  }

  /** Begins again at 0 with the same settings. */
  restart(): void {
    this.#goOnFrom(0);
  }

  #goOnFrom(time: number): void {
    this.#known = { time, real: this.#now() };
  }
}
