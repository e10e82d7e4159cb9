import type { TrafficCursor } from '../reading.js';
import type { Capture } from './capture.js';

/**
 * The packets of the events up to `until`, made one after the other. Yields an empty piece where there are none, so that
 * whoever asks for pieces can pause.
 */
export function* capturePieces(
  capture: Capture,
  cursor: TrafficCursor,
  until: number,
): Generator<Uint8Array> {
  for (const event of cursor.events(until)) {
    capture.missed(cursor.missed);
    const blocks = event ? capture.blocksOf(event) : [];
    if (blocks.length === 0) yield NOTHING;
    yield* blocks;
  }
}

const NOTHING = new Uint8Array();
