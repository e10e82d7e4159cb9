import type { ClientRequest, ModbusClient } from '../../modbus/client/client.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';

/** How a device took a request. */
export type Taken =
  | { readonly kind: 'data'; readonly pdu: Uint8Array }
  | { readonly kind: 'exception'; readonly code: number }
  | { readonly kind: 'silence' };

/** How something is refused: an exception code, or no answer. */
export type ReadRefusal = number | 'silence';

/** Requests that could not even be sent, one after another, before the rest is given up. */
const MOST_FAILURES = 5;

/** Of the reply times no more are kept. */
const MOST_TIMES = 10_000;

/** After so many answers it is known how long a device takes. */
const KNOWN_AFTER = 20;
const SHORTEST_TIMEOUT_MS = 100;

/** What every survey needs. Times are in ms. */
export interface AskerOptions {
  readonly timeout: number;
  /** Silence before each request. */
  readonly pause: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** True when somebody wants no more requests. */
  readonly isStopped: () => boolean;
  /** Called after each request. */
  readonly asked: () => void;
}

/** Asks one device carefully: one request at a time, with a pause before each; what got no answer is asked once more. */
export class Asker {
  readonly #client: Pick<ModbusClient, 'ask'>;
  readonly #unit: number;
  readonly #options: AskerOptions;
  #failures = 0;
  #longest = 0;
  /** Why nothing more is asked; undefined while it is. */
  failure: string | undefined;
  pause: number;
  /** Of the answered requests: from the end of a request until the end of its reply, and the bytes of the reply. */
  readonly times: { readonly ms: number; readonly bytes: number }[] = [];

  constructor(client: Pick<ModbusClient, 'ask'>, unit: number, options: AskerOptions) {
    this.#client = client;
    this.#unit = unit;
    this.#options = options;
    this.pause = options.pause;
  }

  /** Nothing more is asked. */
  get isOver(): boolean {
    return this.failure !== undefined || this.#options.isStopped();
  }

  /** Asks, and once more if there was no answer: only two silences in a row say something of a device. */
  async ask(pdu: Uint8Array): Promise<Taken> {
    const first = await this.askOnce(pdu);
    return first.kind === 'silence' && !this.isOver ? this.askOnce(pdu) : first;
  }

  /** Of a device that has answered often, nobody waits much longer than it has ever taken: holes may be silent. */
  get #timeout(): number {
    const { timeout } = this.#options;
    if (this.times.length < KNOWN_AFTER) return timeout;
    return Math.min(timeout, Math.max(SHORTEST_TIMEOUT_MS, 5 * this.#longest));
  }

  async askOnce(pdu: Uint8Array): Promise<Taken> {
    if (this.isOver) return { kind: 'silence' };
    if (this.pause > 0) await this.#options.sleep(this.pause);
    const request: ClientRequest = { unitId: this.#unit, pdu, timeout: this.#timeout };
    const outcome = await this.#client.ask(request);
    this.#options.asked();
    if (outcome.kind === 'failed') {
      this.#failures++;
      if (this.#failures >= MOST_FAILURES) this.failure = outcome.reason;
      return { kind: 'silence' };
    }
    this.#failures = 0;
    if (outcome.kind === 'timeout') return { kind: 'silence' };
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
