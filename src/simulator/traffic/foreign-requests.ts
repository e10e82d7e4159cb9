import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';

/** A request to another device. `at` is when its last byte was read, in ms of `performance.now()`. */
interface ForeignRequest {
  readonly seq: number;
  readonly unitId: number;
  readonly functionCode: number;
  readonly at: number;
}

interface ForeignResponse {
  readonly unitId: number;
  /** The function code with the exception flag. */
  readonly functionCode: number;
  readonly startedAt: number;
}

/** The most unanswered requests that are remembered. */
const MOST = 32;
/** The longest time, in ms, after which a request can still be answered. */
const LONGEST_WAIT_MS = 10_000;

/**
 * Unanswered requests to other devices, in the order in which they came. A response answers the newest
 * request with its unit identifier and its function; older requests to that unit will not be answered any
 * more. A slow device may answer when its master has already asked another unit.
 */
export class ForeignRequests {
  #requests: readonly ForeignRequest[] = [];

  asked({ seq, unitId, functionCode, at }: ForeignRequest): void {
    // A broadcast is never answered.
    if (unitId !== 0) this.#requests = [...this.#requests, { seq, unitId, functionCode, at }].slice(-MOST);
  }

  /**
   * Finds the request that a response answers, and forgets it; undefined when that request was not heard.
   * @param startedAt when the first byte of the response came, in ms of `performance.now()`
   */
  answered({ unitId, functionCode, startedAt }: ForeignResponse): ForeignRequest | undefined {
    const asked = this.#requests.findLast(
      (request) => request.unitId === unitId && request.functionCode === (functionCode & ~EXCEPTION_FLAG),
    );
    if (!asked) return undefined;
    this.#requests = this.#requests.filter((each) => each.unitId !== unitId || each.seq > asked.seq);
    return startedAt - asked.at <= LONGEST_WAIT_MS ? asked : undefined;
  }
}
