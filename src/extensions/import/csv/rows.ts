/** A row in a CSV file, and the number of the line on which it begins, from 1. */
export interface CsvRow {
  readonly line: number;
  readonly cells: readonly string[];
}

const SEPARATORS = [';', '\t', ',', '|'] as const;

export type Separator = (typeof SEPARATORS)[number];

/**
 * Finds the separator that splits most of the first lines into the same number of cells, at least two; if two
 * separators do equally well, the one with more cells. Undefined if none does.
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
 * The rows of a CSV file (RFC 4180), without empty rows and the ruler of a Markdown table. A quote that is
 * never closed ends at the end of its line; otherwise the rest of the file would vanish into one cell.
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

/** Reads quoted text, with doubled quotes as one; undefined if no quote ends it within a reasonable length. */
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

/** A table in a file, and the title above it. */
export interface Block {
  readonly title: string;
  readonly rows: readonly CsvRow[];
  /** The number of rows that may be the header, if the file shows it. */
  readonly headers?: number;
}

/** A Markdown table row, and a heading. Below a ruler, the bars at both ends of a row may be missing. */
const MARKDOWN_ROW = /^\s*\|[^|]*\|/;
const HEADING = /^#{1,6} \S/;
/**
 * The marks before and after the words of a title. The search for the marks after them begins only once in
 * each run of marks.
 */
const MARKS_BEFORE = /^[\s#>*-]+/;
const MARKS_BEHIND = /(?<![*:])[*:]+\s*$/;
/** A comment. It ends before the next one begins, so a line with many `<!--` is scanned once, not once for each. */
const COMMENT = /<!--(?:(?!<!--).)*?-->/g;

/** True for the line between the header and the rows of a Markdown table. */
function isRuler(line = ''): boolean {
  return /^[|:\s-]+$/.test(line) && line.includes('|') && line.includes('-');
}

/** True if a line is the ruler of a table. Tables below a heading may lack it. */
export function isMarkdown(text: string): boolean {
  const lines = linesOf(text);
  return (
    lines.some(isRuler) ||
    (lines.some((line) => HEADING.test(line)) && lines.some((line) => MARKDOWN_ROW.test(line)))
  );
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/** The tables in a Markdown text. The title of each is the last heading above it, or the last line. */
export function markdownBlocks(text: string): Block[] {
  const blocks: { title: string; rows: CsvRow[]; headers?: number }[] = [];
  let open: (typeof blocks)[number] | undefined;
  let title = '';
  const lines = linesOf(text);
  for (const [i, line] of lines.entries()) {
    const isBelow = open !== undefined || isRuler(lines[i + 1]);
    if (MARKDOWN_ROW.test(line) || (isBelow && line.includes('|'))) {
      if (!open) {
        open = { title, rows: [] };
        blocks.push(open);
      }
      if (!isRuler(line)) open.rows.push({ line: i + 1, cells: markdownCells(line) });
      // Above a ruler is the header. If that is empty or a title, the first row is the header.
      else
        open.headers ??=
          Math.max(1, open.rows.length) + (open.rows.every((row) => titleIn(row) !== undefined) ? 1 : 0);
      continue;
    }
    open = undefined;
    if (line.trim() !== '') title = line.replace(MARKS_BEFORE, '').replace(MARKS_BEHIND, '');
  }
  return blocks;
}

/** The only text of a row; empty if it has none, undefined if it has several. */
export function titleIn({ cells }: CsvRow): string | undefined {
  const [title = '', ...others] = cells.filter((cell) => cell !== '');
  return others.length === 0 ? title : undefined;
}

/** The cells of a row, without emphasis marks and comments. A bar after a backslash is part of its cell. */
function markdownCells(line: string): string[] {
  const cells = line
    .replace(COMMENT, '')
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/);
  return cells.map((cell) => cell.replaceAll('\\|', '|').replace(/[`*]+/g, '').trim());
}
