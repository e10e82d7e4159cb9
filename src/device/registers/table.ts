import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import type { AddressRange, RefusedRange } from '../../modbus/protocol/pdu.js';
import type { Writer } from './accesses.js';
import type { RegisterImage } from './image.js';

/**
 * One of the four tables of a device (Application Protocol V1.1b3, 4.3): a window onto the cells of an image.
 * Several tables may share cells. With 16 bits per cell, bit address 16n+k is bit k of cell n, least
 * significant first.
 */
export interface TableWindow {
  readonly image: RegisterImage;
  /** The index of the window's first cell in the image. */
  readonly base: number;
  /** How many cells the window has. */
  readonly size: number;
  readonly bitsPerCell: 1 | 16;
  /** Refuses access to only part of a multi-cell value (pymodbus' `type exception`). */
  readonly wholeValues: boolean;
  /**
   * Counts like pymodbus' simulator: functions 5, 6 and 22 also count a read of the cell that they write, and
   * each bit that function 15 writes counts as a write to its cell.
   */
  readonly countsAsPymodbus: boolean;
}

/** Reads and writes for clients. An access has no effect unless all of its cells allow it. */
export class Table {
  window: TableWindow;
  /** Who sent the request being executed; undefined if that is not needed. */
  writer: Writer | undefined;

  constructor(window: TableWindow) {
    this.window = window;
  }

  /** Defines the undefined registers or bits in ranges, with the value 0. Only for a table that shares no cells. */
  define(ranges: readonly AddressRange[], writable: boolean): void {
    const { image, base, size, bitsPerCell } = this.window;
    const cells = ranges.flatMap(({ address, quantity }) =>
      Array.from({ length: quantity }, (_, i) => base + address + i),
    );
    const open = cells.filter((cell) => image.typeAt(cell) === 'invalid');
    image.define(open, bitsPerCell === 1 ? 'bit' : 'uint16', writable);
    const ends = ranges.map(({ address, quantity }) => address + quantity);
    this.window = { ...this.window, size: Math.max(size, ...ends) };
  }

  /** Reports whether `quantity` registers at `address` can be read. If not, the answer is exception 02. */
  canReadWords(address: number, quantity: number): boolean {
    return this.#allows(address, address + quantity - 1, false);
  }

  canWriteWords(address: number, quantity: number): boolean {
    return this.#allows(address, address + quantity - 1, true);
  }

  canReadBits(address: number, quantity: number): boolean {
    return this.#allowsBits(address, address + quantity - 1, false);
  }

  canWriteBits(address: number, quantity: number): boolean {
    return this.#allowsBits(address, address + quantity - 1, true);
  }

  /** Reports whether a client could read the register or bit at `address`. */
  defines(address: number, of: 'bits' | 'words'): boolean {
    return this.#whyRefused(of === 'bits' ? this.#cellOfBit(address) : address, address, false) === undefined;
  }

  /**
   * Reports whether a range of registers begins or ends inside a value although the window allows only whole
   * values.
   */
  cutsValue({ address, quantity }: AddressRange): boolean {
    const { image, base, wholeValues } = this.window;
    if (!wholeValues) return false;
    return [address, address + quantity].some((cell) => image.typeAt(base + cell) === 'next');
  }

  /**
   * Returns the first addresses of a range that refuse an access, all for the same reason. Undefined if all
   * allow it.
   * @param isWrite true if the access is a write
   */
  refused(
    { address, quantity }: AddressRange,
    of: 'bits' | 'words',
    isWrite: boolean,
  ): RefusedRange | undefined {
    const { image, base, wholeValues } = this.window;
    const cellOf = (at: number) => (of === 'bits' ? this.#cellOfBit(at) : at);
    const end = address + quantity;
    for (let first = address; first < end; first++) {
      const why = this.#whyRefused(cellOf(first), first, isWrite);
      if (why === undefined) continue;
      let next = first + 1;
      while (next < end && this.#whyRefused(cellOf(next), next, isWrite) === why) next++;
      return { address: first, quantity: next - first, why };
    }
    if (!wholeValues) return undefined;
    const cut = [address, end - 1].find((at, i) => image.typeAt(base + cellOf(at) + i) === 'next');
    return cut === undefined ? undefined : { address: cut, quantity: 1, why: 'part of a value' };
  }

  /** Reads words after running the actions of their cells. Call this only if {@link canReadWords}. */
  readWords(address: number, quantity: number): number[] {
    const { image, base } = this.window;
    image.touch(base + address, quantity);
    return image.servedWords(base + address, quantity);
  }

  /**
   * Returns the current words, updated by their signals. Runs no action and counts no read. Call this only if
   * {@link canReadWords}.
   */
  currentWords(address: number, quantity: number): number[] {
    const { image, base } = this.window;
    image.refresh(base + address, quantity);
    return image.servedWords(base + address, quantity);
  }

  /** Writes words. Call this only if {@link canWriteWords}. */
  writeWords(address: number, words: readonly number[]): void {
    const { image, base } = this.window;
    image.setWords(base + address, words);
    image.writes.incrementAll(base + address, words.length);
    if (this.writer) image.noteWrite(base + address, words.length, this.writer);
    image.live?.written(base + address, words.length);
  }

  /** Writes one word, like functions 6 and 22 (6.6, 6.16). Call this only if {@link canWriteWords}. */
  writeWord(address: number, word: number): void {
    this.writeWords(address, [word]);
    this.#countReadOfWritten(address);
  }

  /**
   * Returns the bits of the word at `address` that are set in `andMask`, and the others from `orMask` (6.16).
   */
  maskedWord(address: number, andMask: number, orMask: number): number {
    const { image, base } = this.window;
    image.refresh(base + address, 1);
    return (image.wordAt(base + address) & andMask) | (orMask & ~andMask & 0xffff);
  }

  /** Reads bits after running the actions of their cells. Call this only if {@link canReadBits}. */
  readBits(address: number, quantity: number): boolean[] {
    const { image, base } = this.window;
    const [first, cells] = this.#cellsOfBits(address, quantity);
    image.touch(base + first, cells);
    return this.#servedBits(address, quantity);
  }

  /**
   * Returns the current bit, updated by its signal. Runs no action and counts no read. Call this only if
   * {@link canReadBits}.
   */
  currentBit(address: number): boolean {
    this.window.image.refresh(this.window.base + this.#cellOfBit(address), 1);
    return this.#servedBits(address, 1)[0] as boolean;
  }

  #servedBits(address: number, quantity: number): boolean[] {
    const { image, base, bitsPerCell } = this.window;
    const [first, cells] = this.#cellsOfBits(address, quantity);
    const words = image.servedWords(base + first, cells);
    const bits = new Array<boolean>(quantity);
    for (let i = 0; i < quantity; i++) {
      const word = words[this.#cellOfBit(address + i) - first] as number;
      bits[i] = ((word >>> ((address + i) % bitsPerCell)) & 1) === 1;
    }
    return bits;
  }

  /** Returns a bit as last computed, even if it is not available. Call this only if {@link canReadBits}. */
  bitAt(address: number): boolean {
    const { image, base, bitsPerCell } = this.window;
    return ((image.wordAt(base + this.#cellOfBit(address)) >>> (address % bitsPerCell)) & 1) === 1;
  }

  /** Writes one bit, like function 5 (6.5). Call this only if {@link canWriteBits}. */
  writeBit(address: number, bit: boolean): void {
    this.writeBits(address, [bit]);
    this.#countReadOfWritten(this.#cellOfBit(address));
  }

  /** Writes bits. Call this only if {@link canWriteBits}. */
  writeBits(address: number, bits: readonly boolean[]): void {
    const { image, base, bitsPerCell, countsAsPymodbus } = this.window;
    bits.forEach((bit, i) => {
      this.#storeBit(address + i, bit);
      const isFirstOfCell = i === 0 || (address + i) % bitsPerCell === 0;
      if (isFirstOfCell || countsAsPymodbus) image.writes.increment(base + this.#cellOfBit(address + i));
    });
    const [first, cells] = this.#cellsOfBits(address, bits.length);
    if (this.writer) image.noteWrite(base + first, cells, this.writer);
    image.live?.written(base + first, cells);
  }

  /**
   * Copies the values of a real device to the addresses that are defined. Nothing reacts or is counted,
   * because no client has written here.
   */
  follow(address: number, values: readonly number[], of: 'bits' | 'words'): void {
    const { image, base } = this.window;
    const isDefined = values.map((_, i) => this.defines(address + i, of));
    for (let from = 0; from < values.length; ) {
      const end = of === 'bits' ? from + 1 : endOfRun(isDefined, from);
      if (isDefined[from] && of === 'words') image.setWords(base + address + from, values.slice(from, end));
      else if (isDefined[from]) this.#storeBit(address + from, values[from] !== 0);
      from = end;
    }
  }

  #storeBit(address: number, bit: boolean): void {
    const { image, base, bitsPerCell } = this.window;
    const cell = base + this.#cellOfBit(address);
    const mask = 1 << (address % bitsPerCell);
    image.setWord(cell, bit ? image.wordAt(cell) | mask : image.wordAt(cell) & ~mask & 0xffff);
  }

  /**
   * Counts a read of a cell that was written, if pymodbus does. Runs no action, because the client has not
   * read anything.
   */
  #countReadOfWritten(cell: number): void {
    const { image, base, countsAsPymodbus } = this.window;
    if (countsAsPymodbus) image.reads.increment(base + cell);
  }

  #cellOfBit(address: number): number {
    return this.window.bitsPerCell === 1 ? address : address >>> 4;
  }

  /** Returns the first cell of the window that holds bits of a range, and the number of such cells. */
  #cellsOfBits(address: number, quantity: number): [first: number, cells: number] {
    const first = this.#cellOfBit(address);
    return [first, this.#cellOfBit(address + quantity - 1) - first + 1];
  }

  /**
   * Reports whether cells allow an access to their bits. Cells after the 4096th have no bit addresses; they
   * can still be accessed as registers.
   */
  #allowsBits(first: number, last: number, write: boolean): boolean {
    return last < ADDRESS_SPACE && this.#allows(this.#cellOfBit(first), this.#cellOfBit(last), write);
  }

  #whyRefused(cell: number, address: number, isWrite: boolean): RefusedRange['why'] | undefined {
    const { image, base, size } = this.window;
    if (address >= ADDRESS_SPACE || cell >= size || image.typeAt(base + cell) === 'invalid')
      return 'not defined';
    return isWrite && !image.isWritable(base + cell) ? 'read only' : undefined;
  }

  #allows(first: number, last: number, write: boolean): boolean {
    const { image, base, size, wholeValues } = this.window;
    if (last >= size) return false;
    for (let cell = base + first; cell <= base + last; cell++) {
      if (image.typeAt(cell) === 'invalid' || (write && !image.isWritable(cell))) return false;
    }
    if (!wholeValues) return true;
    return image.typeAt(base + first) !== 'next' && image.typeAt(base + last + 1) !== 'next';
  }
}

/** Returns the end of the run of entries that equal the entry at `from`. */
function endOfRun(entries: readonly boolean[], from: number): number {
  let end = from + 1;
  while (entries[end] === entries[from]) end++;
  return end;
}
