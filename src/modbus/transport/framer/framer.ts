import { concatBytes, NO_BYTES } from '../../protocol/bytes.js';
import type { Framing } from '../../protocol/framing.js';
import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { hasQuantityOf } from '../../protocol/pdu.js';
import {
  BROADCAST,
  endsAtSilence,
  repeatsRequest,
  requestLength,
  responseLength,
} from '../../protocol/rtu.js';
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

/** Bytes that belong to no valid frame. `isRest` is true if damage to the same message was reported before. */
export type Noise = { readonly kind: 'noise'; readonly isRest: boolean } & TimedBytes;

export type FrameRole = 'request' | 'response';

/**
 * What carries the bytes: a wire, which other devices may share, or a stream between two programs (RTU over
 * TCP), which loses nothing, may split and merge frames anywhere, and whose pauses mean little.
 */
export type Carrier = 'wire' | 'stream';

/** The options of a framer. Times are in ms. */
export interface FramerOptions {
  /** The pause t3.5. A frame may end before such a pause, and another one begin after it. */
  readonly t35: number;
  /** How long a character takes on the wire; 0, the default, if bytes arrive all at once. ASCII does not use it. */
  readonly characterTime?: number;
  /** The longest pause between two pieces of one frame. When absent, only silence ends a damaged message. */
  readonly longestPause?: number;
  /** The carrier; `wire` when absent. */
  readonly carrier?: Carrier;
}

/**
 * Finds the frames in a stream of bytes. Pure: the caller brings the clock, and calls `silence` when nothing
 * has arrived for the discard gap. Times are in ms.
 */
export interface Framer {
  /** True while bytes wait for the rest of their frame, or for the silence that discards them. */
  readonly busy: boolean;
  readonly lastAt: number;
  /** Forgets everything. If not `aligned`, the first bytes may come from the middle of a frame. */
  reset(state: { readonly aligned: boolean }): void;
  /** Changes the framing for messages that end from now on, to the same one with another delimiter. */
  reframe(framing: Framing): void;
  /** Adds the bytes of one read, received at `at`. */
  push(chunk: Uint8Array, at: number): FramerEvent[];
  /**
   * Reports that one or more characters arrived damaged at `at`, as far as the port knows. Their frame is
   * invalid, whatever its check value says. `isRest` is true if damage to the same message was reported
   * before; `noise` contains what was pending.
   */
  damaged(at: number): { readonly isRest: boolean; readonly noise: readonly Noise[] };
  /**
   * Reports that nothing has arrived for the discard gap: the pending bytes are a complete frame, or noise.
   */
  silence(): FramerEvent[];
}

interface Chunk {
  /** The offset of the chunk in the pending bytes; negative if its first bytes were already taken. */
  offset: number;
  readonly at: number;
  readonly afterPause: boolean;
}

/** Received bytes that no frame has claimed yet, with the arrival time of each chunk. */
export class Burst {
  #bytes: Uint8Array = NO_BYTES;
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

  /** Returns the offsets of the first bytes after each pause of t3.5, in ascending order. */
  pauses(): number[] {
    return this.#chunks
      .filter(({ offset, afterPause }) => afterPause && offset >= 0)
      .map(({ offset }) => offset);
  }

  /**
   * Returns the longest time between two chunks that brought the first `length` bytes, in ms; 0 if one chunk
   * brought all of them.
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

  /** Takes all bytes without cutting a chunk. Nearly every frame arrives alone, so this is the usual case. */
  #takeAll(): TimedBytes {
    const chunks = this.#chunks;
    const startedAt = (chunks[0] as Chunk).at;
    const receivedAt = (chunks[chunks.length - 1] as Chunk).at;
    const bytes = this.#bytes;
    this.#bytes = NO_BYTES;
    this.#chunks = [];
    return { bytes, startedAt, receivedAt };
  }
}

/** Maximum requests kept. A response to an older request is not recognised. */
const MOST_REQUESTS_KEPT = 32;

/**
 * Requests to other devices that are still unanswered. A slow device may answer after its client has already
 * sent a request to one of our units. If its response has the length of a request, only the earlier request
 * identifies it as a response.
 */
export class UnansweredRequests {
  /** The requests as RTU frames, the oldest first. */
  #requests: Uint8Array[] = [];

  /** Forgets the oldest request that the valid RTU frame `frame` can answer. Returns false if it can answer none. */
  answeredBy(frame: Uint8Array): boolean {
    const index = this.#requests.findIndex((request) => canAnswer(frame, request));
    if (index >= 0) this.#requests.splice(index, 1);
    return index >= 0;
  }

  /**
   * Remembers a frame between other stations if it may be a request.
   * @param isAnswer true if the frame answered an earlier request. It may still be a new request, unless it
   * is a copy of that request
   */
  remember(frame: Uint8Array, isAnswer: boolean): void {
    const code = frame[1] as number;
    const hasLength = requestLength(frame, 0, frame.length) === frame.length;
    const hasAnyLength = endsAtSilence(code) && (code & EXCEPTION_FLAG) === 0;
    if (!(hasLength || hasAnyLength) || (isAnswer && repeatsRequest(frame))) return;
    this.#requests = [...this.#requests, frame].slice(-MOST_REQUESTS_KEPT);
  }

  clear(): void {
    this.#requests = [];
  }
}

/** Reports whether `frame` has the unit, the function and the length of a response to `request`. */
function canAnswer(frame: Uint8Array, request: Uint8Array): boolean {
  const [unitId, code] = frame as unknown as [number, number];
  if (unitId !== request[0] || (code & ~EXCEPTION_FLAG) !== request[1]) return false;
  const length = responseLength(frame, 0, frame.length);
  if (length !== frame.length && !(endsAtSilence(code) && length === 'unknown')) return false;
  if (!repeatsRequest(frame)) return true;
  return frame.length === request.length && frame.every((byte, i) => byte === request[i]);
}

const REQUEST: readonly FrameRole[] = ['request'];
const REQUEST_OR_RESPONSE: readonly FrameRole[] = ['request', 'response'];
const RESPONSE_OR_REQUEST: readonly FrameRole[] = ['response', 'request'];

/** Distinguishes requests from responses in RTU. They look alike; only the preceding frames tell them apart. */
export class Conversation {
  readonly #owns: (unitId: number) => boolean;
  readonly #carrier: Carrier;
  /**
   * The last frame, if it was a request that one of our devices may answer, or another device with one of our
   * units.
   */
  #asked: Uint8Array | undefined;
  readonly #unanswered = new UnansweredRequests();

  /** @param owns reports whether a unit identifier is ours */
  constructor(owns: (unitId: number) => boolean, carrier: Carrier) {
    this.#owns = owns;
    this.#carrier = carrier;
  }

  forget(): void {
    this.#asked = undefined;
    this.#unanswered.clear();
  }

  isOurs(unitId: number): boolean {
    return unitId === BROADCAST || this.#owns(unitId);
  }

  /**
   * Returns the possible roles of a frame at `start`, the likeliest first. A frame to one of our units is a
   * request, unless another device on the wire may have the same unit identifier and be answering the last
   * request.
   */
  rolesAt(bytes: Uint8Array, start: number): readonly FrameRole[] {
    const unitId = bytes[start] as number;
    const asked = this.#askedBefore(unitId, bytes[start + 1]);
    if (!this.isOurs(unitId)) return asked ? RESPONSE_OR_REQUEST : REQUEST_OR_RESPONSE;
    return asked && this.#mayAnswer(asked, bytes.subarray(start + 1)) ? REQUEST_OR_RESPONSE : REQUEST;
  }

  /** Decides the role of a valid frame that looks like a `supposed`. */
  settle(frame: Uint8Array, supposed: FrameRole): FrameRole {
    const unitId = frame[0] as number;
    const role = this.isOurs(unitId) ? supposed : this.#roleBetweenOthers(frame, supposed);
    this.#asked = role === 'request' && unitId !== BROADCAST ? frame : undefined;
    return role;
  }

  /** Returns the last request, if it was for this unit and this function. */
  #askedBefore(unitId: number, functionCode = 0): Uint8Array | undefined {
    const asked = this.#asked;
    return asked?.[0] === unitId && asked?.[1] === (functionCode & ~EXCEPTION_FLAG) ? asked : undefined;
  }

  /**
   * Reports whether this may be the response of another device with our unit identifier. A stream has no
   * other devices.
   */
  #mayAnswer(asked: Uint8Array, response: Uint8Array): boolean {
    return this.#carrier !== 'stream' && hasQuantityOf(response, asked.subarray(1));
  }

  /**
   * Returns `response` for a frame that may be another device's late response while a request to us waits for
   * its answer; otherwise `supposed`.
   */
  #roleBetweenOthers(frame: Uint8Array, supposed: FrameRole): FrameRole {
    const asked = this.#asked?.[0];
    const mayAnswer = supposed === 'response' || (asked !== undefined && this.isOurs(asked));
    const isAnswer = mayAnswer && this.#unanswered.answeredBy(frame);
    this.#unanswered.remember(frame, isAnswer);
    return isAnswer ? 'response' : supposed;
  }
}
