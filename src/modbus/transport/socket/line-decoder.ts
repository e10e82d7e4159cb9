import { copyOf } from '../../protocol/bytes.js';
import type { AduContent, Framing } from '../../protocol/framing.js';
import { decodeMbap } from '../../protocol/mbap.js';
import { systemClock } from '../clock.js';
import { newFramer } from '../framer/new-framer.js';
import { FramedDecoder } from './framed-decoder.js';
import type { Decoded, StreamDecoder } from './stream-decoder.js';

/** A client that got no answer to a damaged request waits longer than this many ms before it asks again. */
const NEW_ATTEMPT_MS = 100;

/**
 * Makes a new decoder for one connection.
 * @param owns tells whether a unit identifier is ours; asked where requests to others can be seen
 */
function decoderOf(framing: Framing, owns: (unitId: number) => boolean): StreamDecoder {
  if (framing.name === 'socket') return new MbapDecoder();
  const options = { t35: NEW_ATTEMPT_MS, carrier: 'stream' as const };
  return new FramedDecoder(newFramer(framing, owns, options), framing);
}

interface LineDecoderOptions {
  /** Returns the framing that the line has now. */
  readonly framing: () => Framing;
  readonly owns: (unitId: number) => boolean;
  /** Is called when a frame was begun and the rest of it did not come in time. */
  readonly silent: () => void;
}

/**
 * The decoder of one connection. It follows the framing of its line, and the silence that ends a frame in
 * that framing.
 */
export class LineDecoder {
  readonly #options: LineDecoderOptions;
  #framing: Framing;
  #decoder: StreamDecoder;
  #callOff = (): void => {};

  constructor(options: LineDecoderOptions) {
    this.#options = options;
    this.#framing = options.framing();
    this.#decoder = this.#newDecoder();
  }

  /** The decoder in the framing of the last `follow`. */
  get now(): StreamDecoder {
    return this.#decoder;
  }

  /**
   * Goes on in the line's current framing.
   * @param receivedAt when the last bytes came, `performance.now()` ms
   * @param isOpen true when bytes that wait for the rest of their frame are read in the new framing
   */
  follow(receivedAt: number, isOpen: boolean): void {
    const framing = this.#options.framing();
    if (framing === this.#framing) return;
    this.#framing = framing;
    const { unread } = this.#decoder;
    this.#decoder = this.#newDecoder();
    if (isOpen) this.#decoder.push(unread, unread.length, receivedAt);
  }

  /**
   * Waits for the rest of a frame, if a frame was begun.
   * @param since when the last bytes came, `performance.now()` ms
   */
  watchSilence(since: number, isOpen: boolean): void {
    this.#callOff();
    const { discardGapMs, incomplete } = this.#decoder;
    if (discardGapMs === undefined || !isOpen || !incomplete) return;
    const remaining = since + discardGapMs - systemClock.now();
    this.#callOff = systemClock.callAfter(Math.max(0, remaining), this.#options.silent);
  }

  stopWatching(): void {
    this.#callOff();
  }

  #newDecoder(): StreamDecoder {
    this.#callOff();
    return decoderOf(this.#framing, this.#options.owns);
  }
}

const NOTHING = new Uint8Array(0);

/**
 * Decodes Modbus TCP (Messaging on TCP/IP V1.0b, 3.1), where each ADU has its length. A partial ADU is kept
 * until the client goes, and an ADU of another protocol is reported as noise.
 */
class MbapDecoder implements StreamDecoder {
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
