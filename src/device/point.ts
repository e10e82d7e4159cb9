import type { Reaction, ReactionDefinition } from './reactions/reaction.js';
import type { ValueType } from './registers/cell-type.js';
import type { RegisterImage } from './registers/image.js';
import {
  type BitNames,
  nearestValue,
  usualSentinel,
  type Value,
  type ValueLocation,
  wordsOfValue,
} from './registers/value.js';
import type { Schedule } from './schedule.js';
import type { Follower, Reached, Signal, SignalDefinition, Track } from './signals/signal.js';
import type { TableName } from './tables.js';

/** The signal of a register, with the recording named in its parameters. */
export interface PlacedSignal {
  readonly definition: SignalDefinition;
  /** The seed; absent if the signal uses the seed of the device. */
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
  /** The name, which is unique in the device. */
  readonly name?: string;
  readonly unit?: string;
  /** The factor from the raw value to the value in its unit. */
  readonly scale: number;
  readonly description?: string;
  /** The texts for raw values. */
  readonly labels?: ReadonlyMap<number, string>;
  readonly bits?: BitNames;
  /** True if the value is kept while the device has no power. */
  readonly retain: boolean;
  /** False if the value is not available after a start; `isAway` may make it unavailable at other times. */
  readonly available?: boolean;
  /** True if a write makes a value available that is not available after a start. */
  readonly appears?: boolean;
  /** Reports whether a schedule makes the value unavailable at a time of the device's clock, in ms. */
  readonly isAway?: (time: number) => boolean;
  /** What clients read while the value is not available; by default, the usual sentinel of the type. */
  readonly notAvailable?: Value;
  /** How long after a start clients still read the value from before it, in ms of the device's clock. */
  readonly stale?: number;
  readonly signal?: PlacedSignal;
  /** What the value does when it is written. */
  readonly reactions?: readonly ReactionDefinition[];
}

/** A value or a queue that depends on other values: it computes, accumulates or records them. */
export interface Dependent {
  /** The name that others use for this; absent if none can. */
  readonly name?: string | undefined;
  /** The names of the values that this depends on directly. */
  readonly needs: readonly string[];
  /** True if this accumulates or records other values, and so keeps its past. */
  readonly keeps: boolean;
  /** Computes everything up to `time`, so that a later read has less to do. Absent if a read never has much to do. */
  reach?(time: number, revision: number): void;
  /** Makes everything up to `time` of the device's clock final. */
  settle(time: number, revision: number): void;
}

/** One value of a device that has a name, a signal or reactions. */
export class Point implements Dependent {
  readonly definition: PointDefinition;
  readonly image: RegisterImage;
  readonly location: ValueLocation;
  reactions: readonly Reaction[] = [];
  /** What reactions of other values do after a write to this one. */
  readonly watchers: (() => void)[] = [];
  /** How many times a computed value did not fit the type when it was read. */
  saturated = 0;
  /** True if the value is available unless its schedule says otherwise. Set by {@link Points}. */
  isSwitchedOn = true;
  readonly #schedule: Schedule;
  #sentinel: readonly number[] | undefined;
  /** The words from before the last start, for a value that is stale for a time after it. */
  #before: readonly number[] | undefined;
  #placedSignal: PlacedSignal | undefined;
  #signal: Signal | undefined;
  /** When an accumulator was written. Words are written one by one, so the new value is adopted on the next read. */
  #writtenAt: number | undefined;
  #computed: { readonly time: number; readonly revision: number; readonly value: number } | undefined;

  /** Creates a value. @param base the index of the table's first cell in the image */
  constructor(definition: PointDefinition, image: RegisterImage, base: number, schedule: Schedule) {
    const { address, cells, type } = definition;
    this.definition = definition;
    this.image = image;
    this.#schedule = schedule;
    this.location = { address: base + address, cells, type };
  }

  /** The defined signal; undefined for a value without one. */
  get placedSignal(): PlacedSignal | undefined {
    return this.#placedSignal;
  }

  /** Sets the signal that computes the value from now on. Without a signal the value keeps its state. */
  setSignal(placed: PlacedSignal | undefined, signal: Signal | undefined): void {
    this.#placedSignal = placed;
    this.#signal = signal;
    this.#writtenAt = undefined;
    this.saturated = 0;
  }

  get signal(): Signal | undefined {
    return this.#signal;
  }

  get name(): string | undefined {
    return this.definition.name;
  }

  /** True if the signal must be restarted when the device restarts, because its value depends on more than the time. */
  get hasState(): boolean {
    const { accumulator, follower, inlet } = this.#signal ?? {};
    return (accumulator ?? follower ?? inlet) !== undefined;
  }

  get keeps(): boolean {
    return this.#signal?.accumulator !== undefined;
  }

  get follower(): Follower | undefined {
    return this.#signal?.follower;
  }

  get needs(): readonly string[] {
    return this.#placedSignal?.definition.needs ?? [];
  }

  /** The raw value, as last computed or written. */
  get raw(): Value {
    return this.image.valueAt(this.location);
  }

  /** The stored value in its unit; NaN for text. */
  get stored(): number {
    return Number(this.raw) * this.definition.scale;
  }

  /** Reports whether clients read the value, rather than its sentinel, at a time of the device's clock. */
  isAvailableAt(time: number): boolean {
    if (!this.isSwitchedOn || this.definition.isAway?.(time)) return false;
    // Publishers use real time, whatever the device's clock does.
    return !this.#signal?.inlet?.isStale?.(performance.now());
  }

  /** True if clients read the value now. */
  get isAvailable(): boolean {
    return this.isAlwaysAvailable || this.isAvailableAt(this.#schedule.time);
  }

  /** True if clients always read the value. */
  get isAlwaysAvailable(): boolean {
    const { isAway, stale } = this.definition;
    return this.isSwitchedOn && isAway === undefined && stale === undefined && !this.#signal?.inlet?.isStale;
  }

  /**
   * Keeps what clients read at `time`, the last moment before a start, for the time after it in which they
   * still read that. If the value is already stale, this is what they have read since an earlier start.
   */
  keepBefore(time: number): void {
    if (this.#before && time < (this.definition.stale ?? 0)) return;
    const { address, cells, type } = this.location;
    this.#before = wordsOfValue(type, this.raw, cells, this.image.orderAt(address));
  }

  /**
   * The words that clients read instead of the value at a time of the device's clock; undefined if they read
   * the value.
   */
  coverAt(time: number): readonly number[] | undefined {
    if (!this.isAvailableAt(time)) return this.sentinel;
    return time < (this.definition.stale ?? 0) ? this.#before : undefined;
  }

  /**
   * The words that clients read while the value is not available; undefined if neither the type nor the entry
   * defines any.
   */
  get sentinel(): readonly number[] | undefined {
    const { address, cells, type } = this.location;
    const value = this.definition.notAvailable ?? usualSentinel(type);
    if (value !== undefined) this.#sentinel ??= wordsOfValue(type, value, cells, this.image.orderAt(address));
    return this.#sentinel;
  }

  /**
   * Returns the value in its unit at a time of the device's clock, not rounded to the type. The value is
   * computed once for each time and revision.
   * @param revision changes with everything except the time that values depend on
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

  /** Writes the signal's current value to the registers. */
  refresh(time: number, revision: number): void {
    if (!this.#signal) return;
    const { value, fits } = nearestValue(
      this.location.type,
      this.valueAt(time, revision) / this.definition.scale,
    );
    if (!fits) this.saturated++;
    this.image.show(this.location, value);
  }

  /** Records a write. Call this before a client, a person or an action changes the value's registers. */
  written(time: number): void {
    if (this.#signal?.accumulator) this.#writtenAt = time;
  }

  /** Runs the reactions. Call this after a client, an operator or a reaction wrote the value. */
  react(): void {
    for (const reaction of this.reactions) reaction.written?.();
    for (const act of this.watchers) act();
  }

  reach(time: number, revision: number): void {
    this.valueAt(time, revision);
  }

  /** Returns where an accumulator could continue after a restart of the program; undefined for other values. */
  reached(time: number): Reached | undefined {
    const accumulator = this.#signal?.accumulator;
    if (!accumulator) return undefined;
    if (this.#writtenAt !== undefined && Number.isFinite(this.stored))
      return { time: this.#writtenAt, value: this.stored };
    return accumulator.reached(time);
  }

  /** Makes an accumulator continue from what it had reached. */
  resume(reached: Reached): void {
    this.#preset(reached);
    this.#computed = undefined;
  }

  /** Presets the sum, but not to NaN or an infinity, which it could never leave. */
  #preset({ time, value }: Reached): void {
    if (Number.isFinite(value)) this.#signal?.accumulator?.preset(time, value);
  }

  /** Makes an accumulator's sum up to `time` final. */
  settle(time: number, revision: number): void {
    if (!this.#signal?.accumulator) return;
    this.valueAt(time, revision);
    this.#signal.accumulator.settle(time);
  }
}

/** The values of one device, as seen by reactions and followers. */
export interface LocalPoints {
  readonly all: readonly Point[];
  readonly named: ReadonlyMap<string, Point>;
  readonly schedule: Schedule;
  /** Returns the value at a cell of an image, if the value has a name, a signal or reactions. */
  at(image: RegisterImage, cell: number): Point | undefined;
  /** Returns the values that have a cell among `count` cells of an image. */
  between(image: RegisterImage, address: number, count: number): readonly Point[];
  /** Runs what has become due. */
  advance(): void;
  /** Makes everything that depends on a value keep what it has accumulated. Call this before the value changes. */
  settleDependents(point: Point): void;
  valueNow(point: Point): number;
  /** Reports whether a write to these values may cause its changes, in addition to those already pending. */
  haveRoom(points: readonly Point[]): boolean;
  /** Returns how many later changes writes to values cause, directly or through other values. */
  causedBy(names: readonly string[]): number;
}
