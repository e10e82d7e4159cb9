import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { hasQuantityOf } from '../../protocol/pdu.js';
import {
  BROADCAST,
  endsAtSilence,
  repeatsRequest,
  requestLength,
  responseLength,
} from '../../protocol/rtu.js';
import type { Carrier, FrameRole } from './framer.js';

/** How many requests are kept. A response to an older request is not recognised. */
const MOST = 32;

/**
 * Requests to other devices that nobody has answered yet. A slow device may answer after its client has
 * already asked one of our units. Where its response is as long as a request, only the earlier request shows
 * that it is a response.
 */
export class UnansweredRequests {
  /** The requests as RTU frames, the oldest first. */
  #requests: Uint8Array[] = [];

  /**
   * Forgets the oldest request that the valid RTU frame `frame` can answer. Returns false when it can answer
   * none.
   */
  answeredBy(frame: Uint8Array): boolean {
    const index = this.#requests.findIndex((request) => canAnswer(frame, request));
    if (index >= 0) this.#requests.splice(index, 1);
    return index >= 0;
  }

  /**
   * Remembers a frame between others if it may be a request.
   * @param isAnswer true when the frame has answered an earlier request. Such a frame may be a new request
   * all the same, unless it is a copy of that request
   */
  remember(frame: Uint8Array, isAnswer: boolean): void {
    const code = frame[1] as number;
    const hasLength = requestLength(frame, 0, frame.length) === frame.length;
    const hasAnyLength = endsAtSilence(code) && (code & EXCEPTION_FLAG) === 0;
    if (!(hasLength || hasAnyLength) || (isAnswer && repeatsRequest(frame))) return;
    this.#requests = [...this.#requests, frame].slice(-MOST);
  }

  clear(): void {
    this.#requests = [];
  }
}

/** Tells whether `frame` has the unit, the function and the length of a response to `request`. */
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

/** Tells requests from responses in RTU. They look alike, and only the frames before distinguish them. */
export class Conversation {
  readonly #owns: (unitId: number) => boolean;
  readonly #carrier: Carrier;
  /**
   * The last frame, if it was a request that somebody may answer: one of our devices, or another device with
   * a unit of ours.
   */
  #asked: Uint8Array | undefined;
  readonly #unanswered = new UnansweredRequests();

  /** @param owns whether a unit identifier is ours */
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
   * Returns what a frame at `start` may be, the likeliest first. A frame to a unit of ours is a request,
   * unless another device on the wire may have the same unit identifier and be answering the last request.
   */
  rolesAt(bytes: Uint8Array, start: number): readonly FrameRole[] {
    const unitId = bytes[start] as number;
    const asked = this.#askedBefore(unitId, bytes[start + 1]);
    if (!this.isOurs(unitId)) return asked ? RESPONSE_OR_REQUEST : REQUEST_OR_RESPONSE;
    return asked && this.#mayAnswer(asked, bytes.subarray(start + 1)) ? REQUEST_OR_RESPONSE : REQUEST;
  }

  /** Decides what a valid frame is that looks like a `supposed`. */
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
   * Tells whether this may be the response of another device that has our unit identifier. A stream has no
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
