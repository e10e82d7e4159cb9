import type { AduContent } from '../../protocol/framing.js';
import { decodeMbap } from '../../protocol/mbap.js';
import type { Decoded, StreamDecoder } from './stream-decoder.js';

const NOTHING = new Uint8Array(0);

/**
 * Modbus TCP (Messaging on TCP/IP V1.0b, 3.1): each ADU has its length. A partial ADU is kept until the client goes.
 */
export class MbapDecoder implements StreamDecoder {
  readonly incomplete = false;
  #input: Uint8Array = NOTHING;
  /** Reused for each request, because all requests pass here and throughput matters. */
  readonly #request: { kind: 'request'; content: AduContent; adu: Uint8Array } = {
    kind: 'request',
    content: { transactionId: 0, unitId: 0, pdu: NOTHING },
    adu: NOTHING,
  };

  get pending(): boolean {
    return this.#input.length > 0;
  }

  get unread(): Uint8Array {
    return this.#input;
  }

  push(chunk: Uint8Array): void {
    this.#input = this.#input.length === 0 ? chunk : joined(this.#input, chunk);
  }

  next(): Decoded {
    const input = this.#input;
    const decoded = decodeMbap(input);
    if (decoded.kind === 'more') {
      // A copy: a few bytes must not hold on to a large read.
      this.#input = input.length === 0 ? NOTHING : input.slice();
      return decoded;
    }
    if (decoded.kind === 'invalid') return { kind: 'invalid', reason: `not Modbus TCP: ${decoded.reason}` };
    const last = decoded.length === input.length;
    this.#input = last ? NOTHING : input.subarray(decoded.length);
    this.#request.content = decoded.frame;
    this.#request.adu = last ? input : input.subarray(0, decoded.length);
    return this.#request;
  }

  silence(): void {}

  clear(): void {
    this.#input = NOTHING;
  }
}

/** Joins by hand: `concatBytes` costs more, and every request of a client that writes in pieces comes here. */
function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}
