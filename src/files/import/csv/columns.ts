import type { CsvRow } from './cells.js';
import { tableOf } from './words.js';

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
