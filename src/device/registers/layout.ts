import type { Action } from './actions.js';
import { BIG_ENDIAN, CELL_TYPES, type CellType, type ValueOrder, type ValueType } from './cell-type.js';
import { type Value, wordsOfValue } from './value.js';

/** The definition of one value: its first cell, number of cells, and initial value. */
export interface ValueDefinition {
  readonly address: number;
  readonly type: ValueType;
  readonly cells: number;
  readonly value: Value;
  readonly order?: ValueOrder;
  readonly writable?: boolean;
  readonly action?: Action;
}

/** Why a value can't be defined: its cells extend beyond the layout, or another value uses one of them. */
export type LayoutConflict =
  | { readonly kind: 'outside'; readonly address: number; readonly size: number }
  | { readonly kind: 'overlap'; readonly address: number };

/**
 * The meta byte of a cell: type index and flags. One byte is enough for both, and saves memory: a device may
 * define 262,144 cells.
 */
const TYPE_MASK = 0x0f;
const WRITABLE = 0x10;
const WORDS_LITTLE = 0x20;
const BYTES_LITTLE = 0x40;
const PADDED_WITH_SPACES = 0x80;

/** 1 for each meta byte that marks the first cell of a value, otherwise 0. */
export const BEGINS = Uint8Array.from({ length: 256 }, (_, meta) => {
  const type = typeOfMeta(meta);
  return type === 'invalid' || type === 'next' ? 0 : 1;
});

export function typeOfMeta(meta: number): CellType {
  return CELL_TYPES[meta & TYPE_MASK] as CellType;
}

export function isWritableMeta(meta: number): boolean {
  return (meta & WRITABLE) !== 0;
}

export function withWritable(meta: number, writable: boolean): number {
  return writable ? meta | WRITABLE : meta & ~WRITABLE;
}

export function orderOfMeta(meta: number): ValueOrder {
  if ((meta & (WORDS_LITTLE | BYTES_LITTLE | PADDED_WITH_SPACES)) === 0) return BIG_ENDIAN;
  return {
    wordOrder: meta & WORDS_LITTLE ? 'little' : 'big',
    byteOrder: meta & BYTES_LITTLE ? 'little' : 'big',
    padding: meta & PADDED_WITH_SPACES ? 'space' : undefined,
  };
}

function metaOf(type: CellType, { wordOrder, byteOrder, padding }: ValueOrder, writable: boolean): number {
  return (
    CELL_TYPES.indexOf(type) |
    (writable ? WRITABLE : 0) |
    (wordOrder === 'little' ? WORDS_LITTLE : 0) |
    (byteOrder === 'little' ? BYTES_LITTLE : 0) |
    (padding === 'space' ? PADDED_WITH_SPACES : 0)
  );
}

/**
 * The configuration of a list of cells: types, access, initial values, actions. A layout is immutable once
 * built, so any number of images share one, and a reset takes the configured values from it.
 */
export interface RegisterLayout {
  readonly size: number;
  readonly meta: Uint8Array;
  readonly words: Uint16Array;
  readonly actions: ReadonlyMap<number, Action>;
}

/** Returns a layout with additional cells, each a 16-bit integer or a bit, with the value 0. */
export function withCells(
  { size, meta, words, actions }: RegisterLayout,
  cells: readonly number[],
  type: 'uint16' | 'bit',
  writable: boolean,
): RegisterLayout {
  const grown = Math.max(size, ...cells.map((cell) => cell + 1));
  const next = { size: grown, meta: new Uint8Array(grown), words: new Uint16Array(grown), actions };
  next.meta.set(meta);
  next.words.set(words);
  for (const cell of cells) next.meta[cell] = metaOf(type, BIG_ENDIAN, writable);
  return next;
}

/** Builds a {@link RegisterLayout} value by value. */
export class LayoutBuilder {
  readonly #meta: Uint8Array;
  readonly #words: Uint16Array;
  readonly #actions = new Map<number, Action>();

  constructor(size: number) {
    this.#meta = new Uint8Array(size);
    this.#words = new Uint16Array(size);
  }

  get size(): number {
    return this.#meta.length;
  }

  isDefined(address: number): boolean {
    return typeOfMeta(this.#meta[address] ?? 0) !== 'invalid';
  }

  /** Defines one value. If the value does not fit, defines nothing and returns the conflict. */
  define(definition: ValueDefinition): LayoutConflict | undefined {
    const { address, type, cells, value, order = BIG_ENDIAN, writable = false, action } = definition;
    if (address + cells > this.size)
      return { kind: 'outside', address: address + cells - 1, size: this.size };
    for (let cell = address; cell < address + cells; cell++) {
      if (this.isDefined(cell)) return { kind: 'overlap', address: cell };
    }
    this.#words.set(wordsOfValue(type, value, cells, order), address);
    this.#meta.fill(metaOf('next', order, writable), address, address + cells);
    this.#meta[address] = metaOf(type, order, writable);
    if (action) this.#actions.set(address, action);
    return undefined;
  }

  /** Lets clients write the cell at `address`. */
  allowWrite(address: number): void {
    this.#meta[address] = withWritable(this.#meta[address] as number, true);
  }

  copyCell(from: number, to: number): void {
    this.#meta[to] = this.#meta[from] as number;
    this.#words[to] = this.#words[from] as number;
    const action = this.#actions.get(from);
    if (action) this.#actions.set(to, action);
    else this.#actions.delete(to);
  }

  /** Fills the cells up to `last` with copies of the `count` cells starting at `first`, in order. */
  repeat(first: number, count: number, last: number): void {
    for (let done = count; first + done <= last; done *= 2) {
      const end = first + Math.min(done, last + 1 - first - done);
      this.#meta.copyWithin(first + done, first, end);
      this.#words.copyWithin(first + done, first, end);
    }
    const actions = Array.from({ length: count }, (_, i) => this.#actions.get(first + i));
    if (actions.every((action) => action === undefined)) return;
    for (let cell = first + count; cell <= last; cell++) {
      const action = actions[(cell - first) % count];
      if (action) this.#actions.set(cell, action);
    }
  }

  build(): RegisterLayout {
    return { size: this.size, meta: this.#meta, words: this.#words, actions: this.#actions };
  }
}
