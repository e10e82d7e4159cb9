import type { TableName } from '../../../device/tables.js';
import { functionOf } from '../../../modbus/protocol/function-table.js';

/** A table that a text names, and whether the functions in the text write it. */
export interface TableWord {
  readonly table: TableName;
  readonly write: boolean;
}

const TABLE_WORDS: readonly (readonly [RegExp, TableName])[] = [
  [/^(?:coils?|coilstatus|0x|co|digitaloutputs?)$/, 'coils'],
  [/^(?:discrete|discreteinputs?|discretes|inputstatus|1x|di|contacts?|digitalinputs?)$/, 'discrete'],
  [/^(?:inputs?|inputregisters?|inputreg|3x|ir|analoginputs?)$/, 'input'],
  [/^(?:holdings?|holdingregisters?|holdingreg|4x|hr|analogoutputs?)$/, 'holding'],
];

/** The table that a word or function codes stand for: `input register`, `FC03`, `3, 6, 16`, `0x04`. */
export function tableOf(text: string): TableWord | undefined {
  const word = text
    .slice(0, 60)
    .toLowerCase()
    .replace(/[\s_.-]+/g, '');
  for (const [words, table] of TABLE_WORDS) if (words.test(word)) return { table, write: false };
  const codes = text.slice(0, 60).match(/\d+/g)?.map(Number) ?? [];
  if (codes.length === 0 || !/^(?:fc|fn|f|function|code|0x|read|write|r|w|[\d\s,;/&+:()x-])+$/i.test(text))
    return undefined;
  const known = codes.filter((code) => code !== 0 || codes.length === 1).map(functionOf);
  const table = known[0]?.table;
  if (table === undefined || known.some((each) => each?.table !== table)) return undefined;
  return { table, write: known.some((each) => each?.broadcast) };
}

/** Decides whether clients may write a value; undefined when the text does not say. */
export function accessOf(text: string): boolean | undefined {
  const word = text
    .slice(0, 40)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '');
  if (/^(?:r|ro|read|readonly|no|false|0|input|lesen)$/.test(word)) return false;
  return /^(?:w|wo|rw|wr|write|writeonly|readwrite|writeable|writable|yes|true|1|setting|schreiben|lesenschreiben)$/.test(
    word,
  )
    ? true
    : undefined;
}

/** The sign before the decimals of a file; undefined when its numbers do not show it. */
export type DecimalSign = ',' | '.';

/** Finds the decimal sign of a file: numbers such as `0,5` and `12.75` show it, `5.000` does not. */
export function decimalSignOf(cells: readonly string[]): DecimalSign | undefined {
  const shows = (sign: string) =>
    cells.some(
      (cell) => new RegExp(`^[+-]?(?:0|[1-9]\\d*)\\${sign}\\d+$`).test(cell) && !isGrouped(cell, sign),
    );
  const [comma, point] = [shows(','), shows('.')];
  return comma === point ? undefined : comma ? ',' : '.';
}

/** True for a number whose sign may as well separate thousands, such as `5.000`. */
export function isGrouped(text: string, sign: string): boolean {
  return new RegExp(`^[+-]?[1-9]\\d{0,2}(?:\\${sign}\\d{3})+$`).test(text);
}

/**
 * Reads a number with a decimal point or comma; undefined for other text.
 * @param sign the decimal sign of the file, when it is known: the other sign separates thousands
 */
export function decimalOf(text: string, sign?: DecimalSign): number | undefined {
  const [whole = '', decimals] = sign ? text.trim().slice(0, 60).split(sign) : [text.trim()];
  const other = sign === ',' ? '.' : ',';
  const plain =
    sign && isGrouped(whole, other)
      ? [whole.replaceAll(other, ''), ...(decimals === undefined ? [] : [decimals])].join('.')
      : text.trim();
  const match = /^[+-]?(?:\d{1,15}(?:[.,]\d{0,15})?|[.,]\d{1,15})(?:e[+-]?\d{1,3})?$/i.exec(plain);
  return match ? Number(match[0].replace(',', '.')) : undefined;
}

/** Reads a factor: `0.1`, `0,1`, `x10`, `*0.01`, `/10`, `1/100`, `10^-2`. */
export function scaleOf(text: string): number | undefined {
  const short = text.slice(0, 40).replace(/\s+/g, '');
  const power = /^10(?:\^|\*\*)([+-]?\d{1,2})$/.exec(short);
  if (power) return Number(`1e${power[1]}`);
  const fraction = /^([\d.,]*)[/÷:]([\d.,]+)$/.exec(short);
  if (fraction) {
    const [above, below] = [
      fraction[1] === '' ? 1 : decimalOf(fraction[1] ?? ''),
      decimalOf(fraction[2] ?? ''),
    ];
    return above !== undefined && below ? above / below : undefined;
  }
  return decimalOf(short.replace(/^[x*×·]/i, ''));
}
