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
  readonly #clock: DeviceClock;
  readonly #seed: number;
  readonly #network: Network;
  /** The values by the cells that they take. */
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

  /** The value that takes a cell of an image, if it has a name or a signal. */
  at(image: RegisterImage, cell: number): Point | undefined {
    return this.#byImage.get(image)?.get(cell);
  }

  /** The value at a moment that another clock shows as `time`. */
  valueAtMoment(point: Point, time: number, clock: DeviceClock): number {
    const own = clock === this.#clock ? time : this.#clock.timeAt(clock.realAt(time));
    return point.valueAt(own, this.#network.revision);
  }

  /** Those of the accumulators that belong to this device keep what they have added up. */
  settle(accumulators: Iterable<Point>): void {
    const { time } = this.#clock;
    for (const point of accumulators) {
      if (this.#owns(point)) point.settle(time, this.#network.revision);
    }
  }

  /** All signals as defined, from the beginning; accumulators that are retained go on from what they show. */
  restart(): void {
    this.#startAll();
    for (const point of this.all) if (point.definition.retain) point.written(0);
    this.#network.link();
  }

  /** Moves a value by another signal from now on; without one, the value stays as it is now. */
  setSignal(point: Point, placed: PlacedSignal | undefined): void {
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

  /** Lets the images ask for computed values, cell by cell. */
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

  /** The value of that name, whatever moves it at the time; what it is worth is looked up when it is needed. */
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

/** The exact integral of a value of the same device: of a signal that has one, or of a value that stays. */
function integralOf(point: Point): Signal['integral'] {
  if (point.signal) return point.signal.integral;
  return (from, to) => (point.stored * (to - from)) / 1000;
}
