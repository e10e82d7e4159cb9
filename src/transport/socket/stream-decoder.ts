import type { AduContent } from '../../protocol/framing.js';
import type { LineEvent } from '../transport.js';

/** What a decoder found next in a stream. Valid until the decoder is called again. */
export type Decoded =
  /** `content.pdu` is a copy, `adu` may be a view of the read it came with. */
  | { readonly kind: 'request'; readonly content: AduContent; readonly adu: Uint8Array }
  /** Something that is not for us, or nobody can understand. */
  | {
      readonly kind: 'event';
      readonly event: Extract<LineEvent, { kind: 'noise' | 'foreign' | 'duplicate' }>;
    }
  /** Nothing more, until more is pushed. */
  | { readonly kind: 'more' }
  /** The stream is none of this framing, and nothing after it can be trusted. */
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Cuts the bytes of one connection into requests. What is kept between two calls is bounded, as long as all that a
 * read has brought is taken before the next one is pushed.
 */
export interface StreamDecoder {
  /** How long nothing must have come until `silence` is called, in ms; without it silence means nothing. */
  readonly discardGapMs?: number;
  /** False when `next` has nothing more to give; true when it may have. */
  readonly pending: boolean;
  /** Whether bytes wait for the rest of their frame. */
  readonly incomplete: boolean;
  /** All that was pushed and that `next` has not given out. */
  readonly unread: Uint8Array;
  /** Takes the bytes of one read, at most 64 KiB, received at `at`. */
  push(chunk: Uint8Array, at: number): void;
  next(): Decoded;
  /** The rest of what is incomplete does not come any more: `next` tells it as noise. It is never a request. */
  silence(): void;
  /** Forgets everything. */
  clear(): void;
}
