import type { Logger } from 'pino';
import type { Answer } from '../bus/bus.js';
import { hex } from '../protocol/bytes.js';
import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { Exchange, Ledger } from '../traffic/ledger.js';
import { type LineCounters, zeroCounters } from './line.js';

/** A request of any transport, as far as it is recorded. */
export interface RecordedRequest {
  readonly unitId: number;
  readonly pdu: Uint8Array;
  readonly adu: Uint8Array;
  readonly receivedAt: number;
  readonly client?: string;
}

/** What passes over one line: counted, entered into the ledger, logged. */
export class LineRecord {
  readonly counters: LineCounters = zeroCounters();
  readonly #line: string;
  readonly #ledger: Ledger;
  readonly #log: Logger;
  /** Exchanges whose plans are still being played, by the request that the transport hands back. */
  readonly #open = new Map<object, Exchange>();

  constructor(line: string, ledger: Ledger, log: Logger) {
    this.#line = line;
    this.#ledger = ledger;
    this.#log = log;
  }

  /** A request came and this is the answer to it; passes the plan on. */
  asked(request: RecordedRequest, { plan, acted }: Answer): ReplyPlan {
    const { unitId, pdu, adu, receivedAt, client } = request;
    this.counters.requests++;
    if (this.#log.isLevelEnabled('debug')) this.#log.debug({ unitId, client, adu: hex(adu) }, 'request');
    const exchange = this.#ledger.enter({
      time: new Date(),
      line: this.#line,
      client,
      unitId,
      requestPdu: pdu,
      // A copy: what the transport hands over may be a view of much more.
      requestAdu: new Uint8Array(adu),
      receivedAt,
      plan,
      acted,
    });
    this.#open.set(request, exchange);
    return plan;
  }

  /** The plan for `request` has been played. */
  played(request: RecordedRequest, report: PlayReport): void {
    const exchange = this.#open.get(request);
    this.#open.delete(request);
    if (exchange) exchange.report = report;
    const [first] = report.steps;
    if (first) this.counters.replies++;
    if (!this.#log.isLevelEnabled('debug')) return;
    const turnaround = first && Number((first.achievedAt - request.receivedAt).toFixed(3));
    this.#log.debug({ unitId: request.unitId, ended: report.ended, turnaround }, 'reply');
  }
}
