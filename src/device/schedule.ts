import { DueQueue } from './due-queue.js';
import type { DeviceClock } from './signals/clock.js';

/** An action to run at a time of the device's clock. */
interface Coming {
  readonly due: number;
  readonly act: () => void;
  /** How many changes this causes, including those that follow from it. */
  readonly changes: number;
}

/** The maximum number of pending changes in a device. A client's write that would exceed it is refused. */
const MAX_COMING = 1000;

/**
 * Runs actions of a device at later times: a coil falls back, a feedback follows. There are no timers: when
 * the device is next accessed, each action that has become due runs at its own time, in order.
 */
export class Schedule {
  readonly clock: DeviceClock;
  readonly #waiting: DueQueue<Schedule>;
  /** The pending actions in order of time; of two with the same time, the one scheduled first comes first. */
  readonly #coming = new DueQueue<Coming>();
  /** How many changes are pending, including those that follow from them. */
  #changes = 0;
  #moment: number | undefined;

  /**
   * Creates an empty schedule.
   * @param waiting the schedules of all devices with pending actions, by the real time at which the next one
   * is due; this one adds and removes itself
   */
  constructor(clock: DeviceClock, waiting: DueQueue<Schedule>) {
    this.clock = clock;
    this.#waiting = waiting;
    clock.onChange = () => this.#wait();
  }

  /** The device's time in ms. While an action runs, this is the time at which the action was due. */
  get time(): number {
    return this.#moment ?? this.clock.time;
  }

  /** True if no change is scheduled. */
  get isIdle(): boolean {
    return this.#changes === 0;
  }

  /** Reports whether this many more changes may be pending. */
  hasRoomFor(changes: number): boolean {
    return changes === 0 || this.#changes + changes <= MAX_COMING;
  }

  /** The time of the next action; undefined if there is none. */
  get due(): number | undefined {
    return this.#coming.first?.due;
  }

  /**
   * Runs an action `ms` from now.
   * @param changes how many changes it causes, including those that follow from it
   * @returns a function that cancels it
   */
  later(ms: number, act: () => void, changes = 1): () => void {
    const coming = { due: this.time + ms, act, changes };
    this.#coming.set(coming, coming.due);
    this.#changes += changes;
    this.#wait();
    return () => this.#remove(coming);
  }

  /** Runs the next action, at its time. */
  doNext(): void {
    const next = this.#coming.first;
    if (!next) return;
    this.#remove(next);
    this.#moment = next.due;
    next.act();
    this.#moment = undefined;
  }

  clear(): void {
    this.#coming.clear();
    this.#changes = 0;
    this.#wait();
  }

  #remove(coming: Coming): void {
    if (!this.#coming.delete(coming)) return;
    this.#changes -= coming.changes;
    this.#wait();
  }

  /** Records in `waiting` when the next action is due. */
  #wait(): void {
    const { due } = this;
    if (due === undefined) this.#waiting.delete(this);
    else this.#waiting.set(this, this.clock.dueAt(due));
  }
}
