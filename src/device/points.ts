import type { LiveValues, RegisterImage } from '../registers/image.js';
import type { Table } from '../registers/table.js';
import type { DeviceClock } from '../signals/clock.js';
import type { Signal } from '../signals/signal.js';
import { Agenda } from './agenda.js';
import type { Dependent } from './dependent.js';
import { Followers } from './followers.js';
import type { LocalPoints } from './local-points.js';
import type { Network, NetworkDevice } from './network.js';
import { type PlacedSignal, Point, type PointDefinition } from './point.js';
import { type FeedDefinition, QueueFeed } from './queue-feed.js';
import { Reactions } from './reactions.js';
import { type SignalHome, signalNamed, startSignal } from './start-signal.js';
import type { TableName } from './tables.js';

export interface PointsContext {
  readonly device: string;
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly clock: DeviceClock;
  /** Decides the random values of all signals that have no seed of their own. */
  readonly seed: number;
  readonly network: Network;
  /** The FIFO queues that signals feed. */
  readonly feeds: readonly FeedDefinition[];
}

/** The values of a device that have a name, a signal or reactions. */
export class Points implements NetworkDevice, LocalPoints {
  readonly device: string;
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  readonly agenda: Agenda;
  readonly reactions: Reactions;
  readonly #followers: Followers;
  /** The FIFO queues that signals feed, as defined. */
  readonly feeds: readonly FeedDefinition[];
  #feeds: ReadonlyMap<number, QueueFeed> = new Map();
  /** How often the signal of a value was replaced or restarted. */
  changes = 0;
  readonly #clock: DeviceClock;
  readonly #home: SignalHome;
  readonly #network: Network;
  /** The values by image and cell. A value has an entry for each of its cells. */
  readonly #byImage = new Map<RegisterImage, Map<number, Point>>();

  constructor(definitions: readonly PointDefinition[], context: PointsContext) {
    const { device, tables, clock, seed, network, feeds } = context;
    this.device = device;
    this.#clock = clock;
    this.#home = { device, clock, seed, network };
    this.#network = network;
    this.feeds = feeds;
    this.agenda = new Agenda(clock, network.waiting);
    this.all = definitions.map((definition) => {
      const { image, base } = tables[definition.table].window;
      return new Point(definition, image, base);
    });
    this.named = new Map(
      this.all.flatMap((point) =>
        point.definition.name === undefined ? [] : [[point.definition.name, point]],
      ),
    );
    this.#followers = new Followers(this, network);
    this.reactions = new Reactions(this, tables.holding, (name) => signalNamed(this.#home, name));
    this.#watch();
    this.#startAll();
  }

  at(image: RegisterImage, cell: number): Point | undefined {
    return this.#byImage.get(image)?.get(cell);
  }

  /** The value at the moment when `clock`, which may belong to another device, shows `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number {
    const own = clock === this.#clock ? time : this.#clock.timeAt(clock.realAt(time));
    return point.valueAt(own, this.#network.revision);
  }

  get dependents(): readonly Dependent[] {
    return [...this.#feeds.values(), ...this.all.filter(({ signal }) => signal?.accumulator)];
  }

  settle(dependent: Dependent, agenda: Agenda): void {
    const { time, clock } = agenda;
    const own = agenda === this.agenda ? time : this.#clock.timeAt(clock.realAt(time));
    dependent.settle(own, this.#network.revision);
  }

  advance(): void {
    this.#network.advance();
  }

  valueNow(point: Point): number {
    return point.valueAt(this.agenda.time, this.#network.revision);
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

  causesMore(point: Point): boolean {
    return point.reactions.length > 0 || this.#followers.has(point);
  }

  /** The words in a FIFO queue that a signal feeds; undefined for any other address. */
  queueAt(address: number): readonly number[] | undefined {
    this.#network.advance();
    return this.#feeds.get(address)?.wordsAt(this.agenda.time);
  }

  /** Has the clock jump ahead by `ms`. What is due meanwhile happens at its time. */
  step(ms: number): void {
    const end = this.#clock.time + ms;
    for (let { due } = this.agenda; due !== undefined && due <= end; { due } = this.agenda) {
      this.#clock.step(Math.max(0, due - this.#clock.time));
      this.#network.advance();
    }
    this.#clock.step(Math.max(0, end - this.#clock.time));
  }

  /** Restarts all signals as defined. Retained accumulators continue from the value in their registers. */
  restart(): void {
    this.changes++;
    this.#startAll();
    for (const point of this.all) if (point.definition.retain) point.written(0);
    this.#network.link();
  }

  /** Call after values have become what they were in an earlier run of the program. */
  restored(): void {
    this.#network.link();
  }

  /** Sets the signal that computes a value from now on. Without a signal the value stays as it is. */
  setSignal(point: Point, placed: PlacedSignal | undefined): void {
    this.#network.advance();
    this.changes++;
    this.#network.settleDependents(point, this.agenda);
    point.refresh(this.agenda.time, this.#network.revision);
    point.setSignal(placed, placed && this.#start(point, placed));
    this.#followers.link();
    point.follower?.begin(point.stored);
    const command = this.named.get(point.follower?.command ?? '');
    if (command) this.#followers.tell(command);
    this.#followers.tell(point);
    this.#network.link();
  }

  #startAll(): void {
    this.agenda.clear();
    this.reactions.start();
    for (const point of this.all) {
      const { signal } = point.definition;
      point.setSignal(signal, signal && this.#start(point, signal));
    }
    this.#followers.link();
    this.#followers.begin();
    this.#feeds = new Map(
      this.feeds.map((definition) => [
        definition.address,
        new QueueFeed(definition, startSignal(this.#home, `queue ${definition.address}`, definition.signal)),
      ]),
    );
  }

  /** Makes the images update computed values when their cells are read. */
  #watch(): void {
    for (const point of this.all) {
      const { image, place } = point;
      const cells = this.#byImage.get(image) ?? new Map<number, Point>();
      this.#byImage.set(image, cells);
      for (let i = 0; i < place.cells; i++) cells.set(place.address + i, point);
    }
    for (const [image, cells] of this.#byImage) image.live = this.#liveValues(image, cells);
  }

  #liveValues(image: RegisterImage, cells: ReadonlyMap<number, Point>): LiveValues {
    return {
      refresh: (address, count) => {
        this.#network.advance();
        const { time } = this.agenda;
        let before: Point | undefined;
        for (let cell = address; cell < address + count; cell++) {
          const point = cells.get(cell);
          if (point && point !== before) point.refresh(time, this.#network.revision);
          before = point;
        }
      },
      changing: (address) => {
        const point = cells.get(address);
        if (!point) return;
        this.#network.advance();
        this.#network.settleDependents(point, this.agenda);
        point.written(this.agenda.time);
      },
      changed: (address, count) => {
        for (const point of this.between(image, address, count)) this.#followers.tell(point);
      },
      written: (address, count) => {
        for (const point of this.between(image, address, count)) point.react();
      },
      isFull: () => this.agenda.isFull,
    };
  }

  #start(point: Point, placed: PlacedSignal): Signal {
    const { table, address } = point.definition;
    const signal = startSignal(this.#home, `${table} ${address}`, placed);
    return point.reactions.reduce((inner, { around }) => around?.(inner) ?? inner, signal);
  }
}
