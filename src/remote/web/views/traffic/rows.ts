import { DAMAGE } from '../../../../simulator/filter/filter.js';
import { type Event, isEvent, type Row } from './chunks.js';

/** The texts of a row, by column. */
export interface Cells {
  readonly seq: string;
  readonly time: string;
  readonly line: string;
  readonly kind: string;
  readonly unit: string;
  readonly function: string;
  readonly text: string;
  /** The faults that acted, as text. */
  readonly faults: string;
  readonly wait: string;
  readonly bytes: string;
}

export const COLUMNS: Readonly<Record<keyof Omit<Cells, 'faults'>, string>> = {
  seq: '#',
  time: 'time',
  line: 'line',
  kind: 'kind',
  unit: 'unit',
  function: 'fn',
  wait: 'wait ms',
  text: 'what',
  bytes: 'bytes',
};

const ABSENT = {
  loading: 'Reading from the simulator.',
  gone: 'The simulator no longer keeps this event.',
  restarted: 'The simulator was restarted. The events above are from the previous run.',
};
/** Maximum number of bytes in a row; more than the widest column shows. */
const MOST_BYTES = 3 * 80;

/** @param isJoined whether a response is shown together with its request */
export function cellsOf(row: Row, isJoined = false): Cells {
  if (isEvent(row)) return eventCells(row, isJoined);
  const empty = { seq: '', time: '', line: '', unit: '', function: '', faults: '', wait: '', bytes: '' };
  return { ...empty, kind: row.kind, text: absentText(row) };
}

function absentText(row: Exclude<Row, Event>): string {
  if (row.kind === 'left out') return `${row.text}: the simulator did not keep them`;
  if (row.kind !== 'skipped') return ABSENT[row.kind];
  return `Events ${row.after + 1} to ${row.until} were not read: the page was hidden, or too far behind.`;
}

function eventCells(event: Event, isJoined: boolean): Cells {
  const { line, kind, unit, function: code, text, bytes = '', faults = [] } = event;
  const us = kind === 'reply' || isJoined ? (event.responseTimeUs ?? event.pauseUs) : event.pauseUs;
  return {
    seq: String(numberOf(event)),
    time: timeText(event.time),
    line,
    kind: isJoined && event.request !== undefined ? 'exchange' : kind,
    unit: unit === undefined ? '' : String(unit),
    function: code === undefined ? '' : String(code),
    text,
    faults: [...new Set(faults.map(({ rule }) => rule))].join(', '),
    wait: us == null ? '' : (us / 1000).toFixed(3),
    bytes: bytes.slice(0, MOST_BYTES),
  };
}

/**
 * The time of day in the browser's time zone, to the µs: `14:03:07.250113`.
 * @param iso ISO 8601 time with µs
 */
export function timeText(iso: string): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${iso.slice(20, 26)}`;
}

/** The number of an event in its run of the simulator. */
export function numberOf({ seq, earlier }: Event): number {
  return earlier?.seq ?? seq;
}

/**
 * The colour of a row. `out`: sent as the device gave it. `spoilt`: a fault rule acted. `missing`: not
 * answered, and no rule caused that.
 */
export function toneOf(
  row: Row,
): Event['direction'] | 'foreign' | 'spoilt' | 'damaged' | 'missing' | 'absent' {
  if (!isEvent(row)) return 'absent';
  if (DAMAGE.has(row.kind)) return 'damaged';
  if (row.kind.startsWith('foreign')) return 'foreign';
  const isSpoilt = row.faults?.some(({ outcome }) => outcome === 'applied');
  if (isSpoilt || row.silence === 'fault') return 'spoilt';
  return row.silence != null || row.kind === 'dropped' ? 'missing' : row.direction;
}

/** Height of a row, in pixels. */
export const ROW = 24;
/** Number of rows drawn above and below the visible ones. */
const SPARE = 4;

export interface RowSpan {
  readonly from: number;
  readonly to: number;
}

export function spanOf(scrollTop: number, height: number, size: number): RowSpan {
  const from = Math.max(0, Math.floor(scrollTop / ROW) - SPARE);
  return { from: Math.min(from, size), to: Math.min(size, Math.ceil((scrollTop + height) / ROW) + SPARE) };
}

/** Whether the last row is visible. */
export function isAtEnd(scrollTop: number, height: number, size: number): boolean {
  return scrollTop + height >= size * ROW - ROW;
}

/** The scroll position that makes a row visible; unchanged if it already is. */
export function scrolledTo(index: number, scrollTop: number, height: number): number {
  const top = index * ROW;
  if (top >= scrollTop && top + ROW <= scrollTop + height) return scrollTop;
  return Math.max(0, top - height / 2);
}
