import type { LiveValues, RegisterImage } from '../registers/image.js';
import type { Table } from '../registers/table.js';
import type { DeviceClock } from '../signals/clock.js';
import { seedOf } from '../signals/random.js';
import type { Signal, SignalContext } from '../signals/signal.js';
import type { Network, NetworkDevice } from './network.js';
import { type PlacedSignal, Point, type PointDefinition } from './point.js';
import type { TableName } from './tables.js';

export interface PointsContext {
  readonly device: string;
  readonly tables: Readonly<Record<TableName, Table>>;
  readonly clock: DeviceClock;
  /** Decides the random values of all signals that have no seed of their own. */
  readonly seed: number;
  readonly network: Network;
}

/** The values of a device that have a name or a signal. */
export class Points implements NetworkDevice {
  readonly device: string;
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  /** How often the signal of a value was replaced or restarted. */
  changes = 0;
  readonly #clock: DeviceClock;
  readonly #seed: number;
  readonly #network: Network;
  /** The values by image and cell. A value has an entry for each of its cells. */
  readonly #byImage = new Map<RegisterImage, Map<number, Point>>();

  constructor(definitions: readonly PointDefinition[], context: PointsContext) {
    const { device, tables, clock, seed, network } = context;
    this.device = device;
    this.#clock = clock;
    this.#seed = seed;
    this.#network = network;
    this.all = definitions.map((definition) => {
      const { image, base } = tables[definition.table].window;
      return new Point(definition, image, base);
    });
    this.named = new Map(
      this.all.flatMap((point) =>
        point.definition.name === undefined ? [] : [[point.definition.name, point]],
      ),
    );
    this.#watch();
    this.#startAll();
  }

  /** The value at a cell of an image, if the value has a name or a signal. */
  at(image: RegisterImage, cell: number): Point | undefined {
    return this.#byImage.get(image)?.get(cell);
  }

  /** The value at the moment when `clock`, which may belong to another device, shows `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number {
    const own = clock === this.#clock ? time : this.#clock.timeAt(clock.realAt(time));
    return point.valueAt(own, this.#network.revision);
  }

  /** Settles those of the accumulators that belong to this device: they keep what they have added up. */
  settle(accumulators: Iterable<Point>): void {
    const { time } = this.#clock;
    for (const point of accumulators) {
      if (this.#owns(point)) point.settle(time, this.#network.revision);
    }
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
    this.changes++;
    this.#network.settleDependents(point);
    point.refresh(this.#clock.time, this.#network.revision);
    point.setSignal(placed, placed && this.#start(point, placed));
    this.#network.link();
  }

  #startAll(): void {
    for (const point of this.all) {
      const { signal } = point.definition;
      point.setSignal(signal, signal && this.#start(point, signal));
    }
  }

  #owns(point: Point): boolean {
    return this.at(point.image, point.place.address) === point;
  }

  /** Makes the images update computed values when their cells are read. */
  #watch(): void {
    for (const point of this.all) {
      const { image, place } = point;
      const cells = this.#byImage.get(image) ?? new Map<number, Point>();
      this.#byImage.set(image, cells);
      for (let i = 0; i < place.cells; i++) cells.set(place.address + i, point);
    }
    for (const [image, cells] of this.#byImage) image.live = this.#liveValues(cells);
  }

  #liveValues(cells: ReadonlyMap<number, Point>): LiveValues {
    return {
      refresh: (address, count) => {
        const { time } = this.#clock;
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
        this.#network.settleDependents(point);
        point.written(this.#clock.time);
      },
    };
  }

  #start({ definition: { table, address } }: Point, { definition, seed, openTrack }: PlacedSignal): Signal {
    const context: SignalContext = {
      seed: seed ?? seedOf(this.#seed, `${this.device} ${table} ${address}`),
      named: (name) => this.#signalNamed(name),
      trackOf() {
        if (!openTrack) throw new Error('a signal that plays a recording was placed without one');
        return openTrack();
      },
    };
    return definition.start(context);
  }

  /** A signal that looks up the named value each time, so it follows the value when its signal is replaced. */
  #signalNamed(name: string): Signal {
    const find = () => this.#network.find(this.device, name);
    const clock = this.#clock;
    const { device } = this;
    return {
      valueAt(time) {
        const found = find();
        return found ? found.points.valueAtMoment(found.point, time, clock) : Number.NaN;
      },
      get integral() {
        const found = find();
        return found?.points.device === device ? integralOf(found.point) : undefined;
      },
    };
  }
}

/** The exact integral of a value of the same device. It exists for some signals, and for values without a signal. */
function integralOf(point: Point): Signal['integral'] {
  if (point.signal) return point.signal.integral;
  return (from, to) => (point.stored * (to - from)) / 1000;
}
