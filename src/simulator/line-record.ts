import type { Logger } from 'pino';
import type { Answer } from '../bus/bus.js';
import { hex } from '../protocol/bytes.js';
import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import { BROADCAST } from '../protocol/rtu.js';
import type { Exchange, Ledger } from '../traffic/ledger.js';
import type { LineRequest } from '../transport/transport.js';

/** Counts of the traffic on a line since the line was made. */
export interface LineCounters {
  /** Requests to our units, including broadcasts. */
  requests: number;
  broadcasts: number;
  /** Requests that were not executed, because they came while a reply was pending. */
  dropped: number;
  /** Replies that were sent, at least in part. */
  replies: number;
  /** Responses of another device that uses one of our unit identifiers. */
  duplicates: number;
  /** Echoes of our own replies, from an adapter that hears what it sends. Echoes are discarded. */
  echoes: number;
  /** Replies during which another device sent bytes. */
  collisions: number;
  /** Frames between other devices. */
  foreignFrames: number;
  /** Bytes that belong to no valid frame. */
  noiseBytes: number;
  /** Characters that the port marked as damaged. */
  damagedCharacters: number;
  /** Clients refused or dropped: client limit, idle, slow, not speaking Modbus, no certificate. */
  rejected: number;
}

/** Limit of the reply bytes in one log entry. Faults can make long replies. */
const MAX_LOGGED = 1024;

/** Counts and logs the requests and replies of one line, and enters them into the ledger. */
export class LineRecord {
  readonly counters: LineCounters = {
    requests: 0,
    broadcasts: 0,
    dropped: 0,
    replies: 0,
    duplicates: 0,
    echoes: 0,
    collisions: 0,
    foreignFrames: 0,
    noiseBytes: 0,
    damagedCharacters: 0,
    rejected: 0,
  };
  readonly #line: string;
  readonly #ledger: Ledger;
  readonly #log: Logger;
  /** Exchanges whose plans are still being played, by the request object that the transport passes to `played`. */
  readonly #open = new Map<object, Exchange>();

  constructor(line: string, ledger: Ledger, log: Logger) {
    this.#line = line;
    this.#ledger = ledger;
    this.#log = log;
  }

  /** Records a request with its answer. @returns the plan of the answer */
  asked(request: LineRequest, { plan, acted, framing }: Answer): ReplyPlan {
    const { unitId, pdu, adu, receivedAt, client } = request;
    this.counters.requests++;
    if (unitId === BROADCAST && framing.broadcasts) this.counters.broadcasts++;
    if (this.#log.isLevelEnabled('debug')) this.#log.debug({ unitId, client, adu: hex(adu) }, 'request');
    const exchange = this.#ledger.enter({
      time: new Date(),
      line: this.#line,
      client,
      unitId,
      requestPdu: pdu,
      // Copied, because `adu` may be a view of a much larger buffer.
      requestAdu: new Uint8Array(adu),
      framing,
      receivedAt,
      plan,
      acted,
    });
    this.#open.set(request, exchange);
    return plan;
  }

  /** Call when the plan for `request` has been played. */
  played(request: LineRequest, report: PlayReport): void {
    const exchange = this.#open.get(request);
    this.#open.delete(request);
    if (exchange) exchange.report = report;
    const [first] = report.steps;
    // If the first step was not achieved, nothing was sent: no client had the line open, or a newer request came.
    if (first?.outcome === 'achieved') this.counters.replies++;
    if (!this.#log.isLevelEnabled('debug')) return;
    const turnaround =
      first?.outcome === 'achieved' ? Number((first.achievedAt - request.receivedAt).toFixed(3)) : undefined;
    const sent = exchange ? sentBytes(exchange.plan, report) : [];
    const bytes = hex(Uint8Array.from(sent.slice(0, MAX_LOGGED)));
    this.#log.debug(
      { unitId: request.unitId, ended: report.ended, turnaround, bytes, length: sent.length },
      'reply',
    );
  }
}

function sentBytes(plan: ReplyPlan, report: PlayReport): number[] {
  const steps = plan.kind === 'send' ? plan.steps : [];
  return steps.flatMap((step, i) =>
    step.kind === 'bytes' && report.steps[i]?.outcome === 'achieved' ? [...step.bytes] : [],
  );
}
