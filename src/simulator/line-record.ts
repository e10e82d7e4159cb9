import type { Logger } from 'pino';
import type { Answer } from '../bus/bus.js';
import { hex } from '../protocol/bytes.js';
import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import { BROADCAST } from '../protocol/rtu.js';
import type { Exchange, Ledger } from '../traffic/ledger.js';
import type { LineRequest } from '../transport/transport.js';

/** What has passed over a line since it was made. */
export interface LineCounters {
  /** Requests to units of ours, broadcasts included. */
  requests: number;
  broadcasts: number;
  /** Requests that came while a reply was pending and were not executed. */
  dropped: number;
  /** Replies of which something was sent. */
  replies: number;
  /** Responses of another device that has one of our unit identifiers. */
  duplicates: number;
  /** Replies that came back, because the adapter hears what it sends; they were taken out. */
  echoes: number;
  /** Replies during which somebody else spoke. */
  collisions: number;
  /** Frames between others. */
  foreignFrames: number;
  /** Bytes that were no part of a valid frame. */
  noiseBytes: number;
  /** Characters that the port marked as damaged. */
  damagedCharacters: number;
  /** Clients turned away or dropped: limit, idle, slow, no Modbus, no certificate. */
  rejected: number;
}

/** So many bytes of a reply are logged: faults can make long ones. */
const MAX_LOGGED = 1024;

/** What passes over one line: counted, entered into the ledger, logged. */
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
  /** Exchanges whose plans are still being played, by the request that the transport hands back. */
  readonly #open = new Map<object, Exchange>();

  constructor(line: string, ledger: Ledger, log: Logger) {
    this.#line = line;
    this.#ledger = ledger;
    this.#log = log;
  }

  /** A request came and this is the answer to it; passes the plan on. */
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
      // A copy: what the transport hands over may be a view of much more.
      requestAdu: new Uint8Array(adu),
      framing,
      receivedAt,
      plan,
      acted,
    });
    this.#open.set(request, exchange);
    return plan;
  }

  /** The plan for `request` has been played. */
  played(request: LineRequest, report: PlayReport): void {
    const exchange = this.#open.get(request);
    this.#open.delete(request);
    if (exchange) exchange.report = report;
    const [first] = report.steps;
    // Of one that is not achieved nothing was sent: nobody had the line open, or a newer request came.
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
