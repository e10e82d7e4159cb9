import { MAX_PAIRS, sentException } from './counters.js';
import type { NewEvent } from './event.js';

/** The meaning of each sum of the traffic of a line in a period, by unit and function. */
export const SUMS = {
  requests: 'Requests to our units, including broadcasts and requests that were not executed.',
  good: 'Replies as the device gave them, without exceptions.',
  exceptions: 'Replies that were exceptions, and that no fault rule acted on.',
  ordered: 'Replies that a fault rule acted on, whether or not they were sent.',
  missing: 'Requests without a reply, and without a fault rule that acted.',
  foreign: 'Frames between other devices, and responses under one of our unit identifiers.',
  damaged: 'Damaged messages and collisions, whose unit is unknown.',
  bytesIn: 'Bytes that were received.',
  bytesOut: 'Bytes that were sent.',
  speakingMs: 'Time that these bytes took on the wire, in ms; 0 on lines without character times.',
  slowestMs: 'The longest time from a request to its reply, in ms; 0 without a reply.',
} as const;

export type SumName = keyof typeof SUMS;

export const SUM_NAMES = Object.keys(SUMS) as readonly SumName[];

/**
 * The sums for one unit and function. -1 is used for traffic without a unit or function, and for units and
 * functions beyond the limit.
 */
export interface SumRow extends Record<SumName, number> {
  readonly unit: number;
  readonly function: number;
}

/** The traffic of a line in one second. Seconds are counted from the zero of `performance.now()`. */
export interface SumSecond {
  readonly second: number;
  readonly rows: readonly SumRow[];
}

/** Maximum number of rows in a second, and number of seconds that wait for the desk. */
const MOST_ROWS = 250;
const MOST_WAITING = 5;
/** The same limit as for the other counts of a line. */
const MOST_TOTALS = MAX_PAIRS;

/** Adds up the traffic of a line, second by second. The desk fetches the completed seconds and stores them. */
export class LineSums {
  #second = -1;
  #rows = new Map<number, SumRow>();
  #waiting: readonly SumSecond[] = [];
  readonly #totals = new Map<number, SumRow>();

  /**
   * The last seconds that were complete at a given time. Lines that are asked one after another with the same
   * time return the same seconds, even if a new second has begun for some of them.
   * @param after only those after this one @param now the time, in ms
   */
  after(after: number, now: number): readonly SumSecond[] {
    this.#turn(now);
    const present = Math.floor(now / 1000);
    return this.#waiting.filter(({ second }) => second > after && second < present);
  }

  /** The sums of all completed seconds since the line was created. @param now in ms */
  totals(now: number): SumRow[] {
    this.#turn(now);
    return [...this.#totals.values()];
  }

  /**
   * @param characterTime time of one character on the line, in ms
   * @param exceptionOf returns the exception that a reply contains, if any
   */
  count(event: NewEvent, characterTime: number, exceptionOf = sentException): void {
    this.#turn(event.at);
    switch (event.kind) {
      case 'request':
      case 'broadcast': {
        const row = this.#of(event.unitId, event.functionCode);
        row.requests++;
        heard(row, event.bytes.length, characterTime);
        break;
      }
      case 'dropped': {
        const row = this.#of(event.unitId, event.functionCode);
        row.requests++;
        row.missing++;
        heard(row, event.bytes.length, characterTime);
        break;
      }
      case 'foreign request':
      case 'foreign response':
      case 'duplicate': {
        const row = this.#of(event.unitId, event.functionCode & 0x7f);
        row.foreign++;
        heard(row, event.bytes.length, characterTime);
        break;
      }
      case 'damaged':
      case 'discarded': {
        const row = this.#of(-1, -1);
        if (!event.isRest) row.damaged++;
        heard(row, event.bytes.length, characterTime);
        break;
      }
      case 'damaged characters':
        if (!event.isRest) this.#of(-1, -1).damaged++;
        break;
      case 'collision':
        this.#of(-1, -1).damaged++;
        break;
      case 'unsolicited':
        sent(this.#of(-1, -1), event.bytes.length, characterTime);
        break;
      case 'reply':
        this.#reply(event, characterTime, exceptionOf);
    }
  }

  #reply(
    event: Extract<NewEvent, { kind: 'reply' }>,
    characterTime: number,
    exceptionOf: typeof sentException,
  ): void {
    const row = this.#of(event.unitId, event.functionCode);
    const { plan, report } = event;
    const steps = plan.kind === 'send' ? plan.steps : [];
    let isSent = false;
    for (let i = 0; i < report.steps.length; i++) {
      const step = steps[i];
      if (report.steps[i]?.outcome !== 'achieved' || step?.kind !== 'bytes') continue;
      isSent = true;
      sent(row, step.bytes.length, characterTime);
    }
    if (event.acted.length > 0) row.ordered++;
    else if (!isSent) row.missing++;
    else if (exceptionOf(event) === undefined) row.good++;
    else row.exceptions++;
    if (isSent) row.slowestMs = Math.max(row.slowestMs, event.at - event.requestedAt);
  }

  #turn(now: number): void {
    const second = Math.floor(now / 1000);
    if (second <= this.#second) return;
    if (this.#rows.size > 0) {
      const over = { second: this.#second, rows: [...this.#rows.values()] };
      for (const row of over.rows) addTo(rowOf(this.#totals, row.unit, row.function, MOST_TOTALS), row);
      this.#waiting = [...this.#waiting.slice(1 - MOST_WAITING), over];
      this.#rows = new Map();
    }
    this.#second = second;
  }

  #of(unit: number, code: number): SumRow {
    return rowOf(this.#rows, unit, code, MOST_ROWS);
  }
}

/** The row for a unit and function, which is created if there is room for it. */
function rowOf(rows: Map<number, SumRow>, unit: number, code: number, most: number): SumRow {
  const key = unit * 256 + code;
  const known = rows.get(key);
  if (known) return known;
  if (rows.size >= most && unit >= 0) return rowOf(rows, -1, -1, most);
  const row = newRow(unit, code);
  rows.set(key, row);
  return row;
}

export function addTo(sum: SumRow, row: SumRow): void {
  for (const name of SUM_NAMES)
    sum[name] = name === 'slowestMs' ? Math.max(sum[name], row[name]) : sum[name] + row[name];
}

/** A row with all sums 0. */
export function newRow(unit: number, code: number): SumRow {
  const outcomes = { good: 0, exceptions: 0, ordered: 0, missing: 0, foreign: 0, damaged: 0 };
  const sizes = { bytesIn: 0, bytesOut: 0, speakingMs: 0, slowestMs: 0 };
  return { unit, function: code, requests: 0, ...outcomes, ...sizes };
}

function heard(row: SumRow, bytes: number, characterTime: number): void {
  row.bytesIn += bytes;
  row.speakingMs += bytes * characterTime;
}

function sent(row: SumRow, bytes: number, characterTime: number): void {
  row.bytesOut += bytes;
  row.speakingMs += bytes * characterTime;
}
