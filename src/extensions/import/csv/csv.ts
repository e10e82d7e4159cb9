import { failure, type Result, success } from '../../../common/result.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { quote } from '../../../common/schema/problem.js';
import { Collector, type ImportExtras, type Imported, type TableReading } from '../collected.js';
import {
  columnsWithout,
  doesBegin,
  findColumns,
  HEADER_ROWS,
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
  titleIn,
} from './rows.js';
import { TableReader } from './table-reader.js';
import { tableOfTitle } from './words.js';

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
  const said = (extras.columns ?? new Map()) as SaidColumns;
  const separator = separatorOf(text);
  const areMarkdown = isMarkdown(text);
  const blocks: readonly Block[] = areMarkdown
    ? markdownBlocks(text)
    : separator === undefined
      ? []
      : blocksOf(rowsOf(text, separator), device, said);
  const collector = new Collector();
  const lines = new Set<string>();
  const found = blocks.flatMap((block, i) => {
    const { rows } = block;
    const mayLack = i === 0 && !areMarkdown;
    const columns =
      findColumns(rows, said, block.headers) ?? (mayLack ? columnsWithout(rows, said) : undefined);
    if (!columns) return [];
    const at = rows.indexOf(columns.header);
    return [{ block, title: titleAbove(rows, at) ?? block.title, columns, rows: rows.slice(at + 1) }];
  });
  // Next to a table with addresses, a list with an "ID" is about something else, such as devices.
  const isSaid = [...said.values()].includes('address');
  const registers = found.filter(({ columns }) => isSaid || !hasIds(columns));
  const used = registers.length > 0 ? registers : found;
  const readers = used.map(
    ({ title, columns, rows }) => new TableReader(collector, columns, rows, title, extras),
  );
  const read = new Set(used.map(({ block }) => block));
  for (const { line, cells } of unreadIn(blocks.filter((block) => !read.has(block))))
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
 * The headers of unread tables that have a column called like one of addresses, so that nothing is lost in
 * silence.
 */
function unreadIn(unread: readonly Block[]): CsvRow[] {
  return unread.flatMap(({ rows, headers = 0 }) => rows.slice(0, headers).find(hasAddressHeader) ?? []);
}

/**
 * The tables in a CSV file: each further header begins one, unless it repeats the one above, as after a page
 * break. The title of a further table is the last line above it.
 */
function blocksOf(rows: readonly CsvRow[], device: string, said: SaidColumns): Block[] {
  const headers = rows.flatMap((row, i) => (isHeaderRow(row) ? [i] : []));
  // A header of two lines begins one table.
  const starts = headers.filter((at, i) => at !== (headers[i - 1] ?? Number.NaN) + 1);
  let open = { title: device, rows: rows.slice(0, starts[0]), headers: HEADER_ROWS };
  const blocks = [open];
  const first = findColumns(open.rows, said);
  let above = first && doesBegin(first, undefined, open.rows) ? first : undefined;
  for (const [i, start] of starts.entries()) {
    const section = rows.slice(start, starts[i + 1]);
    const lines = section.slice(0, HEADER_ROWS).findIndex((row) => !isHeaderRow(row));
    const own = lines < 0 ? Math.min(HEADER_ROWS, section.length) : lines;
    const columns = findColumns(section, said, own);
    const isRepeated = columns && above && textOf(columns.header) === textOf(above.header);
    const isHeader = columns && !isRepeated && doesBegin(columns, above, section.slice(own));
    if (isHeader && (above || i > 0)) {
      open = { title: titleAbove(rows, start) ?? device, rows: section, headers: own };
      blocks.push(open);
    } else for (const row of isRepeated ? section.slice(own) : section) open.rows.push(row);
    if (isHeader) above = columns;
  }
  return blocks;
}

/** The title in the line above a header, if it names a table. */
function titleAbove(rows: readonly CsvRow[], at: number): string | undefined {
  const above = rows[at - 1];
  const title = above && titleIn(above);
  return title && tableOfTitle(title) ? title : undefined;
}

function textOf({ cells }: CsvRow): string {
  return cells.join('\n').trimEnd();
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
