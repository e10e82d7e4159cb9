import type { CellType, ValueType } from './cell-type.js';
import { integerRange, narrow, nearestValue, type Value, type ValueLocation, withinFloat } from './value.js';

/** A kind of action: what a register does whenever a client reads it (pymodbus simulator, "actions"). */
interface ActionKind {
  /** True if `minval` and `maxval` limit the action's values. */
  readonly hasBounds: boolean;
  /** How many adjacent registers one use of the action fills. */
  readonly fields: number;
  /** Returns why a value of this type can't have the action; undefined if it can. */
  whyUnfit(type: ValueType): string | undefined;
  /** Runs the action on the cell at `address`, immediately before the cell is read. */
  run(image: ActiveCells, address: number, bounds: Parameters, source: ActionSource): void;
}

/** The minimum and the maximum value of an action, inclusive. They may lie outside the range of the type. */
interface Bounds {
  readonly minval?: number;
  readonly maxval?: number;
}

/** The values of a replay, by the number of the read that returns them. */
type Replayed = ReadonlyMap<number, Value>;

/** The parameters of an action of a register, apart from its name. */
interface Parameters extends Bounds {
  /** Only for the action `replay`. */
  readonly reads?: Replayed;
}

/** The part of a register image that actions use. */
export interface ActiveCells {
  /** Counts the reads of each cell, excluding the one for which an action runs. */
  readonly reads: { get(address: number): number };
  typeAt(address: number): CellType;
  actionAt(address: number): { readonly name: string } | undefined;
  setWord(address: number, word: number): void;
  valueSpan(address: number): ValueLocation | undefined;
  valueAt(location: ValueLocation): Value;
  setValue(location: ValueLocation, value: Value): void;
  restart(): void;
}

/** Random numbers and times for actions. Tests supply their own. */
export interface ActionSource {
  /** Returns a number from 0 to below 1. */
  random(): number;
  now(): Date;
  /** Returns the time since the simulator started, in ms. */
  uptime(): number;
}

/** The default bounds of pymodbus' simulator. They are limited by the type and by the other bound. */
const RANDOM_MIN = 1;
export const RANDOM_MAX = 65536;

/** How many registers a timestamp fills. */
const FIELDS = 7;

const SIXTEEN_BITS: readonly ValueType[] = ['bits', 'uint16', 'int16'];

/** Every action by its name in files. To add one, add an entry here. */
export const ACTIONS = {
  /** The value increases by one. */
  increment: {
    hasBounds: true,
    fields: 1,
    whyUnfit: (type) => withoutNumber('increment', type),
    run(image, address, { minval, maxval }) {
      changeNumber(image, address, (value, type) => next(value, type, minval, maxval));
    },
  },

  /** The value becomes a random number between the bounds. */
  random: {
    hasBounds: true,
    fields: 1,
    whyUnfit: (type) => withoutNumber('random', type),
    run(image, address, { minval, maxval }, source) {
      changeNumber(image, address, (_, type) => draw(type, source, minval, maxval));
    },
  },

  reset: {
    hasBounds: false,
    fields: 1,
    whyUnfit: () => undefined,
    run(image) {
      image.restart();
    },
  },

  /**
   * Seven cells get the local time: year, month (0 to 11), day, weekday (1 is Monday), hour, minute, second.
   * Consecutive cells with this action form groups of seven, one field per cell. The first cell of a group
   * also fills the plain cells after it, so it is enough to define the action on the first cell.
   */
  timestamp: {
    hasBounds: false,
    fields: FIELDS,
    whyUnfit: (type) =>
      SIXTEEN_BITS.includes(type)
        ? undefined
        : `timestamp fills seven registers, expected type ${SIXTEEN_BITS.join(', ')}, got ${type}`,
    run(image, address, _, source) {
      let start = address;
      while (start > 0 && image.actionAt(start - 1)?.name === 'timestamp') start--;
      const first = address - ((address - start) % FIELDS);
      fieldsOf(source.now()).forEach((field, i) => {
        const type = image.typeAt(first + i);
        const action = image.actionAt(first + i);
        const holdsField = type === 'uint16' || type === 'int16' || type === 'bits';
        if (holdsField && (!action || action.name === 'timestamp')) image.setWord(first + i, field);
      });
    },
  },

  /**
   * The value is the number of seconds since the simulator started, counted from 1. So a client can
   * distinguish a device that has just started from a missing one.
   */
  uptime: {
    hasBounds: false,
    fields: 1,
    whyUnfit: (type) =>
      type === 'bit' ? 'uptime counts seconds, which do not fit into one bit' : withoutNumber('uptime', type),
    run(image, address, _, source) {
      const seconds = Math.floor(source.uptime() / 1000) + 1;
      changeNumber(image, address, (_, type) => nearestValue(type, seconds).value);
    },
  },

  /** The value changes for certain reads. Between them it is the written value. */
  replay: {
    hasBounds: false,
    fields: 1,
    whyUnfit: (type) => withoutNumber('replay', type),
    run(image, address, { reads }) {
      const value = reads?.get(image.reads.get(address) + 1);
      if (value !== undefined) changeNumber(image, address, () => value);
    },
  },
} as const satisfies Record<string, ActionKind>;

export type ActionName = keyof typeof ACTIONS;

export const ACTION_NAMES = Object.keys(ACTIONS) as readonly ActionName[];

/** The actions of pymodbus' simulator. */
export const PYMODBUS_ACTIONS = ACTION_NAMES.filter((name) => name !== 'replay');

export interface Action extends Parameters {
  readonly name: ActionName;
}

/** Runs the action of the cell at `address`, as on a client's read. */
export function runAction(image: ActiveCells, address: number, action: Action, source: ActionSource): void {
  ACTIONS[action.name].run(image, address, action, source);
}

/** Changes the number that includes the cell at `address`. Text is left alone. */
function changeNumber(
  image: ActiveCells,
  address: number,
  change: (value: number | bigint, type: ValueType) => Value,
): void {
  const span = image.valueSpan(address);
  if (!span) return;
  const value = image.valueAt(span);
  if (typeof value !== 'string') image.setValue(span, change(value, span.type));
}

/** Returns why a value of this type can't have an action that needs a number; undefined if it can. */
function withoutNumber(action: string, type: ValueType): string | undefined {
  return type === 'string' ? `${action} needs a number; the only action for a string is reset` : undefined;
}

/**
 * Returns the next value of a counter. After its maximum the counter continues at its minimum. Integers count
 * exactly, even with 64 bits.
 */
function next(value: number | bigint, type: ValueType, minval?: number, maxval?: number): Value {
  const range = integerRange(type);
  if (!range) return nextFloat(Number(value), type, minval, maxval);
  const min = within(range, minval ?? -Infinity);
  const max = within(range, maxval ?? Infinity);
  const next = BigInt(value) + 1n;
  return narrow(next > max || next < min ? min : next, type);
}

/**
 * Returns the next value of a counter that is a float. Without `minval` it wraps to 0, or to a negative
 * `maxval`. It may still count up from a lower value.
 */
function nextFloat(value: number, type: ValueType, minval?: number, maxval?: number): number {
  const min = minval === undefined ? undefined : withinFloat(type, minval);
  const max = withinFloat(type, maxval ?? Infinity);
  const next = value + 1;
  if (next > max) return min ?? Math.min(0, max);
  return Math.max(next, min ?? next);
}

function draw(type: ValueType, source: ActionSource, minval?: number, maxval?: number): Value {
  const min = minval ?? Math.min(RANDOM_MIN, maxval ?? RANDOM_MIN);
  const max = maxval ?? Math.max(min, RANDOM_MAX);
  const share = source.random();
  const range = integerRange(type);
  return range
    ? narrow(drawInteger(within(range, min), within(range, max), share), type)
    : drawFloat(withinFloat(type, min), withinFloat(type, max), share);
}

/** Draws an integer. Beyond 2^53 the product is rounded, and could exceed `max`. */
function drawInteger(min: bigint, max: bigint, share: number): bigint {
  const value = min + BigInt(Math.floor(share * Number(max - min + 1n)));
  return value > max ? max : value;
}

/**
 * Draws a float as the sum of shares of both ends, because their difference may be too large for a double.
 */
function drawFloat(min: number, max: number, share: number): number {
  return Math.min(Math.max(min * (1 - share) + max * share, min), max);
}

/**
 * Returns the nearest integer in the range. Compares first, because an infinity or NaN can't become a BigInt.
 */
function within([smallest, largest]: readonly [bigint, bigint], value: number): bigint {
  if (value >= largest) return largest;
  return value > smallest ? BigInt(Math.trunc(value)) : smallest;
}

function fieldsOf(time: Date): number[] {
  const weekday = time.getDay() === 0 ? 7 : time.getDay();
  return [
    time.getFullYear(),
    time.getMonth(),
    time.getDate(),
    weekday,
    time.getHours(),
    time.getMinutes(),
    time.getSeconds(),
  ];
}
