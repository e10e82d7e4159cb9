import type { ActedFault } from '../faults/apply.js';
import type { Framing } from '../protocol/framing.js';
import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';

/** One request and what became of it. */
export interface Exchange {
  /** Counts the exchanges from 1. */
  readonly id: number;
  readonly time: Date;
  readonly line: string;
  /** Address of the client, where it has one. */
  readonly client: string | undefined;
  readonly unitId: number;
  readonly requestPdu: Uint8Array;
  readonly requestAdu: Uint8Array;
  /** What the reply is in, as the line had it then: an ASCII line may have another delimiter since. */
  readonly framing: Framing;
  /** When the last byte of the request came, in ms of `performance.now()`: what the times of the report count from. */
  readonly receivedAt: number;
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
  /** What was really sent and when; absent until the plan has been played. */
  report?: PlayReport;
}

const CAPACITY = 1000;

/** What the entries may take up together, by a rough count in bytes: faults can make replies of many pieces. */
const MAX_WEIGHT = 32 * 1024 * 1024;
const STEP_WEIGHT = 300;
/** A fault that was to act. Reasons are a sentence of their own where they name a line or a number. */
const ACTED_WEIGHT = 200;

/** The last exchanges of all lines: what was asked, what was answered, which faults acted, and when it left. */
export class Ledger {
  readonly #exchanges: (Exchange | undefined)[] = new Array(CAPACITY);
  /** Kept apart, so that forgetting an entry needs no look at it: it is long out of the processor's caches. */
  readonly #weights = new Float64Array(CAPACITY);
  #count = 0;
  /** Identifier of the oldest entry that is kept. */
  #first = 1;
  #weight = 0;

  /** Enters a request with its plan; the report is added to the entry when there is one. */
  enter(exchange: Omit<Exchange, 'id' | 'report'>): Exchange {
    const { time, line, client, unitId, requestPdu, requestAdu, framing, receivedAt, plan, acted } = exchange;
    const id = ++this.#count;
    // Each by its name: spreading the object takes three times as long (0.1 µs), for every request.
    const entry: Exchange = {
      id,
      time,
      line,
      client,
      unitId,
      requestPdu,
      requestAdu,
      framing,
      receivedAt,
      plan,
      acted,
    };
    if (this.#count - this.#first >= CAPACITY) this.#forgetFirst();
    const index = entry.id % CAPACITY;
    const weight = weightOf(entry);
    this.#exchanges[index] = entry;
    this.#weights[index] = weight;
    this.#weight += weight;
    while (this.#weight > MAX_WEIGHT && this.#first < this.#count) this.#forgetFirst();
    return entry;
  }

  /** At most `limit` exchanges, the newest first, down to but without the one with the identifier `after`. */
  latest(limit = CAPACITY, after = 0): Exchange[] {
    return [...this.newestFirst(limit, after)];
  }

  /**
   * The same one by one, for somebody who takes them slowly: an exchange that has been forgotten by the time its turn
   * comes is left out, so nobody's slowness keeps exchanges in memory.
   */
  *newestFirst(limit = CAPACITY, after = 0): Generator<Exchange> {
    let count = 0;
    for (let id = this.#count; id > after && id >= this.#first && count < limit; id--, count++) {
      const exchange = this.#exchanges[id % CAPACITY];
      if (exchange) yield exchange;
    }
  }

  /** Identifier of the newest exchange, 0 when there is none. */
  get lastId(): number {
    return this.#count;
  }

  #forgetFirst(): void {
    const index = this.#first++ % CAPACITY;
    this.#weight -= this.#weights[index] as number;
    this.#exchanges[index] = undefined;
  }
}

function weightOf({ requestAdu, plan, acted }: Exchange): number {
  const steps = plan.kind === 'send' ? plan.steps : [];
  return steps.reduce(
    (weight, step) => weight + STEP_WEIGHT + (step.kind === 'bytes' ? step.bytes.length : 0),
    requestAdu.length + ACTED_WEIGHT * acted.length,
  );
}
