import { failure, type Result, success } from '../../../common/result.js';
import { unknownName } from '../../../common/schema/nearest.js';
import { quote } from '../../../common/schema/problem.js';
import type { TrackSource } from '../signal.js';

/** The separator of a CSV file, and which cells of a line are the time and the value. */
export interface Columns {
  readonly separator: string;
  readonly time: number;
  readonly value: number;
}

/** A row of a recording: the time in ms from the file's own origin, and the value. */
export interface RecordingRow {
  readonly time: number;
  readonly value: number;
}

const SEPARATORS = ['\t', ';', ','];

/** Finds the columns in the first line of a file, or returns which column is missing. */
export function readHeader(line: string, { time, column }: TrackSource): Result<Columns> {
  const text = line.replace(/^\ufeff/, '');
  const separator = SEPARATORS.find((each) => text.includes(each)) ?? ',';
  const names = splitCells(text, separator);
  const missing = [time, column].find((name) => !names.includes(name));
  if (missing !== undefined) return failure(unknownName('column', missing, names));
  return success({ separator, time: names.indexOf(time), value: names.indexOf(column) });
}

/** Reads the two cells of a line, or returns what is wrong with one of them. */
export function readRow(line: string, { separator, time, value }: Columns): Result<RecordingRow> {
  const cells = splitCells(line, separator);
  const timeCell = cells[time] ?? '';
  const valueCell = cells[value] ?? '';
  const ms = readTime(timeCell);
  if (ms === undefined)
    return failure(`expected a time in seconds or as in 2024-12-31T23:59:59Z, got ${quote(timeCell)}`);
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
