import { DueQueue } from './due-queue.js';
import type { Dependent, PlacedSignal, Point } from './point.js';
import { History } from './registers/history.js';
import type { Schedule } from './schedule.js';
import type { DeviceClock } from './signals/clock.js';

/** The values of one device, for signals of other devices. */
export interface GraphDevice {
  readonly device: string;
  readonly named: ReadonlyMap<string, Point>;
  readonly schedule: Schedule;
  /** Increases whenever a signal of the device is replaced. */
  readonly changes: number;
  /** The values of this device that accumulate or record other values. */
  readonly dependents: readonly Dependent[];
  /** True if a value of this device depends on a value of a device that it names. */
  readonly namesDevices: boolean;
  /** Returns what depends directly on a value, by the name used there: `voltage` or `other.voltage`. */
  needersOf(name: string): Iterable<Dependent>;
  /** Returns the value at the moment when `clock` shows `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number;
  /** Reports whether a value, with everything that it depends on, can be recomputed for a real time in the past. */
  isKnownAt(point: Point, real: number, known: Map<Point, boolean>): boolean;
  /** Makes a dependent keep its present value, at the present moment of a schedule, possibly of another device. */
  settle(dependent: Dependent, schedule: Schedule): void;
}

/** A value, and the values of the device that it belongs to. */
interface OwnedPoint {
  readonly points: GraphDevice;
  readonly point: Point;
}

/**
 * How much all accumulating values together may evaluate in one read, which takes 1 or 2 ms. The unit is one
 * character of an expression; looking up a value by its name takes as long as 100 of them.
 */
const MAKES_UP = 100_000;
const LOOK_UP = 100;

/** How many missed steps one value may catch up on in one read. */
const MOST_STEPS_AT_ONCE = 1000;

/** Dependents, each with its device, whose clock it follows, in the order of settling. */
type Dependents = ReadonlyMap<Dependent, GraphDevice>;

const NONE: Dependents = new Map();

/** Longer lists of dependents are not cached: they would take more memory than the values. */
const MOST_REMEMBERED = 64;

/** The named values of all devices of a simulator. Signals may depend on them. */
export class DependencyGraph {
  readonly #devices = new Map<string, GraphDevice>();
  /** Changes whenever something other than the time changes that a computed value may depend on. */
  revision = 0;
  /** The schedules with pending actions, by the real time at which the next one is due. */
  readonly waiting = new DueQueue<Schedule>();
  /** The devices with values that depend on values of named devices. */
  #namingDevices: GraphDevice[] = [];
  /** What depends on a value, directly or indirectly; found when it is first needed after a change of the links. */
  #dependents = new WeakMap<Point, Dependents>();
  /** How much the dependents of a device evaluate in one step, valid for one number of its changes. */
  readonly #work = new WeakMap<GraphDevice, { readonly changes: number; readonly work: number }>();
  /** The past contents of the registers of all devices. */
  readonly history: History;
  #isAdvancing = false;
  #stepsAtOnce = MOST_STEPS_AT_ONCE;

  /** @param now returns real time in ms, which never goes back; the clocks of the devices follow `history.now` */
  constructor(now: () => number = () => performance.now()) {
    this.history = new History(now);
  }

  /**
   * How many missed steps each accumulating value may catch up on in one read. The more there is to evaluate,
   * the fewer steps.
   */
  get stepsAtOnce(): number {
    return this.#stepsAtOnce;
  }

  add(points: GraphDevice): void {
    this.history.begin(points, 'made');
    this.#devices.set(points.device, points);
  }

  /** Forgets the values of a device, which may be added again. Pending actions stay in its schedule. */
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

  /**
   * Records that devices were added or removed, or signals replaced. Dependencies are found later, so that
   * the time this takes does not grow with the number of values.
   */
  link(): void {
    this.revision++;
    this.#dependents = new WeakMap();
    this.#namingDevices = [...this.#devices.values()].filter(({ namesDevices }) => namesDevices);
    let work = 0;
    for (const owner of this.#devices.values()) {
      work += this.#workOf(owner);
      if (work >= MAKES_UP) break;
    }
    this.#stepsAtOnce = Math.max(1, Math.min(MOST_STEPS_AT_ONCE, Math.floor(MAKES_UP / work)));
  }

  /** Returns how much all dependents of a device evaluate in one step, capped where more makes no difference. */
  #workOf(owner: GraphDevice): number {
    const known = this.#work.get(owner);
    if (known?.changes === owner.changes && !owner.namesDevices) return known.work;
    let work = 0;
    for (const { needs } of owner.dependents) {
      const needed = new Set<Point>();
      this.#collect(owner.device, needs, needed);
      for (const { placedSignal } of needed) work += LOOK_UP + lengthOf(placedSignal);
      if (work >= MAKES_UP) break;
    }
    this.#work.set(owner, { changes: owner.changes, work });
    return work;
  }

  /** Runs what has become due in the devices, in order of time. Call this before values are read or changed. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    for (let next = this.#firstDue(); next; next = this.#firstDue()) {
      this.history.due = next.due === undefined ? undefined : next.clock.realAt(next.due);
      next.doNext();
    }
    this.history.due = undefined;
    this.#isAdvancing = false;
  }

  /** Calls `look` with all values as they were at a real time. It must change nothing. */
  at<Seen>(real: number, look: () => Seen): Seen {
    this.advance();
    this.revision++;
    const seen = this.history.at(real, look);
    this.revision++;
    return seen;
  }

  /**
   * Brings all accumulating values up to date, one after another. Otherwise a value that was not read for a
   * day would have much to add up on the next read, and every line would wait for that. This changes no
   * value.
   */
  *updateAll(): Generator<void> {
    for (const { dependents, schedule } of [...this.#devices.values()]) {
      for (const dependent of dependents) {
        dependent.reach?.(schedule.time, this.revision);
        yield;
      }
    }
  }

  /**
   * Makes the dependents of a device, and those that depend on its values, keep their present values. Call
   * this before the clock or the signals of the device change.
   */
  settleDevice(owner: GraphDevice): void {
    this.advance();
    const found = new Map<Dependent, GraphDevice>();
    const seen = new Set<Dependent>();
    for (const point of owner.named.values()) this.#findDependents(owner, point.name, found, seen);
    for (const dependent of owner.dependents) this.#findBelow(owner, dependent, found, seen);
    this.#settle(found, owner.schedule);
  }

  /**
   * Makes everything that depends on a value keep what it has accumulated. Call this before the value
   * changes, at the moment of its device's schedule.
   */
  settleDependents(owner: GraphDevice, point: Point): void {
    this.#settle(this.#dependentsOf(owner, point), owner.schedule);
  }

  #settle(dependents: Dependents, schedule: Schedule): void {
    for (const [dependent, owner] of dependents) owner.settle(dependent, schedule);
    this.revision++;
  }

  #dependentsOf(owner: GraphDevice, point: Point): Dependents {
    if (point.name === undefined) return NONE;
    const known = this.#dependents.get(point);
    if (known) return known;
    const found = new Map<Dependent, GraphDevice>();
    this.#findDependents(owner, point.name, found, new Set());
    if (found.size <= MOST_REMEMBERED) this.#dependents.set(point, found.size === 0 ? NONE : found);
    return found;
  }

  /**
   * Finds what depends on a value, directly or indirectly. Whatever needs another dependent comes before it:
   * it is settled first, while the other still has its past.
   */
  #findDependents(
    owner: GraphDevice,
    name: string | undefined,
    found: Map<Dependent, GraphDevice>,
    seen: Set<Dependent>,
  ): void {
    if (name === undefined) return;
    for (const dependent of owner.needersOf(name)) this.#findBelow(owner, dependent, found, seen);
    if (this.#namingDevices.length === 0) return;
    const fullName = `${owner.device}.${name}`;
    for (const device of this.#namingDevices)
      for (const dependent of device.needersOf(fullName)) this.#findBelow(device, dependent, found, seen);
  }

  #findBelow(
    owner: GraphDevice,
    dependent: Dependent,
    found: Map<Dependent, GraphDevice>,
    seen: Set<Dependent>,
  ): void {
    if (seen.has(dependent)) return;
    seen.add(dependent);
    this.#findDependents(owner, dependent.name, found, seen);
    if (dependent.keeps) found.set(dependent, owner);
  }

  #firstDue(): Schedule | undefined {
    const { first } = this.waiting;
    return first?.due !== undefined && first.clock.hasReached(first.due) ? first : undefined;
  }

  #collect(device: string, names: readonly string[], needed: Set<Point>): void {
    for (const name of names) {
      if (needed.size * LOOK_UP >= MAKES_UP) return;
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
