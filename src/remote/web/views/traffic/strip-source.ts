import { type Piece, piecesOf, type Wire } from '../../../../common/timeline/pieces.js';
import { rulerOfDay } from '../../../../common/timeline/times.js';
import type { Source } from '../../strip/model.js';
import { type Chunk, type Chunks, type Event, isEvent } from './chunks.js';

/** The pieces of one line in a chunk, and their span of time. */
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

/** The pieces of chunks. They are kept as long as the chunk and the line stay the same. */
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
  const { rows, size } = chunk;
  if (!rows) {
    // The pieces go with the events that they were made from.
    made.delete(chunk);
    return undefined;
  }
  const known = made.get(chunk);
  if (known?.rows === rows && known.size === size && known.line === line && known.wire === wire) return known;
  const events = rows.filter((row) => isEvent(row) && row.line === line) as Event[];
  const pieces = events.flatMap((event) => piecesOf(event, wire));
  const fromUs = pieces.reduce((least, { startUs }) => Math.min(least, startUs), Number.POSITIVE_INFINITY);
  const toUs = pieces.reduce((most, { endUs }) => Math.max(most, endUs), Number.NEGATIVE_INFINITY);
  const now = { line, wire, rows, size, events, pieces, fromUs, toUs };
  made.set(chunk, now);
  return now;
}

/**
 * The event nearest to a moment; it gives the time of day there. The offset between the clocks varies a
 * little, because the simulator reads the wall clock once a second, to the ms.
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

/** The offset from the simulator's own clock to the local time of day, in µs, at an event. */
function wallOf(event: Event): number {
  const time = new Date(event.time);
  const localMs = time.getTime() - time.getTimezoneOffset() * 60_000;
  return localMs * 1000 + Number(event.time.slice(23, 26)) - event.monotonicUs;
}
