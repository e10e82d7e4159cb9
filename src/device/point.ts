import type { ValueType } from '../registers/cell-type.js';
import type { RegisterImage } from '../registers/image.js';
import { nearestValue } from '../registers/nearest-value.js';
import type { PlacedValue, Value } from '../registers/value.js';
import type { SignalDefinition } from '../signals/kinds.js';
import type { Track } from '../signals/recording/track.js';
import type { Signal } from '../signals/signal.js';
import type { TableName } from './tables.js';

/** A signal of a register, with what its parameters name. */
export interface PlacedSignal {
  readonly definition: SignalDefinition;
  /** Absent where the seed of the device decides. */
  readonly seed?: number;
  /** Opens the recording that the signal plays; absent where it plays none. */
  readonly openTrack?: () => Track;
}

/** What is known of a value besides its place and type: what it means, and what moves it. */
export interface PointDefinition {
  readonly table: TableName;
  /** The first address of the value in its table. */
  readonly address: number;
  readonly cells: number;
  readonly type: ValueType;
  /** Unique in its device. */
  readonly name?: string;
  readonly unit?: string;
  /** The value in its unit for one of the raw value. */
  readonly scale: number;
  readonly description?: string;
  /** Words for raw values. */
  readonly labels?: ReadonlyMap<number, string>;
  /** The value stays when the device loses its supply. */
  readonly retain: boolean;
  readonly signal?: PlacedSignal;
}

/** One value of a device that has a name or a signal. */
export class Point {
  readonly definition: PointDefinition;
  readonly image: RegisterImage;
  readonly place: PlacedValue;
  /** Accumulators whose value depends on this one, directly or not, in the time of their own device. */
  readonly dependents = new Set<Point>();
  /** How often a computed value did not fit the type when it was read. */
  saturated = 0;
  #placedSignal: PlacedSignal | undefined;
  #signal: Signal | undefined;
  /** When an accumulator was written; the value is taken when it is read next, because words come one by one. */
  #writtenAt: number | undefined;
  #computed = { time: -1, revision: -1, value: 0 };

  /** @param base index of the table's first cell in the image. */
  constructor(definition: PointDefinition, image: RegisterImage, base: number) {
    const { address, cells, type } = definition;
    this.definition = definition;
    this.image = image;
    this.place = { address: base + address, cells, type };
  }

  /** The signal as it was defined; undefined for a value that stays. */
  get placedSignal(): PlacedSignal | undefined {
    return this.#placedSignal;
  }

  /** The value moves by the signal from now on; without one it stays as it is. */
  setSignal(placed: PlacedSignal | undefined, signal: Signal | undefined): void {
    this.#placedSignal = placed;
    this.#signal = signal;
    this.#writtenAt = undefined;
    this.saturated = 0;
  }

  get signal(): Signal | undefined {
    return this.#signal;
  }

  /** The raw value, as it was last computed or written. */
  get raw(): Value {
    return this.image.valueAt(this.place);
  }

  /** The stored value in its unit; NaN for text. */
  get stored(): number {
    return Number(this.raw) * this.definition.scale;
  }

  /**
   * The value in its unit at a time of the device's clock, as exact as it is known: not rounded to the type.
   * @param revision a number that changes with everything that is no signal: within one, a value is computed once.
   */
  valueAt(time: number, revision: number): number {
    if (!this.#signal) return this.stored;
    if (this.#computed.time === time && this.#computed.revision === revision) return this.#computed.value;
    if (this.#writtenAt !== undefined) {
      this.#signal.accumulator?.preset(this.#writtenAt, this.stored);
      this.#writtenAt = undefined;
    }
    const value = this.#signal.valueAt(time);
    this.#computed = { time, revision, value };
    return value;
  }

  /** Shows the value of the signal in the registers. */
  refresh(time: number, revision: number): void {
    if (!this.#signal) return;
    const { value, fits } = nearestValue(
      this.place.type,
      this.valueAt(time, revision) / this.definition.scale,
    );
    if (!fits) this.saturated++;
    this.image.show(this.place, value);
  }

  /** Somebody is about to change the registers of the value. */
  written(time: number): void {
    if (this.#signal?.accumulator) this.#writtenAt = time;
  }

  /** An accumulator keeps what it has added up until `time`. */
  settle(time: number, revision: number): void {
    if (!this.#signal?.accumulator) return;
    this.valueAt(time, revision);
    this.#signal.accumulator.settle(time);
  }
}
