import { failure, type Result, success } from '../../common/result.js';
import type { ValueOrder, ValueType } from './cell-type.js';

/** A typed value: a number, a bigint for the 64-bit integers, text for strings. */
export type Value = number | bigint | string;

/** The location of a value: its first cell, number of cells, and type. */
export interface ValueLocation {
  readonly address: number;
  readonly cells: number;
  readonly type: ValueType;
}

/** The ranges of the integer types, inclusive. */
const INTEGER_RANGE: Readonly<Partial<Record<ValueType, readonly [bigint, bigint]>>> = {
  bit: [0n, 1n],
  bits: [0n, 0xffffn],
  uint16: [0n, 0xffffn],
  int16: [-0x8000n, 0x7fffn],
  uint32: [0n, 0xffffffffn],
  int32: [-0x80000000n, 0x7fffffffn],
  uint64: [0n, 2n ** 64n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** Returns the smallest and the largest value of an integer type; undefined for floats and strings. */
export function integerRange(type: ValueType): readonly [bigint, bigint] | undefined {
  return INTEGER_RANGE[type];
}

const LARGEST_FLOAT32 = 3.4028234663852886e38;

/** Returns the nearest number that the float type can hold. */
export function withinFloat(type: ValueType, value: number): number {
  const largest = type === 'float32' ? LARGEST_FLOAT32 : Number.MAX_VALUE;
  return Math.min(Math.max(value, -largest), largest);
}

/** Returns an integer in the representation of the type: number or bigint. */
export function narrow(integer: bigint, type: ValueType): Value {
  return type === 'uint64' || type === 'int64' ? integer : Number(integer);
}

/**
 * Returns what devices show instead of an unavailable value of the type, which is SunSpec's "unimplemented"
 * value: the smallest signed integer, the largest unsigned integer, NaN. Undefined for types without such a
 * value: bits and text.
 */
export function usualSentinel(type: ValueType): Value | undefined {
  if (type === 'bit' || type === 'bits' || type === 'string') return undefined;
  const range = integerRange(type);
  if (!range) return Number.NaN;
  const [smallest, largest] = range;
  return narrow(smallest < 0n ? smallest : largest, type);
}

/** Explains why a value of a type without a usual sentinel can't be made unavailable. */
export function withoutSentinel(type: ValueType): string {
  return `${type} has no value that means "not available", expected notAvailable in the entry`;
}

/** A number converted to a type. `fits` is false when the conversion changed it by more than rounding. */
interface NearestValue {
  readonly value: Value;
  readonly fits: boolean;
}

/**
 * Returns the value of a type that is nearest to a number. For integers the number is rounded and limited to
 * the range of the type, and NaN becomes 0. Floats keep NaN and the infinities.
 */
export function nearestValue(type: ValueType, number: number): NearestValue {
  const range = integerRange(type);
  if (!range) {
    if (!Number.isFinite(number)) return { value: number, fits: true };
    const value = withinFloat(type, number);
    return { value, fits: value === number };
  }
  const [smallest, largest] = range;
  const rounded = Math.round(number);
  if (Number.isNaN(rounded)) return { value: narrow(0n, type), fits: false };
  if (rounded > largest) return { value: narrow(largest, type), fits: false };
  if (rounded < smallest) return { value: narrow(smallest, type), fits: false };
  return { value: narrow(BigInt(rounded), type), fits: true };
}

const SIZE_IN_WORDS = 4;
/** The memory in which values are assembled and split. A new view for each value took longer than everything else. */
const scratch = new DataView(new ArrayBuffer(2 * SIZE_IN_WORDS));

/**
 * Returns the words of `value` as stored in `cells` consecutive cells. {@link parseValue} must have accepted
 * the value. A string is padded with NUL or with spaces.
 */
export function wordsOfValue(type: ValueType, value: Value, cells: number, order: ValueOrder): number[] {
  if (type === 'string') return arranged(stringWords(String(value), cells, order), order);
  switch (type) {
    case 'float32':
      scratch.setFloat32(0, Number(value));
      break;
    case 'float64':
      scratch.setFloat64(0, Number(value));
      break;
    default:
      // Two's complement, aligned to the most significant end of the cells that the type occupies.
      scratch.setBigUint64(0, BigInt.asUintN(64, BigInt(value) << BigInt(64 - 16 * cells)));
  }
  const words = Array.from({ length: cells }, (_, i) => scratch.getUint16(2 * i));
  return arranged(words, order);
}

/**
 * Returns the value stored in `cells` of `words` starting at `start`: the inverse of {@link wordsOfValue}.
 * Lists of registers have many thousands of values, so this creates no temporary objects, except for strings.
 * NUL at the end of a string is left out; spaces may be part of the string.
 */
export function valueOfWords(
  type: ValueType,
  words: ArrayLike<number>,
  order: ValueOrder,
  start = 0,
  cells = words.length,
): Value {
  scratch.setUint32(0, 0);
  scratch.setUint32(4, 0);
  for (let i = 0; i < cells && i < SIZE_IN_WORDS; i++) {
    scratch.setUint16(2 * i, orderedWord(words, order, start, cells, i));
  }
  switch (type) {
    case 'bit':
    case 'bits':
    case 'uint16':
      return scratch.getUint16(0);
    case 'int16':
      return scratch.getInt16(0);
    case 'uint32':
      return scratch.getUint32(0);
    case 'int32':
      return scratch.getInt32(0);
    case 'uint64':
      return scratch.getBigUint64(0);
    case 'int64':
      return scratch.getBigInt64(0);
    case 'float32':
      return scratch.getFloat32(0);
    case 'float64':
      return scratch.getFloat64(0);
    case 'string':
      return textOfWords(words, order, start, cells);
  }
}

/** Returns the shortest decimal number that is the same float32: 230.1 for 230.10000610351562. */
export function shortestFloat32(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Object.is(Math.fround(short), value)) return short;
  }
  return value;
}

function textOfWords(words: ArrayLike<number>, order: ValueOrder, start: number, cells: number): string {
  const bytes = Buffer.allocUnsafe(2 * cells);
  for (let i = 0; i < cells; i++) bytes.writeUInt16BE(orderedWord(words, order, start, cells, i), 2 * i);
  const text = bytes.toString('utf8');
  return order.padding === 'space' ? text : text.replace(/\0+$/, '');
}

/** Returns word number `i` in big-endian order. */
function orderedWord(
  words: ArrayLike<number>,
  { wordOrder, byteOrder }: ValueOrder,
  start: number,
  cells: number,
  i: number,
): number {
  const word = words[start + (wordOrder === 'little' ? cells - 1 - i : i)] as number;
  return byteOrder === 'little' ? ((word & 0xff) << 8) | (word >>> 8) : word;
}

/** Returns big-endian words in memory order. Swapping twice changes nothing, so this also converts back. */
function arranged(words: readonly number[], order: ValueOrder): number[] {
  return words.map((_, i) => orderedWord(words, order, 0, words.length, i));
}

function stringWords(text: string, cells: number, { padding }: ValueOrder): number[] {
  const bytes = Buffer.alloc(2 * cells, padding === 'space' ? ' ' : 0);
  bytes.write(text);
  return Array.from({ length: cells }, (_, i) => bytes.readUInt16BE(2 * i));
}

const INTEGER_TEXT = /^[+-]?\d+$/;
const HEX_TEXT = /^0x[0-9a-f]+$/i;
/** Matches a number. A run of digits matches in only one way, so that a long text does not cause backtracking. */
const NUMBER_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Converts a value from a file or a request to a type and a number of cells. A number may be given as text.
 * Integer types accept `0x` text. The error says what was expected; the caller adds the location.
 */
export function parseValue(type: ValueType, input: unknown, cells: number): Result<Value> {
  if (type === 'string') return parseString(input, cells);
  const range = integerRange(type);
  return range ? parseInteger(type, input, range) : parseFloatValue(type, input);
}

function parseString(input: unknown, cells: number): Result<Value> {
  if (typeof input !== 'string') return failure('text');
  const length = Buffer.byteLength(input);
  if (length > 2 * cells) {
    return failure(`text of at most ${2 * cells} bytes (two per register), got ${length}`);
  }
  return success(input);
}

function parseInteger(type: ValueType, input: unknown, [min, max]: readonly [bigint, bigint]): Result<Value> {
  const wide = type === 'uint64' || type === 'int64';
  const expected = `a whole number from ${min} to ${max} (${type}${wide ? ', as text beyond 2^53' : ''})`;
  const integer = toBigInt(input);
  if (integer === undefined || integer < min || integer > max) return failure(expected);
  return success(wide ? integer : Number(integer));
}

function toBigInt(input: unknown): bigint | undefined {
  if (typeof input === 'bigint') return input;
  if (typeof input === 'boolean') return input ? 1n : 0n;
  if (typeof input === 'number') return Number.isSafeInteger(input) ? BigInt(input) : undefined;
  if (typeof input !== 'string') return undefined;
  const text = input.trim();
  if (text.length > 40) return undefined;
  return INTEGER_TEXT.test(text) || HEX_TEXT.test(text) ? BigInt(text) : undefined;
}

function parseFloatValue(type: ValueType, input: unknown): Result<Value> {
  const number = toNumber(input);
  const stored = type === 'float32' && number !== undefined ? Math.fround(number) : number;
  if (stored === undefined) return failure(`${expectedNumber(input)} (${type})`);
  if (!Number.isFinite(stored) && Number.isFinite(number))
    return failure(`a number from -3.4028235e38 to 3.4028235e38 (${type})`);
  return success(stored);
}

/** Returns the message that a number was expected; for text with a decimal comma, how to write it. */
export function expectedNumber(input: unknown): string {
  const hasComma = typeof input === 'string' && /^[+-]?\d+,\d+$/.test(input.trim());
  return hasComma ? 'a number with a decimal point' : 'a number';
}

/** The texts for NaN and the infinities, as in YAML and REST. Real meters send these values, so they can be set. */
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['.nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['.inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
  ['-.inf', Number.NEGATIVE_INFINITY],
]);

function toNumber(input: unknown): number | undefined {
  if (typeof input === 'number') return input;
  if (typeof input === 'bigint') return finite(Number(input));
  if (typeof input !== 'string') return undefined;
  const text = input.trim().toLowerCase();
  return SPECIAL.get(text) ?? (NUMBER_TEXT.test(text) ? finite(Number(text)) : undefined);
}

/** Returns the number; undefined if it is too large for a double, which JavaScript turns into infinity. */
function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}

/** The names of bits of a value, each with the number of its bit; 0 is the lowest. */
export type BitNames = readonly (readonly [bit: number, name: string])[];

/** Returns the names of the bits that are set in a stored value: `running, overload`; `none` without any. */
export function setBits(names: BitNames, raw: Value): string {
  const set = names.filter(([bit]) => isSet(raw, bit)).map(([, name]) => name);
  return set.length > 0 ? set.join(', ') : 'none';
}

/**
 * Returns `before` with its named bits set or cleared, according to a text in the format of `setBits`. Bits
 * without a name stay as they are. Undefined if the text has an unknown name.
 */
export function withBits(names: BitNames, text: string, before: Value): bigint | undefined {
  const wanted = text.split(',').map((name) => name.trim());
  const isNone = wanted.length === 1 && wanted[0] === 'none';
  if (!isNone && !wanted.every((name) => names.some(([, known]) => known === name))) return undefined;
  return names.reduce((bits, [bit, name]) => {
    const mask = 1n << BigInt(bit);
    return wanted.includes(name) ? bits | mask : bits & ~mask;
  }, BigInt(before));
}

/** Returns the integer of a type that has these bits. @param cells the number of registers of the type */
export function ofBits(type: ValueType, bits: bigint, cells: number): Value {
  const isSigned = (INTEGER_RANGE[type]?.[0] ?? 0n) < 0n;
  return narrow((isSigned ? BigInt.asIntN : BigInt.asUintN)(16 * cells, bits), type);
}

function isSet(raw: Value, bit: number): boolean {
  return ((BigInt.asUintN(64, BigInt(raw)) >> BigInt(bit)) & 1n) === 1n;
}
