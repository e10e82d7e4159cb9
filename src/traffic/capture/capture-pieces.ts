import type { TrafficCursor } from '../cursor.js';
import type { Capture } from './capture.js';

/**
 * The packets of the events up to `until`, made one after the other. An event without packets yields an empty piece, so
 * that whoever asks for pieces can pause between any two events.
 */
export function* capturePieces(
  capture: Capture,
  cursor: TrafficCursor,
  until: number,
): Generator<Uint8Array> {
  while (cursor.at < until) {
    const event = cursor.read();
    capture.leftOut(cursor.takeLeftOut());
    const blocks = event ? capture.blocksOf(event) : [];
    if (blocks.length === 0) yield NOTHING;
    yield* blocks;
  }
}

const NOTHING = new Uint8Array();
