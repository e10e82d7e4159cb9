import { failure, type Result, success } from '../../../common/result.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { quote } from '../../../common/schema/problem.js';
import { Collector, type ImportExtras, type Imported, type TableReading } from '../collected.js';
import {
  columnsWithout,
  findColumns,
  hasAddressHeader,
  hasIds,
  isHeaderRow,
  MOST_COLUMNS,
  NO_HEADER,
  type SaidColumns,
} from './roles.js';
import {
  type Block,
  type CsvRow,
  isMarkdown,
  markdownBlocks,
  rowsOf,
  type Separator,
  separatorOf,
} from './rows.js';
import { TableReader } from './table-reader.js';

const SEPARATOR_NAMES: Readonly<Record<Separator, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};

/**
 * Reads a table of registers, or all tables in a Markdown text.
 * @returns what the file lacks, as a sentence
 */
export function importCsv(text: string, device: string, extras: ImportExtras = {}): Result<Imported> {
  if (/can ?bus/i.test(device) && extras.base === undefined)
    return failure(
      'seems to be a CAN message map, judging by its name; --base wire reads it as a register map',
    );
  const separator = separatorOf(text);
  const areMarkdown = isMarkdown(text);
  const blocks: readonly Block[] = areMarkdown
    ? markdownBlocks(text)
    : separator === undefined
      ? []
      : blocksOf(rowsOf(text, separator), device);
  const said = (extras.columns ?? new Map()) as SaidColumns;
  const collector = new Collector();
  const lines = new Set<string>();
  const found = blocks.flatMap(({ title, rows, headers }) => {
    const columns =
      findColumns(rows, said, headers) ?? (areMarkdown ? undefined : columnsWithout(rows, said));
    return columns ? [{ title, columns, rows: rows.slice(rows.indexOf(columns.header) + 1) }] : [];
  });
  // Next to a table with addresses, a list with an "ID" is about something else, such as devices.
  const isSaid = [...said.values()].includes('address');
  const registers = found.filter(({ columns }) => isSaid || !hasIds(columns));
  const readers = (registers.length > 0 ? registers : found).map(
    ({ title, columns, rows }) => new TableReader(collector, columns, rows, title, extras),
  );
  for (const { line, cells } of unreadIn(blocks, readers))
    collector.note(`line ${line}`, `not read: the table with ${cells.slice(0, 6).map(quote).join(', ')}`);
  // A file numbers its registers in one way: a table that only has addresses on the wire decides for the others.
  const areWire = readers.some(({ numbering }) => numbering.others !== undefined);
  const tables: TableReading[] = [];
  for (const reader of readers) {
    const { reading, preview } = reader.read(device, areWire);
    for (const line of preview) lines.add(line);
    tables.push(reading);
  }
  const headers = tables.map(({ line }) => line);
  if (headers.length === 0) return failure(lacking(blocks, said));
  const decided = decisionsIn(extras);
  const how = areMarkdown ? 'Markdown tables' : `CSV, separated by ${SEPARATOR_NAMES[separator ?? ',']}`;
  const where =
    headers[0] === NO_HEADER
      ? 'without a header, so its columns have numbers'
      : headers.length === 1
        ? `header in line ${headers[0]}`
        : `headers in lines ${headers.join(', ')}`;
  const { value } = collector.end(`${how}, ${where}`, [...decided, ...lines]);
  return success({ ...value, tables });
}

/**
 * The headers of the tables that were not read although a column is called like one of addresses, so that nothing is
 * lost in silence.
 */
function unreadIn(blocks: readonly Block[], readers: readonly TableReader[]): CsvRow[] {
  const read = new Set(readers.map(({ header }) => header));
  return blocks.flatMap(({ rows: [first], headers, rows }) =>
    first && headers !== undefined && hasAddressHeader(first) && !rows.some((row) => read.has(row))
      ? [first]
      : [],
  );
}

/** The tables in a CSV file: each header begins one. The title of a further table is the last line above it. */
function blocksOf(rows: readonly CsvRow[], device: string): Block[] {
  const headers = rows.flatMap((row, i) => (isHeaderRow(row) ? [i] : []));
  // A header of two lines begins one table.
  const starts = headers.filter((at, i) => i > 0 && at > (headers[i - 1] ?? 0) + 1);
  return [0, ...starts].map((start, i) => {
    const title = rows[start - 1]?.cells.filter((cell) => cell !== '') ?? [];
    return { title: title.length === 1 ? (title[0] ?? '') : device, rows: rows.slice(start, starts[i]) };
  });
}

/** The table in a file with no recognised column: its first full row, and some of the rows below it. */
export function tableSeen(text: string): TableReading | undefined {
  const separator = separatorOf(text);
  const blocks = isMarkdown(text) ? markdownBlocks(text) : [];
  const rows = blocks[0]?.rows ?? (separator === undefined ? [] : rowsOf(text.slice(0, SEEN), separator));
  const first = firstFullRow(rows.slice(0, 20));
  if (!first) return undefined;
  const at = rows.indexOf(first) + 1;
  return {
    line: first.line,
    columns: first.cells.slice(0, MOST_COLUMNS).map((header) => ({ header })),
    rows: rows.slice(at, at + 6).map(({ cells }) => cells.slice(0, MOST_COLUMNS)),
  };
}

/** Only this many characters of the file are searched for such a table. */
const SEEN = 100_000;

/** The first row that has the maximum number of cells. */
function firstFullRow(rows: readonly CsvRow[]): CsvRow | undefined {
  const widest = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  return rows.find(({ cells }) => cells.length === widest && widest > 1);
}

/** Returns what is missing in tables with no recognised column, and their headers. */
function lacking(blocks: readonly Block[], said: SaidColumns): string {
  const rows = blocks.flatMap((block) => block.rows.slice(0, 20));
  const first = firstFullRow(rows);
  const widest = first?.cells.length ?? 0;
  const cells = (first?.cells ?? []).filter((cell) => cell !== '');
  const seen =
    cells.length === 0
      ? ''
      : `; the first full row, line ${first?.line}, has ${cells.slice(0, 20).map(quote).join(', ')}`;
  const unread = widest > MOST_COLUMNS ? `; only the first ${MOST_COLUMNS} columns were looked at` : '';
  const isColumn = (header: string) => Number(header) >= 1 && Number(header) <= widest;
  const wrong = [...said].find(
    ([header]) => !isColumn(header) && !rows.some((row) => row.cells.includes(header)),
  );
  const missing = wrong && `--column ${wrong[1]}: ${unknownName('column', wrong[0], cells)}`;
  return (
    missing ??
    `expected a CSV file whose header has a column "address" and one more, such as "name" or "type"${seen}${unread}; name the column with --column address=HEADER`
  );
}

/** The user's choices as options, so that the import can be repeated. */
function decisionsIn({ columns, base, table }: ImportExtras): string[] {
  const options = [
    ...[...(columns ?? [])].map(([header, role]) => `--column ${quote(`${role}=${header}`)}`),
    ...(base === undefined ? [] : [`--base ${base}`]),
    ...(table === undefined ? [] : [`--table ${table}`]),
  ];
  return options.length === 0 ? [] : [`options of the import: ${options.join(' ')}`];
}
