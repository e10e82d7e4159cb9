import type { ClientRequest, ModbusClient } from '../../modbus/client/client.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';

/** A device's reaction to a request. */
export type Taken =
  | { readonly kind: 'data'; readonly pdu: Uint8Array }
  | { readonly kind: 'exception'; readonly code: number }
  | { readonly kind: 'silence' };

/** How a device refuses a read: with an exception code, or with silence. */
export type ReadRefusal = number | 'silence';

/** After this many consecutive requests that could not be sent, the survey gives up. */
const MOST_FAILURES = 5;

/** Maximum number of reply times kept. */
const MOST_TIMES = 10_000;

/** After this many replies, the time-out follows the device's reply times. */
const KNOWN_AFTER = 4;
const LEAST_TIMEOUT_MS = 100;

/**
 * How many requests of each kind get the full `timeout`: a device that answers at once may be slow to refuse
 * (libmodbus takes 500 ms).
 */
const PATIENT = 2;

/** What every survey needs for sending requests to a device. Times are in ms. */
export interface AskerOptions {
  readonly timeout: number;
  /** Silence before each request, in ms. */
  readonly pause: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** True if the user who started the survey wants no more requests. */
  readonly isStopped: () => boolean;
  /** Called after each request. */
  readonly asked: () => void;
}

/**
 * Sends requests to one device carefully: one at a time, with a pause before each. A request without an
 * answer is sent once more.
 */
export class Asker {
  readonly #client: Pick<ModbusClient, 'ask'>;
  readonly #unit: number;
  readonly #options: AskerOptions;
  #failures = 0;
  #longest = 0;
  #replies = 0;
  /** How many requests of each kind got no answer. */
  readonly #silences = new Map<string, number>();
  /** Why no more requests are sent; undefined if they are. */
  failure: string | undefined;
  pause: number;
  /** For each answered request: the time from its end to the end of the reply, and the length of the reply. */
  readonly times: { readonly ms: number; readonly bytes: number }[] = [];

  constructor(client: Pick<ModbusClient, 'ask'>, unit: number, options: AskerOptions) {
    this.#client = client;
    this.#unit = unit;
    this.#options = options;
    this.pause = options.pause;
  }

  /** True if no more requests are sent. */
  get isOver(): boolean {
    return this.failure !== undefined || this.#options.isStopped();
  }

  /**
   * Sends a request, and repeats it once if there was no answer: one silence may be an accident, two in a row
   * are how the device behaves.
   * @param kind requests of the same kind are answered equally fast; default: the function code
   */
  async ask(pdu: Uint8Array, kind?: string): Promise<Taken> {
    const first = await this.askOnce(pdu, kind);
    return first.kind === 'silence' && !this.isOver ? this.askOnce(pdu, kind) : first;
  }

  /**
   * The time-out of the next request, in ms. A device may be silent about holes, so once its reply times are
   * known the time-out is only slightly longer than the longest of them.
   */
  #timeoutOf(kind: string): number {
    const { timeout } = this.#options;
    if (this.#replies < KNOWN_AFTER || (this.#silences.get(kind) ?? 0) < PATIENT) return timeout;
    return Math.min(timeout, Math.max(LEAST_TIMEOUT_MS, 5 * this.#longest));
  }

  async askOnce(pdu: Uint8Array, kind = String(pdu[0])): Promise<Taken> {
    if (this.isOver) return { kind: 'silence' };
    if (this.pause > 0) await this.#options.sleep(this.pause);
    const request: ClientRequest = { unitId: this.#unit, pdu, timeout: this.#timeoutOf(kind) };
    const outcome = await this.#client.ask(request);
    this.#options.asked();
    if (outcome.kind === 'failed') {
      this.#failures++;
      if (this.#failures >= MOST_FAILURES) this.failure = outcome.reason;
      return { kind: 'silence' };
    }
    this.#failures = 0;
    if (outcome.kind === 'timeout') {
      this.#silences.set(kind, (this.#silences.get(kind) ?? 0) + 1);
      return { kind: 'silence' };
    }
    this.#replies++;
    this.#longest = Math.max(this.#longest, outcome.ms);
    if (this.times.length < MOST_TIMES) this.times.push({ ms: outcome.ms, bytes: outcome.adu.length });
    const [code = 0, exception = 0] = outcome.pdu;
    return code & EXCEPTION_FLAG
      ? { kind: 'exception', code: exception }
      : { kind: 'data', pdu: outcome.pdu };
  }
}

export function refusalOf(taken: Exclude<Taken, { kind: 'data' }>): ReadRefusal {
  return taken.kind === 'exception' ? taken.code : 'silence';
}
