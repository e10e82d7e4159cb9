import type { Dependent, DependentOwner, PlacedSignal, Point } from './point.js';
import type { Schedule } from './schedule.js';
import type { DeviceClock } from './signals/clock.js';

/** The values of one device, for signals of other devices. */
export interface GraphDevice extends DependentOwner {
  readonly device: string;
  readonly named: ReadonlyMap<string, Point>;
  readonly schedule: Schedule;
  /** The values of this device that are added up or recorded from others. */
  readonly dependents: readonly Dependent[];
  /** Returns the value at the moment when `clock` shows `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number;
}

/** A value together with the values of the device that it belongs to. */
interface OwnedPoint {
  readonly points: GraphDevice;
  readonly point: Point;
}

/**
 * How much all values that add up others may evaluate in one read, which takes 1 or 2 ms. The unit is one
 * character of an expression; looking up a value by its name takes as long as 100 of them.
 */
const MAKES_UP = 100_000;
const LOOK_UP = 100;

/** How many steps one value may make up in one read. */
const MOST_STEPS = 1000;

/** The named values of all devices of a simulator. Signals may depend on them. */
export class DependencyGraph {
  readonly #devices = new Map<string, GraphDevice>();
  /** Changes whenever something changes, other than the time, that a computed value may depend on. */
  revision = 0;
  /** The schedules in which something is still to happen. */
  readonly waiting = new Set<Schedule>();
  /**
   * All values that add up or record others, each with its device, in the order in which they are settled.
   */
  #dependents: ReadonlyMap<Dependent, GraphDevice> = new Map();
  /** The values that the dependents need. */
  readonly #needed = new Set<Point>();
  #isAdvancing = false;
  #stepsAtOnce = MOST_STEPS;

  /**
   * How many steps each value that adds up others may make up in one read. The more there is to evaluate, the
   * fewer steps.
   */
  get stepsAtOnce(): number {
    return this.#stepsAtOnce;
  }

  add(points: GraphDevice): void {
    this.#devices.set(points.device, points);
  }

  /**
   * Forgets the values of a device, which may be added again. What the device still has to do stays in its
   * schedule.
   */
  remove(device: string): void {
    this.#devices.delete(device);
  }

  /**
   * Finds `voltage` of the same device, or `other.voltage`. Value names have no dot; device names may have
   * dots.
   */
  find(device: string, name: string): OwnedPoint | undefined {
    const dot = name.lastIndexOf('.');
    const points = this.#devices.get(dot < 0 ? device : name.slice(0, dot));
    const point = points?.named.get(name.slice(dot + 1));
    return points && point && { points, point };
  }

  /** Updates which dependents depend on which values. Call after values, names or signals have changed. */
  link(): void {
    this.revision++;
    for (const point of this.#needed) point.dependents.clear();
    this.#needed.clear();
    const linked = Array.from(this.#devices.values()).flatMap((owner) =>
      owner.dependents.map((dependent) => {
        const needed = new Set<Point>();
        this.#collect(owner.device, dependent.needs, needed);
        return { dependent, owner, needed };
      }),
    );
    // A value that needs others needs more values than they do. It is settled first, while the others still
    // have their past.
    linked.sort((a, b) => b.needed.size - a.needed.size);
    this.#dependents = new Map(linked.map(({ dependent, owner }) => [dependent, owner]));
    let work = 0;
    for (const { dependent, owner, needed } of linked) {
      for (const point of needed) {
        point.dependents.set(dependent, owner);
        this.#needed.add(point);
        work += LOOK_UP + lengthOf(point.placedSignal);
      }
    }
    this.#stepsAtOnce = Math.max(1, Math.min(MOST_STEPS, Math.floor(MAKES_UP / work)));
  }

  /**
   * Does what has become due in the devices, in the order of time. Call this before values are read or
   * changed.
   */
  advance(): void {
    if (this.waiting.size === 0 || this.#isAdvancing) return;
    this.#isAdvancing = true;
    for (let next = this.#firstDue(); next; next = this.#firstDue()) next.doNext();
    this.#isAdvancing = false;
  }

  /**
   * Adds up all values that add up others until now, one value after the other. Without this, a value that
   * nobody reads for a day would have much to add up at the next read, and every line would wait for that. No
   * value changes by this.
   */
  *updateAll(): Generator<void> {
    for (const [dependent, { schedule }] of [...this.#dependents]) {
      dependent.reach?.(schedule.time, this.revision);
      yield;
    }
  }

  /** Makes every dependent keep its present value. Call this before a clock or a signal changes. */
  settleAll(): void {
    this.advance();
    for (const [dependent, owner] of this.#dependents) owner.settle(dependent, owner.schedule);
    this.revision++;
  }

  /**
   * Makes everything that depends on a value keep what it has added up. Call this before the value changes,
   * at the moment of `schedule`.
   */
  settleDependents({ dependents }: Point, schedule: Schedule): void {
    for (const [dependent, owner] of dependents) owner.settle(dependent, schedule);
    this.revision++;
  }

  #firstDue(): Schedule | undefined {
    let first: { readonly schedule: Schedule; readonly real: number } | undefined;
    for (const schedule of this.waiting) {
      const { due, clock } = schedule;
      if (due === undefined || due > clock.time) continue;
      const real = clock.realAt(due);
      if (!first || real < first.real) first = { schedule, real };
    }
    return first?.schedule;
  }

  #collect(device: string, names: readonly string[], needed: Set<Point>): void {
    for (const name of names) {
      const found = this.find(device, name);
      if (!found || needed.has(found.point)) continue;
      needed.add(found.point);
      this.#collect(found.points.device, found.point.needs, needed);
    }
  }
}

/** Returns the length of an expression; 0 for any other signal. */
function lengthOf(placed: PlacedSignal | undefined): number {
  const written = placed?.definition.written;
  return typeof written === 'string' ? written.length : 0;
}
