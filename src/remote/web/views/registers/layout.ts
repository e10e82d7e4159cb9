import { notDefined } from '../../../../device/registers/undefined.js';
import type { RegisterView, Words } from '../../../../simulator/commands/schemas/value.js';
import { FORMATS, type Format, textOf, wordsOf } from './formats.js';

/** The registers of a table as they were last read, by address. */
export class Known {
  readonly #words = new Map<number, number | null>();
  readonly #access = new Map<number, string>();
  /** The value that contains a register; absent for a register that is its own value. */
  readonly #values = new Map<number, RegisterView>();
  bits: 1 | 16 = 16;

  take({ from, words, access, bits, values }: Words): void {
    this.bits = bits;
    words.forEach((word, i) => {
      this.#words.set(from + i, word);
      this.#access.set(from + i, access[i] as string);
      this.#values.delete(from + i);
    });
    for (const value of values) {
      for (let i = 0; i < value.registers; i++) this.#values.set(value.address + i, value);
    }
  }

  /** The word at an address; undefined until it is read, null if nothing is defined there. */
  wordAt(address: number): number | null | undefined {
    return this.#words.get(address);
  }

  /** Adjacent words; undefined if one of them is not known or not defined. */
  wordsAt(address: number, count: number): readonly number[] | undefined {
    const words = Array.from({ length: count }, (_, i) => this.#words.get(address + i));
    return words.every((word) => typeof word === 'number') ? (words as number[]) : undefined;
  }

  valueAt(address: number): RegisterView | undefined {
    return this.#values.get(address);
  }

  /** True if the content of a register is not known. */
  isUnknown(address: number): boolean {
    return this.#access.get(address) === '?';
  }

  isClientWritable(address: number): boolean {
    return this.#access.get(address) === 'w';
  }
}

/** Why a register can't be changed; undefined if it can. @param off why nothing can be changed */
export function whyNot(known: Known, address: number, off: string | undefined): string | undefined {
  if (off !== undefined) return off;
  const word = known.wordAt(address);
  if (word === undefined) return 'its value has not arrived yet';
  if (word === null) return notDefined(address);
  return whyMoved(known.valueAt(address));
}

/** Why an existing value can't be set; undefined if it can. */
export function whyMoved(value: Pick<RegisterView, 'signal'> | undefined): string | undefined {
  const kind = Object.keys(value?.signal ?? {})[0];
  if (kind === undefined || kind === 'counter') return undefined;
  return `a signal (${kind}) sets this value; freeze it first`;
}

/** A cell of the grid. It may show several registers of its row. */
export interface Cell {
  readonly address: number;
  readonly span: number;
  readonly text: string;
  /** The name of the value that starts or continues here. */
  readonly name: string | undefined;
  readonly state: 'unread' | 'undefined' | 'unknown' | 'read-only' | 'writable';
}

/** Height of a row in CSS pixels; the same as in the stylesheet. */
export const ROW_HEIGHT = 26;

const HEAD_WIDTH = 60;
const WIDTH_OF_A_BIT = 32;
/** Possible numbers of registers in a row. Rows start at round addresses in the base shown. */
const IN_TENS = [10, 5, 2, 1];
const IN_SIXTEENS = [16, 8, 4, 2, 1];
/** The same for values of two registers, which must fit in a row however narrow. */
const IN_PAIRS = [10, 4, 2];
const OF_VALUES = [4, 2];

/** The number of registers in a row. @param width width of the grid, in CSS pixels */
export function columnsFor(format: Format, bits: 1 | 16, width: number): number {
  let choices = format === 'hex' || format === 'bits' || format === 'text' ? IN_SIXTEENS : IN_TENS;
  if (wordsOf(format) === 2 && bits === 16) choices = IN_PAIRS;
  if (format === 'values') choices = OF_VALUES;
  const narrowest = bits === 1 && format !== 'values' ? WIDTH_OF_A_BIT : FORMATS[format].width;
  return choices.find((count) => HEAD_WIDTH + count * narrowest <= width) ?? (choices.at(-1) as number);
}

/**
 * The first address of each row with defined registers.
 * @param ranges pairs of first and last addresses, in order
 */
export function rowStartsOf(ranges: readonly (readonly [number, number])[], columns: number): number[] {
  const starts: number[] = [];
  for (const [from, to] of ranges) {
    for (let start = from - (from % columns); start <= to; start += columns) {
      if (start > (starts.at(-1) ?? -1)) starts.push(start);
    }
  }
  return starts;
}

/** The row that contains an address; if none does, the next row, or the last. */
export function rowOf(starts: readonly number[], columns: number, address: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as number) + columns > address) high = middle;
    else low = middle + 1;
  }
  return Math.max(0, low);
}

/**
 * The parts of a table that are read in one request. Adjacent rows form one part.
 * @param longest maximum number of addresses in a part
 */
export function partsOf(
  starts: readonly number[],
  columns: number,
  longest: number,
): { readonly from: number; readonly end: number }[] {
  const parts: { from: number; end: number }[] = [];
  for (const from of starts) {
    const last = parts.at(-1);
    if (last && from + columns - last.from <= longest) last.end = from + columns;
    else parts.push({ from, end: from + columns });
  }
  return parts;
}

/**
 * The address that a key leads to; undefined for keys that do not move.
 * @param rows how the table is drawn: `starts` are the first addresses of its rows, `size` is the number of
 * its addresses
 */
export function moved(
  { key, ctrlKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey'>,
  address: number,
  rows: {
    readonly starts: readonly number[];
    readonly columns: number;
    readonly size: number;
    readonly ofPage: number;
  },
): number | undefined {
  const { starts, columns, size, ofPage } = rows;
  const row = rowOf(starts, columns, address);
  // Cells are counted over all drawn rows.
  const at = row * columns + Math.max(0, Math.min(columns - 1, address - (starts[row] ?? 0)));
  const last = starts.length * columns - 1;
  const rowStart = row * columns;
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    ArrowUp: at < columns ? at : at - columns,
    ArrowDown: at + columns > last ? at : at + columns,
    PageUp: Math.max(at % columns, at - columns * ofPage),
    PageDown: Math.min(last, at + columns * ofPage),
    Home: ctrlKey ? 0 : rowStart,
    End: ctrlKey ? last : rowStart + columns - 1,
  };
  const to = targets[key];
  if (to === undefined) return undefined;
  return Math.min(size - 1, (starts[Math.floor(to / columns)] ?? 0) + (to % columns));
}

/** The cells of the row that starts at address `first`. @param size number of addresses in the table */
export function rowCells(
  known: Known,
  format: Format,
  { first, columns, size }: { readonly first: number; readonly columns: number; readonly size: number },
): Cell[] {
  const cells: Cell[] = [];
  const end = Math.min(first + columns, size);
  for (let address = first; address < end; ) {
    const start = cellStart(known, format, address);
    const stop = Math.min(start + cellLength(known, format, start), end);
    cells.push({
      address,
      span: stop - address,
      // The value started in the previous row.
      text: start < first ? '…' : cellText(known, format, start),
      name:
        start < first || known.valueAt(start)?.address === start
          ? (known.valueAt(start)?.name ?? undefined)
          : undefined,
      state: stateOf(known, address),
    });
    address = stop;
  }
  return cells;
}

/** The first register of the cell that contains an address. */
export function cellStart(known: Known, format: Format, address: number): number {
  const value = known.valueAt(address);
  if (format === 'values') return value?.address ?? address;
  if (wordsOf(format) === 1 || known.bits === 1) return address;
  // Pairs start at even addresses, or with the value that contains them.
  if (value && value.registers > 1) return address - ((address - value.address) % 2);
  const before = known.valueAt(address - 1);
  return address % 2 === 1 && !(before && before.registers > 1) ? address - 1 : address;
}

/** Number of registers in the cell that starts at an address. */
export function cellLength(known: Known, format: Format, start: number): number {
  const value = known.valueAt(start);
  if (format === 'values') return value?.address === start ? value.registers : 1;
  if (wordsOf(format) === 1 || known.bits === 1) return 1;
  const isPair = cellStart(known, format, start + 1) === start;
  return isPair ? 2 : 1;
}

/** The text of the cell that starts at an address. */
export function cellText(known: Known, format: Format, start: number): string {
  const value = known.valueAt(start);
  if (format === 'values' && value) return valueText(value);
  const words = known.wordsAt(start, cellLength(known, format, start));
  if (words) return textOf(format, words, known.bits);
  if (known.isUnknown(start)) return '?';
  return known.wordAt(start) === undefined ? '' : '–';
}

/** Formats a value in its unit, or as its label: `230.1 V`, `closed`. */
export function valueText({
  value,
  unit,
  label,
}: {
  readonly value: number | string | null;
  readonly unit: string | null;
  readonly label: string | null;
}): string {
  if (label !== null) return label;
  if (value === null) return 'not available';
  const text = typeof value === 'number' ? String(Number(value.toPrecision(7))) : value.trimEnd();
  return unit === null ? text : `${text} ${unit}`;
}

function stateOf(known: Known, address: number): Cell['state'] {
  const word = known.wordAt(address);
  if (word === undefined) return 'unread';
  if (known.isUnknown(address)) return 'unknown';
  if (word === null) return 'undefined';
  return known.isClientWritable(address) ? 'writable' : 'read-only';
}
