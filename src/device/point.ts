import type { Reaction, ReactionDefinition } from './reactions/reaction.js';
import type { ValueType } from './registers/cell-type.js';
import type { RegisterImage } from './registers/image.js';
import {
  nearestValue,
  usualSentinel,
  type Value,
  type ValueLocation,
  wordsOfValue,
} from './registers/value.js';
import type { Schedule } from './schedule.js';
import type { Follower, Reached, Signal, SignalDefinition, Track } from './signals/signal.js';
import type { TableName } from './tables.js';

/** The signal of a register, with the recording that its parameters name. */
export interface PlacedSignal {
  readonly definition: SignalDefinition;
  /** Absent where the signal uses the seed of the device. */
  readonly seed?: number;
  /** Opens the recording that the signal plays; absent for other signals. */
  readonly openTrack?: () => Track;
}

/** The definition of a value: its location and type, its meaning, and its signal. */
export interface PointDefinition {
  readonly table: TableName;
  /** The first address of the value in its table. */
  readonly address: number;
  readonly cells: number;
  readonly type: ValueType;
  /** Unique in its device. */
  readonly name?: string;
  readonly unit?: string;
  /** The value in its unit is the raw value times this scale. */
  readonly scale: number;
  readonly description?: string;
  /** Texts for raw values. */
  readonly labels?: ReadonlyMap<number, string>;
  /** Whether the value is kept when the device loses its supply. */
  readonly retain: boolean;
  /** Whether the value is available after a start, apart from `isAway`; without it, it is. */
  readonly available?: boolean;
  /** Whether a schedule makes the value not available at a time of the device's clock, in ms. */
  readonly isAway?: (time: number) => boolean;
  /** What clients read while the value is not available; without it, what is usual for the type. */
  readonly notAvailable?: Value;
  readonly signal?: PlacedSignal;
  /** What the value does when it is written. */
  readonly reactions?: readonly ReactionDefinition[];
}

/** Something that adds up or records other values. */
export interface Dependent {
  /** The names of the values that it depends on directly. */
  readonly needs: readonly string[];
  /**
   * Computes everything up to `time`, so that a later read has less to do. Absent where a read never has much
   * to do.
   */
  reach?(time: number, revision: number): void;
  /** Fixes everything up to `time` of the device's clock. */
  settle(time: number, revision: number): void;
}

/** The device that a dependent belongs to, whose clock it follows. */
export interface DependentOwner {
  /**
   * Has a dependent keep what it has, at the present moment of the schedule, which may be another device's.
   */
  settle(dependent: Dependent, schedule: Schedule): void;
}

/** One value of a device that has a name, a signal or reactions. */
export class Point implements Dependent {
  readonly definition: PointDefinition;
  readonly image: RegisterImage;
  readonly location: ValueLocation;
  /** What depends on this value, directly or not, with its device, whose clock it follows. */
  readonly dependents = new Map<Dependent, DependentOwner>();
  reactions: readonly Reaction[] = [];
  /** How often a computed value did not fit the type when it was read. */
  saturated = 0;
  /** Whether the value is available when its schedule does not say otherwise. {@link Points} sets it. */
  isSwitchedOn = true;
  readonly #schedule: Schedule;
  #sentinel: readonly number[] | undefined;
  #placedSignal: PlacedSignal | undefined;
  #signal: Signal | undefined;
  /**
   * When an accumulator was written. Words are written one by one, so the next read takes over the new value.
   */
  #writtenAt: number | undefined;
  #computed: { readonly time: number; readonly revision: number; readonly value: number } | undefined;

  /** @param base index of the table's first cell in the image. */
  constructor(definition: PointDefinition, image: RegisterImage, base: number, schedule: Schedule) {
    const { address, cells, type } = definition;
    this.definition = definition;
    this.image = image;
    this.#schedule = schedule;
    this.location = { address: base + address, cells, type };
  }

  /** The signal as defined; undefined for a value without a signal. */
  get placedSignal(): PlacedSignal | undefined {
    return this.#placedSignal;
  }

  /** Sets the signal that computes the value from now on. Without a signal the value stays as it is. */
  setSignal(placed: PlacedSignal | undefined, signal: Signal | undefined): void {
    this.#placedSignal = placed;
    this.#signal = signal;
    this.#writtenAt = undefined;
    this.saturated = 0;
  }

  get signal(): Signal | undefined {
    return this.#signal;
  }

  get follower(): Follower | undefined {
    return this.#signal?.follower;
  }

  get needs(): readonly string[] {
    return this.#placedSignal?.definition.needs ?? [];
  }

  /** The raw value, as it was last computed or written. */
  get raw(): Value {
    return this.image.valueAt(this.location);
  }

  /** The stored value in its unit; NaN for text. */
  get stored(): number {
    return Number(this.raw) * this.definition.scale;
  }

  /** Whether clients read the value at a time of the device's clock, and not its sentinel. */
  isAvailableAt(time: number): boolean {
    if (!this.isSwitchedOn || this.definition.isAway?.(time)) return false;
    // Those who publish live in the time of the wall, whatever the clock of the device does.
    return !this.#signal?.inlet?.isStale?.(performance.now());
  }

  /** Whether clients read the value now. */
  get isAvailable(): boolean {
    return this.isAlwaysAvailable || this.isAvailableAt(this.#schedule.time);
  }

  /** Whether clients always read the value. */
  get isAlwaysAvailable(): boolean {
    return this.isSwitchedOn && this.definition.isAway === undefined && !this.#signal?.inlet?.isStale;
  }

  /**
   * The words that clients read while the value is not available; undefined where the type has none and the
   * entry neither.
   */
  get sentinel(): readonly number[] | undefined {
    const { address, cells, type } = this.location;
    const value = this.definition.notAvailable ?? usualSentinel(type);
    if (value !== undefined) this.#sentinel ??= wordsOfValue(type, value, cells, this.image.orderAt(address));
    return this.#sentinel;
  }

  /**
   * The value in its unit at a time of the device's clock, not rounded to the type.
   * @param revision changes with everything but the time that values depend on. Per time and revision, the
   * value is computed once.
   */
  valueAt(time: number, revision: number): number {
    if (!this.#signal) return this.stored;
    const known = this.#computed;
    if (known?.time === time && known.revision === revision) return known.value;
    if (this.#writtenAt !== undefined) {
      this.#preset({ time: this.#writtenAt, value: this.stored });
      this.#writtenAt = undefined;
    }
    const value = this.#signal.valueAt(time);
    this.#computed = { time, revision, value };
    return value;
  }

  /** Writes the current value of the signal to the registers. */
  refresh(time: number, revision: number): void {
    if (!this.#signal) return;
    const { value, fits } = nearestValue(
      this.location.type,
      this.valueAt(time, revision) / this.definition.scale,
    );
    if (!fits) this.saturated++;
    this.image.show(this.location, value);
  }

  /** Call before a client, a person or an action changes the registers of the value. */
  written(time: number): void {
    if (this.#signal?.accumulator) this.#writtenAt = time;
  }

  /** Call after a client, an operator or a reaction wrote the value. */
  react(): void {
    for (const reaction of this.reactions) reaction.written?.();
  }

  reach(time: number, revision: number): void {
    this.valueAt(time, revision);
  }

  /** Where an accumulator could go on from after a restart of the program; undefined for other values. */
  reached(time: number): Reached | undefined {
    const accumulator = this.#signal?.accumulator;
    if (!accumulator) return undefined;
    if (this.#writtenAt !== undefined && Number.isFinite(this.stored))
      return { time: this.#writtenAt, value: this.stored };
    return accumulator.reached(time);
  }

  /** Lets an accumulator go on from what it had reached. */
  resume(reached: Reached): void {
    this.#preset(reached);
    this.#computed = undefined;
  }

  /** A sum goes on as it was where NaN or an infinity was written: it would stay so for good. */
  #preset({ time, value }: Reached): void {
    if (Number.isFinite(value)) this.#signal?.accumulator?.preset(time, value);
  }

  /** An accumulator keeps what it has added up until `time`. */
  settle(time: number, revision: number): void {
    if (!this.#signal?.accumulator) return;
    this.valueAt(time, revision);
    this.#signal.accumulator.settle(time);
  }
}

/** The values of one device, for the parts that make them react and follow. */
export interface LocalPoints {
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  readonly schedule: Schedule;
  /** The value at a cell of an image, if the value has a name, a signal or reactions. */
  at(image: RegisterImage, cell: number): Point | undefined;
  /** The values with a cell among `count` cells of an image. */
  between(image: RegisterImage, address: number, count: number): readonly Point[];
  /** Does what has become due. */
  advance(): void;
  /** The value now, in its unit. */
  valueNow(point: Point): number;
  /** Whether a write of the value makes something happen later. */
  causesMore(point: Point): boolean;
}
