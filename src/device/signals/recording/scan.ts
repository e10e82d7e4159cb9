import { failure, type Result, success } from '../../../common/result.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { quote } from '../../../common/schema/problem.js';
import type { TrackRows, TrackSource } from '../signal.js';

/** An index of a recording's file. A block of rows is found by time and read by offset. */
export interface RecordingIndex {
  readonly columns: Columns;
  /** The time of the first row in the file, in ms. Times of blocks are relative to it. */
  readonly epoch: number;
  /** The time of the first row of each block. */
  readonly times: readonly number[];
  /** The byte offset of each block; the last entry is the length of the file. */
  readonly offsets: readonly number[];
  /** The time from the first row to the end of the last row, in ms. */
  readonly length: number;
}

export type ScannedRecording =
  | { readonly ok: true; readonly index: RecordingIndex }
  | { readonly ok: false; readonly line: number; readonly error: string };

/**
 * Maximum rows per block, and the number of bytes after which a new block begins. A block is read at once. A
 * block that is not loaded takes 16 bytes of memory.
 */
const ROWS_PER_BLOCK = 1024;
const BYTES_PER_BLOCK = 64 * 1024;

/** The longest line in bytes, because a whole line is held in memory. No real table has longer lines. */
const LONGEST_LINE = 64 * 1024;

/** The duration of the row of a recording with a single row, in ms. */
const LONE_ROW = 1000;

/** Checks a whole file piece by piece and builds its index. */
export class RecordingScanner {
  readonly #source: TrackSource;
  readonly #times: number[] = [];
  readonly #offsets: number[] = [];
  #columns: Columns | undefined;
  #unfinished: Buffer = Buffer.alloc(0);
  #offset = 0;
  #line = 0;
  #rows = 0;
  #rowsOfBlock = 0;
  #epoch = 0;
  #last = 0;
  #beforeLast = 0;
  #mistake: { line: number; error: string } | undefined;

  constructor(source: TrackSource) {
    this.#source = source;
  }

  /** Adds the next bytes of the file. Returns false once a mistake is found: the rest need not be read. */
  feed(bytes: Uint8Array): boolean {
    const all = Buffer.concat([this.#unfinished, bytes]);
    let start = 0;
    for (let end = all.indexOf(0x0a); end >= 0 && !this.#mistake; end = all.indexOf(0x0a, start)) {
      this.#take(all.subarray(start, end));
      start = end + 1;
      this.#offset += 1;
    }
    this.#unfinished = all.subarray(start);
    if (this.#unfinished.length > LONGEST_LINE)
      this.#fail(`expected at most ${LONGEST_LINE} bytes in a line`, 1);
    return this.#mistake === undefined;
  }

  /** Ends the scan. Call this after the last bytes. */
  end(): ScannedRecording {
    if (this.#unfinished.length > 0 && !this.#mistake) this.#take(this.#unfinished);
    if (this.#rows === 0 && !this.#mistake)
      this.#fail('expected rows of data after the line with the column names', 0);
    if (this.#mistake || !this.#columns) return { ok: false, line: 0, error: '', ...this.#mistake };
    const lasts = this.#rows > 1 ? this.#last - this.#beforeLast : LONE_ROW;
    const index: RecordingIndex = {
      columns: this.#columns,
      epoch: this.#epoch,
      times: this.#times,
      offsets: [...this.#offsets, this.#offset],
      length: this.#last + Math.max(lasts, 1),
    };
    return { ok: true, index };
  }

  #take(bytes: Buffer): void {
    this.#line++;
    const text = bytes.toString('utf8').trimEnd();
    if (text !== '') this.#takeText(text);
    this.#offset += bytes.length;
  }

  #takeText(text: string): void {
    if (!this.#columns) {
      const header = readHeader(text, this.#source);
      if (!header.ok) this.#fail(header.error, 0);
      else this.#columns = header.value;
      return;
    }
    const row = readRow(text, this.#columns);
    if (!row.ok) this.#fail(row.error, 0);
    else this.#takeRow(row.value);
  }

  #takeRow({ time }: RecordingRow): void {
    if (this.#rows === 0) this.#epoch = time;
    const since = time - this.#epoch;
    if (since < this.#last) {
      this.#fail('expected a time no earlier than the one in the line above', 0);
      return;
    }
    [this.#beforeLast, this.#last] = [this.#last, since];
    this.#rows++;
    const begun = this.#offsets.at(-1);
    const isFull = ++this.#rowsOfBlock > ROWS_PER_BLOCK || this.#offset - (begun ?? 0) > BYTES_PER_BLOCK;
    if (begun !== undefined && !isFull) return;
    this.#rowsOfBlock = 1;
    this.#times.push(since);
    this.#offsets.push(this.#offset);
  }

  #fail(message: string, ahead: number): void {
    this.#mistake = { line: this.#line + ahead, error: message };
  }
}

/** Returns the rows of one block of a scanned file, or what is wrong with them if the file has changed. */
export function readBlock({ columns, epoch }: RecordingIndex, bytes: Uint8Array): Result<TrackRows> {
  const times: number[] = [];
  const values: number[] = [];
  for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
    const text = line.trimEnd();
    if (text === '') continue;
    const row = readRow(text, columns);
    if (!row.ok) return row;
    times.push(row.value.time - epoch);
    values.push(row.value.value);
  }
  return success({ times, values });
}

/** Returns the index of the last of the ascending `times` that is not after `time`; 0 if all are after it. */
export function lastBefore(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= time) low = middle;
    else high = middle;
  }
  return low;
}

/** The separator of a CSV file, and the cells of a line with the time and the value. */
interface Columns {
  readonly separator: string;
  readonly time: number;
  readonly value: number;
}

/** A row of a recording: the time in ms from the file's own origin, and the value. */
interface RecordingRow {
  readonly time: number;
  readonly value: number;
}

const SEPARATORS = ['\t', ';', ','];

/** Finds the columns in the first line of a file, or returns the missing column. */
function readHeader(line: string, { time, column }: TrackSource): Result<Columns> {
  const text = line.replace(/^\ufeff/, '');
  const separator = SEPARATORS.find((each) => text.includes(each)) ?? ',';
  const names = splitCells(text, separator);
  const missing = [time, column].find((name) => !names.includes(name));
  if (missing !== undefined) return failure(unknownName('column', missing, names));
  return success({ separator, time: names.indexOf(time), value: names.indexOf(column) });
}

/** Reads the two cells of a line, or returns what is wrong with one of them. */
function readRow(line: string, { separator, time, value }: Columns): Result<RecordingRow> {
  const cells = splitCells(line, separator);
  const timeCell = cells[time] ?? '';
  const valueCell = cells[value] ?? '';
  const ms = readTime(timeCell);
  if (ms === undefined)
    return failure(
      `expected a time in seconds or in ISO 8601, such as 2024-12-31T23:59:59Z, got ${quote(timeCell)}`,
    );
  const number = readNumber(valueCell);
  return number === undefined
    ? failure(`expected a number, got ${quote(valueCell)}`)
    : success({ time: ms, value: number });
}

/** Splits a line into trimmed cells. A quoted cell may contain the separator, and doubled quotes. */
function splitCells(line: string, separator: string): string[] {
  const cells: string[] = [];
  for (let start = 0; start <= line.length; ) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(line.slice(start));
    const isQuoted = quoted !== null && [separator, undefined].includes(line[start + quoted[0].length]);
    const found = isQuoted ? start + quoted[0].length : line.indexOf(separator, start);
    const end = found < 0 ? line.length : found;
    cells.push(isQuoted ? (quoted[1] as string).replaceAll('""', '"') : line.slice(start, end).trim());
    start = end + 1;
  }
  return cells;
}

/**
 * Matches a number. A run of digits matches in only one way, so that a long text does not cause backtracking.
 */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

const DATE = /^\d{4}-\d\d-\d\d/;

function readNumber(cell: string): number | undefined {
  const number = NUMBER.test(cell) ? Number(cell) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

function readTime(cell: string): number | undefined {
  const ms = DATE.test(cell) ? Date.parse(cell) : (readNumber(cell) ?? Number.NaN) * 1000;
  return Number.isFinite(ms) ? ms : undefined;
}
