/**
 * The types of a cell, which stores one address. If a value has several cells, the first one has the type of
 * the value, and the others are of type `next`. A `bits` cell holds 16 coils, a `bit` cell holds one.
 */
export const CELL_TYPES = [
  'invalid',
  'bits',
  'uint16',
  'uint32',
  'float32',
  'string',
  'next',
  'int16',
  'int32',
  'uint64',
  'int64',
  'float64',
  'bit',
] as const;

export type CellType = (typeof CELL_TYPES)[number];

/** The types that a value can have. `invalid` and `next` mark cells without a value of their own. */
export type ValueType = Exclude<CellType, 'invalid' | 'next'>;

export type RegisterType = Exclude<ValueType, 'bit'>;

/** How many cells a value of each type has. The length of a string is specified with the string. */
export const CELLS_PER_VALUE: Readonly<Record<Exclude<ValueType, 'string'>, number>> = {
  bits: 1,
  bit: 1,
  uint16: 1,
  int16: 1,
  uint32: 2,
  int32: 2,
  float32: 2,
  uint64: 4,
  int64: 4,
  float64: 4,
};

export type Order = 'big' | 'little';

/** The characters that may fill the rest of a string. */
export const PADDINGS = ['nul', 'space'] as const;

type Padding = (typeof PADDINGS)[number];

/** The order of words in a value, and of bytes in a word: `big` puts the most significant first. */
export interface ValueOrder {
  readonly wordOrder: Order;
  readonly byteOrder: Order;
  /** The padding of a string; `nul` when absent. */
  readonly padding?: Padding | undefined;
}

export const BIG_ENDIAN: ValueOrder = { wordOrder: 'big', byteOrder: 'big' };
