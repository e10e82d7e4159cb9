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
    return this.timeAt(this.#now());
  }

  /** The device's time at a moment of the real one, as the clock runs now. Before the clock's start it is 0. */
  timeAt(real: number): number {
    const { paused, speed } = this.#settings;
    return paused ? this.#known.time : Math.max(0, this.#known.time + (real - this.#known.real) * speed);
  }

  /** The moment at which the clock shows this time, as it runs now; the present one while it stands still. */
  realAt(time: number): number {
    const { paused, speed } = this.#settings;
    return paused || speed === 0 ? this.#now() : this.#known.real + (time - this.#known.time) / speed;
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

  /** Begins again at 0 with the same settings; at a later moment when one is given, and stands at 0 until then. */
  restart(real = this.#now()): void {
    this.#known = { time: 0, real };
  }

  #goOnFrom(time: number): void {
    this.#known = { time, real: this.#now() };
  }
}
