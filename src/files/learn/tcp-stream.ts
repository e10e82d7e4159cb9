import { concatBytes } from '../../modbus/protocol/bytes.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';

/**
 * Puts the segments of one direction of a connection together, and cuts them into frames by their MBAP
 * headers.
 */
export class TcpStream {
  #next: number | undefined;
  #pending: Uint8Array = new Uint8Array();
  /** True while segments are missing: no frame has begun since then, or none has come out. */
  #isLost = false;
  #hasGap = false;

  /**
   * Takes a segment.
   * @returns the frames that are complete now; data without an MBAP header is a frame as it came
   */
  push(sequence: number, data: Uint8Array): Uint8Array[] {
    const repeated = this.#next === undefined ? 0 : (this.#next - sequence) | 0;
    if (repeated >= data.length) return [];
    this.#next = (sequence + data.length) | 0;
    if (repeated < 0) this.#isLost = this.#hasGap = true;
    // After a gap, what was pending never becomes a frame, and what comes may be the end of one.
    if (this.#isLost) this.#pending = new Uint8Array();
    if (this.#isLost && decodeMbap(data).kind === 'more') return [];
    this.#isLost = false;
    this.#pending = concatBytes(this.#pending, data.subarray(Math.max(0, repeated)));
    const frames: Uint8Array[] = [];
    for (;;) {
      const decoded = decodeMbap(this.#pending);
      if (decoded.kind === 'more') return frames;
      const length = decoded.kind === 'invalid' ? this.#pending.length : decoded.length;
      frames.push(this.#pending.slice(0, length));
      this.#pending = this.#pending.slice(length);
    }
  }

  /** True when there was a gap since the last call. */
  takeGap(): boolean {
    const hasGap = this.#hasGap;
    this.#hasGap = false;
    return hasGap;
  }
}
