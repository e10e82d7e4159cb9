import type { TimedBytes } from '../framer/burst.js';
import { CutFrames } from './cut-frames.js';

/** Larger chunks are counted together with this size. */
const LARGEST = 64;

/** Counts the chunks in which a port hands over bytes. They show what the adapter and the system do to frames. */
export class ChunkStatistics {
  readonly #sizes = new Map<number, number>();
  #longestPause = 0;
  /** The longest pause so far between the pending bytes. */
  #pending = 0;
  readonly #cut = new CutFrames();

  /** How many chunks there were of each size in bytes, small ones first; the last may stand for larger ones too. */
  get sizes(): readonly (readonly [size: number, count: number])[] {
    return [...this.#sizes].sort(([a], [b]) => a - b);
  }

  /**
   * The longest time between two chunks of one valid frame, in ms. A frame counts too if only its beginning was
   * missing, because that had been discarded. The discard gap must be longer.
   */
  get longestPause(): number {
    return this.#longestPause;
  }

  /** @param pause since the chunk before it, in ms, when that one left an unfinished frame */
  chunk(length: number, pause: number | undefined): void {
    const size = Math.min(length, LARGEST);
    this.#sizes.set(size, (this.#sizes.get(size) ?? 0) + 1);
    this.#pending = pause === undefined ? 0 : Math.max(this.#pending, pause);
  }

  /** The pending bytes have become a valid frame. */
  frame(): void {
    this.#longestPause = Math.max(this.#longestPause, this.#pending);
    this.#cut.forget();
  }

  /** These bytes were discarded. */
  discarded(bytes: TimedBytes, isFrame: (bytes: Uint8Array) => boolean): void {
    this.#longestPause = Math.max(this.#longestPause, this.#cut.discarded(bytes, isFrame) ?? 0);
  }
}
