export interface ClockSettings {
  /** How many seconds of device time pass per real second. */
  readonly speed: number;
  readonly paused: boolean;
}

/** The highest speed of a clock: a year in five minutes. */
export const MAX_SPEED = 100_000;

/**
 * The latest time of any clock in ms, some 285,000 years: a clock that reaches it stops. A state file
 * contains no later time.
 */
export const MAX_TIME = Number.MAX_SAFE_INTEGER;

/**
 * The clock of a device, which its signals follow. It can run faster, stand still, jump ahead and restart at
 * 0. Except when it restarts, it never goes back. Its time is always a number from 0 to {@link MAX_TIME}.
 */
export class DeviceClock {
  /** How many times the settings were changed or the time was set. */
  changes = 0;
  /** Called after each change of the settings or the time, other than the passing of time. */
  onChange: (() => void) | undefined;
  readonly #now: () => number;
  #settings: ClockSettings;
  /**
   * A known pair of device time and real time, both in ms. If the real time is in the future, the clock
   * stands at the device time until then; if it is infinite, the clock stands until it is restarted.
   */
  #known: { readonly time: number; readonly real: number };

  /**
   * Creates a clock that shows 0.
   * @param now returns real time in ms, which never goes back and need not be the time of day
   */
  constructor(now: () => number, settings: Partial<ClockSettings> = {}) {
    this.#now = now;
    this.#settings = { speed: 1, paused: false, ...settings };
    this.#known = { time: 0, real: now() };
  }

  /** The device's time since its clock began, in ms. */
  get time(): number {
    return this.timeAt(this.#now());
  }

  /** Returns the device's time at a real time, with the present settings; 0 before the clock's start. */
  timeAt(real: number): number {
    const { time, real: known } = this.#known;
    // 0 times infinity would be NaN.
    if (this.#isStill || (real < known && this.#isWaiting)) return time;
    return within(time + (real - known) * this.#settings.speed);
  }

  /**
   * Returns the real time at which the clock shows `time`, with the present settings; the present time if the
   * clock stands still.
   */
  realAt(time: number): number {
    if (this.#isStill || this.#isWaiting) return this.#now();
    return this.#known.real + (time - this.#known.time) / this.#settings.speed;
  }

  /**
   * Returns the real time at which the clock reaches `time`, with the present settings; infinity if it never
   * does. For a past time, the same as `realAt`.
   */
  dueAt(time: number): number {
    if (time <= this.time) return this.realAt(time);
    if (this.#isStill || time > MAX_TIME) return Number.POSITIVE_INFINITY;
    return this.#known.real + (time - this.#known.time) / this.#settings.speed;
  }

  /**
   * Reports whether the clock has reached `time`. Also checks `dueAt`, which may be earlier by a rounding
   * error: otherwise an action that is due could hold up others behind it.
   */
  hasReached(time: number): boolean {
    return time <= this.time || this.dueAt(time) <= this.#now();
  }

  get #isStill(): boolean {
    return this.#settings.paused || this.#settings.speed === 0;
  }

  /** True while the clock stands until a later moment. */
  get #isWaiting(): boolean {
    return this.#known.real > this.#now();
  }

  get settings(): ClockSettings {
    return this.#settings;
  }

  /** Changes the settings. The clock continues from its present time. */
  set(settings: Partial<ClockSettings>): void {
    this.#goOnFrom(this.time, { ...this.#settings, ...settings });
  }

  /** Jumps ahead by `ms` of the device's time, even while the clock is paused. */
  step(ms: number): void {
    this.#goOnFrom(this.time + ms);
  }

  /** Restarts at 0 with the same settings. If `real` is later than now, the clock stands at 0 until then. */
  restart(real = this.#now()): void {
    this.#change({ time: 0, real });
  }

  /** Continues from a time and settings of an earlier run of the program. */
  resume(time: number, settings: ClockSettings): void {
    this.#change({ time: within(time), real: this.#now() }, settings);
  }

  #goOnFrom(time: number, settings?: ClockSettings): void {
    // A clock that stands still until a later moment continues to do so.
    this.#change({ time: within(time), real: Math.max(this.#now(), this.#known.real) }, settings);
  }

  #change(known: { readonly time: number; readonly real: number }, settings = this.#settings): void {
    this.changes++;
    this.#known = known;
    this.#settings = settings;
    this.onChange?.();
  }
}

function within(time: number): number {
  return Math.min(MAX_TIME, Math.max(0, time));
}
