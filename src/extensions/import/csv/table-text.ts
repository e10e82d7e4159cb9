import { quote } from '../../../common/schema/problem.js';
import { orderText, typeText } from '../data-types.js';
import { type DecimalSign, decimalOf, decimalSignOf, isGrouped, scaleOf, unitOf } from './numbers.js';
import type { ColumnRole, Columns } from './roles.js';
import type { CsvRow } from './rows.js';

/** The columns whose numbers may have decimals. */
const NUMBERS = ['value', 'min', 'max', 'scale', 'divisor'] as const;

/** The cells of a table by role, and the numbers in them. Cells that can't be read are noted. */
export class TableText {
  readonly #columns: Columns;
  readonly #note: (row: CsvRow, message: string) => void;
  readonly #sign: DecimalSign | undefined;
  /** Whether scales are powers of ten: all are small whole numbers, and at least one is negative. */
  readonly #areExponents: boolean;

  constructor(columns: Columns, rows: readonly CsvRow[], note: (row: CsvRow, message: string) => void) {
    this.#columns = columns;
    this.#note = note;
    this.#sign = decimalSignOf(NUMBERS.flatMap((role) => rows.map((row) => this.of(row, role))));
    const scales = rows.map((row) => this.of(row, 'scale')).filter((text) => /\d/.test(text));
    this.#areExponents =
      scales.some((text) => text.startsWith('-')) && scales.every((text) => /^-?\d$/.test(text));
  }

  headerOf(role: ColumnRole): string | undefined {
    const column = this.#columns.of.get(role);
    return column === undefined ? undefined : this.#columns.header.cells[column];
  }

  /** The text of a cell; empty if the column or the cell is missing. */
  of(row: CsvRow, role: ColumnRole): string {
    const column = this.#columns.of.get(role);
    const text = column === undefined ? '' : (row.cells[column] ?? '');
    if (text === '' || (role !== 'type' && role !== 'order')) return text;
    return (role === 'type' ? typeText : orderText)(this.headerOf(role) ?? '', text);
  }

  /** Reads a whole number, 0 or more; the word for what it counts may follow. */
  whole(row: CsvRow, role: ColumnRole, isNoted = true): number | undefined {
    const text = this.of(row, role);
    if (text === '') return undefined;
    const number = decimalOf(/^(\d+)\s*(?:bytes?|words?|registers?|\([^)]*\))$/i.exec(text)?.[1] ?? text);
    if (number !== undefined && Number.isInteger(number) && number >= 0) return number;
    if (isNoted) this.#note(row, `${role} ${quote(text)}: expected a whole number`);
    return undefined;
  }

  /** Reads a number with the decimal separator that the file uses. An ambiguous number is noted. */
  decimal(row: CsvRow, role: ColumnRole, isNoted = true): number | undefined {
    const text = this.of(row, role);
    const number = decimalOf(text, this.#sign);
    const sign = (['.', ','] as const).find((each) => this.#sign === undefined && isGrouped(text, each));
    if (sign === undefined) return number;
    // A whole number has no decimals: 5.000 is five thousand.
    const isWhole =
      role !== 'scale' &&
      this.scale(row, false) === undefined &&
      !/float|real|double|single/i.test(this.of(row, 'type'));
    const taken = isWhole ? Number(text.replaceAll(sign, '')) : number;
    if (isNoted)
      this.#note(
        row,
        `${role} ${quote(text)} is taken as ${taken}; write it without the ${sign} if that is wrong`,
      );
    return taken;
  }

  /** The factor from the stored value to the unit; undefined if it is 1 or unknown. */
  scale(row: CsvRow, isNoted = true): number | undefined {
    const text = this.of(row, 'scale');
    const divisor = this.of(row, 'divisor');
    const decimals = this.of(row, 'decimals');
    const ofUnit = unitOf(this.of(row, 'unit')).scale;
    const isFloat = /float|real|double|single/i.test(this.of(row, 'type'));
    const parsed =
      text !== ''
        ? scaleOf(this.#areExponents && /\d/.test(text) ? `10^${text}` : text)
        : divisor !== ''
          ? inverse(scaleOf(divisor))
          : (this.#linear(row, isNoted) ??
            ofUnit ??
            (decimals !== '' && !isFloat ? power(decimalOf(decimals)) : 1));
    if (isNoted && parsed === undefined && !/^[-–]+$/.test(text + divisor + decimals)) {
      this.#note(row, `unknown scale ${quote(text || divisor || decimals)}`);
    }
    return parsed === undefined || parsed === 1 ? undefined : parsed;
  }

  /** The scale of a KEPServerEX tag, from a raw range to a scaled one. */
  #linear(row: CsvRow, isNoted: boolean): number | undefined {
    const [rawLow, rawHigh, low, high] = (['rawLow', 'rawHigh', 'scaledLow', 'scaledHigh'] as const).map(
      (role) => decimalOf(this.of(row, role)),
    );
    if (rawLow === undefined || rawHigh === undefined || low === undefined || high === undefined)
      return undefined;
    const scale = (high - low) / (rawHigh - rawLow);
    if (!Number.isFinite(scale) || scale === 0) return undefined;
    const offset = low - rawLow * scale;
    if (isNoted && Math.abs(offset) > 1e-9)
      this.#note(
        row,
        `raw ${rawLow} to ${rawHigh} is ${low} to ${high}: the offset ${Number(offset.toPrecision(6))} is ignored`,
      );
    return Number(scale.toPrecision(12));
  }
}

function inverse(divisor: number | undefined): number | undefined {
  return divisor ? Number((1 / divisor).toPrecision(12)) : undefined;
}

function power(decimals: number | undefined): number | undefined {
  return decimals !== undefined && Number.isInteger(decimals) && decimals >= 0 && decimals < 10
    ? Number(`1e-${decimals}`)
    : undefined;
}
