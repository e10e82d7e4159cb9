import type { Action } from '../../device/registers/actions.js';
import { BIG_ENDIAN, type ValueType } from '../../device/registers/cell-type.js';
import type { RegisterImage } from '../../device/registers/image.js';
import {
  shortestFloat32,
  type Value,
  type ValueLocation,
  wordsOfValue,
} from '../../device/registers/value.js';

/** A value as it is now, in the form of a native file. */
export interface PresentValue {
  readonly type: ValueType;
  readonly cells: number;
  /** The content of `value` in a file. */
  readonly written: Value;
  readonly writable: boolean;
  readonly action?: Action | undefined;
  /** The padding of a string that is padded with spaces. */
  readonly padding?: 'space';
  /** True when the registers hold bytes that `written` does not produce. */
  readonly inexact?: boolean;
}

/** The value of an image at a location. */
export function presentValue(image: RegisterImage, location: ValueLocation): PresentValue {
  const { address, cells, type } = location;
  const writable = image.isWritable(address);
  const action = image.actionAt(address);
  // A device may have 262,144 bits and words, and this is the fast way to read them.
  if (type === 'bit' || (type === 'uint16' && image.orderAt(address) === BIG_ENDIAN)) {
    return { type, cells, written: image.wordAt(address), writable, action };
  }
  const value = image.valueAt(location);
  const isPadded = type === 'string' && image.orderAt(address).padding === 'space';
  const written = writtenValue(location, value, isPadded);
  const mayDiffer = typeof value === 'string' || Number.isNaN(value);
  return {
    type,
    cells,
    written,
    writable,
    action,
    ...(isPadded && { padding: 'space' }),
    ...(mayDiffer && !isExact(image, location, written) && { inexact: true }),
  };
}

/**
 * True when the written value produces the same words. Not all bytes are text, and there are many kinds of
 * NaN.
 */
function isExact(image: RegisterImage, { address, cells, type }: ValueLocation, written: Value): boolean {
  const words = wordsOfValue(type, written, cells, image.orderAt(address));
  return words.every((word, i) => word === image.wordAt(address + i));
}

function writtenValue({ type, cells }: ValueLocation, value: Value, isPadded: boolean): Value {
  if (typeof value === 'string') {
    const text = isPadded ? value.replace(/ +$/, '') : value;
    // The replacement character for a byte that is no text takes three bytes, which may not fit.
    return Buffer.byteLength(text) > 2 * cells ? text.replaceAll('\ufffd', '?') : text;
  }
  return type === 'float32' && typeof value === 'number' ? shortestFloat32(value) : value;
}

/** Equal values side by side. */
interface Repetition {
  readonly address: number;
  readonly value: PresentValue;
  count: number;
}

/** Values side by side that one entry of a file can hold: of one type, with the same flags and action. */
export interface ValueRun {
  /** The first address. */
  readonly address: number;
  /** The first of the values. */
  readonly first: PresentValue;
  /** Either one value for all places, or one for each. */
  readonly values: readonly PresentValue['written'][];
  readonly quantity: number;
  /** True when the registers of a value hold bytes that the entry does not produce. */
  readonly inexact: boolean;
}

/** The fewest equal values that get an entry of their own. Fewer are shorter in a list. */
const FEWEST_REPEATED = 8;
const LONGEST_LIST = 128;

/**
 * A value with its address; undefined while the next one is searched for, so that a long search can be
 * interrupted.
 */
export type FoundRegister = readonly [address: number, value: PresentValue] | undefined;

/** Puts values, in ascending order, into entries: many equal values into one, others into lists. */
export function* runsOf(values: Iterable<FoundRegister>): Generator<ValueRun | undefined> {
  let list: Repetition[] = [];
  for (const repetition of repetitionsOf(values)) {
    if (repetition === undefined) {
      yield undefined;
      continue;
    }
    const isRepeated = repetition.count >= FEWEST_REPEATED;
    if (isRepeated || list.length >= LONGEST_LIST || !continues(list.at(-1), repetition)) {
      yield* listed(list);
      list = [];
    }
    if (isRepeated) yield repeated(repetition);
    else list.push(repetition);
  }
  yield* listed(list);
}

function* repetitionsOf(values: Iterable<FoundRegister>): Generator<Repetition | undefined> {
  let current: Repetition | undefined;
  for (const found of values) {
    if (!found) {
      yield undefined;
      continue;
    }
    const [address, value] = found;
    const next: Repetition = { address, value, count: 1 };
    if (current && continues(current, next) && Object.is(current.value.written, value.written)) {
      current.count++;
      continue;
    }
    if (current) yield current;
    current = next;
  }
  if (current) yield current;
}

/** True when `next` begins where `before` ends, and one entry can hold both. */
function continues(before: Repetition | undefined, next: Repetition): boolean {
  if (!before || next.address !== before.address + before.count * before.value.cells) return false;
  const [one, other] = [before.value, next.value];
  return (
    one.type === other.type &&
    one.cells === other.cells &&
    one.writable === other.writable &&
    one.padding === other.padding &&
    isSameAction(one.action, other.action)
  );
}

function isSameAction(one: PresentValue['action'], other: PresentValue['action']): boolean {
  if (one === other) return true;
  return (
    one?.name === other?.name &&
    one?.minval === other?.minval &&
    one?.maxval === other?.maxval &&
    one?.reads === other?.reads
  );
}

function repeated({ address, value, count }: Repetition): ValueRun {
  return { address, first: value, values: [value.written], quantity: count, inexact: value.inexact === true };
}

function* listed(list: readonly Repetition[]): Generator<ValueRun> {
  const [first] = list;
  if (!first) return;
  const values = list.flatMap(({ value, count }) => new Array(count).fill(value.written));
  yield {
    address: first.address,
    first: first.value,
    values,
    quantity: values.length,
    inexact: list.some(({ value }) => value.inexact),
  };
}
