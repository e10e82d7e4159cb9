import type { Device } from '../../device/device.js';
import type { Action } from '../../device/registers/actions.js';
import { BIG_ENDIAN, type ValueType } from '../../device/registers/cell-type.js';
import type { RegisterImage } from '../../device/registers/image.js';
import {
  shortestFloat32,
  type Value,
  type ValueLocation,
  wordsOfValue,
} from '../../device/registers/value.js';
import { TABLE_NAMES, type TableName } from '../../device/tables.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';

/** The current value, in the form of a native file. */
export interface PresentValue {
  readonly type: ValueType;
  readonly cells: number;
  /** The value of the key `value` in a file. */
  readonly written: Value;
  readonly writable: boolean;
  readonly action?: Action | undefined;
  readonly padding?: 'space';
  /** True if the registers hold bytes that `written` does not produce. */
  readonly inexact?: boolean;
}

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

/** True if the written value produces the same words. Not all bytes are valid text, and there are many kinds of NaN. */
function isExact(image: RegisterImage, { address, cells, type }: ValueLocation, written: Value): boolean {
  const words = wordsOfValue(type, written, cells, image.orderAt(address));
  return words.every((word, i) => word === image.wordAt(address + i));
}

function writtenValue({ type, cells }: ValueLocation, value: Value, isPadded: boolean): Value {
  if (typeof value === 'string') {
    const text = isPadded ? value.replace(/ +$/, '') : value;
    // The replacement character for an invalid byte takes three bytes, which may not fit.
    return Buffer.byteLength(text) > 2 * cells ? text.replaceAll('\ufffd', '?') : text;
  }
  return type === 'float32' && typeof value === 'number' ? shortestFloat32(value) : value;
}

/** Consecutive equal values. */
interface Repetition {
  readonly address: number;
  readonly value: PresentValue;
  count: number;
}

/** Consecutive values that fit in one entry of a file: all of one type, with the same flags and action. */
interface ValueRun {
  /** The first address. */
  readonly address: number;
  /** The first of the values. */
  readonly first: PresentValue;
  /** Either one value for all places, or one value per place. */
  readonly values: readonly PresentValue['written'][];
  readonly quantity: number;
  /** True if the registers of a value hold bytes that the entry does not produce. */
  readonly inexact: boolean;
}

/** Minimum number of equal values that get a separate entry. Fewer are shorter as a list. */
const FEWEST_REPEATED = 8;
const LONGEST_LIST = 128;

/** A value and its address; undefined between two values, so that a long search can be interrupted. */
export type FoundRegister = readonly [address: number, value: PresentValue] | undefined;

/** Groups values, in ascending order, into entries: many equal values into one entry, others into lists. */
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

/** True if `next` starts where `before` ends and both fit in one entry. */
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

/** How many cells are processed before a yield. */
const CELLS_AT_ONCE = 256;

/** The number of registers that the action `timestamp` fills. */
const TIMESTAMP_CELLS = 7;

/**
 * An entry of a table in the form of a native file, or a comment on the table; undefined while the search
 * continues.
 */
export type WrittenEntry = Readonly<Record<string, unknown>> | string | undefined;

/**
 * The entries of a table whose device was defined by a pymodbus file, not by entries. Its tables may share
 * cells, but in a native file each table has its own.
 */
export function* plainEntries(device: Device, table: TableName): Generator<WrittenEntry> {
  const isBits = table === 'coils' || table === 'discrete';
  if (isBits && hasActions(device, table)) yield "register actions don't run when their bits are read";
  const found = isBits ? bitsOf(device, table) : valuesOf(device, table);
  for (const run of runsOf(found)) {
    if (run?.inexact) yield inexactComment(run.address);
    yield run && entryOf(run);
  }
}

/** The comment on the entry at `address`, whose text or NaN does not produce the same bytes. */
export function inexactComment(address: number): string {
  return `registers from ${address} on contain different bytes with the same meaning, or are not text`;
}

/** True when some tables share registers. */
export function sharesCells({ tables }: Device): boolean {
  const windows = TABLE_NAMES.map((name) => tables[name].window);
  return windows.some((one, i) =>
    windows
      .slice(i + 1)
      .some((other) => one.image === other.image && one.size > 0 && one.base === other.base),
  );
}

function hasActions({ tables }: Device, table: TableName): boolean {
  const { image, base, size } = tables[table].window;
  return image.hasActions(base, size);
}

function* bitsOf({ tables }: Device, table: TableName): Generator<FoundRegister> {
  const { image, base, size, bitsPerCell } = tables[table].window;
  const bits = Math.min(size * bitsPerCell, ADDRESS_SPACE);
  for (let address = 0; address < bits; address++) {
    const cell = base + Math.floor(address / bitsPerCell);
    if (address % CELLS_AT_ONCE === 0) yield undefined;
    if (image.typeAt(cell) === 'invalid') continue;
    const written = tables[table].bitAt(address) ? 1 : 0;
    yield [address, { type: 'bit', cells: 1, written, writable: image.isWritable(cell) }];
  }
}

function* valuesOf({ tables }: Device, table: TableName): Generator<FoundRegister> {
  const { image, base, size } = tables[table].window;
  let pausedAt = base;
  for (let cell = base; cell < base + size; ) {
    if (cell - pausedAt >= CELLS_AT_ONCE) {
      yield undefined;
      pausedAt = cell;
    }
    const type = image.typeAt(cell);
    if (type === 'invalid') {
      cell++;
      continue;
    }
    const location = type === 'next' ? undefined : image.valueSpan(cell);
    // If a value crosses the boundary between two tables, each table has only some of its registers.
    const isWhole = location !== undefined && cell + location.cells <= base + size;
    const value = presentValue(image, isWhole ? location : { address: cell, cells: 1, type: 'uint16' });
    yield [cell - base, value];
    cell += value.cells;
  }
}

function entryOf({ address, first, values, quantity }: ValueRun): Readonly<Record<string, unknown>> {
  const { type, cells, writable, action, padding } = first;
  return {
    address,
    ...(type !== 'bit' && type !== 'uint16' && { type }),
    value: values.length === 1 ? values[0] : values,
    ...(values.length < quantity && { quantity }),
    ...(type === 'string' && { length: cells }),
    ...(padding && { padding }),
    ...(writable && { write: true }),
    ...(action && actionKeys(action, quantity)),
  };
}

/** The keys of an action. In a native file a timestamp always fills seven registers. */
function actionKeys({ name, minval, maxval }: Action, quantity: number) {
  if (name === 'timestamp' && quantity % TIMESTAMP_CELLS !== 0) return {};
  return { action: name, min: minval, max: maxval };
}
