import { MAX_ASCII_LENGTH } from '../../protocol/ascii.js';
import { concatBytes } from '../../protocol/bytes.js';
import type { TimedBytes } from '../transport.js';

/** The largest size in bytes with a count of its own, which includes all larger chunks. */
const LARGEST = 64;
/** The longest pause between pieces of a frame on any adapter, in ms. */
const LONGEST_PAUSE_MS = 2000;
/** Maximum discarded pieces kept, which limits the work for each of them. */
const MOST_PIECES = 32;

/** Counts the chunks that a port delivers. They show what the adapter and the system do to frames. */
export class ChunkStatistics {
  readonly #sizes = new Map<number, number>();
  #longestPause = 0;
  /** The longest pause between the pending bytes so far, in ms. */
  #pending = 0;
  /** The pieces discarded last. Together they may be a frame that too short a discard gap has cut. */
  #discarded: TimedBytes[] = [];

  /** The number of chunks of each size in bytes, smallest first. The last size may include larger ones. */
  get sizes(): readonly (readonly [size: number, count: number])[] {
    return [...this.#sizes].sort(([a], [b]) => a - b);
  }

  /**
   * The longest time between two chunks of one valid frame, in ms. A frame counts even if its beginning was
   * discarded, as long as nothing else was missing. The discard gap must be longer than this time.
   */
  get longestPause(): number {
    return this.#longestPause;
  }

  /** Counts a chunk. @param pause since the previous chunk, in ms, if that chunk left an incomplete frame */
  chunk(length: number, pause: number | undefined): void {
    const size = Math.min(length, LARGEST);
    this.#sizes.set(size, (this.#sizes.get(size) ?? 0) + 1);
    this.#pending = pause === undefined ? 0 : Math.max(this.#pending, pause);
  }

  /** Records that the pending bytes have become a valid frame. */
  frame(): void {
    this.#longestPause = Math.max(this.#longestPause, this.#pending);
    this.#discarded = [];
  }

  /** Records that these bytes were discarded. */
  discarded(piece: TimedBytes, isFrame: (bytes: Uint8Array) => boolean): void {
    const last = this.#discarded.at(-1);
    if (last && pauseBetween(last, piece) > LONGEST_PAUSE_MS) this.#discarded = [];
    this.#discarded = [...this.#discarded, piece].slice(-MOST_PIECES);
    const pause = pauseInCutFrame(this.#discarded, isFrame);
    if (pause === undefined && piece.bytes.length <= MAX_ASCII_LENGTH) return;
    this.#discarded = [];
    this.#longestPause = Math.max(this.#longestPause, pause ?? 0);
  }
}

/** Returns the longest pause between the last pieces that together form a frame, in ms; undefined if none do. */
function pauseInCutFrame(
  pieces: readonly TimedBytes[],
  isFrame: (bytes: Uint8Array) => boolean,
): number | undefined {
  let next = pieces.at(-1) as TimedBytes;
  let { bytes } = next;
  let pause = 0;
  for (const piece of pieces.slice(0, -1).reverse()) {
    if (piece.bytes.length + bytes.length > MAX_ASCII_LENGTH) return undefined;
    bytes = concatBytes(piece.bytes, bytes);
    pause = Math.max(pause, pauseBetween(piece, next));
    if (isFrame(bytes)) return pause;
    next = piece;
  }
  return undefined;
}

function pauseBetween(one: TimedBytes, next: TimedBytes): number {
  return next.startedAt - one.receivedAt;
}
