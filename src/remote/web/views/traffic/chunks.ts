import type { StreamedView } from '../../../../simulator/traffic/view-schema.js';

/** An event of the traffic. */
export type Event = Exclude<StreamedView, { kind: 'left out' }>;

/** Stands for an event that the page does not hold: it is being fetched, or the simulator has dropped it. */
interface Absent {
  readonly kind: 'loading' | 'gone';
}

/**
 * Stands for events that passed while the page was hidden or too far behind. The simulator may still have
 * them.
 */
interface Skipped {
  readonly kind: 'skipped';
  /** The skipped events have numbers above `after`, up to and including `until`. */
  readonly after: number;
  readonly until: number;
}

export type Row = StreamedView | Absent | Skipped;

const LOADING: Absent = { kind: 'loading' };
const GONE: Absent = { kind: 'gone' };

export const CHUNK = 256;
/** Most chunks whose events are in memory. The events of others are fetched again when they are looked at. */
const MOST_HELD = 32;
/** Most rows of the table: as many events as the simulator keeps by default. */
const MOST_ROWS = 100_000;

/** Consecutive rows. */
export interface Chunk {
  /** The rows have sequence numbers above `after`, up to and including the last. */
  readonly after: number;
  until: number;
  /** The rows; undefined while they are not in memory. */
  rows: Row[] | undefined;
  size: number;
  /** Number of rows that are events. */
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
 * The rows of the table: up to 100,000 events, of which the page holds some thousands. Of the others it keeps
 * only their number and the sequence numbers around them.
 */
export class Chunks {
  /** The chunks, the oldest first. */
  readonly list: Chunk[] = [];
  /** Sequence number up to which all events were examined. */
  after: number;
  #size = 0;
  #uses = 0;

  /** @param after sequence number after which the rows begin */
  constructor(after: number) {
    this.after = after;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends rows. @returns the number of the oldest rows that were dropped */
  append(rows: readonly Row[]): number {
    for (const row of rows) {
      let chunk = this.list.at(-1);
      // Skipped events are in a chunk of their own, because the events around them are fetched without them.
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

  /** Adds rows before all others. @returns the number of rows that were added */
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

  /** The rows between two indices. Those that are not in memory are `loading`: see `missing`. */
  rows(from: number, to: number): Row[] {
    const found: Row[] = [];
    this.#visit(from, to, (chunk, begin, end) => {
      if (chunk.rows) found.push(...chunk.rows.slice(begin, end));
      else for (let i = begin; i < end; i++) found.push(LOADING);
    });
    return found;
  }

  /** The chunks of these rows that are not in memory. */
  missing(from: number, to: number): Chunk[] {
    const found: Chunk[] = [];
    this.#visit(from, to, (chunk) => {
      if (!chunk.rows) found.push(chunk);
    });
    return found;
  }

  /** Puts events back into a chunk. Events that are no longer kept are `gone` rows at its beginning. */
  fill(chunk: Chunk, rows: readonly Row[]): void {
    const own = rows.filter((row) => isEvent(row) && row.seq <= chunk.until).slice(-chunk.size);
    chunk.rows = [...Array.from({ length: chunk.size - own.length }, () => GONE), ...own];
    chunk.usedAt = ++this.#uses;
    this.#letGo();
  }

  /** The index of the row of an event; undefined if it is not in memory. */
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

  /** Removes the least recently used chunks from memory, except the last chunk. */
  #letGo(): 0 {
    const held = this.list.slice(0, -1).filter(({ rows }) => rows && !isSkip(rows[0]));
    held.sort((a, b) => a.usedAt - b.usedAt);
    for (const chunk of held.slice(0, Math.max(0, held.length - MOST_HELD))) chunk.rows = undefined;
    return 0;
  }
}
