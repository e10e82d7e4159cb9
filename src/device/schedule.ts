import type { DeviceClock } from './signals/clock.js';

/** Something that happens at a time of the device's clock. */
interface Coming {
  readonly due: number;
  readonly act: () => void;
}

/** So many changes may be to come in a device. A client's write that would add to them is refused. */
const MAX_COMING = 1000;

/**
 * What happens in a device later on: a coil that falls back, a feedback that follows. There are no timers:
 * what has become due happens when the device is asked next, each at its own time and in the order of the
 * times.
 */
export class Schedule {
  readonly clock: DeviceClock;
  readonly #waiting: Set<Schedule>;
  /** In the order of the times; what was planned first comes first. */
  readonly #coming: Coming[] = [];
  #moment: number | undefined;

  /**
   * @param waiting the schedules with something to come, of all devices; this one adds and removes itself.
   */
  constructor(clock: DeviceClock, waiting: Set<Schedule>) {
    this.clock = clock;
    this.#waiting = waiting;
  }

  /** The device's time in ms. While something happens, this is the time at which it was due. */
  get time(): number {
    return this.#moment ?? this.clock.time;
  }

  get isFull(): boolean {
    return this.#coming.length >= MAX_COMING;
  }

  /** The time of what comes first; undefined when nothing is to come. */
  get due(): number | undefined {
    return this.#coming[0]?.due;
  }

  /** Does something `ms` from now. The result calls it off. */
  later(ms: number, act: () => void): () => void {
    const coming = { due: this.time + ms, act };
    const index = this.#coming.findLastIndex(({ due }) => due <= coming.due) + 1;
    this.#coming.splice(index, 0, coming);
    this.#waiting.add(this);
    return () => {
      const found = this.#coming.indexOf(coming);
      if (found >= 0) this.#coming.splice(found, 1);
      this.#leaveIfEmpty();
    };
  }

  /** Does what comes first, at its time. */
  doNext(): void {
    const next = this.#coming.shift();
    this.#leaveIfEmpty();
    this.#moment = next?.due;
    next?.act();
    this.#moment = undefined;
  }

  clear(): void {
    this.#coming.length = 0;
    this.#leaveIfEmpty();
  }

  #leaveIfEmpty(): void {
    if (this.#coming.length === 0) this.#waiting.delete(this);
  }
}
