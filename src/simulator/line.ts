import type { Logger } from 'pino';
import { type Answer, Bus, type BusLine, type Units } from '../bus/bus.js';
import type { LineDefinition } from '../config/configuration.js';
import { faultLine } from '../config/fault-line.js';
import type { FaultRules } from '../faults/rules.js';
import { AsciiFraming } from '../protocol/ascii.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import type { Framing } from '../protocol/framing.js';
import type { PlayReport } from '../protocol/play-report.js';
import { plainReply, type ReplyPlan, silence } from '../protocol/reply-plan.js';
import { exceptionResponse } from '../protocol/response.js';
import { BROADCAST } from '../protocol/rtu.js';
import { characterTime } from '../protocol/timing.js';
import type { Ledger } from '../traffic/ledger.js';
import type {
  LineEvent,
  LineHandler,
  LineRequest,
  LineState,
  Transport,
  TransportStart,
} from '../transport/transport.js';
import { contend } from './contention.js';
import { recordEvent } from './line-events.js';
import { type LineCounters, LineRecord } from './line-record.js';
import { isSameTransport, newFraming, newTransport } from './new-transport.js';
import { SerialTransport } from './serial-transport.js';

/** Whether a line is as it was asked to be; `error` is one sentence that names the place. */
export type LineOutcome = { readonly ok: true } | { readonly ok: false; readonly error: string };

const OK: LineOutcome = { ok: true };

export interface LineContext {
  readonly faults: FaultRules;
  readonly ledger: Ledger;
  readonly log: Logger;
}

/**
 * One serial port or one listening socket with the devices behind it: takes requests from the transport to the bus
 * and the plan back, can be stopped, started, and defined anew while its devices keep their registers.
 */
export class Line implements LineHandler {
  readonly name: string;
  readonly bus: Bus;
  #definition: LineDefinition;
  #framing: Framing;
  #transport: Transport;
  readonly #record: LineRecord;
  readonly #log: Logger;
  /** Why the last start failed. */
  #failure: string | undefined;
  #openSince: number | undefined;
  /** Starts, stops and changes wait for each other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(definition: LineDefinition, units: Units, { faults, ledger, log }: LineContext) {
    this.name = definition.name;
    this.#definition = definition;
    this.#framing = newFraming(definition);
    this.bus = new Bus(busLine(definition, this.#framing), units, faults);
    this.#log = log;
    this.#record = new LineRecord(definition.name, ledger, log);
    this.#transport = newTransport(definition, this.#framing, this);
  }

  get definition(): LineDefinition {
    return this.#definition;
  }

  get counters(): Readonly<LineCounters> {
    return this.#record.counters;
  }

  get state(): LineState {
    return this.#failure === undefined ? this.#transport.state : { kind: 'failed', reason: this.#failure };
  }

  /** Clients connected now; undefined where that can't be known. */
  get clients(): number | undefined {
    return this.#transport.clients;
  }

  /** When the line was opened, in ms of `performance.now()`; undefined while it isn't open. */
  get openSince(): number | undefined {
    return this.state.kind === 'open' ? this.#openSince : undefined;
  }

  /** The serial side of the line, where it has one. */
  get serial(): SerialTransport | undefined {
    return this.#transport instanceof SerialTransport ? this.#transport : undefined;
  }

  /** Opens the line; one that is open stays as it is. */
  start(): Promise<LineOutcome> {
    return this.#inTurn(() => this.#start());
  }

  /** Closes the line; replies that wait are given up. */
  stop(): Promise<void> {
    return this.#inTurn(() => this.#stop());
  }

  restart(): Promise<LineOutcome> {
    return this.#inTurn(async () => {
      const waits = this.state.kind === 'waiting';
      await this.#stop();
      return this.#start({ waits });
    });
  }

  /**
   * Gives the line another definition. Registers and counters stay; so does an open port that needs no other
   * settings. What the port or the system refuses leaves the line as it was.
   */
  change(definition: LineDefinition, units: Units): Promise<LineOutcome> {
    return this.#inTurn(async () => {
      const framing = definition.framing === this.#framing.name ? this.#framing : newFraming(definition);
      return this.#changeTransport(definition, framing, () => {
        this.bus.change(busLine(definition, framing), units);
        this.#definition = definition;
        this.#framing = framing;
      });
    });
  }

  owns(unitId: number): boolean {
    return this.bus.owns(unitId);
  }

  request(request: LineRequest): ReplyPlan {
    const { activity, framing } = this.bus;
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
    if (event.kind === 'open') this.#openSince = performance.now();
    recordEvent(event, this.bus, this.#record.counters, this.#log);
  }

  #plan(request: LineRequest, framing: Framing): ReplyPlan {
    if (request.unitId === BROADCAST && framing.broadcasts) {
      this.#record.counters.broadcasts++;
      return this.#record.asked(request, this.bus.broadcast(request.pdu));
    }
    const answer = this.bus.answer(request);
    if (answer) return this.#record.asked(request, answer);
    // On a bus another device may answer.
    return framing.broadcasts
      ? silence('no such unit')
      : this.#record.asked(request, this.#missingUnit(request, framing));
  }

  /** A gateway says that the device behind it did not respond (Application Protocol V1.1b3, 7); others are silent. */
  #missingUnit({ transactionId, unitId, pdu }: LineRequest, framing: Framing): Answer {
    if (this.#definition.kind !== 'serial' && this.#definition.missingUnit === 'silence') {
      return { plan: silence('no such unit'), acted: [] };
    }
    const response = exceptionResponse(pdu[0] as number, ExceptionCode.gatewayTargetFailedToRespond);
    return { plan: plainReply(framing.encode({ transactionId, unitId, pdu: response })), acted: [] };
  }

  async #start({ waits = false } = {}): Promise<LineOutcome> {
    const { kind } = this.state;
    if (kind === 'open' || kind === 'waiting') return OK;
    await this.#transport.stop();
    this.bus.forgetClients();
    const started = await this.#transport.start({ waits });
    this.#openSince = performance.now();
    this.#noteFailure(started);
    return started.ok ? OK : started;
  }

  /** A port that is waited for is not given up. */
  #noteFailure(started: TransportStart): void {
    const isWaiting = this.#transport.state.kind === 'waiting';
    this.#failure = started.ok || isWaiting ? undefined : started.error;
  }

  async #stop(): Promise<void> {
    this.#failure = undefined;
    await this.#transport.stop();
  }

  /**
   * `adopt` is called once the line can be as the definition wants it, and before anything arrives there. What needs
   * another port is opened beside what is open, so that clients of a line that can't be changed notice nothing.
   */
  async #changeTransport(
    definition: LineDefinition,
    framing: Framing,
    adopt: () => void,
  ): Promise<LineOutcome> {
    const before = this.#transport;
    const { state } = this;
    if (
      isSameTransport(this.#definition, definition) ||
      (definition.kind === 'serial' &&
        before instanceof SerialTransport &&
        before.change(definition, framing))
    ) {
      adopt();
      return OK;
    }
    const next = newTransport(definition, framing, this);
    if (state.kind === 'stopped') {
      this.#transport = next;
      adopt();
      return OK;
    }
    const place = state.kind === 'open' ? state.place : '';
    const inPlace = contend(this.#definition, place, definition);
    if (inPlace) await before.stop();
    const started = await next.start();
    if (started.ok) {
      this.#transport = next;
      this.#failure = undefined;
      this.#openSince = performance.now();
      this.bus.forgetClients();
      adopt();
      await before.stop();
      return OK;
    }
    // A line that had failed stays so, with its reason.
    if (inPlace && state.kind !== 'failed') this.#noteFailure(await before.start({ waits: true }));
    return started;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}

function busLine(definition: LineDefinition, framing: Framing): BusLine {
  const time = definition.kind === 'serial' ? characterTime(definition.baudRate) : 0;
  return { ...faultLine(definition), framing, characterTime: time };
}
