import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { endsAtSilence, repeatsRequest, requestLength, responseLength } from '../../protocol/rtu.js';

/** Older requests are forgotten: a response to one of them is not recognised. */
const MOST = 32;

/**
 * Requests to other devices that nobody has answered yet. A slow device may answer after its client has already asked one
 * of our units. Where its response is as long as a request, only the earlier request shows that it is a response.
 */
export class UnansweredRequests {
  /** As RTU frames, the oldest first. */
  #requests: Uint8Array[] = [];

  /** Forgets the oldest request that the valid RTU frame `frame` can answer. Returns false when it can answer none. */
  answeredBy(frame: Uint8Array): boolean {
    const index = this.#requests.findIndex((request) => canAnswer(frame, request));
    if (index >= 0) this.#requests.splice(index, 1);
    return index >= 0;
  }

  /**
   * Remembers a frame between others if it may be a request.
   * @param isAnswer the frame has answered an earlier request. It may be a new request all the same, unless it is a copy
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

/** Whether `frame` has the unit, the function and the length of a response to `request`. */
function canAnswer(frame: Uint8Array, request: Uint8Array): boolean {
  const [unitId, code] = frame as unknown as [number, number];
  if (unitId !== request[0] || (code & ~EXCEPTION_FLAG) !== request[1]) return false;
  const length = responseLength(frame, 0, frame.length);
  if (length !== frame.length && !(endsAtSilence(code) && length === 'unknown')) return false;
  if (!repeatsRequest(frame)) return true;
  return frame.length === request.length && frame.every((byte, i) => byte === request[i]);
}
