import { concatBytes } from '../../protocol/bytes.js';
import type { TimedBytes } from '../transport.js';

interface Chunk {
  /** Where the chunk begins in the pending bytes; negative when its first bytes were taken already. */
  offset: number;
  readonly at: number;
  readonly afterPause: boolean;
}

const NOTHING = new Uint8Array(0);

/** Received bytes that no frame has claimed yet, with the arrival time of each chunk. */
export class Burst {
  #bytes: Uint8Array = NOTHING;
  #chunks: Chunk[] = [];

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  append(bytes: Uint8Array, at: number, afterPause: boolean): void {
    this.#chunks.push({ offset: this.length, at, afterPause });
    this.#bytes = this.length > 0 ? concatBytes(this.#bytes, bytes) : bytes;
  }

  /** Returns the offsets of bytes that came first after a pause of t3.5, in ascending order. */
  pauses(): number[] {
    return this.#chunks
      .filter(({ offset, afterPause }) => afterPause && offset >= 0)
      .map(({ offset }) => offset);
  }

  /**
   * Returns the longest time between two chunks that brought the first `length` bytes, in ms; 0 when one
   * chunk brought all of them.
   */
  longestPause(length: number): number {
    let longest = 0;
    for (let i = 1; i < this.#chunks.length; i++) {
      const [before, chunk] = this.#chunks.slice(i - 1, i + 1) as [Chunk, Chunk];
      if (chunk.offset < length) longest = Math.max(longest, chunk.at - before.at);
    }
    return longest;
  }

  /** Removes the first `length` bytes, at least one. */
  take(length: number): TimedBytes {
    if (length === this.length) return this.#takeAll();
    const bytes = this.#bytes.subarray(0, length);
    const last = this.#chunks.findLast(({ offset }) => offset < length) as Chunk;
    const startedAt = (this.#chunks[0] as Chunk).at;
    this.#bytes = this.#bytes.subarray(length);
    for (const chunk of this.#chunks) chunk.offset -= length;
    const firstKept = this.#chunks.findLastIndex(({ offset }) => offset <= 0);
    this.#chunks = this.#chunks.slice(firstKept);
    return { bytes, startedAt, receivedAt: last.at };
  }

  /** Takes all bytes without cutting a chunk. Nearly every frame comes alone, so this is the usual case. */
  #takeAll(): TimedBytes {
    const chunks = this.#chunks;
    const startedAt = (chunks[0] as Chunk).at;
    const receivedAt = (chunks[chunks.length - 1] as Chunk).at;
    const bytes = this.#bytes;
    this.#bytes = NOTHING;
    this.#chunks = [];
    return { bytes, startedAt, receivedAt };
  }
}
