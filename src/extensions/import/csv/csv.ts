import { failure, type Result } from '../../../common/result.js';
import { quote } from '../../../common/schema/problem.js';
import { isOfBits, type TableName } from '../../../device/tables.js';
import { MAX_REGISTERS_READ } from '../../../modbus/protocol/limits.js';
import { Collector, type FoundValue, type ImportExtras, type Imported, middleOf } from '../collected.js';
import { type DataType, dataTypeOf, orderOf } from '../data-types.js';
import {
  type AddressStyle,
  accessOf,
  areHex,
  areNumbers,
  type ColumnRole,
  type Columns,
  type CsvRow,
  type DecimalSign,
  decimalOf,
  decimalSignOf,
  findColumns,
  isGrouped,
  numbered,
  rowsOf,
  type Separator,
  scaleOf,
  separatorOf,
  type TableWord,
  tableOf,
  type WrittenAddress,
  writtenAddress,
} from './columns.js';

const SEPARATOR_NAMES: Readonly<Record<Separator, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};

/**
 * Reads a table of registers.
 * @param inUnits true when default values are in the unit of the value, and not as it is stored
 * @returns what the file lacks, as a sentence
 */
export function importCsv(
  text: string,
  device: string,
  { inUnits = false }: ImportExtras = {},
): Result<Imported> {
  const separator = separatorOf(text);
  const rows = separator === undefined ? [] : rowsOf(text, separator);
  const columns = findColumns(rows);
  if (separator === undefined || columns === undefined) {
    return failure(
      'expected a CSV file whose header has a column "address" and one more, such as "name" or "type"',
    );
  }
  const { header } = columns;
  const reader = new CsvReader(columns, rows.slice(rows.indexOf(header) + 1), inUnits);
  const lines = reader.read(device);
  const what = `CSV, separated by ${SEPARATOR_NAMES[separator]}, header in line ${header.line}`;
  return reader.collector.end(what, lines);
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
  readonly collector = new Collector();
  readonly #columns: Columns;
  readonly #rows: readonly CsvRow[];

  readonly #inUnits: boolean;
  readonly #sign: DecimalSign | undefined;

  constructor(columns: Columns, rows: readonly CsvRow[], inUnits: boolean) {
    this.#columns = columns;
    this.#rows = rows;
    this.#inUnits = inUnits;
    const numbers = NUMBERS.flatMap((role) => rows.map((row) => this.#cell(row, role)));
    this.#sign = decimalSignOf(numbers);
  }

  /** Reads all rows. @returns how the columns were understood */
  read(device: string): string[] {
    const isHex = areHex(
      this.#headerOf('address') ?? '',
      this.#rows.map((row) => this.#cell(row, 'address')).filter((cell) => cell !== ''),
    );
    const placed = this.#rows.flatMap((row) => this.#placed(row, isHex));
    const style = {
      isHex,
      areNumbers: areNumbers(placed.map(({ address, word }) => ({ address, table: word?.table }))),
    };
    for (const [i, each] of placed.entries()) this.#take(each, placed[i + 1]?.address.number, style, device);
    return this.#preview(style);
  }

  #headerOf(role: ColumnRole): string | undefined {
    const column = this.#columns.of.get(role);
    return column === undefined ? undefined : this.#columns.header.cells[column];
  }

  #cell(row: CsvRow, role: ColumnRole): string {
    const column = this.#columns.of.get(role);
    return column === undefined ? '' : (row.cells[column] ?? '');
  }

  #note(row: CsvRow, message: string): void {
    this.collector.note(`line ${row.line}`, message);
  }

  #placed(row: CsvRow, isHex: boolean): PlacedRow[] {
    const text = this.#cell(row, 'address');
    const address = writtenAddress(text, isHex);
    if (address === undefined) {
      // A title between groups of registers has only one cell.
      const isTitle = row.cells.filter((cell) => cell !== '').length === 1;
      const shown = isTitle ? (row.cells.find((cell) => cell !== '') ?? '') : text;
      this.#note(
        row,
        isTitle ? `not a register: ${quote(shown)}` : `address ${quote(shown)}: expected a number`,
      );
      return [];
    }
    const table = this.#cell(row, 'table');
    const word = tableOf(table);
    if (table !== '' && word === undefined) this.#note(row, `table ${quote(table)}: not known`);
    return [{ row, address, word }];
  }

  /** Takes a row. @param next the address of the next row */
  #take(
    { row, address: written, word }: PlacedRow,
    next: number | undefined,
    style: AddressStyle,
    device: string,
  ): void {
    const number = style.areNumbers ? numbered(written) : undefined;
    const address = number?.address ?? written.number;
    const bit = written.bit ?? this.#number(row, 'bit');
    const text = this.#cell(row, 'type');
    const words = written.words ?? this.#words(row) ?? this.#lengthUntil(row, text, written.number, next);
    const data = (text === '' ? untyped(words) : dataTypeOf(text, words)) ?? this.#unknown(row, text, words);
    if (data.assumed) this.#note(row, `type ${quote(text)} ${data.assumed}`);
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
        this.collector.add('', unit, device, {
          ...{ table, address: address + i, type: 'uint16', write, location: value.location },
        });
    this.collector.add('', unit, device, {
      ...value,
      ...(part !== undefined && { part, type: 'uint16' as const }),
      ...(isInBits && { type: 'bit' as const }),
      write,
    });
  }

  /** What is served for a type that is not known: its registers. */
  #unknown(row: CsvRow, text: string, length = 1): DataType {
    // A length that no read can have is none: a table with 1e9 there must not be served register by register.
    const words = Number.isInteger(length) && length >= 1 && length <= MAX_REGISTERS_READ ? length : 1;
    const registers = words === 1 ? 'a register' : `${words} registers`;
    this.#note(row, `type ${quote(text)}: not known, so ${this.#called(row)} is served as ${registers}`);
    return { type: 'uint16', rest: words - 1 };
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
  ): FoundValue {
    const order = orderOf(this.#cell(row, 'order'));
    if (this.#cell(row, 'order') !== '' && order === undefined) {
      this.#note(row, `order ${quote(this.#cell(row, 'order'))}: not known`);
    }
    const scale = this.#scale(row);
    const [min, max] = [this.#decimal(row, 'min'), this.#decimal(row, 'max')];
    return {
      ...{ table, address, type, wordOrder, byteOrder, ...order, scale },
      location: `line ${row.line}`,
      length: type === 'string' ? this.#stringLength(row, words ?? length) : undefined,
      name: this.#cell(row, 'name'),
      unit: this.#cell(row, 'unit').replace(/^[-–/]+$/, ''),
      description: this.#cell(row, 'description'),
      value: this.#initial(row, type, scale) ?? middleOf(type, min, max, scale),
      limits: min === undefined && max === undefined ? undefined : { min, max },
    };
  }

  /** A number with the decimal sign of the file. A number that may mean another one is noted. */
  #decimal(row: CsvRow, role: ColumnRole): number | undefined {
    const text = this.#cell(row, role);
    const number = decimalOf(text, this.#sign);
    const sign = (['.', ','] as const).find((each) => this.#sign === undefined && isGrouped(text, each));
    if (sign !== undefined)
      this.#note(
        row,
        `${role} ${quote(text)} is taken as ${number}; write it without the ${sign} if that is wrong`,
      );
    return number;
  }

  #called(row: CsvRow): string {
    return this.#cell(row, 'name') ? quote(this.#cell(row, 'name')) : 'this row';
  }

  /** The number of registers that the file gives for a value. */
  #words(row: CsvRow): number | undefined {
    const words = this.#number(row, 'words');
    const bytes = this.#number(row, 'bytes');
    return words ?? (bytes === undefined ? undefined : Math.ceil(bytes / 2));
  }

  #stringLength(row: CsvRow, length: number | undefined): number {
    if (length === undefined) this.#note(row, 'a string without a length: 1 register');
    return Math.max(1, length ?? 1);
  }

  #number(row: CsvRow, role: ColumnRole): number | undefined {
    const text = this.#cell(row, role);
    if (text === '') return undefined;
    const number = decimalOf(text);
    if (number !== undefined && Number.isInteger(number) && number >= 0) return number;
    this.#note(row, `${role} ${quote(text)}: expected a whole number`);
    return undefined;
  }

  #scale(row: CsvRow): number | undefined {
    const text = this.#cell(row, 'scale');
    const divisor = this.#cell(row, 'divisor');
    const decimals = this.#cell(row, 'decimals');
    const parsed =
      text !== ''
        ? scaleOf(text)
        : divisor !== ''
          ? inverse(scaleOf(divisor))
          : decimals !== ''
            ? power(decimalOf(decimals))
            : 1;
    if (parsed === undefined && !/^[-–]+$/.test(text + divisor + decimals)) {
      this.#note(row, `scale ${quote(text || divisor || decimals)}: not known`);
    }
    return parsed === undefined || parsed === 1 ? undefined : parsed;
  }

  /** The initial value as it is stored. */
  #initial(row: CsvRow, type: DataType['type'], scale = 1): number | string | undefined {
    const text = this.#cell(row, 'value');
    if (text === '') return undefined;
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
      address: style.areNumbers
        ? 'register numbers: 40001 is holding register 0, 30001 input register 0, 10001 discrete input 0'
        : `${style.isHex ? 'hexadecimal, ' : ''}0-based, as on the wire`,
      scale: 'value = stored × this',
      divisor: 'value = stored ÷ this',
      decimals: 'decimals of the value',
      value: this.#inUnits
        ? 'in the unit of the value'
        : 'as stored, before the scale; --defaults units reads it in the unit',
      min: 'a limit of what clients may write, and the value is in the middle',
      max: 'a limit of what clients may write, and the value is in the middle',
      words: 'registers',
      slave: 'the unit identifier',
      unit: 'the unit of the value',
    };
    const used = [...this.#columns.of].map(([role, column]) => {
      const said = meaning[role];
      return `column ${quote(this.#columns.header.cells[column] ?? '')}: ${role}${said ? `, ${said}` : ''}`;
    });
    const columns = [...this.#columns.of.values()];
    const unused = this.#columns.header.cells.filter((cell, i) => cell !== '' && !columns.includes(i));
    const defaults = [
      ...(this.#columns.of.has('table') || style.areNumbers
        ? []
        : ['no column says the table: holding registers, and coils for bits']),
      ...(this.#columns.of.has('type') ? [] : ['no column says the type: uint16']),
    ];
    return [...used, ...unused.map((cell) => `column ${quote(cell)}: not used`), ...defaults];
  }
}

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
