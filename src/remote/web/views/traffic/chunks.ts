import { type Piece, piecesOf, type Wire } from '../../../../common/timeline/pieces.js';
import { rulerOfDay } from '../../../../common/timeline/times.js';
import type { Summary } from '../../../../simulator/commands/schemas/program.js';
import type { LeftOut, StreamedView } from '../../../../simulator/traffic/view-schema.js';
import type { Source } from '../../strip/model.js';

export type Event = Exclude<StreamedView, { kind: 'left out' }> & {
  /** The event's numbers in an earlier run of the simulator, if it is from one. */
  readonly earlier?: Pick<Exclude<StreamedView, { kind: 'left out' }>, 'seq' | 'request'>;
};

/** Placeholder for an event that the page does not have: it is being fetched, or the simulator has dropped it. */
interface Absent {
  readonly kind: 'loading' | 'gone';
}

/**
 * Placeholder for events that passed while the page was hidden or too far behind. The simulator may still
 * have them.
 */
interface Skipped {
  readonly kind: 'skipped';
  /** The skipped events have numbers above `after`, up to and including `until`. */
  readonly after: number;
  readonly until: number;
}

/** The divider between two runs of the simulator. */
interface Restarted {
  readonly kind: 'restarted';
}

export type Row = Event | LeftOut | Absent | Skipped | Restarted;

const LOADING: Absent = { kind: 'loading' };
const GONE: Absent = { kind: 'gone' };

export const CHUNK = 256;
/** Maximum number of chunks whose events are in memory. The events of others are fetched again when needed. */
const MOST_HELD = 32;
/** Maximum number of rows in the table: as many events as the simulator stores by default. */
const MOST_ROWS = 100_000;
/**
 * Maximum number of rows from earlier runs of the simulator. They stay in memory, because they can't be
 * fetched again.
 */
const MOST_EARLIER = 2000;

/** Consecutive rows. */
export interface Chunk {
  /** The rows have sequence numbers above `after`, up to and including the last. */
  readonly after: number;
  until: number;
  /** The rows; undefined while they are not in memory. */
  rows: Row[] | undefined;
  total: number;
  /** The rows that the table shows. */
  shown: Row[] | undefined;
  size: number;
  /** Number of rows that are events. */
  events: number;
  usedAt: number;
  /** Whether the rows are from an earlier run of the simulator. */
  readonly isEarlier?: boolean;
}

function newChunk(after: number, until: number): Chunk {
  return { after, until, rows: [], total: 0, shown: [], size: 0, events: 0, usedAt: 0 };
}

function gone(count: number): Row[] {
  return Array.from({ length: Math.max(0, count) }, () => GONE);
}

export function isEvent(row: Row | undefined): row is Event {
  return row !== undefined && 'seq' in row;
}

function isSkip(row: Row | undefined): row is Skipped {
  return row?.kind === 'skipped';
}

/**
 * The rows of the table: up to 100,000 events, some thousands of which are in memory. For the others, only
 * their number and the sequence numbers around them are stored.
 */
export class Chunks {
  /** The chunks, oldest first. */
  readonly list: Chunk[] = [];
  /** Sequence number up to which all events were read. */
  after: number;
  /** Whether a request is hidden if its reply is in the same chunk: one row is for both. */
  readonly isJoined: boolean;
  #size = 0;
  #uses = 0;

  /**
   * @param after sequence number after which the rows start
   * @param isJoined see the property
   * @param earlier rows from earlier runs of the simulator, see `rowsBefore`
   */
  constructor(after: number, isJoined = false, earlier: readonly Row[] = []) {
    this.after = after;
    this.isJoined = isJoined;
    if (earlier.length === 0) return;
    const chunk: Chunk = { ...newChunk(Number.NEGATIVE_INFINITY, 0), isEarlier: true };
    this.list.push(chunk);
    for (const row of earlier) this.#put(chunk, row);
  }

  /** The last rows that are in memory. */
  newest(count: number): Row[] {
    const rows: Row[] = [];
    for (const chunk of this.list.toReversed()) {
      if (!chunk.rows || rows.length >= count) break;
      rows.unshift(...chunk.rows);
    }
    return rows.slice(-count);
  }

  get size(): number {
    return this.#size;
  }

  /** Appends rows. @returns the number of oldest rows that were dropped */
  append(rows: readonly Row[]): number {
    for (const row of rows) {
      let chunk = this.list.at(-1);
      // Skipped events are in a separate chunk, because the events around them are fetched without them.
      const isApart = isSkip(row) || isSkip(chunk?.rows?.[0]) || chunk?.isEarlier;
      if (!chunk?.rows || chunk.total >= CHUNK || isApart) {
        chunk = newChunk(this.after, this.after);
        this.list.push(chunk);
      }
      this.#put(chunk, row);
      this.after = chunk.until;
    }
    return this.#dropped() + this.#letGo();
  }

  /** Adds rows before all others. @returns the number of added rows */
  prepend(rows: readonly Row[]): number {
    const known = this.list[0]?.after ?? this.after;
    const older = rows.filter((row) => isEvent(row) && row.seq <= known) as Event[];
    const [first] = older;
    if (!first) return 0;
    const chunk = newChunk(first.seq - 1, known);
    for (const row of older) this.#put(chunk, row);
    this.list.unshift(chunk);
    this.#letGo();
    return chunk.size;
  }

  /** The rows between two indices. Those not in memory are `loading`: see `missing`. */
  rows(from: number, to: number): Row[] {
    const found: Row[] = [];
    this.#visit(from, to, (chunk, begin, end) => {
      if (chunk.shown) found.push(...chunk.shown.slice(begin, end));
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

  /** Puts events back into a chunk. Events that are no longer stored become `gone` rows at its start. */
  fill(chunk: Chunk, rows: readonly Row[]): void {
    const own = rows.filter((row) => isEvent(row) && row.seq <= chunk.until).slice(-chunk.total);
    chunk.rows = [...gone(chunk.total - own.length), ...own];
    const shown: Row[] = [];
    for (const row of own) this.#show(shown, row);
    chunk.shown = [...gone(chunk.size - shown.length), ...shown.slice(-chunk.size)];
    chunk.usedAt = ++this.#uses;
    this.#letGo();
  }

  /** An event in memory, whether or not the table shows it. */
  find(seq: number): Event | undefined {
    const isMeant = (row: Row): row is Event => isEvent(row) && row.seq === seq;
    return this.list.find(({ after, until }) => seq > after && seq <= until)?.rows?.find(isMeant);
  }

  /** The index of the row that shows an event; undefined if it is not in memory. */
  indexOf(seq: number): number | undefined {
    let before = 0;
    for (const chunk of this.list) {
      if (seq > chunk.after && seq <= chunk.until) {
        const isMeant = (row: Row) =>
          isEvent(row) && (row.seq === seq || (this.isJoined && row.request === seq));
        const at = chunk.shown?.findIndex(isMeant) ?? -1;
        return at < 0 ? undefined : before + at;
      }
      before += chunk.size;
    }
    return undefined;
  }

  #put(chunk: Chunk, row: Row): void {
    chunk.rows?.push(row);
    chunk.total++;
    const more = this.#show(chunk.shown ?? [], row);
    chunk.size += more;
    this.#size += more;
    chunk.usedAt = ++this.#uses;
    if (isSkip(row)) chunk.until = row.until;
    if (!isEvent(row)) return;
    chunk.events++;
    chunk.until = Math.max(chunk.until, row.seq);
  }

  /** Adds a row to the visible ones. @returns the increase in their number */
  #show(shown: Row[], row: Row): number {
    const request = this.isJoined && isEvent(row) ? row.request : undefined;
    const at =
      request === undefined ? -1 : shown.findLastIndex((other) => isEvent(other) && other.seq === request);
    if (at >= 0) shown.splice(at, 1);
    shown.push(row);
    return at >= 0 ? 0 : 1;
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
    const held = this.list
      .slice(0, -1)
      .filter(({ rows, isEarlier }) => rows && !isSkip(rows[0]) && !isEarlier);
    held.sort((a, b) => a.usedAt - b.usedAt);
    for (const chunk of held.slice(0, Math.max(0, held.length - MOST_HELD)))
      chunk.rows = chunk.shown = undefined;
    return 0;
  }
}

/**
 * The last rows of a previous run of the simulator, and the divider below them. Their numbers become negative
 * and their times are converted to the new run's clock, so that both runs are in one order.
 * @param now a time in the new run, on both of its clocks
 */
export function rowsBefore(chunks: Chunks, now: Pick<Summary, 'time' | 'monotonicUs'>): Row[] {
  const rows = chunks.newest(MOST_EARLIER).filter(({ kind }) => kind !== 'loading' && kind !== 'gone');
  const last = rows.findLast(isEvent);
  if (!last) return [];
  const laterUs = zeroOf(last) - zeroOf(now);
  const moved = (us: number | undefined) => (us === undefined ? undefined : us + laterUs);
  const before = rows.map((row): Row => {
    if (!isEvent(row)) return row.kind === 'skipped' ? { kind: 'gone' } : row;
    const { seq, request, monotonicUs, startedUs, requestedUs, earlier = { seq, request } } = row;
    return {
      ...row,
      earlier,
      seq: seq - last.seq - 1,
      ...(request !== undefined && { request: request - last.seq - 1 }),
      monotonicUs: monotonicUs + laterUs,
      startedUs: moved(startedUs),
      requestedUs: moved(requestedUs),
    };
  });
  return [...before, { kind: 'restarted' }];
}

/** The pieces of one line in a chunk, and their time span. */
interface ChunkPieces {
  readonly line: string;
  readonly wire: Wire;
  readonly rows: object;
  readonly size: number;
  readonly events: readonly Event[];
  readonly pieces: readonly Piece[];
  readonly fromUs: number;
  readonly toUs: number;
}

/** The pieces of chunks. They are kept as long as the chunk and the line do not change. */
const made = new WeakMap<Chunk, ChunkPieces>();

/** The pieces of one line, from the rows in memory. */
export function stripSource(chunks: Chunks, line: string, wire: Wire): Source {
  const held = chunks.list.flatMap((chunk) => piecesIn(chunk, line, wire) ?? []);
  const spoken = held.filter(({ pieces }) => pieces.length > 0);
  return {
    wire,
    oldestUs: spoken[0]?.fromUs ?? 0,
    newestUs: spoken.at(-1)?.toUs ?? 0,
    rulerAt: (us) => {
      const event = nearestTo(spoken, us);
      return event && rulerOfDay(-wallOf(event));
    },
    piecesIn: (fromUs, toUs) =>
      spoken.filter((each) => each.toUs >= fromUs && each.fromUs <= toUs).flatMap(({ pieces }) => pieces),
  };
}

function piecesIn(chunk: Chunk, line: string, wire: Wire): ChunkPieces | undefined {
  const { rows, total: size } = chunk;
  if (!rows) {
    // The pieces are removed with their events.
    made.delete(chunk);
    return undefined;
  }
  const known = made.get(chunk);
  if (known?.rows === rows && known.size === size && known.line === line && known.wire === wire) return known;
  const events = rows.filter((row) => isEvent(row) && row.line === line) as Event[];
  const pieces = events.flatMap((event) => {
    const { seq: id, earlier } = event;
    return earlier
      ? piecesOf({ ...event, ...earlier }, wire).map((piece) => ({ ...piece, id }))
      : piecesOf(event, wire);
  });
  const fromUs = pieces.reduce((least, { startUs }) => Math.min(least, startUs), Number.POSITIVE_INFINITY);
  const toUs = pieces.reduce((most, { endUs }) => Math.max(most, endUs), Number.NEGATIVE_INFINITY);
  const now = { line, wire, rows, size, events, pieces, fromUs, toUs };
  made.set(chunk, now);
  return now;
}

/**
 * The event nearest to a time; it gives the time of day there. The offset between the clocks varies slightly,
 * because the simulator reads the wall clock once a second, in whole ms.
 */
function nearestTo(chunks: readonly ChunkPieces[], us: number): Event | undefined {
  let [found, nearest] = [undefined as Event | undefined, Number.POSITIVE_INFINITY];
  for (const { events } of chunks) {
    for (const event of events) {
      const distance = Math.abs(event.monotonicUs - us);
      if (distance < nearest) [found, nearest] = [event, distance];
    }
  }
  return found;
}

/** The offset from the simulator's own clock to the local time of day at an event, in µs. */
function wallOf(event: Event): number {
  return zeroOf(event) - new Date(event.time).getTimezoneOffset() * 60_000_000;
}

/** The time at which the clock of `monotonicUs` was 0, in µs since 1970. */
function zeroOf({ time, monotonicUs }: Pick<Event, 'time' | 'monotonicUs'>): number {
  return new Date(time).getTime() * 1000 + (Number(time.slice(23, 26)) || 0) - monotonicUs;
}
