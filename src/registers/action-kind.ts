import type { CellType, ValueType } from './cell-type.js';
import type { PlacedValue, Value } from './value.js';

/** A kind of action: what a register does by itself each time a client reads it (pymodbus simulator, "actions"). */
export interface ActionKind {
  /** True when `minval` and `maxval` limit the values of the action. */
  readonly hasBounds: boolean;
  /** How many adjacent registers one use of the action fills. */
  readonly fields: number;
  /** Why a value of this type can't have the action; undefined when it can. */
  whyUnfit(type: ValueType): string | undefined;
  /** Runs the action on the cell at `address`, just before the cell is read. */
  run(image: ActiveCells, address: number, bounds: Bounds, source: ActionSource): void;
}

/** Smallest and largest value of an action, both included. They may lie outside the range of the type. */
export interface Bounds {
  readonly minval?: number;
  readonly maxval?: number;
}

/** The part of a register image that actions use. */
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

/** Random numbers and times for actions. Tests supply their own. */
export interface ActionSource {
  /** At least 0, below 1. */
  random(): number;
  /** Wall-clock time. */
  now(): Date;
  /** Time since the simulator started, in ms. */
  uptime(): number;
}
