import { concatBytes } from '../../modbus/protocol/bytes.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import type { Segment } from './segments.js';

/** Bytes of one direction of a connection, and the packet that brought the last of them. */
export interface SentBytes {
  readonly number: number;
  readonly at: number;
  readonly bytes: Uint8Array;
  /** True when the capture lacks what came before. */
  readonly isAfterGap: boolean;
}

/** The most segments that wait for a missing one. */
const MOST_HELD = 64;

/** Puts the segments of one direction of a TCP connection in order, each byte once. */
export class TcpStream {
  readonly pieces: SentBytes[] = [];
  #next: number | undefined;
  #held: Segment[] = [];

  push(segment: Segment): void {
    const { sequence, isSyn } = segment.tcp ?? { sequence: 0, isSyn: false };
    if (isSyn) this.#next = (sequence + 1) | 0;
    if (segment.data.length === 0) return;
    this.#next ??= sequence;
    this.#held.push(segment);
    this.#drain();
    if (this.#held.length > MOST_HELD) this.#skip();
  }

  /** Takes what waits for segments that never came. */
  end(): void {
    while (this.#held.length > 0) this.#skip();
  }

  #drain(isAfterGap = false): void {
    let hasGap = isAfterGap;
    for (let i = 0; i < this.#held.length; ) {
      const { number, at, data } = this.#held[i] as Segment;
      const known = -this.#ahead(this.#held[i] as Segment);
      if (known < 0) {
        i++;
        continue;
      }
      this.#held.splice(i, 1);
      if (known >= data.length) continue;
      this.pieces.push({ number, at, bytes: data.subarray(known), isAfterGap: hasGap });
      hasGap = false;
      this.#next = ((this.#next ?? 0) + data.length - known) | 0;
      i = 0;
    }
  }

  /** Goes on with the first of the segments that wait. */
  #skip(): void {
    const [first] = this.#held.toSorted((a, b) => this.#ahead(a) - this.#ahead(b));
    this.#next = first?.tcp?.sequence;
    this.#drain(true);
  }

  /** How many bytes are missing before a segment; negative when its first bytes are known. */
  #ahead({ tcp }: Segment): number {
    return ((tcp?.sequence ?? 0) - (this.#next ?? 0)) | 0;
  }
}

/**
 * Cuts pieces into frames by their MBAP headers. Data without such a header are a frame as they came. After a
 * gap the cut goes on with the first piece that begins with a whole frame.
 * @param isStream false for datagrams, each of which is complete
 */
export function cutByMbap(pieces: readonly SentBytes[], isStream: boolean): SentBytes[] {
  const frames: SentBytes[] = [];
  let pending: Uint8Array = new Uint8Array();
  let [isLost, hasGap] = [false, false];
  for (const piece of pieces) {
    if (piece.isAfterGap) [isLost, hasGap] = [true, true];
    // What was pending never becomes a frame, and what comes may be the end of one.
    if (isLost || !isStream) pending = new Uint8Array();
    if (isLost && decodeMbap(piece.bytes).kind === 'more') continue;
    isLost = false;
    pending = concatBytes(pending, piece.bytes);
    while (pending.length > 0) {
      const decoded = decodeMbap(pending);
      if (decoded.kind === 'more') break;
      const length = decoded.kind === 'invalid' ? pending.length : decoded.length;
      frames.push({ ...piece, bytes: pending.slice(0, length), isAfterGap: hasGap });
      pending = pending.slice(length);
      hasGap = false;
    }
  }
  return frames;
}
