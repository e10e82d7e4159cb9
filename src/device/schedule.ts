import type { DeviceClock } from './signals/clock.js';

/** An action to run at a time of the device's clock. */
interface Coming {
  readonly due: number;
  readonly act: () => void;
  /** How many changes this is, with those that follow from it. */
  readonly changes: number;
}

/** How many changes may be to come in a device. A client's write that would add to them is refused. */
const MAX_COMING = 1000;

/**
 * Runs actions of a device at later times: a coil falls back, a feedback follows. There are no timers: when
 * the device is asked next, each action that has become due runs at its own time, in the order of the times.
 */
export class Schedule {
  readonly clock: DeviceClock;
  readonly #waiting: Set<Schedule>;
  /**
   * The actions to come, in the order of their times; of two with the same time, the one planned first comes
   * first.
   */
  readonly #coming: Coming[] = [];
  /** How many changes are to come, with those that follow from them. */
  #changes = 0;
  #moment: number | undefined;

  /**
   * Makes an empty schedule.
   * @param waiting the schedules of all devices with something to come; this one adds and removes itself
   */
  constructor(clock: DeviceClock, waiting: Set<Schedule>) {
    this.clock = clock;
    this.#waiting = waiting;
  }

  /** The device's time in ms. While an action runs, this is the time at which the action was due. */
  get time(): number {
    return this.#moment ?? this.clock.time;
  }

  /** Tells whether this many more changes may be pending. */
  hasRoomFor(changes: number): boolean {
    return changes === 0 || this.#changes + changes <= MAX_COMING;
  }

  /** The time of the next action; undefined when there is none. */
  get due(): number | undefined {
    return this.#coming[0]?.due;
  }

  /**
   * Runs an action `ms` from now.
   * @param changes how many changes it is, with those that follow from it
   * @returns a function that calls it off
   */
  later(ms: number, act: () => void, changes = 1): () => void {
    const coming = { due: this.time + ms, act, changes };
    const index = this.#coming.findLastIndex(({ due }) => due <= coming.due) + 1;
    this.#coming.splice(index, 0, coming);
    this.#changes += changes;
    this.#waiting.add(this);
    return () => {
      const found = this.#coming.indexOf(coming);
      if (found < 0) return;
      this.#coming.splice(found, 1);
      this.#changes -= changes;
      this.#leaveIfEmpty();
    };
  }

  /** Runs the next action, at its time. */
  doNext(): void {
    const next = this.#coming.shift();
    this.#changes -= next?.changes ?? 0;
    this.#leaveIfEmpty();
    this.#moment = next?.due;
    next?.act();
    this.#moment = undefined;
  }

  clear(): void {
    this.#coming.length = 0;
    this.#changes = 0;
    this.#leaveIfEmpty();
  }

  #leaveIfEmpty(): void {
    if (this.#coming.length === 0) this.#waiting.delete(this);
  }
}
