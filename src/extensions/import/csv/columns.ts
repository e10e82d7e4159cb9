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

/** A row of a CSV file, and the line on which it begins, from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

const SEPARATORS = [';', '\t', ',', '|'] as const;

export type Separator = (typeof SEPARATORS)[number];

/**
 * Finds the separator that splits the most of the first lines into the same number of cells, at least two; of
 * two that do equally well, the one with more cells. Undefined when none does.
 */
export function separatorOf(text: string): Separator | undefined {
  let best: { separator: Separator; score: number } | undefined;
  for (const separator of SEPARATORS) {
    const widths = rowsOf(text.slice(0, 20_000), separator)
      .slice(0, 30)
      .map(({ cells }) => cells.length)
      .filter((width) => width > 1);
    const counts = new Map<number, number>();
    for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
    for (const [width, count] of counts) {
      const score = count * 1000 + width;
      if (!best || score > best.score) best = { separator, score };
    }
  }
  return best?.separator;
}

/**
 * The rows of a CSV file (RFC 4180), without empty ones and the ruler of a Markdown table. A quote that is
 * never closed ends with its line: the rest of a file must not vanish in one cell.
 */
export function rowsOf(text: string, separator: Separator): CsvRow[] {
  const rows: CsvRow[] = [];
  let line = 1;
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const begin = line;
    const cells: string[] = [];
    for (;;) {
      const cell = cellAt(text, at, separator);
      cells.push(cell.text.trim());
      line += cell.newlines;
      at = cell.end;
      if (text[at] !== separator) break;
      at += 1;
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    line += 1;
    if (cells.some((cell) => !/^:?-*:?$/.test(cell))) rows.push({ line: begin, cells });
  }
  return rows;
}

const LONGEST_QUOTED = 2000;

function cellAt(
  text: string,
  start: number,
  separator: string,
): { text: string; end: number; newlines: number } {
  if (text[start] === '"') {
    const quoted = quotedAt(text, start);
    const next = quoted && text[quoted.end];
    if (quoted && (next === undefined || next === separator || next === '\n' || next === '\r')) return quoted;
  }
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { text: text.slice(start, end), end, newlines: 0 };
}

/**
 * Reads the text in quotes, with doubled quotes as one; undefined when no quote ends it within a reasonable
 * length.
 */
function quotedAt(text: string, start: number): { text: string; end: number; newlines: number } | undefined {
  let content = '';
  let newlines = 0;
  for (let at = start + 1; at < text.length && at - start <= LONGEST_QUOTED; at += 1) {
    const character = text[at];
    if (character === '"') {
      if (text[at + 1] !== '"') return { text: content, end: at + 1, newlines };
      at += 1;
    }
    if (character === '\n') newlines += 1;
    content += character;
  }
  return undefined;
}

/** What a column can hold. */
export type ColumnRole =
  | 'address'
  | 'name'
  | 'type'
  | 'table'
  | 'scale'
  | 'divisor'
  | 'decimals'
  | 'unit'
  | 'access'
  | 'words'
  | 'bytes'
  | 'order'
  | 'value'
  | 'min'
  | 'max'
  | 'bit'
  | 'slave'
  | 'description';

/** The columns of a file by what they hold. */
export interface Columns {
  readonly header: CsvRow;
  readonly of: ReadonlyMap<ColumnRole, number>;
}

/**
 * The headers of each role, in lower case, without spaces and punctuation. Earlier words of a role take
 * precedence over later ones.
 */
const HEADERS: Readonly<Record<ColumnRole, string>> = {
  address:
    'address addr modbusaddress registeraddress startaddress startingaddress startregister register reg registernumber registernr regno registerno addressdec addresshex registeraddresshex registeraddressdec hexaddress dataaddress offset modbusregister adresse registeradresse',
  name: 'name registername parametername parameter tag tagname variable symbol signal signalname point pointname label field quantityname bezeichnung title item',
  type: 'type datatype format dataformat dtype typ datentyp valuetype encoding',
  table:
    'table registertype regtype function functioncode fc modbusfunction functioncodes objecttype memory area space inputtype register_type block',
  scale: 'scale factor scalefactor scalingfactor multiplier scaling resolution faktor skalierung lsb',
  divisor: 'gain divisor divider div',
  decimals: 'decimals decimalplaces precision',
  unit: 'unit units unitofmeasurement engineeringunit uom einheit',
  access: 'access rw readwrite permission permissions mode accesstype attribute rwaccess zugriff writable',
  words:
    'words registers count quantity numberofregisters noofregisters regcount length size len numregs wordcount anzahl',
  bytes: 'bytes bytecount lengthbytes sizebytes',
  order: 'byteorder wordorder order endian endianness endianess swap',
  value:
    'value default defaultvalue initial initialvalue example wert standardwert standard vorgabe vorgabewert defaultwert werkseinstellung werkseinstellungen werkswert factorydefault factorysetting initialwert startwert',
  min: 'min minimum lower minvalue lowerlimit minwert minimalwert mindestwert untergrenze',
  max: 'max maximum upper maxvalue upperlimit maxwert maximalwert höchstwert obergrenze',
  bit: 'bit bitnumber bitno bitposition',
  slave: 'slave slaveid unitid unitidentifier deviceid slaveaddress unitaddress serverid node stationid',
  description: 'description desc comment remark remarks note notes info beschreibung meaning',
};

const ROLES = Object.keys(HEADERS) as ColumnRole[];
const HEADER_ROWS = 20;

/**
 * Finds the header: the first row with a column for addresses and one more known column.
 * @returns undefined when there is none
 */
export function findColumns(rows: readonly CsvRow[]): Columns | undefined {
  for (const [i, header] of rows.slice(0, HEADER_ROWS).entries()) {
    const of = rolesOf(header, rows.slice(i + 1, i + 200));
    if (of.has('address') && of.size > 1) return { header, of };
  }
  return undefined;
}

function rolesOf(header: CsvRow, sample: readonly CsvRow[]): Map<ColumnRole, number> {
  const found = new Map<ColumnRole, { column: number; rank: number }>();
  for (const [column, text] of header.cells.entries()) {
    const match = roleOf(text);
    if (match === undefined) continue;
    const cells = sample.map(({ cells }) => cells[column] ?? '').filter((cell) => cell !== '');
    const role = byContent(match.role, cells);
    const known = found.get(role);
    if (!known || match.rank < known.rank) found.set(role, { column, rank: match.rank });
  }
  return new Map([...found].map(([role, { column }]) => [role, column]));
}

function roleOf(header: string): { role: ColumnRole; rank: number } | undefined {
  const whole = plain(header);
  // Text in brackets is mostly a unit or a remark: "Address (hex)", "Scale [x]".
  const short = plain(header.replace(/[([].*$/, ''));
  for (const text of [whole, short]) {
    for (const role of ROLES) {
      const rank = HEADERS[role].split(' ').indexOf(text);
      if (text !== '' && rank >= 0) return { role, rank };
    }
  }
  return undefined;
}

/** Corrects the role of a header that is used for two things, by the cells below it. */
function byContent(role: ColumnRole, cells: readonly string[]): ColumnRole {
  const most = (test: (cell: string) => boolean) => cells.filter(test).length > cells.length / 2;
  if (role === 'type' && most((cell) => tableOf(cell) !== undefined)) return 'table';
  if (role === 'unit' && cells.length > 0 && cells.every((cell) => /^\d{1,3}$/.test(cell))) return 'slave';
  if (role === 'table' && cells.length > 0 && !cells.some((cell) => tableOf(cell) !== undefined))
    return 'description';
  return role;
}

function plain(text: string): string {
  return text
    .slice(0, 60)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

export interface WrittenAddress {
  readonly number: number;
  /** True for a decimal form of five or six digits, as register numbers in manuals have. */
  readonly isLong: boolean;
  /** The number of registers of a range such as `100-101`. */
  readonly words?: number;
  /** The bit of `100.3` or `100:3`. */
  readonly bit?: number;
}

/** How all addresses of a file are read. */
export interface AddressStyle {
  /** True when addresses are hexadecimal without a mark that says so. */
  readonly isHex: boolean;
  /**
   * True when addresses are register numbers: 40001 is holding register 0, 30001 input register 0, and so on.
   */
  readonly areNumbers: boolean;
}

const PATTERN = /^(0x)?([0-9a-f]+)(h)?(?:\s*(?:-|–|\.\.|to)\s*(?:0x)?([0-9a-f]+)h?)?(?:[.:](\d{1,2}))?$/i;

/**
 * Decides whether a column has hexadecimal addresses: its header says so, or some addresses have letters and
 * all can be read so.
 */
export function areHex(header: string, cells: readonly string[]): boolean {
  if (/hex/i.test(header)) return true;
  const bare = cells.filter((cell) => !/^0x|h$/i.test(cell));
  return (
    bare.some((cell) => /^\d*[a-f][0-9a-f]*$/i.test(cell)) &&
    bare.every((cell) => /^[0-9a-f]{1,5}$/i.test(cell))
  );
}

/** Reads an address. @returns undefined when the text is no address */
export function writtenAddress(text: string, isHex: boolean): WrittenAddress | undefined {
  const match = text.length > 40 ? null : PATTERN.exec(text.trim());
  if (!match) return undefined;
  const [, prefix, digits = '', suffix, end, bit] = match;
  const base = isHex || prefix || suffix ? 16 : 10;
  if (base === 10 && !/^\d+$/.test(digits + (end ?? ''))) return undefined;
  const number = Number.parseInt(digits, base);
  const last = end === undefined ? undefined : Number.parseInt(end, base);
  if (last !== undefined && last < number) return undefined;
  return {
    number,
    isLong: base === 10 && (digits.length === 5 || digits.length === 6),
    ...(last !== undefined && { words: last - number + 1 }),
    ...(bit !== undefined && { bit: Number(bit) }),
  };
}

const TABLE_OF_DIGIT: Readonly<Record<string, TableName>> = {
  0: 'coils',
  1: 'discrete',
  3: 'input',
  4: 'holding',
};
const DIGIT_OF_TABLE: Readonly<Record<TableName, number>> = { coils: 0, discrete: 1, input: 3, holding: 4 };

/**
 * The table and the address that a register number of five or six digits means: 40001 is holding register 0.
 */
export function numbered({
  number,
  isLong,
}: WrittenAddress): { table: TableName; address: number } | undefined {
  if (!isLong) return undefined;
  const span = number >= 100_000 ? 100_000 : 10_000;
  const table = TABLE_OF_DIGIT[Math.floor(number / span)];
  const address = (number % span) - 1;
  return table === undefined || address < 0 || address > 65_535 ? undefined : { table, address };
}

/**
 * Decides whether the addresses of a file are register numbers: all must be, and each of the table that its
 * row names, if any. A single address that is no register number, such as 40000 or 12, decides against it.
 */
export function areNumbers(
  all: readonly { address: WrittenAddress; table: TableName | undefined }[],
): boolean {
  const tables = all.map(({ address, table }) => {
    const meant = numbered(address);
    return (
      meant !== undefined && (table === undefined || table === meant.table) && DIGIT_OF_TABLE[meant.table]
    );
  });
  // If all of them were numbers of coils, they could as well be addresses with leading zeros.
  return all.length > 0 && tables.every((digit) => digit !== false) && tables.some((digit) => digit !== 0);
}
