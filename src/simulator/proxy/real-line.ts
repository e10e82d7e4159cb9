import type { ClientRequest, ModbusClient, RequestOutcome } from '../../modbus/client/client.js';
import type { Clock } from '../../modbus/transport/clock.js';

/** The most requests that wait for a real device, which answers one at a time. */
const MOST_WAITING = 256;

/**
 * A request to a real device. `pause` is the silence before it, in ms, in addition to that of the line
 * itself.
 */
export interface RealRequest extends ClientRequest {
  readonly pause: number;
}

interface PendingRequest {
  readonly request: RealRequest;
  /** Takes the outcome; undefined when no client waits for it any more. */
  done: ((outcome: RequestOutcome) => void) | undefined;
}

/**
 * The port or the connection behind which real devices are. The devices share it: one request at a time, in
 * order, each sent once.
 */
export class RealLine {
  readonly #client: ModbusClient;
  readonly #clock: Clock;
  readonly #waiting: PendingRequest[] = [];
  #current: PendingRequest | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #callOffPause = (): void => {};

  constructor(client: ModbusClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Sends a request when its turn comes. If it equals the request under way, and no client waits for that
   * reply any more, it gets that reply: its client has lost patience and asked again.
   * @returns a function that calls the request off; the reply to a request that was already sent is dropped
   */
  ask(request: RealRequest, done: (outcome: RequestOutcome) => void): () => void {
    const current = this.#current;
    if (current && !current.done && this.#waiting.length === 0 && isSame(current.request, request)) {
      current.done = done;
      return () => this.#callOff(current);
    }
    if (this.#waiting.length >= MOST_WAITING) {
      done({ kind: 'failed', reason: `more than ${MOST_WAITING} requests wait for the real device` });
      return () => {};
    }
    const asked: PendingRequest = { request, done };
    this.#waiting.push(asked);
    this.#next();
    return () => this.#callOff(asked);
  }

  /** Closes the port or the connection. Waiting requests end with a failure. */
  async close(): Promise<void> {
    this.#callOffPause();
    for (const { done } of this.#waiting.splice(0)) done?.({ kind: 'failed', reason: 'the line is closed' });
    await this.#client.close();
  }

  #callOff(asked: PendingRequest): void {
    asked.done = undefined;
    const index = this.#waiting.indexOf(asked);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #next(): void {
    const first = this.#waiting[0];
    if (this.#current || !first) return;
    this.#callOffPause();
    const due = this.#endedAt + first.request.pause;
    if (due > this.#clock.now()) {
      this.#callOffPause = this.#clock.callAt(due, () => this.#next());
      return;
    }
    this.#waiting.shift();
    this.#current = first;
    void this.#client.ask(first.request).then((outcome) => {
      this.#current = undefined;
      this.#endedAt = this.#clock.now();
      first.done?.(outcome);
      this.#next();
    });
  }
}

function isSame(one: RealRequest, other: RealRequest): boolean {
  return one.unitId === other.unitId && Buffer.compare(one.pdu, other.pdu) === 0;
}
