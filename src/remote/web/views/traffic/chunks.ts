import type { StreamedView } from '../../../api/v1/traffic-view.js';

/** An event of the traffic. */
export type Event = Exclude<StreamedView, { kind: 'left out' }>;

/** Stands for an event that the page does not hold: it is being fetched, or the simulator has given it up. */
interface Absent {
  readonly kind: 'loading' | 'gone';
}

/** Stands for what passed while the page was hidden, or too far behind. The simulator may still have it. */
interface Skipped {
  readonly kind: 'skipped';
  /** What was skipped came after this sequence number, up to that one. */
  readonly after: number;
  readonly until: number;
}

export type Row = StreamedView | Absent | Skipped;

const LOADING: Absent = { kind: 'loading' };
const GONE: Absent = { kind: 'gone' };

export const CHUNK = 256;
/** Chunks whose events are in memory. Those of all others are fetched again when they are looked at. */
const MOST_HELD = 32;
/** As many events as the simulator keeps by default. */
const MOST_ROWS = 100_000;

/** Events one after the other. */
export interface Chunk {
  /** The number after which they begin, and that of the last one. */
  readonly after: number;
  until: number;
  /** Undefined while they are not in memory. */
  rows: Row[] | undefined;
  size: number;
  /** Rows that are events. */
  events: number;
  usedAt: number;
}

/** Whether a row is an event of the traffic. */
export function isEvent(row: Row | undefined): row is Event {
  return row !== undefined && 'seq' in row;
}

function isSkip(row: Row | undefined): row is Skipped {
  return row?.kind === 'skipped';
}

/**
 * The rows of the table: up to 100,000 events, of which the page holds some thousands. Of the others it knows how many
 * they are and between which sequence numbers.
 */
export class Chunks {
  /** The oldest first. */
  readonly list: Chunk[] = [];
  /** Everything up to this number was looked at. */
  after: number;
  #size = 0;
  #uses = 0;

  /** @param after the sequence number after which the rows begin */
  constructor(after: number) {
    this.after = after;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds what came next. @returns how many of the oldest rows had to go */
  append(rows: readonly Row[]): number {
    for (const row of rows) {
      let chunk = this.list.at(-1);
      // What was skipped stands alone: events are fetched again without what is between them.
      const isApart = isSkip(row) || isSkip(chunk?.rows?.[0]);
      if (!chunk?.rows || chunk.size >= CHUNK || isApart) {
        chunk = { after: this.after, until: this.after, rows: [], size: 0, events: 0, usedAt: 0 };
        this.list.push(chunk);
      }
      this.#put(chunk, row);
      this.after = chunk.until;
    }
    return this.#dropped() + this.#letGo();
  }

  /** Adds what came before all others, and passes the filter. @returns how many rows these are */
  prepend(rows: readonly Row[]): number {
    const known = this.list[0]?.after ?? this.after;
    const older = rows.filter((row) => isEvent(row) && row.seq <= known) as Event[];
    const [first] = older;
    if (!first) return 0;
    const chunk = { after: first.seq - 1, until: known, rows: [], size: 0, events: 0, usedAt: 0 };
    for (const row of older) this.#put(chunk, row);
    this.list.unshift(chunk);
    this.#letGo();
    return older.length;
  }

  /** The rows from one index up to another. Those that are not in memory are `loading`: see `missing`. */
  rows(from: number, to: number): Row[] {
    const found: Row[] = [];
    this.#visit(from, to, (chunk, begin, end) => {
      if (chunk.rows) found.push(...chunk.rows.slice(begin, end));
      else for (let i = begin; i < end; i++) found.push(LOADING);
    });
    return found;
  }

  /** The chunks with these rows that are not in memory. */
  missing(from: number, to: number): Chunk[] {
    const found: Chunk[] = [];
    this.#visit(from, to, (chunk) => {
      if (!chunk.rows) found.push(chunk);
    });
    return found;
  }

  /** Gives a chunk its events back. Those that are not kept any more stand at its beginning as `gone`. */
  fill(chunk: Chunk, rows: readonly Row[]): void {
    const own = rows.filter((row) => isEvent(row) && row.seq <= chunk.until).slice(-chunk.size);
    chunk.rows = [...Array.from({ length: chunk.size - own.length }, () => GONE), ...own];
    chunk.usedAt = ++this.#uses;
    this.#letGo();
  }

  /** The index of the row of an event; undefined where it is not in memory. */
  indexOf(seq: number): number | undefined {
    let before = 0;
    for (const chunk of this.list) {
      if (seq > chunk.after && seq <= chunk.until) {
        const at = chunk.rows?.findIndex((row) => isEvent(row) && row.seq === seq) ?? -1;
        return at < 0 ? undefined : before + at;
      }
      before += chunk.size;
    }
    return undefined;
  }

  #put(chunk: Chunk, row: Row): void {
    chunk.rows?.push(row);
    chunk.size++;
    this.#size++;
    chunk.usedAt = ++this.#uses;
    if (isSkip(row)) chunk.until = row.until;
    if (!isEvent(row)) return;
    chunk.events++;
    chunk.until = Math.max(chunk.until, row.seq);
  }

  #visit(from: number, to: number, visit: (chunk: Chunk, begin: number, end: number) => void): void {
    let before = 0;
    for (const chunk of this.list) {
      if (before >= to) return;
      if (before + chunk.size > from) {
        chunk.usedAt = ++this.#uses;
        visit(chunk, Math.max(0, from - before), Math.min(chunk.size, to - before));
      }
      before += chunk.size;
    }
  }

  #dropped(): number {
    let dropped = 0;
    while (this.#size > MOST_ROWS) {
      const oldest = this.list.shift() as Chunk;
      dropped += oldest.size;
      this.#size -= oldest.size;
    }
    return dropped;
  }

  /** Takes the events of the chunks out of memory that nobody has used for longest; the last one stays. */
  #letGo(): 0 {
    const held = this.list.slice(0, -1).filter(({ rows }) => rows && !isSkip(rows[0]));
    held.sort((a, b) => a.usedAt - b.usedAt);
    for (const chunk of held.slice(0, Math.max(0, held.length - MOST_HELD))) chunk.rows = undefined;
    return 0;
  }
}
