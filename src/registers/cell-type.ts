/**
 * Types of a cell, what is stored behind one address. A value of several cells has its type in the first one;
 * the others are of type `next`. `bits` is a cell of 16 coils, `bit` a cell of one.
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

/** Types that a value can have: all but the two that mark cells without a value of their own. */
export type ValueType = Exclude<CellType, 'invalid' | 'next'>;

/** Cells that one value takes; a string takes as many as it was defined with. */
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

/** How a value of several cells lies in them: `big` puts the most significant word (or byte of a word) first. */
export interface ValueOrder {
  readonly wordOrder: Order;
  readonly byteOrder: Order;
}

export const BIG_ENDIAN: ValueOrder = { wordOrder: 'big', byteOrder: 'big' };
