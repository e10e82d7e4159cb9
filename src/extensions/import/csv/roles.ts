import { dataTypeOf, typeText } from '../data-types.js';
import { writtenAddress } from './addresses.js';
import { decimalOf, scaleOf } from './numbers.js';
import type { CsvRow } from './rows.js';
import { accessOf, tableOf } from './words.js';

/**
 * Finds the role of each column in a table. Each possible role gets a score: for the header, exact or as part
 * of a longer one, and for the cells below it. The assignment with the best total score wins.
 */

/**
 * The headers for each role, in lower case, without spaces and punctuation; earlier words score higher. After
 * the bar: words that a longer header may contain.
 */
const HEADERS = {
  address:
    'address addr modbusaddress registeraddress startaddress startingaddress startregister register reg registernumber registernr regno registerno addressdec addresshex registeraddresshex registeraddressdec hexaddress dataaddress offset protocoloffset modbusregister adresse registeradresse pointaddress coil discreteinput inputregister holdingregister addressrange registerrange registers id | addr address adress adresse register',
  last: 'addrend endaddress lastaddress endregister |',
  name: 'name registername parametername parameter tag tagname variable symbol signal signalname point pointname label field quantityname bezeichnung title metric documentedname item attribute acronym quantity | name title bezeichnung parameter',
  type: 'type datatype format dataformat dtype typ datentyp datenformat valuetype encoding sizeofvariable size modbusregister | type format datatype datentyp datenformat variable',
  table:
    'table registertype regtype function functioncode fc modbusfunction functioncodes objecttype memory area space inputtype block registerart registertyp funktion funktionscode type | table registertype function registerart registertyp',
  scale:
    'scale factor scalefactor scalingfactor multiplier scaling resolution faktor skalierung auflösung lsb transform | scale factor multiplier resolution faktor skalierung',
  divisor: 'gain divisor divider div divisionfactor teiler | divisor division divider gain teiler',
  decimals: 'decimals decimalplaces precision |',
  unit: 'unit units unitofmeasurement engineeringunit engunits uom einheit | unit units einheit',
  access:
    'access rw readwrite permission permissions mode accesstype attribute rwaccess zugriff writable clientaccess lesenschreiben type | access rw readwrite write writable zugriff permission',
  words:
    'words registers count quantity numberofregisters noofregisters regcount length size len numregs wordcount wordspan anzahl anzahlregister länge | length size registers count words anzahl länge',
  bytes: 'bytes bytecount lengthbytes sizebytes | bytes',
  order: 'byteorder wordorder order endian endianness endianess swap mixedendian |',
  value:
    'value default defaultvalue initial initialvalue example wert standardwert standard vorgabe vorgabewert defaultwert werkseinstellung werkseinstellungen werkswert factorydefault factorysetting initialwert startwert | default standardwert werkseinstellung',
  min: 'min minimum lower minvalue lowerlimit minwert minimalwert mindestwert untergrenze | min minimum',
  max: 'max maximum upper maxvalue upperlimit maxwert maximalwert höchstwert obergrenze | max maximum',
  bit: 'bit bitnumber bitno bitposition |',
  slave:
    'slave slaveid unitid unitidentifier deviceid slaveaddress unitaddress serverid node stationid unit |',
  description:
    'description desc comment remark remarks note notes info beschreibung meaning | description comment remark notes bemerkung beschreibung',
  rawLow: 'rawlow |',
  rawHigh: 'rawhigh |',
  scaledLow: 'scaledlow |',
  scaledHigh: 'scaledhigh |',
};

/** What a column can contain. */
export type ColumnRole = keyof typeof HEADERS;
const COLUMN_ROLES = Object.keys(HEADERS) as ColumnRole[];
/** The roles that a user can assign to a column; `none` means that the column is not used. */
export const SAID_ROLES = [...COLUMN_ROLES, 'none'] as const;

const WORDS = COLUMN_ROLES.map((role) => {
  const [exact = '', among = ''] = HEADERS[role].split('|');
  return { role, exact: exact.trim().split(/\s+/), among: among.trim().split(/\s+/).filter(Boolean) };
});

/** The columns of a table, by role. */
export interface Columns {
  readonly header: CsvRow;
  readonly of: ReadonlyMap<ColumnRole, number>;
  /** Other columns that could have the same role, with scores close to the best. */
  readonly near: ReadonlyMap<ColumnRole, number>;
}

/** The user's assignment of roles to columns, by header or by column number from 1. */
export type SaidColumns = ReadonlyMap<string, (typeof SAID_ROLES)[number]>;

/** Maximum number of columns considered: each is scored for each role, in each row that may be the header. */
export const MOST_COLUMNS = 500;
/** The number of rows that may be the header, unless the file shows it. */
export const HEADER_ROWS = 20;
const SAMPLE = 300;
/** The scores of a header that is exactly one of the words, and of one that contains such a word. */
const EXACT = 10;
const AMONG = 5;
/** The score of a role that the user assigned. */
const SAID = 100;
/** The minimum score for a column to be used. */
const LEAST = 4;
/** Scores that differ by less than this are close. */
const NEAR = 2;
/** Added to the score if all cells fit; subtracted if there are no cells. */
const FITTING = 4;
/** Added to the score of an address column whose cells are register numbers such as 40001. */
const NUMBERED = 2;
const MISFITS: Readonly<Partial<Record<ColumnRole, number>>> = {
  address: 5,
  name: 4,
  type: 3,
  unit: 4,
  description: 2,
  order: 2,
};
const MISFIT = 10;
/** The same for a header that only contains a word for an address, as "Address types" does. */
const AMONG_MISFIT = 8;

/**
 * Finds the header: the row whose columns have the best scores, including an address column and at least one
 * more.
 * @param headers the number of rows that may be the header
 * @returns undefined if there is none
 */
export function findColumns(
  rows: readonly CsvRow[],
  said: SaidColumns = new Map(),
  headers = HEADER_ROWS,
): Columns | undefined {
  let best: { readonly columns: Columns; readonly score: number } | undefined;
  for (const [i, header] of rows.slice(0, headers).entries()) {
    const found = rolesOf(header, rows.slice(i + 1, i + 1 + SAMPLE), said);
    const address = found.columns.of.get('address');
    // A row that begins with an address is no header, nor is one in whose address column there is an address: the
    // user gave columns by number.
    const isHeader =
      address !== undefined && !/^\d/.test(header.cells[address] ?? '') && !isNumbered(header.cells[0] ?? '');
    const isUsable = isHeader && found.columns.of.size > 1 && isOfRegisters(found.columns, address);
    if (isUsable && (!best || found.score > best.score)) best = found;
  }
  return best?.columns;
}

/**
 * False for a table of totals or averages: its header only contains a word for an address, as "Avg/Addr" does,
 * and no column says what is at the address.
 */
function isOfRegisters({ header, of }: Columns, address: number): boolean {
  const others = [...of.keys()].filter((role) => role !== 'address' && role !== 'words' && role !== 'bytes');
  return others.length > 0 || isOneOf(ADDRESS_WORDS, header.cells[address] ?? '');
}

/** All headers of address columns. */
const ADDRESS_WORDS: ReadonlySet<string> = new Set(WORDS.find(({ role }) => role === 'address')?.exact);

function isOneOf(words: ReadonlySet<string>, cell: string): boolean {
  return wholeFormsOf(cell).some((word) => words.has(word));
}

/** True if a header has a column that may contain addresses. */
export function hasAddressHeader({ cells }: CsvRow): boolean {
  return cells.some((cell) => isOneOf(ADDRESS_WORDS, cell));
}

/** True if the addresses are in a column "ID". */
export function hasIds({ header, of }: Columns): boolean {
  return /^id$/i.test(header.cells[of.get('address') ?? -1] ?? '');
}

/** True for a row of at least two cells, none of them a number or an address, one the header of an address column. */
export function isHeaderRow({ cells }: CsvRow): boolean {
  const texts = cells.slice(0, MOST_COLUMNS).filter((cell) => cell !== '');
  return texts.length > 1 && !texts.some(isNumbered) && texts.some((cell) => isOneOf(ADDRESS_WORDS, cell));
}

function isNumbered(cell: string): boolean {
  const isAddress = /\d/.test(cell) && writtenAddress(cell, false) !== undefined;
  return isAddress || /^[\d.,+-]+$|^(?:0x)?\d[\da-f]*h?$/i.test(cell);
}

/**
 * True if a header begins a table: the rows below it have addresses in its address column. If these rows also fit
 * the table above, a row that leaves one of its columns empty is a remark, such as "reserved, Address".
 */
export function doesBegin(columns: Columns, above: Columns | undefined, rows: readonly CsvRow[]): boolean {
  const sample = rows.slice(0, SAMPLE);
  const doFit = ({ of }: Columns) => {
    const cells = sample.map(({ cells }) => cells[of.get('address') ?? -1] ?? '').filter(Boolean);
    return cells.length > 0 && 2 * cells.filter(FITS.address).length >= cells.length;
  };
  const isRemark =
    above &&
    doFit(above) &&
    [...above.of.values()].some(
      (column) => !columns.header.cells[column] && sample.some(({ cells }) => cells[column]),
    );
  return doFit(columns) && !isRemark;
}

/** The header line of a table without a header. */
export const NO_HEADER = 0;
/** The roles that cells alone can show, in the order they pick a column. */
const SHOWN_BY_CELLS = ['address', 'access', 'table', 'type', 'name', 'description'] as const;
const MOST = 0.9;

/**
 * Finds the columns of a table without a header, numbered from 1: only the cells show what they contain.
 * @returns undefined if only the user can say where the addresses are
 */
export function columnsWithout(rows: readonly CsvRow[], said: SaidColumns): Columns | undefined {
  const sample = rows.slice(0, SAMPLE);
  const width = Math.min(MOST_COLUMNS, Math.max(0, ...sample.map(({ cells }) => cells.length)));
  const header = { line: NO_HEADER, cells: Array.from({ length: width }, (_, i) => String(i + 1)) };
  const of = new Map<ColumnRole, number>();
  for (const [name, role] of said)
    if (role !== 'none' && header.cells.includes(name)) of.set(role, Number(name) - 1);
  const isFree = (column: number) => !said.has(String(column + 1)) && ![...of.values()].includes(column);
  for (const role of SHOWN_BY_CELLS) {
    if (of.has(role)) continue;
    const found = header.cells.findIndex((_, column) => isFree(column) && doesShow(role, column, sample));
    if (found >= 0) of.set(role, found);
  }
  const isSure = [...said.values()].includes('address') || sample.length > 2;
  return of.has('address') && of.size > 1 && isSure ? { header, of, near: new Map() } : undefined;
}

function doesShow(role: (typeof SHOWN_BY_CELLS)[number], column: number, sample: readonly CsvRow[]): boolean {
  const cells = sample.map(({ cells }) => cells[column] ?? '').filter((cell) => cell !== '');
  const share = (fits: number) => fits >= MOST * cells.length;
  const isOneEach = role === 'address' || role === 'name';
  return (
    cells.length >= (isOneEach ? MOST : 0.5) * sample.length &&
    (!isOneEach || share(new Set(cells).size)) &&
    share(
      cells.filter((cell) => FITS[role](cell) && (role === 'address' ? /^\d/.test(cell) : isText(cell)))
        .length,
    )
  );
}

interface Candidate {
  readonly column: number;
  readonly role: ColumnRole;
  readonly score: number;
}

function rolesOf(
  header: CsvRow,
  sample: readonly CsvRow[],
  said: SaidColumns,
): { readonly columns: Columns; readonly score: number } {
  const taken = new Set<string>(said.values());
  const candidates = header.cells.slice(0, MOST_COLUMNS).flatMap((text, column): Candidate[] => {
    const cells = sample.map(({ cells }) => cells[column] ?? '').filter((cell) => cell !== '');
    const forms = formsOf(text);
    // A column without a header of its own is identified by its number.
    const number = String(column + 1);
    const meant = said.get(text) ?? (header.cells.includes(number) ? undefined : said.get(number));
    if (meant !== undefined) return meant === 'none' ? [] : [{ column, role: meant, score: SAID }];
    const isKnown = WORDS.some(({ exact }) => exactRank(forms, exact) !== undefined);
    return WORDS.flatMap(({ role, exact, among }) => {
      if (taken.has(role)) return [];
      const named = headerScore(forms, exact, isKnown ? [] : among);
      const ofHeader = named === 0 && !isKnown && doCellsDecide(role, text, cells) ? AMONG : named;
      const shown = role === 'type' ? cells.map((cell) => typeText(text, cell)) : cells;
      const score = ofHeader === 0 ? 0 : ofHeader + cellScore(role, shown, ofHeader > AMONG);
      return score >= LEAST ? [{ column, role, score }] : [];
    });
  });
  const of = new Map<ColumnRole, number>();
  const near = new Map<ColumnRole, number>();
  let sum = 0;
  const scores = new Map<ColumnRole, number>();
  for (const { column, role, score } of candidates.toSorted(
    (a, b) => b.score - a.score || a.column - b.column,
  )) {
    const isFree = ![...of.values()].includes(column);
    if (isFree && !of.has(role)) {
      of.set(role, column);
      scores.set(role, score);
      sum += score;
    } else if (isFree && !near.has(role) && (scores.get(role) ?? 0) - score < NEAR) near.set(role, column);
  }
  const used = new Set(of.values());
  for (const [role, column] of near) if (used.has(column)) near.delete(role);
  return { columns: { header, of, near }, score: sum };
}

/** A header in the forms used for comparison. */
interface HeaderForms {
  /** The header, and the part before its brackets, which usually contain a unit or a remark, as in "Scale [x]". */
  readonly whole: readonly string[];
  /** Its words, and each pair of adjacent words. */
  readonly words: ReadonlySet<string>;
}

/** The maximum length of a header that is compared as a whole, in characters. */
const LONGEST_HEADER = 60;

function formsOf(text: string): HeaderForms {
  const words: readonly string[] =
    text
      .slice(0, 80)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const pairs = words.map((word, i) => word + (words[i + 1] ?? ''));
  return { whole: wholeFormsOf(text), words: new Set([...words, ...pairs]) };
}

function wholeFormsOf(text: string): readonly string[] {
  const beforeBrackets = text.slice(0, LONGEST_HEADER).replace(/[([].*$/, '');
  return [plain(text), plain(beforeBrackets)];
}

function headerScore(forms: HeaderForms, exact: readonly string[], among: readonly string[]): number {
  const rank = exactRank(forms, exact);
  if (rank !== undefined) return EXACT - rank / 10;
  return among.some((each) => forms.words.has(each)) ? AMONG : 0;
}

/** The position of a header in a list of words. */
function exactRank({ whole }: HeaderForms, exact: readonly string[]): number | undefined {
  const ranks = whole.map((each) => exact.indexOf(each)).filter((each) => each >= 0);
  return ranks.length === 0 ? undefined : Math.min(...ranks);
}

function plain(text: string): string {
  return text
    .slice(0, LONGEST_HEADER)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** The score of a column's cells for a role: positive if they fit, negative if they do not. */
function cellScore(role: ColumnRole, cells: readonly string[], isExact: boolean): number {
  if (cells.length === 0) return -FITTING;
  const fitting = cells.filter((cell) => FITS[role](cell)).length / cells.length;
  // Most addresses occur in one row only, and register numbers also name the table.
  const share = role === 'address' ? Math.min(fitting, (2 * new Set(cells).size) / cells.length) : fitting;
  const bonus = role === 'address' && cells.every((cell) => /^[0134]\d{4,5}\b/.test(cell)) ? NUMBERED : 0;
  const misfit = role === 'address' && !isExact ? AMONG_MISFIT : (MISFITS[role] ?? MISFIT);
  return share * FITTING + bonus - (1 - share) * misfit;
}

/**
 * True if cells show the role although the header does not: all name a table in words, or all are hexadecimal
 * addresses in a column "Range" or "Start".
 */
function doCellsDecide(role: ColumnRole, header: string, cells: readonly string[]): boolean {
  if (cells.length < 3) return false;
  if (role === 'table') return cells.every((cell) => isText(cell) && tableOf(cell) !== undefined);
  return (
    role === 'address' &&
    /^(?:range|start|from)$/i.test(header) &&
    cells.every((cell) => /^0x[\da-f]{3,4}/i.test(cell) && writtenAddress(cell, true) !== undefined)
  );
}

const isNumber = (cell: string) => decimalOf(cell) !== undefined;
/** The maximum size of a value in bytes or registers. Greater numbers are addresses. */
const MOST_COUNTED = 250;
const isCount = (cell: string) =>
  /^\d{1,4}(?:\s*(?:bytes?|words?|registers?|\([^)]*\)))?$/i.test(cell) &&
  Number.parseInt(cell, 10) <= MOST_COUNTED;
const isText = (cell: string) => /\p{L}/u.test(cell);

const FITS: Readonly<Record<ColumnRole, (cell: string) => boolean>> = {
  address: (cell) => writtenAddress(cell, true) !== undefined,
  last: (cell) => writtenAddress(cell, true) !== undefined,
  name: isText,
  type: (cell) => dataTypeOf(cell, 2) !== undefined || dataTypeOf(cell, 1) !== undefined,
  table: (cell) => tableOf(cell) !== undefined,
  scale: (cell) => scaleOf(cell) !== undefined || /^[-–]+$/.test(cell),
  divisor: (cell) => scaleOf(cell) !== undefined || /^[-–]+$/.test(cell),
  decimals: isNumber,
  unit: (cell) => cell.length < 20 && !/^\d+$/.test(cell),
  access: (cell) => isText(cell) && accessOf(cell) !== undefined,
  words: isCount,
  bytes: isCount,
  order: isText,
  value: (cell) => isNumber(cell) || /^0x[0-9a-f]+$/i.test(cell) || isText(cell) || /^[-–]+$/.test(cell),
  min: (cell) => isNumber(cell) || /^[-–]+$/.test(cell),
  max: (cell) => isNumber(cell) || /^[-–]+$/.test(cell),
  bit: isCount,
  slave: (cell) => /^\d{1,3}$/.test(cell),
  description: isText,
  rawLow: isNumber,
  rawHigh: isNumber,
  scaledLow: isNumber,
  scaledHigh: isNumber,
};
