import type { Logger } from 'pino';
import type { Answer, Bus } from '../bus/bus.js';
import type { TcpLineDefinition } from '../config/configuration.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import { SOCKET } from '../protocol/framing.js';
import type { PlayReport } from '../protocol/play-report.js';
import { plainReply, type ReplyPlan, silence } from '../protocol/reply-plan.js';
import { exceptionResponse } from '../protocol/response.js';
import type { Ledger } from '../traffic/ledger.js';
import type { TcpLineEvent, TcpLineHandler, TcpRequest } from '../transport/tcp/handler.js';
import { TcpLine } from '../transport/tcp/tcp-line.js';
import type { Line, LineCounters, LineStart } from './line.js';
import { LineRecord } from './line-record.js';

/** A Modbus TCP line with its bus. */
export class TcpBusLine implements Line, TcpLineHandler {
  readonly name: string;
  readonly bus: Bus;
  readonly #definition: TcpLineDefinition;
  readonly #log: Logger;
  readonly #line: TcpLine;
  readonly #record: LineRecord;

  constructor(definition: TcpLineDefinition, bus: Bus, ledger: Ledger, log: Logger) {
    this.name = definition.name;
    this.bus = bus;
    this.#definition = definition;
    this.#log = log;
    this.#record = new LineRecord(definition.name, ledger, log);
    this.#line = new TcpLine({ host: definition.host, port: definition.port }, this);
  }

  get counters(): Readonly<LineCounters> {
    return this.#record.counters;
  }

  async start(): Promise<LineStart> {
    const started = await this.#line.start();
    if (!started.ok) return started;
    const host = started.address.includes(':') ? `[${started.address}]` : started.address;
    const units = [...this.#definition.units.keys()].join(', ');
    return { ok: true, description: `Modbus TCP on ${host}:${started.port}, units ${units}` };
  }

  stop(): Promise<void> {
    return this.#line.stop();
  }

  request(request: TcpRequest): ReplyPlan {
    this.bus.activity.messages++;
    return this.#record.asked(request, this.bus.answer(request) ?? this.#missingUnit(request));
  }

  played(request: TcpRequest, report: PlayReport): void {
    this.#record.played(request, report);
  }

  event(event: TcpLineEvent): void {
    if (event.kind === 'client-gone') this.bus.forget(event.clientId);
    this.#log.debug(event, 'client');
  }

  /** A gateway says that the device behind it did not respond (Application Protocol V1.1b3, 7); others are silent. */
  #missingUnit({ transactionId, unitId, pdu }: TcpRequest): Answer {
    if (this.#definition.missingUnit === 'silence') return { plan: silence('no such unit'), acted: [] };
    const response = exceptionResponse(pdu[0] as number, ExceptionCode.gatewayTargetFailedToRespond);
    return { plan: plainReply(SOCKET.encode({ transactionId, unitId, pdu: response })), acted: [] };
  }
}
