import { concatBytes, copyOf, NO_BYTES } from '../../protocol/bytes.js';
import type { AduContent, Framing } from '../../protocol/framing.js';
import { decodeMbap, MORE } from '../../protocol/mbap.js';
import { systemClock } from '../clock.js';
import type { Framer, FramerEvent } from '../framer/framer.js';
import { newFramer } from '../framer/new-framer.js';
import type { LineEvent } from '../transport.js';

/** The next item that a decoder found in a stream. The object is valid until the decoder is called again. */
type Decoded =
  /** The bytes are copies. */
  | { readonly kind: 'request'; readonly content: AduContent; readonly adu: Uint8Array }
  /** Bytes that are not for us, or that can't be decoded. */
  | {
      readonly kind: 'event';
      readonly event: Extract<LineEvent, { kind: 'noise' | 'foreign' | 'duplicate' }>;
    }
  /** Nothing more until more bytes are pushed. */
  | { readonly kind: 'more' }
  /** The stream is not in this framing, and nothing after this point can be trusted. */
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Splits the bytes of one connection into requests. Memory between two calls is bounded if the caller takes
 * everything from one read before it pushes the next.
 */
interface StreamDecoder {
  /** How long the stream must be silent before `silence` is called, in ms. If absent, silence has no meaning. */
  readonly discardGapMs?: number;
  /** True if `next` may return more. */
  readonly pending: boolean;
  /** True if bytes are waiting for the rest of their frame. */
  readonly incomplete: boolean;
  /** A copy of all bytes that were pushed but not yet returned by `next`. */
  readonly unread: Uint8Array;
  /**
   * Adds the bytes of one read, the first `length` of `memory`, received at `at`. The contents of `memory`
   * may change only after `keep`.
   */
  push(memory: Uint8Array, length: number, at: number): void;
  /** Copies the bytes not yet returned by `next`, because the memory is about to be reused for another read. */
  keep(): void;
  next(): Decoded;
  /**
   * Reports that the rest of an incomplete frame will not come. `next` returns its bytes as noise, never as a
   * request.
   */
  silence(): void;
  clear(): void;
}

/** The discard gap, in ms. It is longer than network delays within a frame, and shorter than a person would wait. */
const DISCARD_GAP_MS = 1000;

/**
 * The framer gets this many bytes at a time. 64 KiB of the shortest frames would keep it, and every other
 * line, busy for tens of ms. A slice is longer than any frame, so that noise is not reported in small pieces.
 */
const SLICE_LENGTH = 1024;

/** Decodes serial framings on a connection: RTU over TCP, ASCII over TCP. */
class FramedDecoder implements StreamDecoder {
  readonly discardGapMs = DISCARD_GAP_MS;
  readonly #framer: Framer;
  readonly #framing: Framing;
  /** The bytes that were pushed and not yet passed to the framer. */
  #rest: Uint8Array = NO_BYTES;
  #restAt = 0;
  /** The events that the framer found and that were not taken yet. */
  #found: FramerEvent[] = [];
  #next = 0;
  /** The bytes that the framer has but that are not in any event yet. */
  #waiting: Uint8Array = NO_BYTES;

  /** Creates the decoder. @param framer for this connection alone */
  constructor(framer: Framer, framing: Framing) {
    this.#framer = framer;
    this.#framing = framing;
  }

  get pending(): boolean {
    return this.#next < this.#found.length || this.#rest.length > 0;
  }

  get incomplete(): boolean {
    return this.#waiting.length > 0;
  }

  get unread(): Uint8Array {
    const found = this.#found.slice(this.#next).map(({ bytes }) => bytes);
    return concatBytes(...found, this.#waiting, this.#rest);
  }

  push(memory: Uint8Array, length: number, at: number): void {
    this.#rest = concatBytes(this.#rest, memory.subarray(0, length));
    this.#restAt = at;
    if (this.#next >= this.#found.length) this.#search();
  }

  /** Does nothing, because `push` has made a copy: framers keep views of what they get. */
  keep(): void {}

  silence(): void {
    this.#found = [...this.#found.slice(this.#next), ...this.#dropReported(this.#framer.silence())];
    this.#next = 0;
  }

  next(): Decoded {
    const event = this.#found[this.#next];
    if (event === undefined) return MORE;
    this.#next++;
    if (this.#next === this.#found.length) this.#search();
    return this.#decoded(event);
  }

  clear(): void {
    this.#framer.reset({ aligned: true });
    this.#rest = NO_BYTES;
    this.#found = [];
    this.#next = 0;
    this.#waiting = NO_BYTES;
  }

  /** Reads up to the next event that can be reported. */
  #search(): void {
    this.#found = [];
    this.#next = 0;
    while (this.#found.length === 0 && this.#rest.length > 0) {
      const slice = this.#rest.subarray(0, SLICE_LENGTH);
      this.#rest = this.#rest.length > SLICE_LENGTH ? this.#rest.subarray(SLICE_LENGTH) : NO_BYTES;
      this.#waiting = this.#waiting.length > 0 ? concatBytes(this.#waiting, slice) : slice;
      this.#found = this.#dropReported(this.#framer.push(slice, this.#restAt));
    }
  }

  #dropReported(events: FramerEvent[]): FramerEvent[] {
    const length = events.reduce((sum, { bytes }) => sum + bytes.length, 0);
    // A copy, because a few bytes must not keep a large read in memory.
    this.#waiting = length < this.#waiting.length ? this.#waiting.slice(length) : NO_BYTES;
    return events;
  }

  #decoded(event: FramerEvent): Decoded {
    const { kind, bytes, startedAt, receivedAt } = event;
    const frame = { bytes, startedAt, receivedAt };
    switch (kind) {
      case 'request': {
        const content = this.#framing.decode(bytes);
        if (content === undefined) return { kind: 'event', event: { kind: 'noise', noise: frame } };
        return { kind: 'request', content: { ...content, pdu: content.pdu.slice() }, adu: bytes };
      }
      case 'foreign':
        return { kind: 'event', event: { kind, role: event.role, frame } };
      case 'duplicate':
        return { kind: 'event', event: { kind, frame } };
      case 'noise':
        return { kind: 'event', event: { kind, noise: frame, isRest: event.isRest } };
    }
  }
}

/** A client whose damaged request got no answer waits longer than this many ms before it tries again. */
const NEW_ATTEMPT_MS = 100;

/**
 * Creates a decoder for one connection.
 * @param owns reports whether a unit identifier is ours; used if requests to others can be seen
 */
function decoderOf(framing: Framing, owns: (unitId: number) => boolean): StreamDecoder {
  if (framing.name === 'socket') return new MbapDecoder();
  const options = { t35: NEW_ATTEMPT_MS, carrier: 'stream' as const };
  return new FramedDecoder(newFramer(framing, owns, options), framing);
}

interface LineDecoderOptions {
  /** Returns the line's current framing. */
  readonly framing: () => Framing;
  readonly owns: (unitId: number) => boolean;
  /** Called when the rest of a frame did not arrive in time. */
  readonly silent: () => void;
}

/**
 * The decoder of one connection. It follows the framing of its line, and detects the silence that ends a
 * frame in that framing.
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
   * Continues in the line's current framing.
   * @param receivedAt when the last bytes arrived, `performance.now()` ms
   * @param isOpen true if the bytes of an incomplete frame are read in the new framing
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
   * Waits for the rest of a frame, if one has begun.
   * @param since when the last bytes arrived, `performance.now()` ms
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

/**
 * Decodes Modbus TCP (Messaging on TCP/IP V1.0b, 3.1), in which each ADU includes its length. A partial ADU
 * is kept until the client disconnects, and an ADU of another protocol is reported as noise.
 */
class MbapDecoder implements StreamDecoder {
  readonly incomplete = false;
  /** The bytes from `#start` to `#end` were pushed but not yet returned. */
  #input: Uint8Array = NO_BYTES;
  #start = 0;
  #end = 0;
  /** When the last read happened, `performance.now()` ms. */
  #receivedAt = 0;
  /** True if `#input` is the memory of the last read. */
  #isBorrowed = false;
  /** The result, reused for each request, because all requests pass through here and throughput matters. */
  readonly #request: { kind: 'request'; content: AduContent; adu: Uint8Array } = {
    kind: 'request',
    content: { transactionId: 0, unitId: 0, pdu: NO_BYTES },
    adu: NO_BYTES,
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
    this.#take(NO_BYTES, 0, false);
  }

  #take(input: Uint8Array, length: number, isBorrowed: boolean): void {
    this.#input = input;
    this.#start = 0;
    this.#end = length;
    this.#isBorrowed = isBorrowed;
  }
}
