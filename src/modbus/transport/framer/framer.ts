import type { Framing } from '../../protocol/framing.js';
import type { TimedBytes } from '../transport.js';

/** A frame or noise that a framer found. */
export type FramerEvent =
  /** A request to one of our units, or a broadcast. */
  | ({ readonly kind: 'request' } & TimedBytes)
  /** A frame between other stations on the bus. */
  | ({ readonly kind: 'foreign'; readonly role: FrameRole } & TimedBytes)
  /** Another device with one of our unit identifiers sent a response. */
  | ({ readonly kind: 'duplicate' } & TimedBytes)
  | Noise;

/**
 * Bytes that belong to no valid frame. `isRest` is true when damage of the same message was reported before.
 */
export type Noise = { readonly kind: 'noise'; readonly isRest: boolean } & TimedBytes;

export type FrameRole = 'request' | 'response';

/**
 * What carries the bytes: a wire, on which there may be other devices, or a stream between two programs (RTU
 * over TCP), which loses nothing, cuts and merges frames anywhere, and whose pauses mean little.
 */
export type Carrier = 'wire' | 'stream';

/** The options of a framer. Times are in ms. */
export interface FramerOptions {
  /** The pause t3.5. A frame may end before such a pause, and begin after it. */
  readonly t35: number;
  /**
   * How long a character takes on the wire; 0, the default, where bytes arrive all at once. ASCII does not
   * use it.
   */
  readonly characterTime?: number;
  /** The longest pause between two pieces of one frame. When absent, only silence ends a damaged message. */
  readonly longestPause?: number;
  /** The carrier; `wire` when absent. */
  readonly carrier?: Carrier;
}

/**
 * Finds the frames in a stream of bytes that has no structure of its own. Pure: the caller brings the clock,
 * and calls `silence` when nothing has come for the discard gap. Times are in ms.
 */
export interface Framer {
  /** True while bytes wait for the rest of their frame, or for the silence that discards them. */
  readonly busy: boolean;
  /** When the last byte came. */
  readonly lastAt: number;
  /** Forgets everything. If not `aligned`, the first bytes may come from the middle of a frame. */
  reset(state: { readonly aligned: boolean }): void;
  /** Changes the framing for messages that end from now on: the same framing with another delimiter. */
  reframe(framing: Framing): void;
  /** Takes the bytes of one read, received at `at`. */
  push(chunk: Uint8Array, at: number): FramerEvent[];
  /**
   * Reports that one or more characters arrived damaged at `at`, as far as the port knows. Their frame is
   * invalid, whatever its check value says. `isRest` is true when damage of the same message was reported
   * before; `noise` is what was pending.
   */
  damaged(at: number): { readonly isRest: boolean; readonly noise: readonly Noise[] };
  /**
   * Reports that nothing has arrived for the discard gap: the pending bytes are a complete frame, or noise.
   */
  silence(): FramerEvent[];
}
