import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { endsAtSilence, repeatsRequest, requestLength, responseLength } from '../../protocol/rtu.js';

/**
 * How many unanswered requests are remembered. A response that comes after more requests than this is not recognised.
 */
const MOST = 32;

/**
 * Requests to other devices that nobody has answered yet. A slow device may answer when its master has already asked
 * one of our units. If its response is as long as a request, only the earlier request shows that it is a response.
 */
export class LateResponses {
  #requests: Uint8Array[] = [];

  /** Whether the valid frame `frame` can be the response to one of the requests. If so, that request is forgotten. */
  settles(frame: Uint8Array): boolean {
    const i = this.#requests.findIndex((request) => canAnswer(frame, request));
    if (i >= 0) this.#requests.splice(i, 1);
    return i >= 0;
  }

  /** A frame between others that may be a request; one that `settled` an earlier request by its bytes is none. */
  heard(frame: Uint8Array, settled: boolean): void {
    const code = frame[1] as number;
    const length = requestLength(frame, 0, frame.length);
    const mayBeRequest = length === frame.length || (endsAtSilence(code) && (code & EXCEPTION_FLAG) === 0);
    if (mayBeRequest && !(settled && repeatsRequest(frame)))
      this.#requests = [...this.#requests, frame].slice(-MOST);
  }

  forget(): void {
    this.#requests = [];
  }
}

function canAnswer(frame: Uint8Array, request: Uint8Array): boolean {
  const [unitId, code] = frame as unknown as [number, number];
  if (unitId !== request[0] || (code & ~EXCEPTION_FLAG) !== request[1]) return false;
  const length = responseLength(frame, 0, frame.length);
  if (length !== frame.length && !(endsAtSilence(code) && length === 'unknown')) return false;
  return (
    !repeatsRequest(frame) ||
    (frame.length === request.length && frame.every((byte, i) => byte === request[i]))
  );
}
