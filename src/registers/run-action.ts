import type { Action, ActionSource } from './action.js';
import type { CellType, ValueType } from './cell-type.js';
import { integerRange, type PlacedValue, type Value } from './value.js';

/** What an action needs of the register image. */
export interface ActiveCells {
  typeAt(address: number): CellType;
  actionAt(address: number): Action | undefined;
  setWord(address: number, word: number): void;
  valueSpan(address: number): PlacedValue | undefined;
  valueAt(place: PlacedValue): Value;
  setValue(place: PlacedValue, value: Value): void;
  /** Restarts the whole device. */
  restart(): void;
}

/** Does what the action at `address` does when a client reads it. */
export function runAction(image: ActiveCells, address: number, action: Action, source: ActionSource): void {
  switch (action.name) {
    case 'increment': {
      const { minval, maxval } = action;
      changeNumber(image, address, (value, type) => increment(value, type, minval, maxval));
      break;
    }
    case 'random': {
      const { minval, maxval } = action;
      changeNumber(image, address, (_, type) => random(type, source, minval, maxval));
      break;
    }
    case 'reset':
      image.restart();
      break;
    case 'timestamp':
      timestamp(image, address, source.now());
      break;
    case 'uptime':
      // Counted from 1, so that a client sees the difference between a device just started and one that is not there.
      changeNumber(image, address, (_, type) => asType(Math.floor(source.uptime() / 1000) + 1, type));
  }
}

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

/** Past its largest value a counter goes on from its smallest one. Integers count exactly, those of 64 bits too. */
function increment(value: number | bigint, type: ValueType, minval?: number, maxval?: number): Value {
  const range = integerRange(type);
  if (!range) return incrementFloat(Number(value), type, minval, maxval);
  const min = minval === undefined ? range[0] : within(range, minval);
  const max = maxval === undefined ? range[1] : within(range, maxval);
  const next = BigInt(value) + 1n;
  return narrow(next > max || next < min ? min : next, type);
}

/** Without `minval` a float goes on from 0 (from `maxval` below it) but may count up from below that. */
function incrementFloat(value: number, type: ValueType, minval?: number, maxval?: number): number {
  const min = minval === undefined ? undefined : withinFloat(type, minval);
  const max = withinFloat(type, maxval ?? Infinity);
  const next = value + 1;
  if (next > max) return min ?? Math.min(0, max);
  return min !== undefined && next < min ? min : next;
}

/** Defaults of pymodbus' simulator, as far as the type can hold them and the other bound leaves room. */
const RANDOM_MIN = 1;
export const RANDOM_MAX = 65536;

function random(type: ValueType, source: ActionSource, minval?: number, maxval?: number): Value {
  const min = minval ?? Math.min(RANDOM_MIN, maxval ?? RANDOM_MIN);
  const max = maxval ?? Math.max(min, RANDOM_MAX);
  const share = source.random();
  const range = integerRange(type);
  return range
    ? narrow(randomInteger(within(range, min), within(range, max), share), type)
    : randomFloat(withinFloat(type, min), withinFloat(type, max), share);
}

/** Beyond 2^53 the product is rounded, so it may step over the end. */
function randomInteger(min: bigint, max: bigint, share: number): bigint {
  const value = min + BigInt(Math.floor(share * Number(max - min + 1n)));
  return value > max ? max : value;
}

/** Adds parts of both ends, because their difference may be too large for a double. */
function randomFloat(min: number, max: number, share: number): number {
  return Math.min(Math.max(min * (1 - share) + max * share, min), max);
}

/** A number as the type can hold it: whole and in range for the integer types. */
function asType(value: number, type: ValueType): Value {
  const range = integerRange(type);
  return range ? narrow(within(range, value), type) : value;
}

/** Compared before it becomes a BigInt, which neither an infinity nor NaN can. */
function within([smallest, largest]: readonly [bigint, bigint], value: number): bigint {
  if (value >= largest) return largest;
  return value > smallest ? BigInt(Math.trunc(value)) : smallest;
}

const LARGEST_FLOAT32 = 3.4028234663852886e38;

function withinFloat(type: ValueType, value: number): number {
  const largest = type === 'float32' ? LARGEST_FLOAT32 : Number.MAX_VALUE;
  return Math.min(Math.max(value, -largest), largest);
}

function narrow(integer: bigint, type: ValueType): Value {
  return type === 'uint64' || type === 'int64' ? integer : Number(integer);
}

/** Cells that a timestamp takes. */
export const TIMESTAMP_FIELDS = 7;

/**
 * Seven cells of local time: year, month (0 to 11), day, weekday (1 is Monday), hour, minute, second.
 * A run of cells with this action is taken in groups of seven, each cell holding its own field; the first cell of a
 * group also fills the plain cells that follow it, so that one definition on the first cell is enough.
 */
function timestamp(image: ActiveCells, address: number, now: Date): void {
  let start = address;
  while (start > 0 && image.actionAt(start - 1)?.name === 'timestamp') start--;
  const first = address - ((address - start) % TIMESTAMP_FIELDS);
  const weekday = now.getDay() === 0 ? 7 : now.getDay();
  const fields = [
    now.getFullYear(),
    now.getMonth(),
    now.getDate(),
    weekday,
    now.getHours(),
    now.getMinutes(),
    now.getSeconds(),
  ];
  fields.forEach((field, i) => {
    const type = image.typeAt(first + i);
    const action = image.actionAt(first + i);
    const holdsField = type === 'uint16' || type === 'int16' || type === 'bits';
    if (holdsField && (!action || action.name === 'timestamp')) image.setWord(first + i, field);
  });
}
