import { atOnce, type Work } from '../common/work.js';
import type { DependencyGraph, GraphDevice } from './dependency-graph.js';
import { Followers } from './followers.js';
import { type Dependent, type LocalPoints, type PlacedSignal, Point, type PointDefinition } from './point.js';
import { type FeedDefinition, QueueFeed } from './queue-feed.js';
import { Reactions } from './reactions.js';
import type { LiveValues, RegisterImage } from './registers/image.js';
import type { Table } from './registers/table.js';
import { Schedule } from './schedule.js';
import { type DeviceClock, MAX_TIME } from './signals/clock.js';
import type { Signal } from './signals/signal.js';
import { paceOf, type SignalHome, signalNamed, startSignal } from './start-signal.js';
import type { TableName } from './tables.js';

export interface PointsContext {
  readonly device: string;
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly clock: DeviceClock;
  readonly seed: number;
  readonly graph: DependencyGraph;
  readonly feeds: readonly FeedDefinition[];
}

/** The values, grouped by what their signals do. */
interface Signals {
  /** The number of `Points.changes` that these groups are valid for. */
  readonly changes: number;
  readonly accumulating: readonly Point[];
  readonly needing: readonly Point[];
  readonly foreign: readonly Point[];
}

/** The values of a device that have a name, a signal or reactions. */
export class Points implements GraphDevice, LocalPoints {
  readonly device: string;
  readonly #all: Point[] = [];
  readonly #named = new Map<string, Point>();
  readonly #tables: PointsContext['tables'];
  readonly schedule: Schedule;
  readonly reactions: Reactions;
  readonly #followers: Followers;
  readonly feeds: readonly FeedDefinition[];
  #feeds: ReadonlyMap<number, QueueFeed> = new Map();
  /** What depends directly on a value, by the name used there. */
  readonly #needers = new Map<string, Set<Dependent>>();
  /** How many of these names refer to values of a named device. */
  #namesOfDevices = 0;
  /** How many times the signal of a value was replaced or restarted, or a value was made available or unavailable. */
  changes = 0;
  #known: Signals | undefined;
  readonly #clock: DeviceClock;
  readonly #home: SignalHome;
  readonly #graph: DependencyGraph;
  /** The values by image and cell. A value has an entry for each of its cells. */
  readonly #byImage = new Map<RegisterImage, Map<number, Point>>();
  /** The values that are unavailable, now or at times, by image and cell. */
  readonly #covered = new Map<RegisterImage, Map<number, Point>>();

  constructor(definitions: readonly PointDefinition[], context: PointsContext) {
    const { device, tables, clock, seed, graph, feeds } = context;
    this.device = device;
    this.#clock = clock;
    this.#home = { device, clock, seed, graph };
    this.#graph = graph;
    this.feeds = feeds;
    this.#tables = tables;
    this.schedule = new Schedule(clock, graph.waiting);
    this.#followers = new Followers(this);
    this.reactions = new Reactions(
      this,
      tables.holding,
      (name) => signalNamed(this.#home, name),
      paceOf(this.#home),
    );
    atOnce(this.adding(definitions));
  }

  get all(): readonly Point[] {
    return this.#all;
  }

  get named(): ReadonlyMap<string, Point> {
    return this.#named;
  }

  /** Creates the values of a device that is not in use yet, in pieces. */
  *adding(definitions: readonly PointDefinition[]): Work<void> {
    for (const definition of definitions) {
      yield;
      const { image, base } = this.#tables[definition.table].window;
      const point = new Point(definition, image, base, this.schedule);
      this.#all.push(point);
      if (definition.name !== undefined) this.#named.set(definition.name, point);
      this.#watch(point);
      this.reactions.start(point);
    }
    yield* this.#starting();
    this.#known = undefined;
  }

  at(image: RegisterImage, cell: number): Point | undefined {
    return this.#byImage.get(image)?.get(cell);
  }

  /** Returns the value at the moment when `clock`, which may belong to another device, shows `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number {
    const own = clock === this.#clock ? time : this.#clock.timeAt(clock.realAt(time));
    return point.valueAt(own, this.#graph.revision);
  }

  needersOf(name: string): Iterable<Dependent> {
    return this.#needers.get(name) ?? [];
  }

  get namesDevices(): boolean {
    return this.#namesOfDevices > 0;
  }

  get dependents(): readonly Dependent[] {
    return [...this.#feeds.values(), ...this.#signals.accumulating];
  }

  /** The values whose signals need other values. */
  get needing(): readonly Point[] {
    return this.#signals.needing;
  }

  /** The values whose signals need values of other devices. */
  get foreign(): readonly Point[] {
    return this.#signals.foreign;
  }

  /**
   * The values, grouped by what their signals do. Grouped once for all, because a device may have thousands
   * of values.
   */
  get #signals(): Signals {
    if (this.#known?.changes === this.changes) return this.#known;
    const needing = this.all.filter(({ needs }) => needs.length > 0);
    this.#known = {
      changes: this.changes,
      accumulating: this.all.filter(({ signal }) => signal?.accumulator),
      needing,
      foreign: needing.filter(({ needs }) => needs.some((name) => name.includes('.'))),
    };
    return this.#known;
  }

  settle(dependent: Dependent, schedule: Schedule): void {
    const { time, clock } = schedule;
    const own = schedule === this.schedule ? time : this.#clock.timeAt(clock.realAt(time));
    dependent.settle(own, this.#graph.revision);
  }

  advance(): void {
    this.#graph.advance();
  }

  settleDependents(point: Point): void {
    this.#graph.settleDependents(this, point);
  }

  valueNow(point: Point): number {
    return point.valueAt(this.schedule.time, this.#graph.revision);
  }

  between(image: RegisterImage, address: number, count: number): readonly Point[] {
    const cells = this.#byImage.get(image);
    if (!cells) return [];
    const found = new Set<Point>();
    for (let cell = address; cell < address + count; cell++) {
      const point = cells.get(cell);
      if (point) found.add(point);
    }
    return [...found];
  }

  haveRoom(points: readonly Point[]): boolean {
    // One write to a value of a file may schedule tens of thousands of changes. It is allowed while none is scheduled.
    const isFirst = this.schedule.isIdle && new Set(points).size === points.length;
    return (
      isFirst || this.schedule.hasRoomFor(points.reduce((sum, each) => sum + this.#causedByOne(each), 0))
    );
  }

  causedBy(names: readonly string[]): number {
    return names.reduce((sum, name) => {
      const point = this.named.get(name);
      return point ? sum + this.#causedByOne(point) : sum;
    }, 0);
  }

  #causedByOne(point: Point): number {
    let count = this.#followers.countOf(point);
    for (const { causes, uses } of point.definition.reactions ?? []) {
      count += causes;
      for (const { as, target } of uses) if (as === 'set') count += this.causedBy([String(target)]);
    }
    return count;
  }

  /** Returns the words in a FIFO queue that a signal feeds; undefined for any other address. */
  queueAt(address: number): readonly number[] | undefined {
    this.#graph.advance();
    return this.#feeds.get(address)?.wordsAt(this.schedule.time);
  }

  /** Makes the clock jump ahead by `ms`. Whatever becomes due in between happens at its time. */
  step(ms: number): void {
    const end = Math.min(MAX_TIME, this.#clock.time + ms);
    for (let { due } = this.schedule; due !== undefined && due <= end; { due } = this.schedule) {
      this.#clock.step(Math.max(0, due - this.#clock.time));
      this.#graph.advance();
    }
    this.#clock.step(Math.max(0, end - this.#clock.time));
  }

  /** Keeps the present values of those that are stale for a time after a start. */
  keepBefore(): void {
    for (const point of this.all) {
      if (point.definition.stale === undefined) continue;
      point.refresh(this.schedule.time, this.#graph.revision);
      point.keepBefore(this.schedule.time);
    }
  }

  /** Restarts all signals as defined. Retained accumulators continue from the value in their registers. */
  restart(): void {
    this.#graph.history.begin(this, 'restarted');
    this.changes++;
    atOnce(this.#starting());
    for (const point of this.all) if (point.definition.retain) point.written(0);
    this.#graph.link();
  }

  /** Links the values. Call this after values and the clock have been restored from an earlier run of the program. */
  restored(): void {
    this.begin();
    this.#graph.link();
  }

  /**
   * Reports whether a value, with everything that it depends on, can be recomputed for `real`, in ms of real
   * time. Call this before looking there.
   * @param known results already found for the same moment
   */
  isKnownAt(point: Point, real: number, known = new Map<Point, boolean>()): boolean {
    const before = known.get(point);
    if (before !== undefined) return before;
    known.set(point, true);
    const { history } = this.#graph;
    const { signal } = point;
    // A value written into a sum is adopted when it is read.
    if (signal?.accumulator) this.valueNow(point);
    const isKnown =
      history.since(this).at <= real &&
      history.since(point).at <= real &&
      !signal?.inlet?.isStale &&
      (signal?.since?.() ?? 0) <= this.#clock.timeAt(real) &&
      point.needs.every((name) => {
        const found = this.#graph.find(this.device, name);
        return !found || found.points.isKnownAt(found.point, real, known);
      });
    known.set(point, isKnown);
    return isKnown;
  }

  /** Sets the signal that computes a value from now on. Without a signal the value keeps its state. */
  setSignal(point: Point, placed: PlacedSignal | undefined): void {
    this.#graph.history.begin(point, 'made');
    this.#graph.advance();
    this.changes++;
    this.settleDependents(point);
    point.refresh(this.schedule.time, this.#graph.revision);
    this.#place(point, placed);
    this.#switch(point, point.isSwitchedOn);
    this.#followers.link();
    point.follower?.begin(point.stored);
    const command = this.named.get(point.follower?.command ?? '');
    if (command) this.#followers.changed(command);
    this.#followers.changed(point);
    this.#graph.link();
  }

  /**
   * Makes a number from outside, before scaling, the present value. Only for a value whose signal has an
   * inlet; no other value follows such a value.
   * @param at when the number arrived, in ms of `performance.now()`
   */
  take(point: Point, outcome: number, at: number): void {
    this.#graph.advance();
    this.settleDependents(point);
    point.signal?.inlet?.take(outcome, at);
    // Earlier history is not kept.
    this.#graph.history.begin(point, 'made');
    point.refresh(this.schedule.time, this.#graph.revision);
  }

  /**
   * Makes clients read a value, or its sentinel. Even an available value is unavailable at the times of its
   * schedule.
   */
  setAvailable(point: Point, available: boolean): void {
    this.#graph.history.begin(point, 'made');
    this.changes++;
    this.#switch(point, available);
  }

  #switch(point: Point, available: boolean): void {
    const { image, location } = point;
    const covered = this.#covered.get(image) ?? new Map<number, Point>();
    this.#covered.set(image, covered);
    point.isSwitchedOn = available;
    for (let cell = location.address; cell < location.address + location.cells; cell++) {
      if (point.isAlwaysAvailable) covered.delete(cell);
      else covered.set(cell, point);
    }
    image.cover = covered.size === 0 ? undefined : (address, words) => this.#cover(covered, address, words);
  }

  #cover(covered: ReadonlyMap<number, Point>, address: number, words: number[]): void {
    // All words are for the same time, so that a value is available as a whole or not at all.
    const { time } = this.schedule;
    for (let i = 0; i < words.length; i++) {
      const point = covered.get(address + i);
      const covers = point?.coverAt(time);
      if (point && covers) words[i] = covers[address + i - point.location.address] as number;
    }
  }

  *#starting(): Work<void> {
    this.schedule.clear();
    this.reactions.reset();
    for (const point of this.all) {
      yield;
      const { signal, available = true } = point.definition;
      const wasAlwaysAvailable = point.isAlwaysAvailable;
      if (point.placedSignal !== signal || point.hasState) this.#place(point, signal);
      point.saturated = 0;
      if (!(wasAlwaysAvailable && available && point.isAlwaysAvailable)) this.#switch(point, available);
    }
    yield* this.#followers.linking();
    yield* this.#followers.beginning();
    for (const feed of this.#feeds.values()) this.#forgetNeeds(feed);
    this.#feeds = new Map(
      this.feeds.map((definition) => [
        definition.address,
        new QueueFeed(definition, startSignal(this.#home, `queue ${definition.address}`, definition.signal)),
      ]),
    );
    for (const feed of this.#feeds.values()) this.#noteNeeds(feed);
    this.begin();
  }

  /** Starts the reactions at the present time of the clock: the device has started, or its clock continues. */
  begin(): void {
    for (const point of this.all) for (const reaction of point.reactions) reaction.begun?.();
  }

  #place(point: Point, placed: PlacedSignal | undefined): void {
    this.#forgetNeeds(point);
    point.setSignal(placed, placed && this.#start(point, placed));
    this.#noteNeeds(point);
  }

  #noteNeeds(dependent: Dependent): void {
    for (const name of dependent.needs) {
      const needers = this.#needers.get(name);
      if (needers) needers.add(dependent);
      else {
        this.#needers.set(name, new Set([dependent]));
        if (name.includes('.')) this.#namesOfDevices++;
      }
    }
  }

  #forgetNeeds(dependent: Dependent): void {
    for (const name of dependent.needs) {
      const needers = this.#needers.get(name);
      if (!needers?.delete(dependent) || needers.size > 0) continue;
      this.#needers.delete(name);
      if (name.includes('.')) this.#namesOfDevices--;
    }
  }

  /** Makes the image update a computed value when its cells are read. */
  #watch(point: Point): void {
    const { image, location } = point;
    const known = this.#byImage.get(image);
    const cells = known ?? new Map<number, Point>();
    if (!known) {
      this.#byImage.set(image, cells);
      image.live = this.#liveValues(image, cells);
    }
    for (let i = 0; i < location.cells; i++) cells.set(location.address + i, point);
  }

  #liveValues(image: RegisterImage, cells: ReadonlyMap<number, Point>): LiveValues {
    return {
      refresh: (address, count) => {
        this.#graph.advance();
        const { time } = this.schedule;
        let before: Point | undefined;
        for (let cell = address; cell < address + count; cell++) {
          const point = cells.get(cell);
          if (point && point !== before) point.refresh(time, this.#graph.revision);
          before = point;
        }
      },
      changing: (address) => {
        const point = cells.get(address);
        if (!point) return false;
        this.#graph.advance();
        this.settleDependents(point);
        point.written(this.schedule.time);
        return point.signal !== undefined && !point.signal.inlet;
      },
      changed: (address, count) => {
        for (const point of this.between(image, address, count)) this.#followers.changed(point);
      },
      written: (address, count) => {
        for (const point of this.between(image, address, count)) {
          if (point.definition.appears && !point.isSwitchedOn) this.setAvailable(point, true);
          point.react();
        }
      },
      isFull: (address) => {
        const point = cells.get(address);
        return point !== undefined && !this.haveRoom([point]);
      },
    };
  }

  #start(point: Point, placed: PlacedSignal): Signal {
    const { table, address } = point.definition;
    const signal = startSignal(this.#home, `${table} ${address}`, placed);
    return point.reactions.reduce((inner, { around }) => around?.(inner) ?? inner, signal);
  }
}
