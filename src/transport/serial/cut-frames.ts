import { MAX_ASCII_LENGTH } from '../../protocol/ascii.js';
import { concatBytes } from '../../protocol/bytes.js';
import type { TimedBytes } from '../framer/burst.js';

/** Pieces of a frame are never further apart than this on any adapter, in ms. */
const LONGEST_PAUSE_MS = 2000;
/** Limits the work for each piece. */
const MOST_PIECES = 32;

/**
 * Finds out whether pieces that were discarded one by one were frames together. If so, the discard gap is shorter than
 * the pauses that adapter and system make inside a frame. Pure: the pieces bring their times.
 */
export class CutFrames {
  #pieces: TimedBytes[] = [];

  /**
   * The longest pause between the pieces of the frame that `piece` completes, in ms; undefined if it completes none.
   */
  discarded(piece: TimedBytes, isFrame: (bytes: Uint8Array) => boolean): number | undefined {
    const last = this.#pieces.at(-1);
    if (piece.bytes.length > MAX_ASCII_LENGTH) {
      this.forget();
      return undefined;
    }
    if (last && pauseBetween(last, piece) > LONGEST_PAUSE_MS) this.forget();
    this.#pieces.push(piece);
    if (this.#pieces.length > MOST_PIECES) this.#pieces.shift();
    const pause = this.#joined(isFrame);
    if (pause !== undefined) this.forget();
    return pause;
  }

  /** The next piece continues nothing that was discarded. */
  forget(): void {
    this.#pieces = [];
  }

  #joined(isFrame: (bytes: Uint8Array) => boolean): number | undefined {
    let next = this.#pieces.at(-1) as TimedBytes;
    let { bytes } = next;
    let pause = 0;
    for (const piece of this.#pieces.slice(0, -1).reverse()) {
      if (piece.bytes.length + bytes.length > MAX_ASCII_LENGTH) return undefined;
      bytes = concatBytes(piece.bytes, bytes);
      pause = Math.max(pause, pauseBetween(piece, next));
      if (isFrame(bytes)) return pause;
      next = piece;
    }
    return undefined;
  }
}

function pauseBetween(one: TimedBytes, next: TimedBytes): number {
  return next.startedAt - one.receivedAt;
}
