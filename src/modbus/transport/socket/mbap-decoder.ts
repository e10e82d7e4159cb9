import { copyOf } from '../../protocol/bytes.js';
import type { AduContent } from '../../protocol/framing.js';
import { decodeMbap } from '../../protocol/mbap.js';
import type { Decoded, StreamDecoder } from './stream-decoder.js';

const NOTHING = new Uint8Array(0);

/**
 * Decodes Modbus TCP (Messaging on TCP/IP V1.0b, 3.1), where each ADU has its length. A partial ADU is kept
 * until the client goes, and an ADU of another protocol is reported as noise.
 */
export class MbapDecoder implements StreamDecoder {
  readonly incomplete = false;
  /** The bytes that were pushed and not given out are from `#start` to `#end`. */
  #input: Uint8Array = NOTHING;
  #start = 0;
  #end = 0;
  /** When the last read was, `performance.now()` ms. */
  #receivedAt = 0;
  /** True when `#input` is the memory of the last read. */
  #isBorrowed = false;
  /** The result, reused for each request, because all requests pass here and throughput matters. */
  readonly #request: { kind: 'request'; content: AduContent; adu: Uint8Array } = {
    kind: 'request',
    content: { transactionId: 0, unitId: 0, pdu: NOTHING },
    adu: NOTHING,
  };

  get pending(): boolean {
    return this.#start < this.#end;
  }

  get unread(): Uint8Array {
    return copyOf(this.#input, this.#start, this.#end);
  }

  push(memory: Uint8Array, length: number, at: number): void {
    this.#receivedAt = at;
    if (this.pending) {
      const joined = new Uint8Array(this.#end - this.#start + length);
      joined.set(this.#input.subarray(this.#start, this.#end));
      joined.set(memory.subarray(0, length), this.#end - this.#start);
      this.#take(joined, joined.length, false);
    } else this.#take(memory, length, true);
  }

  keep(): void {
    if (!this.#isBorrowed) return;
    if (this.pending) {
      const rest = this.unread;
      this.#take(rest, rest.length, false);
    } else this.clear();
  }

  next(): Decoded {
    const start = this.#start;
    const decoded = decodeMbap(this.#input, start, this.#end);
    if (decoded.kind === 'more') return decoded;
    if (decoded.kind === 'invalid') return { kind: 'invalid', reason: `not Modbus TCP: ${decoded.reason}` };
    this.#start = start + decoded.length;
    const adu = copyOf(this.#input, start, this.#start);
    if (decoded.kind === 'other protocol') {
      const noise = { bytes: adu, startedAt: this.#receivedAt, receivedAt: this.#receivedAt };
      return { kind: 'event', event: { kind: 'noise', noise } };
    }
    this.#request.content = decoded.frame;
    this.#request.adu = adu;
    return this.#request;
  }

  silence(): void {}

  clear(): void {
    this.#take(NOTHING, 0, false);
  }

  #take(input: Uint8Array, length: number, isBorrowed: boolean): void {
    this.#input = input;
    this.#start = 0;
    this.#end = length;
    this.#isBorrowed = isBorrowed;
  }
}
