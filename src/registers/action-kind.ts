import type { CellType, ValueType } from './cell-type.js';
import type { PlacedValue, Value } from './value.js';

/** A kind of action: what a register does by itself each time a client reads it (pymodbus simulator, "actions"). */
export interface ActionKind {
  /** True when `minval` and `maxval` bound its values. */
  readonly hasBounds: boolean;
  /** How many registers side by side one use of it fills. */
  readonly fields: number;
  /** Why a value of this type can't have it; undefined when it can. */
  whyUnfit(type: ValueType): string | undefined;
  /** Does it to the cell at `address`, just before the cell is read. */
  run(image: ActiveCells, address: number, bounds: Bounds, source: ActionSource): void;
}

/** Smallest and largest value of an action, ends included; they need not be such that the type can hold them. */
export interface Bounds {
  readonly minval?: number;
  readonly maxval?: number;
}

/** What an action needs of the register image. */
export interface ActiveCells {
  typeAt(address: number): CellType;
  actionAt(address: number): { readonly name: string } | undefined;
  setWord(address: number, word: number): void;
  valueSpan(address: number): PlacedValue | undefined;
  valueAt(place: PlacedValue): Value;
  setValue(place: PlacedValue, value: Value): void;
  /** Restarts the whole device. */
  restart(): void;
}

/** Where actions get what is not in the registers, so that a test decides it. */
export interface ActionSource {
  /** At least 0, below 1. */
  random(): number;
  /** Wall-clock time. */
  now(): Date;
  /** Time since the simulator started, in ms. */
  uptime(): number;
}
