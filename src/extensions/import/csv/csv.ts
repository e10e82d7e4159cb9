import { failure, type Result } from '../../../common/result.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { quote } from '../../../common/schema/problem.js';
import { CELLS_PER_VALUE } from '../../../device/registers/cell-type.js';
import { isOfBits, type TableName } from '../../../device/tables.js';
import { MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import { Collector, type FoundValue, type ImportExtras, type Imported, middleOf } from '../collected.js';
import { type DataType, dataTypeOf, orderOf, typeText } from '../data-types.js';
import {
  type AddressStyle,
  areHex,
  areNumbers,
  numbered,
  type WrittenAddress,
  writtenAddress,
} from './addresses.js';
import { type DecimalSign, decimalOf, decimalSignOf, isGrouped, scaleOf, unitOf } from './numbers.js';
import { type ColumnRole, type Columns, findColumns, type SaidColumns } from './roles.js';
import {
  type Block,
  type CsvRow,
  isMarkdown,
  markdownBlocks,
  rowsOf,
  type Separator,
  separatorOf,
} from './rows.js';
import { accessOf, type TableWord, tableOf, tableOfTitle } from './words.js';

const SEPARATOR_NAMES: Readonly<Record<Separator, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};

/**
 * Reads a table of registers, or all tables of a text of Markdown.
 * @returns what the file lacks, as a sentence
 */
export function importCsv(text: string, device: string, extras: ImportExtras = {}): Result<Imported> {
  const separator = separatorOf(text);
  const blocks: readonly Block[] = isMarkdown(text)
    ? markdownBlocks(text)
    : [{ title: device, rows: separator === undefined ? [] : rowsOf(text, separator) }];
  const said = (extras.columns ?? new Map()) as SaidColumns;
  const collector = new Collector();
  const lines: string[] = [];
  const headers: number[] = [];
  for (const { title, rows } of blocks) {
    const columns = findColumns(rows, said);
    if (!columns) continue;
    const { header } = columns;
    const reader = new CsvReader(collector, columns, rows.slice(rows.indexOf(header) + 1), title, extras);
    const read = reader.read(device);
    for (const line of read) if (!lines.includes(line)) lines.push(line);
    headers.push(header.line);
  }
  if (headers.length === 0) return failure(lacking(blocks, said));
  const decided = decisionsIn(extras);
  const how = isMarkdown(text)
    ? 'tables of Markdown'
    : `CSV, separated by ${SEPARATOR_NAMES[separator ?? ',']}`;
  const where =
    headers.length === 1 ? `header in line ${headers[0]}` : `headers in lines ${headers.join(', ')}`;
  return collector.end(`${how}, ${where}`, [...decided, ...lines]);
}

/** What is missing in tables of which no column was understood, and what headers they have. */
function lacking(blocks: readonly Block[], said: SaidColumns): string {
  const rows = blocks.flatMap((block) => block.rows.slice(0, 20));
  const widest = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const first = rows.find(({ cells }) => cells.length === widest && widest > 1);
  const cells = (first?.cells ?? []).filter((cell) => cell !== '');
  const seen =
    cells.length === 0
      ? ''
      : `; the first full row, line ${first?.line}, has ${cells.slice(0, 20).map(quote).join(', ')}`;
  const wrong = [...said].find(([, header]) => !rows.some((row) => row.cells.includes(header)));
  const missing = wrong && `--column ${wrong[0]}: ${unknownName('column', wrong[1], cells)}`;
  return (
    missing ??
    `expected a CSV file whose header has a column "address" and one more, such as "name" or "type"${seen}: say which with --column address=HEADER`
  );
}

/** What the user has decided, so that the import can be repeated. */
function decisionsIn({ columns, base, table }: ImportExtras): string[] {
  const options = [
    ...[...(columns ?? [])].map(([role, header]) => `--column ${quote(`${role}=${header}`)}`),
    ...(base === undefined ? [] : [`--base ${base}`]),
    ...(table === undefined ? [] : [`--table ${table}`]),
  ];
  return options.length === 0 ? [] : [`decided by who imported it: ${options.join(' ')}`];
}

/** Columns with numbers that may have decimals. */
const NUMBERS = ['value', 'min', 'max', 'scale', 'divisor'] as const;

/** A row whose address is understood. */
interface PlacedRow {
  readonly row: CsvRow;
  readonly address: WrittenAddress;
  readonly word: TableWord | undefined;
}

class CsvReader {
  readonly #collector: Collector;
  readonly #columns: Columns;
  readonly #rows: readonly CsvRow[];
  readonly #extras: ImportExtras;
  readonly #title: string;
  readonly #sign: DecimalSign | undefined;
  /** Whether the column of lengths counts bytes. */
  #countsBytes = false;
  #inUnits: boolean;

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
    const numbers = NUMBERS.flatMap((role) => rows.map((row) => this.#cell(row, role)));
    this.#sign = decimalSignOf(numbers);
  }

  /** Reads all rows. @returns how the columns were understood */
  read(device: string): string[] {
    const isHex = areHex(
      this.#headerOf('address') ?? '',
      this.#rows.map((row) => this.#cell(row, 'address')).filter((cell) => cell !== ''),
    );
    const placed = this.#placedRows(isHex);
    const { base } = this.#extras;
    const all = placed.map(({ row, address, word }) => ({
      ...{ address, table: word?.table },
      isWord: (dataTypeOf(this.#cell(row, 'type'), 1)?.type ?? 'bit') !== 'bit',
    }));
    const style = { isHex, areNumbers: base === undefined ? areNumbers(all) : base === 'entity' };
    this.#countsBytes = this.#doesCountBytes(placed);
    this.#inUnits ||= this.#hasDefaultsInUnits();
    for (const [i, each] of placed.entries()) this.#take(each, placed[i + 1]?.address.number, style, device);
    return this.#preview(style);
  }

  #headerOf(role: ColumnRole): string | undefined {
    const column = this.#columns.of.get(role);
    return column === undefined ? undefined : this.#columns.header.cells[column];
  }

  #cell(row: CsvRow, role: ColumnRole): string {
    const column = this.#columns.of.get(role);
    const text = column === undefined ? '' : (row.cells[column] ?? '');
    return role === 'type' ? typeText(this.#headerOf(role) ?? '', text) : text;
  }

  #note(row: CsvRow, message: string): void {
    this.#collector.note(`line ${row.line}`, message);
  }

  /** The rows with addresses. A title between them may name the table of those that follow. */
  #placedRows(isHex: boolean): PlacedRow[] {
    let titled = tableOfTitle(this.#title);
    return this.#rows.flatMap((row) => {
      const text = this.#cell(row, 'address');
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
      const table = this.#cell(row, 'table');
      const word = tableOf(table);
      if (table !== '' && word === undefined) this.#note(row, `table ${quote(table)}: not known`);
      const usual = this.#extras.table ?? titled;
      return [{ row, address, word: word ?? (usual && { table: usual, write: false }) }];
    });
  }

  /**
   * Weighs whether lengths count bytes or registers: a value ends before the next one begins, and has the size
   * of its type.
   */
  #doesCountBytes(placed: readonly PlacedRow[]): boolean {
    const score = (perRegister: number) =>
      placed.reduce((sum, { row, address }, i) => {
        const count = this.#number(row, 'words', false);
        if (count === undefined || count === 0) return sum;
        const words = count / perRegister;
        const gap = (placed[i + 1]?.address.number ?? Number.NaN) - address.number;
        const type = dataTypeOf(this.#cell(row, 'type'), undefined);
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

  /** True when a default value has decimals that its type can't store, but would have with the scale. */
  #hasDefaultsInUnits(): boolean {
    return this.#rows.some((row) => {
      const value = decimalOf(this.#cell(row, 'value'), this.#sign);
      const scale = this.#scale(row, false) ?? 1;
      const type = dataTypeOf(this.#cell(row, 'type'), this.#words(row))?.type ?? 'uint16';
      if (value === undefined || Number.isInteger(value) || scale === 1 || type.startsWith('float'))
        return false;
      return Math.abs(value / scale - Math.round(value / scale)) < 1e-6;
    });
  }

  /** Takes a row. @param next the address of the next row */
  #take(
    { row, address: written, word }: PlacedRow,
    next: number | undefined,
    style: AddressStyle,
    device: string,
  ): void {
    const number = style.areNumbers ? numbered(written) : undefined;
    const address = number?.address ?? written.number - (this.#extras.base === '1' ? 1 : 0);
    const bit = written.bit ?? this.#number(row, 'bit');
    const text = written.isString ? 'string' : this.#cell(row, 'type');
    const words =
      written.words ??
      this.#words(row) ??
      this.#until(row, written) ??
      this.#lengthUntil(row, text, written.number, next);
    const found = (text === '' ? untyped(words) : dataTypeOf(text, words)) ?? this.#unknown(row, text, words);
    const data = this.#signed(row, text, this.#filled(found, words));
    const isFarEnough = next !== undefined && next - written.number >= 2 && data.type === 'float32';
    if (data.assumed && !isFarEnough) this.#note(row, `type ${quote(text)} ${data.assumed}`);
    const isBit = data.type === 'bit' && bit === undefined;
    const table = number?.table ?? word?.table ?? (isBit ? 'coils' : 'holding');
    const value = this.#value(row, table, address, data, words);
    const unit = this.#number(row, 'slave') ?? 1;
    const write = this.#isWritable(row, word?.write ?? false, table);
    const isInBits = isOfBits(table);
    // For a bit of a register, the address is that of the register.
    const part = isInBits || (bit === undefined && data.type !== 'bit') ? undefined : `bit ${bit ?? 0}`;
    if (part !== undefined && bit === undefined) {
      this.#note(row, `${this.#called(row)} is a bit of a register, and no column says which: bit 0`);
    }
    if (data.rest !== undefined && !isInBits)
      for (let i = 1; i <= data.rest; i++)
        this.#collector.add('', unit, device, {
          ...{
            table,
            address: address + value.cells - 1 + i,
            type: 'uint16',
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

  /** A type with the registers behind it that its row counts as well. */
  #filled(data: DataType, words: number | undefined): DataType {
    if (data.type === 'string' || data.type === 'bit' || data.rest !== undefined || words === undefined)
      return data;
    const rest = words - CELLS_PER_VALUE[data.type];
    return rest > 0 && Number.isInteger(words) && words <= MAX_REGISTERS_READ ? { ...data, rest } : data;
  }

  /** A whole number is signed if its limits or its default are negative, and its type does not say. */
  #signed(row: CsvRow, text: string, data: DataType): DataType {
    const says = text !== '' && !data.assumed;
    const isNegative = [this.#decimal(row, 'min', false), this.#decimal(row, 'value', false)].some(
      (each) => each !== undefined && each < 0,
    );
    const { type } = data;
    if (says || !isNegative || (type !== 'uint16' && type !== 'uint32' && type !== 'uint64')) return data;
    return { ...data, type: SIGNED[type] };
  }

  /** What is served for a type that is not known: its registers. */
  #unknown(row: CsvRow, text: string, length = 1): DataType {
    // A length that no read can have is none: a table with 1e9 there must not be served register by register.
    const words = Number.isInteger(length) && length >= 1 && length <= MAX_REGISTERS_READ ? length : 1;
    const registers = words === 1 ? 'a register' : `${words} registers`;
    this.#note(row, `type ${quote(text)}: not known, so ${this.#called(row)} is served as ${registers}`);
    return { type: 'uint16', rest: words - 1 };
  }

  /** The number of registers up to the last address, where a column says it. */
  #until(row: CsvRow, { number }: WrittenAddress): number | undefined {
    const last = writtenAddress(this.#cell(row, 'last'), false)?.number;
    return last === undefined || last < number ? undefined : last - number + 1;
  }

  /** The registers of `string[6]` when the next address is 6 further: then 6 counts no characters. */
  #lengthUntil(row: CsvRow, type: string, address: number, next: number | undefined): number | undefined {
    const count = Number(/^\D*[[(](\d{1,3})[\])]$/.exec(type)?.[1]);
    if (next === undefined || next - address !== count || count < 2) return undefined;
    if (dataTypeOf(type, undefined)?.type !== 'string') return undefined;
    this.#note(row, `type ${quote(type)}: ${count} registers, because the next address is ${count} further`);
    return count;
  }

  #value(
    row: CsvRow,
    table: TableName,
    address: number,
    { type, length, wordOrder, byteOrder }: DataType,
    words: number | undefined,
  ): { readonly found: FoundValue; readonly cells: number } {
    const order = orderOf(this.#cell(row, 'order'));
    if (this.#cell(row, 'order') !== '' && order === undefined) {
      this.#note(row, `order ${quote(this.#cell(row, 'order'))}: not known`);
    }
    const scale = this.#scale(row);
    const [min, max] = this.#limits(row);
    const found = {
      ...{ table, address, type, wordOrder, byteOrder, ...order, scale },
      location: `line ${row.line}`,
      length: type === 'string' ? this.#stringLength(row, words ?? length) : undefined,
      name: this.#cell(row, 'name'),
      unit: unitOf(this.#cell(row, 'unit')).unit,
      description: this.#cell(row, 'description'),
      value: this.#initial(row, type, scale) ?? middleOf(type, min, max, scale),
      limits: min === undefined && max === undefined ? undefined : { min, max },
    };
    return { found, cells: type === 'string' ? (found.length ?? 1) : CELLS_PER_VALUE[type] };
  }

  /** Both limits of a row; none when both are 0, as tables write that have no limits there. */
  #limits(row: CsvRow): readonly [number | undefined, number | undefined] {
    const [min, max] = [this.#decimal(row, 'min'), this.#decimal(row, 'max')];
    return min === 0 && max === 0 ? [undefined, undefined] : [min, max];
  }

  /** A number with the decimal sign of the file. A number that may mean another one is noted. */
  #decimal(row: CsvRow, role: ColumnRole, isNoted = true): number | undefined {
    const text = this.#cell(row, role);
    const number = decimalOf(text, this.#sign);
    const sign = (['.', ','] as const).find((each) => this.#sign === undefined && isGrouped(text, each));
    if (sign === undefined) return number;
    // A whole number has no decimals: 5.000 is five thousand.
    const isWhole =
      role !== 'scale' &&
      this.#scale(row, false) === undefined &&
      !/float|real|double|single/i.test(this.#cell(row, 'type'));
    const taken = isWhole ? Number(text.replaceAll(sign, '')) : number;
    if (isNoted)
      this.#note(
        row,
        `${role} ${quote(text)} is taken as ${taken}; write it without the ${sign} if that is wrong`,
      );
    return taken;
  }

  #called(row: CsvRow): string {
    return this.#cell(row, 'name') ? quote(this.#cell(row, 'name')) : 'this row';
  }

  /** The number of registers that the file gives for a value. */
  #words(row: CsvRow): number | undefined {
    const words = this.#number(row, 'words');
    const bytes = this.#number(row, 'bytes') ?? (this.#countsBytes ? words : undefined);
    return bytes === undefined ? words : Math.ceil(bytes / 2);
  }

  #stringLength(row: CsvRow, length: number | undefined): number {
    if (length === undefined) this.#note(row, 'a string without a length: 1 register');
    return Math.max(1, length ?? 1);
  }

  #number(row: CsvRow, role: ColumnRole, isNoted = true): number | undefined {
    const text = this.#cell(row, role);
    if (text === '') return undefined;
    const number = decimalOf(/^(\d+)\s*(?:bytes?|words?|registers?)$/i.exec(text)?.[1] ?? text);
    if (number !== undefined && Number.isInteger(number) && number >= 0) return number;
    if (isNoted) this.#note(row, `${role} ${quote(text)}: expected a whole number`);
    return undefined;
  }

  #scale(row: CsvRow, isNoted = true): number | undefined {
    const text = this.#cell(row, 'scale');
    const divisor = this.#cell(row, 'divisor');
    const decimals = this.#cell(row, 'decimals');
    const ofUnit = unitOf(this.#cell(row, 'unit')).scale;
    const isFloat = /float|real|double|single/i.test(this.#cell(row, 'type'));
    const parsed =
      text !== ''
        ? scaleOf(text)
        : divisor !== ''
          ? inverse(scaleOf(divisor))
          : (this.#linear(row, isNoted) ??
            ofUnit ??
            (decimals !== '' && !isFloat ? power(decimalOf(decimals)) : 1));
    if (isNoted && parsed === undefined && !/^[-–]+$/.test(text + divisor + decimals)) {
      this.#note(row, `scale ${quote(text || divisor || decimals)}: not known`);
    }
    return parsed === undefined || parsed === 1 ? undefined : parsed;
  }

  /** The scale of a tag of KEPServerEX, from a raw range to a scaled one. */
  #linear(row: CsvRow, isNoted: boolean): number | undefined {
    const [rawLow, rawHigh, low, high] = (['rawLow', 'rawHigh', 'scaledLow', 'scaledHigh'] as const).map(
      (role) => decimalOf(this.#cell(row, role)),
    );
    if (rawLow === undefined || rawHigh === undefined || low === undefined || high === undefined)
      return undefined;
    const scale = (high - low) / (rawHigh - rawLow);
    if (!Number.isFinite(scale) || scale === 0) return undefined;
    const offset = low - rawLow * scale;
    if (isNoted && Math.abs(offset) > 1e-9)
      this.#note(
        row,
        `${rawLow} to ${rawHigh} is ${low} to ${high}: the offset ${Number(offset.toPrecision(6))} is not kept`,
      );
    return Number(scale.toPrecision(12));
  }

  /** The initial value as it is stored. */
  #initial(row: CsvRow, type: DataType['type'], scale = 1): number | string | undefined {
    const text = this.#cell(row, 'value');
    if (text === '' || /^[-–]+$/.test(text)) return undefined;
    if (type === 'string') return text;
    if (/^0x[0-9a-f]{1,16}$/i.test(text)) return text;
    const value = this.#decimal(row, 'value');
    if (value === undefined) this.#note(row, `value ${quote(text)}: expected a number`);
    if (value === undefined || !this.#inUnits) return value;
    return type.startsWith('float') ? Number((value / scale).toPrecision(7)) : Math.round(value / scale);
  }

  #isWritable(row: CsvRow, byFunction: boolean, table: TableName): boolean {
    const text = this.#cell(row, 'access');
    const access = text === '' ? byFunction : accessOf(text);
    if (access === undefined)
      this.#note(row, `access ${quote(text)}: not known, so clients may only read it`);
    // Clients have no function that writes these two tables.
    return access === true && table !== 'discrete' && table !== 'input';
  }

  #preview(style: AddressStyle): string[] {
    const meaning: Partial<Record<ColumnRole, string>> = {
      address: this.#addressesIn(style),
      scale: 'value = stored × this',
      divisor: 'value = stored ÷ this',
      decimals: 'decimals of the value',
      value: this.#inUnits
        ? 'in the unit of the value'
        : 'as stored, before the scale; --defaults units reads it in the unit',
      min: 'a limit of what clients may write, and the value is in the middle',
      max: 'a limit of what clients may write, and the value is in the middle',
      words: this.#countsBytes ? 'bytes' : 'registers',
      slave: 'the unit identifier',
      unit: 'the unit of the value',
    };
    const { header, of, near } = this.#columns;
    const titleOf = (column: number) => quote(header.cells[column] ?? '');
    const used = [...of].map(([role, column]) => {
      const said = meaning[role];
      const other = near.get(role);
      const runnerUp = other === undefined ? '' : ` (or column ${titleOf(other)}: --column ${role}=…)`;
      return `column ${titleOf(column)}: ${role}${said ? `, ${said}` : ''}${runnerUp}`;
    });
    const columns = [...of.values()];
    const unused = header.cells.filter((cell, i) => cell !== '' && !columns.includes(i));
    const isTold = of.has('table') || style.areNumbers || this.#extras.table || tableOfTitle(this.#title);
    const defaults = [
      ...(isTold ? [] : ['no column says the table: holding registers, and coils for bits']),
      ...(of.has('type') ? [] : ['no column says the type: uint16']),
    ];
    return [...used, ...unused.map((cell) => `column ${quote(cell)}: not used`), ...defaults];
  }

  #addressesIn({ areNumbers: areEntities, isHex }: AddressStyle): string {
    if (areEntities)
      return 'register numbers: 40001 is holding register 0, 30001 input register 0, 10001 discrete input 0';
    const first = this.#extras.base === '1' ? 'counted from 1' : '0-based, as on the wire';
    return `${isHex ? 'hexadecimal, ' : ''}${first}`;
  }
}

const SIGNED = { uint16: 'int16', uint32: 'int32', uint64: 'int64' } as const;

/** The type of a row that names none: whole registers. */
function untyped(words: number | undefined): DataType | undefined {
  if (words === undefined || words === 1) return { type: 'uint16' };
  return words === 2 ? { type: 'uint32' } : words === 4 ? { type: 'uint64' } : undefined;
}

function inverse(divisor: number | undefined): number | undefined {
  return divisor ? Number((1 / divisor).toPrecision(12)) : undefined;
}

function power(decimals: number | undefined): number | undefined {
  return decimals !== undefined && Number.isInteger(decimals) && decimals >= 0 && decimals < 10
    ? Number(`1e-${decimals}`)
    : undefined;
}
