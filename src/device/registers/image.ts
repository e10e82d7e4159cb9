import { Counters, LastWrites, type Writer } from './accesses.js';
import { type Action, type ActionSource, type ActiveCells, runAction } from './actions.js';
import type { CellType, ValueOrder } from './cell-type.js';
import type { History, KeptCells } from './history.js';
import {
  BEGINS,
  isWritableMeta,
  orderOfMeta,
  type RegisterLayout,
  typeOfMeta,
  withCells,
  withWritable,
} from './layout.js';
import { type Value, type ValueLocation, valueOfWords, wordsOfValue } from './value.js';

/** Computes values of an image when they are read. */
export interface LiveValues {
  /** Updates the values of `count` cells starting at `address`. Call this before a read. */
  refresh(address: number, count: number): void;
  /**
   * Call this before a client, a person or an action changes the cell at `address`.
   * @returns true if a signal computes the cell, so that the written value does not matter
   */
  changing(address: number): boolean;
  /** Call this after `count` cells starting at `address` were changed. */
  changed(address: number, count: number): void;
  /**
   * Runs the reactions of the values in `count` cells starting at `address`. Call this after a client or a
   * person wrote the cells.
   */
  written(address: number, count: number): void;
  /** Reports whether a write to the cell at `address` is refused because too many changes are pending. */
  isFull(address: number): boolean;
}

/** The words and flags of an image at one moment, next to the configured ones. */
export interface ImageSnapshot {
  readonly layout: RegisterLayout;
  readonly words: Uint16Array;
  readonly meta: Uint8Array;
}

/** How many cells are counted without a pause: each takes 1 ns, or 300 ns just after the program has started. */
const COUNTED = 512;

/**
 * The current registers of a device: a layout's cells with words, access flags and counters. Words and flags
 * are copied from the layout on the first write, so devices that share a layout share its memory until then.
 * Addresses are indices into the cells and must be below `size`; callers check that.
 */
export class RegisterImage implements ActiveCells {
  /** The layout, including the cells that were defined at run time. */
  #layout: RegisterLayout;
  readonly #source: ActionSource;
  readonly restart: () => void;
  /** Computes values; absent if no value is computed. */
  live: LiveValues | undefined;
  /** Keeps the words before changes; absent if the past is not needed. */
  history: History | undefined;
  readonly #recorded: KeptCells = { cells: this };
  /**
   * Replaces the words of unavailable values, among words starting at `address`, with what clients read
   * instead; absent if all values are available.
   */
  cover: ((address: number, words: number[]) => void) | undefined;
  #words: Uint16Array;
  #meta: Uint8Array;
  /** How many times a word or an access flag was changed. Computed values do not count. */
  changes = 0;
  readonly reads = new Counters();
  readonly writes = new Counters();
  readonly lastWrites = new LastWrites();

  /**
   * Creates the image.
   * @param restart called by the action `reset`; resets all images of the device, or by default only this one
   */
  constructor(layout: RegisterLayout, source: ActionSource, restart: () => void = () => this.reset()) {
    this.#layout = layout;
    this.#source = source;
    this.restart = restart;
    this.#words = layout.words;
    this.#meta = layout.meta;
  }

  get size(): number {
    return this.#layout.size;
  }

  /** The configuration of the cells, including those defined since. */
  get layout(): RegisterLayout {
    return this.#layout;
  }

  /**
   * Counts the values that have a cell among `count` cells starting at `address`. Yields, so that other work
   * can run.
   */
  *valuesIn(address: number, count: number): Generator<void, number, void> {
    let values = this.typeAt(address) === 'next' ? 1 : 0;
    const end = address + count;
    for (let from = address; from < end; from += COUNTED) {
      const piece = this.#meta.subarray(from, Math.min(end, from + COUNTED));
      for (const meta of piece) values += BEGINS[meta] as number;
      yield;
    }
    return values;
  }

  typeAt(address: number): CellType {
    return typeOfMeta(this.#meta[address] ?? 0);
  }

  isWritable(address: number): boolean {
    return isWritableMeta(this.#meta[address] as number);
  }

  /** Returns the order of words and bytes in the value at a cell. */
  orderAt(address: number): ValueOrder {
    return orderOfMeta(this.#meta[address] as number);
  }

  /** Reports whether `count` cells starting at `address` have their configured words and access flags. */
  isAsConfigured(address: number, count: number): boolean {
    const { words, meta } = this.#layout;
    const end = address + count;
    for (let cell = address; cell < end && this.#words !== words; cell++) {
      if (this.#words[cell] !== words[cell]) return false;
    }
    for (let cell = address; cell < end && this.#meta !== meta; cell++) {
      if (this.#meta[cell] !== meta[cell]) return false;
    }
    return true;
  }

  /** Reports whether any of `count` cells starting at `address` has an action. */
  hasActions(address: number, count: number): boolean {
    return Array.from(this.#layout.actions.keys()).some((cell) => cell >= address && cell < address + count);
  }

  setWritable(address: number, writable: boolean): void {
    this.changes++;
    if (this.#meta === this.#layout.meta) this.#meta = this.#layout.meta.slice();
    this.#meta[address] = withWritable(this.#meta[address] as number, writable);
  }

  wordAt(address: number): number {
    return this.#words[address] as number;
  }

  /**
   * Returns `count` words starting at `address` as clients read them: for a value that is not available, its
   * sentinel.
   */
  servedWords(address: number, count: number): number[] {
    const words = new Array<number>(count);
    for (let i = 0; i < count; i++) words[i] = this.#words[address + i] as number;
    this.cover?.(address, words);
    return words;
  }

  setWord(address: number, word: number): void {
    this.setWords(address, [word]);
  }

  /** Changes adjacent words. A value of several words changes once. */
  setWords(address: number, words: readonly number[]): void {
    const { live, history } = this;
    let computed: Set<number> | undefined;
    for (let i = 0; live && i < words.length; i++)
      if (live.changing(address + i)) computed = (computed ?? new Set()).add(i);
    let at: number | undefined;
    for (let i = 0; i < words.length; i++) {
      const before = this.#words[address + i] as number;
      if (before !== words[i]) {
        this.changes++;
        at ??= history?.time;
        if (at !== undefined && !computed?.has(i)) history?.note(this.#recorded, address + i, before, at);
      }
      this.#store(address + i, words[i] as number);
    }
    live?.changed(address, words.length);
  }

  /** Puts a past word into a cell, or restores it. Nothing else is notified. @returns the previous word */
  exchange(address: number, word: number): number {
    const before = this.#words[address] as number;
    this.#store(address, word);
    return before;
  }

  forget(): void {
    this.history = undefined;
    this.#recorded.cells = undefined;
  }

  #store(address: number, word: number): void {
    if (this.#words === this.#layout.words) this.#words = this.#layout.words.slice();
    this.#words[address] = word;
  }

  actionAt(address: number): Action | undefined {
    return this.#layout.actions.get(address);
  }

  /** Returns the location of the value that includes the cell; undefined for an undefined cell. */
  valueSpan(address: number): ValueLocation | undefined {
    let start = address;
    let type = this.typeAt(start);
    while (type === 'next') type = this.typeAt(--start);
    if (type === 'invalid') return undefined;
    let end = start + 1;
    while (this.typeAt(end) === 'next') end++;
    return { address: start, cells: end - start, type };
  }

  valueAt({ address, cells, type }: ValueLocation): Value {
    return valueOfWords(type, this.#words, orderOfMeta(this.#meta[address] as number), address, cells);
  }

  /** Returns the value as it would be after `words` were written starting at `from`. */
  valueWith({ address, cells, type }: ValueLocation, from: number, words: readonly number[]): Value {
    const mixed = Array.from(
      this.#words.subarray(address, address + cells),
      (word, i) => words[address + i - from] ?? word,
    );
    return valueOfWords(type, mixed, orderOfMeta(this.#meta[address] as number));
  }

  /** Stores a value that `parseValue` accepted for this type and size. */
  setValue({ address, cells, type }: ValueLocation, value: Value): void {
    const words = wordsOfValue(type, value, cells, orderOfMeta(this.#meta[address] as number));
    this.setWords(address, words);
  }

  /** Stores a value like a write by a person: it may react. */
  write(location: ValueLocation, value: Value): void {
    this.setValue(location, value);
    this.live?.written(location.address, location.cells);
  }

  /** Stores a computed value. Unlike `setValue`, this does not count as a change. */
  show({ address, cells, type }: ValueLocation, value: Value): void {
    const words = wordsOfValue(type, value, cells, orderOfMeta(this.#meta[address] as number));
    for (let i = 0; i < cells; i++) this.#store(address + i, words[i] as number);
  }

  /** Copies the words and flags. The copy costs no time if nothing has changed. */
  snapshot(): ImageSnapshot {
    const layout = this.#layout;
    const { words, meta } = layout;
    return {
      layout,
      words: this.#words === words ? words : this.#words.slice(),
      meta: this.#meta === meta ? meta : this.#meta.slice(),
    };
  }

  /** Defines undefined cells. From now on they behave as if they had been configured. */
  define(cells: readonly number[], type: 'uint16' | 'bit', writable: boolean): void {
    const before = this.#layout;
    const isAsConfigured = this.#words === before.words && this.#meta === before.meta;
    const now = { ...before, words: this.#words, meta: this.#meta };
    this.#layout = withCells(before, cells, type, writable);
    const { words, meta } = isAsConfigured ? this.#layout : withCells(now, cells, type, writable);
    [this.#words, this.#meta] = [words, meta];
    this.changes++;
  }

  /** Restores a cell of an earlier snapshot. Signals are not notified, because they are restored too. */
  restore(address: number, word: number, writable: boolean): void {
    this.#store(address, word);
    if (this.isWritable(address) !== writable) this.setWritable(address, writable);
  }

  /**
   * Copies `count` cells starting at `address` with their counters, into one piece of memory. Cells beyond
   * the end are undefined.
   */
  block(address: number, count: number) {
    const { reads, writes, words, meta } = newBlock(count);
    const end = Math.min(address + count, this.size);
    words.set(this.#words.subarray(address, end));
    meta.set(this.#meta.subarray(address, end));
    const actions: [cell: number, action: Action][] = [];
    for (let cell = address; this.#layout.actions.size > 0 && cell < end; cell++) {
      const action = this.#layout.actions.get(cell);
      if (action) actions.push([cell, action]);
    }
    this.reads.copy(address, reads);
    this.writes.copy(address, writes);
    return { words, meta, reads, writes, actions };
  }

  /** Updates the computed values of `count` cells starting at `address`. */
  refresh(address: number, count: number): void {
    this.live?.refresh(address, count);
  }

  /**
   * Runs the actions of `count` cells starting at `address`, and counts a read of each. Call this before a
   * client's read.
   */
  touch(address: number, count: number): void {
    this.live?.refresh(address, count);
    if (this.#layout.actions.size === 0) {
      this.reads.incrementAll(address, count);
      return;
    }
    for (let cell = address; cell < address + count; cell++) {
      const action = this.#layout.actions.get(cell);
      if (action) runAction(this, cell, action, this.#source);
      this.reads.increment(cell);
    }
  }

  /** Records who has just written `count` cells starting at `address`. */
  noteWrite(address: number, count: number, writer: Writer): void {
    this.lastWrites.note(address, count, { writer, at: this.#source.now() });
  }

  /**
   * Restores the configured values and access flags and clears the counters, as after a restart of the
   * device.
   */
  reset(): void {
    this.changes++;
    this.#words = this.#layout.words;
    this.#meta = this.#layout.meta;
    this.reads.clear();
    this.writes.clear();
    this.lastWrites.clear();
  }
}

/** Creates lists in one piece of memory, which is 25 % faster to transfer to another thread than four pieces. */
function newBlock(count: number) {
  const memory = new ArrayBuffer(count * 11);
  return {
    reads: new Uint32Array(memory, 0, count),
    writes: new Uint32Array(memory, count * 4, count),
    words: new Uint16Array(memory, count * 8, count),
    meta: new Uint8Array(memory, count * 10, count),
  };
}
