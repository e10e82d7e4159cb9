import type { AduContent } from '../../protocol/framing.js';
import type { LineEvent } from '../transport.js';

/** What a decoder found next in a stream. The object is valid until the decoder is called again. */
export type Decoded =
  /** The bytes are copies. */
  | { readonly kind: 'request'; readonly content: AduContent; readonly adu: Uint8Array }
  /** Bytes that are not for us, or that nobody can understand. */
  | {
      readonly kind: 'event';
      readonly event: Extract<LineEvent, { kind: 'noise' | 'foreign' | 'duplicate' }>;
    }
  /** There is nothing more until more bytes are pushed. */
  | { readonly kind: 'more' }
  /** The stream is not in this framing, and nothing after this point can be trusted. */
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Cuts the bytes of one connection into requests. What is kept between two calls is bounded if the caller
 * takes everything from one read before it pushes the next one.
 */
export interface StreamDecoder {
  /**
   * How long the stream must be silent before `silence` is called, in ms. When absent, silence means nothing.
   */
  readonly discardGapMs?: number;
  /** True when `next` may have more to give; false when it has nothing. */
  readonly pending: boolean;
  /** True when bytes wait for the rest of their frame. */
  readonly incomplete: boolean;
  /** A copy of all bytes that were pushed and that `next` has not given out. */
  readonly unread: Uint8Array;
  /**
   * Takes the bytes of one read, the first `length` of `memory`, received at `at`. The contents of `memory`
   * may change only after `keep`.
   */
  push(memory: Uint8Array, length: number, at: number): void;
  /**
   * Copies the bytes that `next` has not given out, because the memory of the read is used for another read.
   */
  keep(): void;
  next(): Decoded;
  /**
   * Takes note that the rest of an incomplete frame will not come. `next` reports its bytes as noise, never
   * as a request.
   */
  silence(): void;
  /** Forgets everything. */
  clear(): void;
}
