import type { Logger } from 'pino';
import type { Answer, Bus, BusRequest } from '../bus/bus.js';
import type { LineDefinition } from '../config/configuration.js';
import { AsciiFraming } from '../protocol/ascii.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import type { Framing } from '../protocol/framing.js';
import type { PlayReport } from '../protocol/play-report.js';
import { plainReply, type ReplyPlan, silence } from '../protocol/reply-plan.js';
import { exceptionResponse } from '../protocol/response.js';
import { BROADCAST } from '../protocol/rtu.js';
import type { LineEvent, LineHandler, LineRequest } from '../transport/transport.js';
import { recordEvent } from './line-events.js';
import type { LineRecord } from './line-record.js';

/** What requests are answered for. */
export interface AnsweringLine {
  readonly bus: Bus;
  /** As it is at the moment. */
  readonly definition: LineDefinition;
}

/** Takes what comes from one transport to the bus of its line, and the plan back. */
export class LineRequests implements LineHandler {
  readonly #line: AnsweringLine;
  readonly #record: LineRecord;
  readonly #log: Logger;
  readonly #firstClientId: number;
  #openedAt: number | undefined;

  /**
   * @param firstClientId added to the client ids of the transport: every transport counts its clients from the
   * beginning, and the bus must not take a client for one of the transport before
   */
  constructor(line: AnsweringLine, record: LineRecord, log: Logger, firstClientId: number) {
    this.#line = line;
    this.#record = record;
    this.#log = log;
    this.#firstClientId = firstClientId;
  }

  /** When the transport opened last, in ms of `performance.now()`. */
  get openedAt(): number | undefined {
    return this.#openedAt;
  }

  owns(unitId: number): boolean {
    return this.#line.bus.owns(unitId);
  }

  request(request: LineRequest): ReplyPlan {
    const { activity, framing } = this.#line.bus;
    activity.messages++;
    const plan = this.#plan(request, framing);
    // Function 8/3 means the messages after its own reply.
    if (framing instanceof AsciiFraming && activity.asciiDelimiter !== undefined) {
      framing.delimiter = activity.asciiDelimiter;
    }
    return plan;
  }

  played(request: LineRequest, report: PlayReport): void {
    this.#record.played(request, report);
  }

  event(event: LineEvent): void {
    if (event.kind === 'open') this.#openedAt = performance.now();
    const ofLine = 'clientId' in event ? { ...event, clientId: this.#clientId(event.clientId) } : event;
    recordEvent(ofLine, this.#line.bus, this.#record.counters, this.#log);
  }

  #plan(request: LineRequest, framing: Framing): ReplyPlan {
    const { bus } = this.#line;
    if (request.unitId === BROADCAST && framing.broadcasts) {
      this.#record.counters.broadcasts++;
      return this.#record.asked(request, bus.broadcast(request.pdu), framing);
    }
    const answer = bus.answer(this.#busRequest(request));
    if (answer) return this.#record.asked(request, answer, framing);
    // On a bus another device may answer.
    return framing.broadcasts
      ? silence('no such unit')
      : this.#record.asked(request, this.#missingUnit(request, framing), framing);
  }

  /** A gateway says that the device behind it did not respond (Application Protocol V1.1b3, 7); others are silent. */
  #missingUnit({ transactionId, unitId, pdu }: LineRequest, framing: Framing): Answer {
    const { definition } = this.#line;
    if (definition.kind !== 'serial' && definition.missingUnit === 'silence') {
      return { plan: silence('no such unit'), acted: [] };
    }
    const response = exceptionResponse(pdu[0] as number, ExceptionCode.gatewayTargetFailedToRespond);
    return { plan: plainReply(framing.encode({ transactionId, unitId, pdu: response })), acted: [] };
  }

  /** The request as it is, on the first transport of a line: most lines have no other. */
  #busRequest(request: LineRequest): BusRequest {
    if (this.#firstClientId === 0) return request;
    const { unitId, pdu, transactionId, clientId } = request;
    return { unitId, pdu, transactionId, clientId: this.#clientId(clientId) };
  }

  #clientId(ofTransport: number): number {
    return this.#firstClientId + ofTransport;
  }
}
