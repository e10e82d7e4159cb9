import { compact } from '../../../common/compact.js';
import { quote } from '../../../common/schema/problem.js';
import { counted } from '../../../common/words.js';
import { CELLS_PER_VALUE } from '../../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../../device/tables.js';
import { MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import {
  type Collector,
  type ColumnReading,
  type FoundValue,
  type ImportExtras,
  middleOf,
  type TableReading,
} from '../collected.js';
import { type DataType, dataTypeOf, orderOf } from '../data-types.js';
import {
  type AddressStyle,
  areHex,
  numbered,
  numbersFrom,
  type WrittenAddress,
  writtenAddress,
} from './addresses.js';
import { unitOf } from './numbers.js';
import { type ColumnRole, type Columns, hasIds, MOST_COLUMNS } from './roles.js';
import type { CsvRow } from './rows.js';
import { TableText } from './table-text.js';
import { accessOf, type TableWord, tableOf, tableOfTitle } from './words.js';

/** Number of rows shown so that the user can see what the columns contain. */
const ROWS_SHOWN = 6;

/** A row whose address was understood. */
interface PlacedRow {
  readonly row: CsvRow;
  readonly address: WrittenAddress;
  readonly word: TableWord | undefined;
}

/** Reads one table in a file and adds its rows to a collector as values. */
export class TableReader {
  readonly #collector: Collector;
  readonly #columns: Columns;
  readonly #rows: readonly CsvRow[];
  readonly #extras: ImportExtras;
  readonly #title: string;
  readonly #text: TableText;
  /** Whether lengths are in bytes rather than registers. */
  #countsBytes = false;
  #inRegisters: ReadonlySet<string> = new Set();
  #inUnits: boolean;
  readonly #isHex: boolean;
  readonly #placed: readonly PlacedRow[];
  /** How the addresses of this table are numbered, judging by the table alone. */
  readonly numbering: Omit<AddressStyle, 'isHex'>;

  constructor(
    collector: Collector,
    columns: Columns,
    rows: readonly CsvRow[],
    title: string,
    extras: ImportExtras,
  ) {
    this.#collector = collector;
    this.#columns = columns;
    this.#rows = rows;
    this.#title = title;
    this.#extras = extras;
    this.#inUnits = extras.inUnits ?? false;
    this.#text = new TableText(columns, rows, (row, message) => this.#note(row, message));
    const cells = rows.map((row) => this.#text.of(row, 'address')).filter((cell) => cell !== '');
    this.#isHex = areHex(this.#text.headerOf('address') ?? '', cells);
    this.#placed = this.#placedRows(this.#isHex);
    this.numbering = this.#numbersIn();
  }

  /** Reads all rows. @param areWire whether the file has addresses on the wire, judging by another table */
  read(
    device: string,
    areWire: boolean,
  ): { readonly reading: TableReading; readonly preview: readonly string[] } {
    const placed = this.#placed;
    const style = this.#styleIn(areWire);
    this.#countsBytes = this.#doesCountBytes(placed);
    this.#inRegisters = this.#typesInRegisters();
    this.#inUnits ||= this.#hasDefaultsInUnits();
    for (const [i, each] of placed.entries()) this.#take(each, placed[i + 1]?.address.number, style, device);
    const reading = this.#reading(style);
    return { reading, preview: this.#preview(reading, style) };
  }

  /** How the addresses are numbered, unless the user or another table of the file says otherwise. */
  #styleIn(areWire: boolean): AddressStyle {
    const { base } = this.#extras;
    const { numbering } = this;
    const isHex = this.#isHex;
    if (base !== undefined)
      return { isHex, numbersFrom: base === 'entity' ? (numbering.numbersFrom ?? 1) : undefined };
    if (areWire && numbering.numbersFrom !== undefined && !numbering.haveSix)
      return { isHex, numbersFrom: undefined, others: this.#placed.length };
    return { isHex, ...numbering };
  }

  /**
   * Decides how addresses are numbered. Identifiers, such as those in NIBE's files, are wire addresses,
   * unless some are too large for that: then they are register numbers.
   */
  #numbersIn(): ReturnType<typeof numbersFrom> {
    const found = numbersFrom(
      this.#placed.map(({ row, address, word }) => ({
        ...{ address, table: word?.table },
        isWord: (dataTypeOf(this.#text.of(row, 'type'), 1)?.type ?? 'bit') !== 'bit',
      })),
    );
    return hasIds(this.#columns) && found.numbersFrom !== undefined && !found.haveSix
      ? { numbersFrom: undefined, others: this.#placed.length }
      : found;
  }

  #note(row: CsvRow, message: string): void {
    this.#collector.note(`line ${row.line}`, message);
  }

  /** The table named in the address header, such as "Coil" or "Input Register", or in the title of the table. */
  #titled(): TableName | undefined {
    const header = this.#text.headerOf('address') ?? '';
    return (/\p{L}/u.test(header) ? tableOf(header)?.table : undefined) ?? tableOfTitle(this.#title);
  }

  /** The rows with addresses. A title between them may name the table of the rows below it. */
  #placedRows(isHex: boolean): PlacedRow[] {
    let titled = this.#titled();
    return this.#rows.flatMap((row) => {
      const text = this.#text.of(row, 'address');
      const address = writtenAddress(text, isHex);
      if (address === undefined) {
        const filled = row.cells.filter((cell) => cell !== '');
        // A title between groups of registers has only one cell.
        const isTitle = filled.length === 1;
        const [shown = ''] = isTitle ? filled : [text];
        if (isTitle) titled = tableOfTitle(shown) ?? titled;
        if (filled.length > 0)
          this.#note(
            row,
            isTitle ? `not a register: ${quote(shown)}` : `address ${quote(shown)}: expected a number`,
          );
        return [];
      }
      const table = this.#text.of(row, 'table');
      const word = tableOf(table);
      if (table !== '' && word === undefined) this.#note(row, `unknown table ${quote(table)}`);
      const usual = address.table ?? this.#extras.table ?? titled;
      return [{ row, address, word: word ?? (usual && { table: usual, write: false }) }];
    });
  }

  /**
   * Decides whether lengths are in bytes or registers: a value ends before the next one begins, and has the
   * size of its type.
   */
  #doesCountBytes(placed: readonly PlacedRow[]): boolean {
    const score = (perRegister: number) =>
      placed.reduce((sum, { row, address }, i) => {
        const count = this.#text.whole(row, 'words', false);
        if (count === undefined || count === 0) return sum;
        const words = count / perRegister;
        const gap = (placed[i + 1]?.address.number ?? Number.NaN) - address.number;
        const type = dataTypeOf(this.#text.of(row, 'type'), undefined);
        const size =
          type && !type.assumed && type.type !== 'string' && type.type !== 'bit'
            ? CELLS_PER_VALUE[type.type]
            : undefined;
        const isAfter = gap <= 0 || Number.isNaN(gap) ? 0 : words > gap ? -2 : words === gap ? 1 : 0;
        return (
          sum +
          isAfter +
          (size === undefined ? 0 : words === size ? 2 : -2) +
          (Number.isInteger(words) ? 0 : -1)
        );
      }, 0);
    return score(2) > score(1);
  }

  /** True if a default value has decimals that its type can't store, but could store after scaling. */
  #hasDefaultsInUnits(): boolean {
    return this.#rows.some((row) => {
      const value = this.#text.decimal(row, 'value', false);
      const scale = this.#text.scale(row, false) ?? 1;
      const type = dataTypeOf(this.#text.of(row, 'type'), this.#words(row))?.type ?? 'uint16';
      if (value === undefined || Number.isInteger(value) || scale === 1 || type.startsWith('float'))
        return false;
      return Math.abs(value / scale - Math.round(value / scale)) < 1e-6;
    });
  }

  /** Adds the value of a row. @param next the address of the next row */
  #take(
    { row, address: written, word }: PlacedRow,
    next: number | undefined,
    style: AddressStyle,
    device: string,
  ): void {
    const number =
      style.numbersFrom === undefined
        ? undefined
        : numbered(written, style.numbersFrom, style.haveSix, word?.table);
    if (style.numbersFrom !== undefined && !number)
      this.#note(
        row,
        `${written.number} is not a register number, so it is taken as the address on the wire`,
      );
    const address = number?.address ?? written.number - (this.#extras.base === '1' ? 1 : 0);
    const text = written.isString ? 'string' : this.#text.of(row, 'type');
    const words =
      written.words ??
      this.#words(row) ??
      this.#until(row, written) ??
      this.#lengthUntil(row, text, written.number, next);
    const said = text === '' ? untyped(words) : dataTypeOf(text, words);
    // A bit that spans several registers is not a coil: its registers are served.
    const known = said?.type === 'bit' && words !== undefined && words > 1 ? untyped(words) : said;
    const filled = this.#filled(known ?? this.#unknown(row, text, words), words);
    const data = text !== '' && known && !known.assumed ? filled : this.#signed(row, filled);
    const bit = written.bit ?? this.#text.whole(row, 'bit') ?? data.bit;
    const isFarEnough = next !== undefined && next - written.number >= 2 && data.type === 'float32';
    if (data.assumed && !isFarEnough) this.#note(row, `type ${quote(text)} ${data.assumed}`);
    const isBit = data.type === 'bit' && bit === undefined;
    const table = number?.table ?? word?.table ?? (isBit ? 'coils' : 'holding');
    const value = this.#value(row, table, address, data, words);
    const unit = this.#text.whole(row, 'slave') ?? 1;
    const write = this.#isWritable(row, word?.write ?? false, table);
    const isInBits = isOfBits(table);
    // The address of a bit in a register is the address of the register.
    const part = isInBits || (bit === undefined && data.type !== 'bit') ? undefined : `bit ${bit ?? 0}`;
    if (part !== undefined && bit === undefined) {
      this.#note(row, `no column says which bit of its register ${this.#called(row)} is, so bit 0 is used`);
    }
    if (data.rest !== undefined && !isInBits)
      for (let i = 1; i <= data.rest; i++)
        this.#collector.add('', unit, device, {
          ...{
            table,
            address: address + value.cells - 1 + i,
            type: 'uint16',
            rest: true,
            write,
            location: value.found.location,
          },
        });
    this.#collector.add('', unit, device, {
      ...value.found,
      ...(part !== undefined && { part, type: 'uint16' as const }),
      ...(isInBits && { type: 'bit' as const }),
      write,
    });
  }

  /** Extends a type by the registers after it that its row also counts. */
  #filled(data: DataType, words: number | undefined): DataType {
    if (data.type === 'string' || data.type === 'bit' || data.rest !== undefined || words === undefined)
      return data;
    const rest = words - CELLS_PER_VALUE[data.type];
    return rest > 0 && Number.isInteger(words) && words <= MAX_REGISTERS_READ ? { ...data, rest } : data;
  }

  /** A whole number is signed if its type does not say but its limits or default are negative. */
  #signed(row: CsvRow, data: DataType): DataType {
    const isNegative = [this.#text.decimal(row, 'min', false), this.#text.decimal(row, 'value', false)].some(
      (each) => each !== undefined && each < 0,
    );
    const { type } = data;
    if (!isNegative || (type !== 'uint16' && type !== 'uint32' && type !== 'uint64')) return data;
    return { ...data, type: SIGNED[type] };
  }

  /** The replacement for an unknown type: its registers. */
  #unknown(row: CsvRow, text: string, length = 1): DataType {
    // A length beyond any read is ignored: a table with 1e9 there must not be served register by register.
    const words = Number.isInteger(length) && length >= 1 && length <= MAX_REGISTERS_READ ? length : 1;
    const what = text === '' ? `no type for ${counted(words, 'register')}` : `unknown type ${quote(text)}`;
    this.#note(row, `${what}, so ${words === 1 ? 'a plain register is' : 'plain registers are'} served`);
    return { type: 'uint16', rest: words - 1 };
  }

  /** The number of registers up to the last address, if a column gives it. */
  #until(row: CsvRow, { number }: WrittenAddress): number | undefined {
    const last = writtenAddress(this.#text.of(row, 'last'), false)?.number;
    return last === undefined || last < number ? undefined : last - number + 1;
  }

  /**
   * The number of registers in `string[6]`, `reserved[6]` or `INT2` if the next address is as much higher: in that
   * case it does not count characters or bytes. Before a gap, the other values of this type decide.
   */
  #lengthUntil(row: CsvRow, type: string, address: number, next: number | undefined): number | undefined {
    const count = lengthIn(type);
    if (count === undefined) return undefined;
    const gap = (next ?? Number.NaN) - address;
    const isBeforeGap = !(gap >= 0 && gap <= count);
    if (gap !== count && !(isBeforeGap && this.#inRegisters.has(type))) return undefined;
    const why = isBeforeGap ? 'like the others of this type' : `because the next address is ${count} higher`;
    if (dataTypeOf(type, count)) this.#note(row, `type ${quote(type)}: ${count} registers, ${why}`);
    return count;
  }

  /** The types whose length is in registers, according to all addresses after them that are near enough to show it. */
  #typesInRegisters(): ReadonlySet<string> {
    const found = new Map<string, boolean>();
    for (const [i, { row, address }] of this.#placed.entries()) {
      const type = this.#text.of(row, 'type');
      const gap = (this.#placed[i + 1]?.address.number ?? 0) - address.number;
      const count = lengthIn(type) ?? 0;
      if (gap > 0 && gap <= count) found.set(type, gap === count && found.get(type) !== false);
    }
    return new Set([...found].flatMap(([type, isSo]) => (isSo ? [type] : [])));
  }

  #value(
    row: CsvRow,
    table: TableName,
    address: number,
    { type, length, wordOrder, byteOrder }: DataType,
    words: number | undefined,
  ): { readonly found: FoundValue; readonly cells: number } {
    const order = orderOf(this.#text.of(row, 'order'));
    if (this.#text.of(row, 'order') !== '' && order === undefined) {
      this.#note(row, `unknown order ${quote(this.#text.of(row, 'order'))}`);
    }
    const scale = this.#text.scale(row);
    const [min, max] = this.#limits(row);
    const found = {
      ...{ table, address, type, wordOrder, byteOrder, ...order, scale },
      location: `line ${row.line}`,
      length: type === 'string' ? this.#stringLength(row, words ?? length) : undefined,
      name: this.#text.of(row, 'name'),
      unit: unitOf(this.#text.of(row, 'unit')).unit,
      description: this.#text.of(row, 'description'),
      value: this.#initial(row, type, scale) ?? middleOf(type, min, max, scale),
      limits: min === undefined && max === undefined ? undefined : { min, max },
    };
    return { found, cells: type === 'string' ? (found.length ?? 1) : CELLS_PER_VALUE[type] };
  }

  /** Both limits of a row; none if both are 0, which some tables write for "no limits". */
  #limits(row: CsvRow): readonly [number | undefined, number | undefined] {
    const [min, max] = [this.#text.decimal(row, 'min'), this.#text.decimal(row, 'max')];
    return min === 0 && max === 0 ? [undefined, undefined] : [min, max];
  }

  #called(row: CsvRow): string {
    return this.#text.of(row, 'name') ? quote(this.#text.of(row, 'name')) : 'this row';
  }

  /** The number of registers that the file gives for a value. */
  #words(row: CsvRow): number | undefined {
    const words = this.#text.whole(row, 'words');
    const bytes = this.#text.whole(row, 'bytes') ?? (this.#countsBytes ? words : undefined);
    return bytes === undefined ? words : Math.ceil(bytes / 2);
  }

  #stringLength(row: CsvRow, length: number | undefined): number {
    if (length === undefined) this.#note(row, 'a string without a length is served as 1 register');
    return Math.max(1, length ?? 1);
  }

  /** The initial value in stored form. */
  #initial(row: CsvRow, type: DataType['type'], scale = 1): number | string | undefined {
    const text = this.#text.of(row, 'value');
    if (text === '' || /^[-–]+$/.test(text)) return undefined;
    if (type === 'string') return text;
    if (/^0x[0-9a-f]{1,16}$/i.test(text)) return text;
    const value = this.#text.decimal(row, 'value');
    if (value === undefined) this.#note(row, `value ${quote(text)}: expected a number`);
    if (value === undefined || !this.#inUnits) return value;
    return type.startsWith('float') ? Number((value / scale).toPrecision(7)) : Math.round(value / scale);
  }

  #isWritable(row: CsvRow, byFunction: boolean, table: TableName): boolean {
    const text = this.#text.of(row, 'access');
    const access = text === '' ? byFunction : accessOf(text);
    if (access === undefined)
      this.#note(row, `unknown access ${quote(text)}, so clients can only read the value`);
    // No Modbus function writes these two tables.
    return access === true && table !== 'discrete' && table !== 'input';
  }

  #reading(style: AddressStyle): TableReading {
    const meaning: Partial<Record<ColumnRole, string>> = {
      address: this.#addressesIn(style),
      scale: 'value = stored × this',
      divisor: 'value = stored ÷ this',
      decimals: 'number of decimals of the value',
      value: this.#inUnits
        ? 'in the unit of the value'
        : 'as stored, before scaling; --defaults units reads it in the unit of the value',
      min: 'a limit for what clients may write; the initial value is halfway between the limits',
      max: 'a limit for what clients may write; the initial value is halfway between the limits',
      words: this.#countsBytes ? 'bytes' : 'registers',
      slave: 'the unit identifier',
      unit: 'the unit of the value',
    };
    const { header, of, near } = this.#columns;
    const roles = new Map([...of].map(([role, column]) => [column, role]));
    const columns = header.cells.map((cell, column): ColumnReading => {
      const role = roles.get(column);
      if (role === undefined) return { header: cell };
      const other = near.get(role);
      return {
        header: cell,
        role,
        ...compact({
          meaning: meaning[role],
          near: other === undefined ? undefined : (header.cells[other] ?? ''),
        }),
      };
    });
    const rows = this.#rows.slice(0, ROWS_SHOWN).map(({ cells }) => cells.slice(0, MOST_COLUMNS));
    return { line: header.line, columns, rows };
  }

  /** How the columns were interpreted, one line of text each: used columns first. */
  #preview({ columns }: TableReading, style: AddressStyle): string[] {
    const used = columns.flatMap(({ header, role, meaning, near }) => {
      if (role === undefined) return [];
      const runnerUp = near === undefined ? '' : ` (or column ${quote(near)}: --column ${role}=…)`;
      return `column ${quote(header)}: ${role}${meaning ? `, ${meaning}` : ''}${runnerUp}`;
    });
    const unused = columns.filter(({ header, role }) => header !== '' && role === undefined);
    const { of } = this.#columns;
    const isTold = of.has('table') || style.numbersFrom !== undefined || this.#extras.table || this.#titled();
    const defaults = [
      ...(isTold ? [] : ['no column names the table: holding registers, and coils for bits']),
      ...(of.has('type') ? [] : ['no column names the type: uint16']),
    ];
    return [...used, ...unused.map(({ header }) => `column ${quote(header)}: not used`), ...defaults];
  }

  #addressesIn({ numbersFrom: from, others, isHex }: AddressStyle): string {
    if (from === 0)
      return 'register numbers counted from 0: 400000 is holding register 0, 300000 input register 0';
    if (from === 1)
      return 'register numbers: 40001 is holding register 0, 30001 input register 0, 10001 discrete input 0';
    const first = this.#extras.base === '1' ? 'counted from 1' : '0-based, as on the wire';
    const near = others === undefined ? '' : ` (but ${others} could be register numbers: --base entity)`;
    return `${isHex ? 'hexadecimal, ' : ''}${first}${near}`;
  }
}

const SIGNED = { uint16: 'int16', uint32: 'int32', uint64: 'int64' } as const;

/** The type of a row that names none: whole registers. */
function untyped(words: number | undefined): DataType | undefined {
  if (words === undefined || words === 1) return { type: 'uint16' };
  return words === 2 ? { type: 'uint32' } : words === 4 ? { type: 'uint64' } : undefined;
}

/** The number in `string[6]`, `reserved[6]` or `INT2`, which may count registers; undefined if it can't. */
function lengthIn(type: string): number | undefined {
  const [, inBrackets, bare] = /^\D*(?:[[(](\d{1,3})[\])]|([24]))$/.exec(type) ?? [];
  const count = Number(inBrackets ?? bare ?? 0);
  if (count < 2) return undefined;
  const known = dataTypeOf(type, undefined);
  return known === undefined || known.type === 'string' || bare !== undefined ? count : undefined;
}
