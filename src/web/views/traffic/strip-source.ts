import type { LineView } from '../../../control/schemas/line.js';
import { piecesOf } from '../../strip/event-pieces.js';
import type { Source } from '../../strip/model.js';
import type { Piece, Wire } from '../../strip/piece.js';
import { ticksOfClock } from '../../strip/times.js';
import { type Chunk, type Chunks, type Event, isEvent } from './chunks.js';

const US_PER_MS = 1000;

/** The times of a line; none of a socket, and none of a line that nobody knows any more. */
export function wireOf(line: LineView | undefined): Wire {
  const { characterTime, t35 } = line?.times ?? {};
  return {
    characterUs: characterTime === undefined ? undefined : US_PER_MS * characterTime,
    t35Us: t35 === undefined ? undefined : US_PER_MS * t35,
  };
}

/** The pieces of one line in a chunk, and when they are. */
interface ChunkPieces {
  readonly line: string;
  readonly wire: Wire;
  readonly rows: object;
  readonly size: number;
  readonly pieces: readonly Piece[];
  readonly fromUs: number;
  readonly toUs: number;
}

/** What was made of a chunk is kept as long as it and the line are the same. */
const made = new WeakMap<Chunk, ChunkPieces>();

/** The pieces of one line of the rows that are in memory. */
export function stripSource(chunks: Chunks, line: string, wire: Wire): Source {
  const held = chunks.list.flatMap((chunk) => piecesIn(chunk, line, wire) ?? []);
  const spoken = held.filter(({ pieces }) => pieces.length > 0);
  return {
    wire,
    oldestUs: spoken[0]?.fromUs ?? 0,
    newestUs: spoken.at(-1)?.toUs ?? 0,
    tickText: ticksOfClock(wallOf(newestOf(chunks))),
    piecesIn: (fromUs, toUs) =>
      spoken.filter((each) => each.toUs >= fromUs && each.fromUs <= toUs).flatMap(({ pieces }) => pieces),
  };
}

function piecesIn(chunk: Chunk, line: string, wire: Wire): ChunkPieces | undefined {
  const { rows, size } = chunk;
  if (!rows) {
    // The pieces go with the events that they were made of.
    made.delete(chunk);
    return undefined;
  }
  const known = made.get(chunk);
  if (known?.rows === rows && known.size === size && known.line === line && known.wire === wire) return known;
  const pieces = rows.flatMap((row) => (isEvent(row) && row.line === line ? piecesOf(row, wire) : []));
  const fromUs = pieces.reduce((least, { startUs }) => Math.min(least, startUs), Number.POSITIVE_INFINITY);
  const toUs = pieces.reduce((most, { endUs }) => Math.max(most, endUs), Number.NEGATIVE_INFINITY);
  const now = { line, wire, rows, size, pieces, fromUs, toUs };
  made.set(chunk, now);
  return now;
}

function newestOf({ list }: Chunks): Event | undefined {
  return list.findLast(({ rows }) => rows?.some(isEvent))?.rows?.findLast(isEvent);
}

/** What makes the time of day, here, of a time of the simulator's own clock, in µs. */
function wallOf(event: Event | undefined): number {
  if (!event) return 0;
  const time = new Date(event.time);
  const us =
    US_PER_MS * (time.getTime() - time.getTimezoneOffset() * 60_000) + Number(event.time.slice(23, 26));
  return us - event.monotonicUs;
}
