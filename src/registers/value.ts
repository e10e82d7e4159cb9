import type { ValueOrder, ValueType } from './cell-type.js';

/** A typed value: a number, a bigint for the 64-bit integers, text for strings. */
export type Value = number | bigint | string;

/** The place of a value: its first cell, number of cells, and type. */
export interface PlacedValue {
  readonly address: number;
  readonly cells: number;
  readonly type: ValueType;
}

/** Range of the integer types, both ends included. */
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

/** Smallest and largest value of an integer type; undefined for floats and strings. */
export function integerRange(type: ValueType): readonly [bigint, bigint] | undefined {
  return INTEGER_RANGE[type];
}

const SIZE_IN_WORDS = 4;

/**
 * The words of `value` as they lie in `cells` consecutive cells.
 * The value must have been accepted by {@link parseValue}; a string is padded with spaces.
 */
export function wordsOfValue(type: ValueType, value: Value, cells: number, order: ValueOrder): number[] {
  if (type === 'string') return arrange(stringWords(String(value), cells), order);
  const view = new DataView(new ArrayBuffer(2 * SIZE_IN_WORDS));
  switch (type) {
    case 'float32':
      view.setFloat32(0, Number(value));
      break;
    case 'float64':
      view.setFloat64(0, Number(value));
      break;
    default:
      // Two's complement, aligned to the most significant end of the cells the type takes.
      view.setBigUint64(0, BigInt.asUintN(64, BigInt(value) << BigInt(64 - 16 * cells)));
  }
  return arrange(
    Array.from({ length: cells }, (_, i) => view.getUint16(2 * i)),
    order,
  );
}

/** The value that lies in `words`: the inverse of {@link wordsOfValue}. */
export function valueOfWords(type: ValueType, words: readonly number[], order: ValueOrder): Value {
  const ordered = arrange(words, order);
  const view = new DataView(new ArrayBuffer(2 * SIZE_IN_WORDS));
  ordered.slice(0, SIZE_IN_WORDS).forEach((word, i) => {
    view.setUint16(2 * i, word);
  });
  switch (type) {
    case 'bit':
    case 'bits':
    case 'uint16':
      return view.getUint16(0);
    case 'int16':
      return view.getInt16(0);
    case 'uint32':
      return view.getUint32(0);
    case 'int32':
      return view.getInt32(0);
    case 'uint64':
      return view.getBigUint64(0);
    case 'int64':
      return view.getBigInt64(0);
    case 'float32':
      return view.getFloat32(0);
    case 'float64':
      return view.getFloat64(0);
    case 'string':
      return Buffer.from(ordered.flatMap((word) => [word >>> 8, word & 0xff])).toString('utf8');
  }
}

/** Words between memory order and big-endian order; its own inverse. */
function arrange(words: readonly number[], { wordOrder, byteOrder }: ValueOrder): number[] {
  const swapped =
    byteOrder === 'little' ? words.map((word) => ((word & 0xff) << 8) | (word >>> 8)) : [...words];
  return wordOrder === 'little' ? swapped.reverse() : swapped;
}

function stringWords(text: string, cells: number): number[] {
  const bytes = Buffer.alloc(2 * cells, ' ');
  bytes.write(text, 'utf8');
  return Array.from({ length: cells }, (_, i) => bytes.readUInt16BE(2 * i));
}
