import type { Event, Row } from './chunks.js';
import { isEvent } from './chunks.js';

/** What stands in a row, by column. */
export interface Cells {
  readonly seq: string;
  readonly time: string;
  readonly line: string;
  readonly kind: string;
  readonly unit: string;
  readonly function: string;
  readonly text: string;
  /** Faults that acted, in words. */
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
  loading: 'Fetching from the simulator.',
  gone: 'The simulator does not keep this event any more.',
};
/** More than the widest column shows. */
const MOST_BYTES = 3 * 80;

export function cellsOf(row: Row): Cells {
  if (isEvent(row)) return eventCells(row);
  const empty = { seq: '', time: '', line: '', unit: '', function: '', faults: '', wait: '', bytes: '' };
  return { ...empty, kind: row.kind, text: absentText(row) };
}

function absentText(row: Exclude<Row, Event>): string {
  if (row.kind === 'left out') return `${row.text}: the simulator had given them up`;
  if (row.kind !== 'skipped') return ABSENT[row.kind];
  return `What passed from ${row.after + 1} to ${row.until} was not read: the page was hidden, or too far behind.`;
}

function eventCells(event: Event): Cells {
  const { seq, line, kind, unit, function: code, text, bytes = '', faults = [] } = event;
  const us = kind === 'reply' ? event.responseTimeUs : event.pauseUs;
  return {
    seq: String(seq),
    time: timeText(event.time),
    line,
    kind,
    unit: unit === undefined ? '' : String(unit),
    function: code === undefined ? '' : String(code),
    text,
    faults: [...new Set(faults.map(({ rule }) => rule))].join(', '),
    wait: us == null ? '' : (us / 1000).toFixed(3),
    bytes: bytes.slice(0, MOST_BYTES),
  };
}

/** The time of day in the zone of the browser, to the µs: `14:03:07.250113`. @param iso with µs */
export function timeText(iso: string): string {
  const time = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${iso.slice(20, 26)}`;
}

/** How a row is coloured, besides what its words say. */
export function toneOf(row: Row): string {
  if (!isEvent(row)) return 'absent';
  if (row.kind === 'damaged' || row.kind === 'discarded' || row.kind === 'duplicate') return 'bad';
  if (row.exception !== undefined || row.silence != null) return 'warn';
  return row.direction;
}
