import type { Device } from '../device/device.js';
import type { Activity } from '../device/diagnostics.js';
import type { FaultLine } from '../faults/ability.js';
import { type ActedFault, applyFaults, prevents } from '../faults/apply.js';
import type { FaultRules } from '../faults/rules.js';
import { addressRanges } from '../protocol/address-range.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import type { Framing } from '../protocol/framing.js';
import { plainReply, type ReplyPlan, silence } from '../protocol/reply-plan.js';
import { exceptionResponse } from '../protocol/response.js';
import { BROADCAST } from '../protocol/rtu.js';
import { type Executed, Station } from './station.js';

/** A request as the bus sees it, whatever carried it. */
export interface BusRequest {
  readonly unitId: number;
  readonly pdu: Uint8Array;
  /** 0 where the framing has none. */
  readonly transactionId: number;
  /** Which client of the line it came from, never used twice; a serial line has one. */
  readonly clientId: number;
}

/** What to do about a request, and which faults made it so. */
export interface Answer {
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
  /** What the reply is in. */
  readonly framing: Framing;
  /** What everything after this reply is in, where the request has changed that: the delimiter of an ASCII line. */
  readonly next: Framing | undefined;
}

/** Which device answers for a unit identifier; `*` for every one that is not listed. */
export type Units = ReadonlyMap<number | '*', Device>;

/** The line that a bus belongs to. */
export interface BusLine extends FaultLine {
  /** As the line begins with it. */
  readonly framing: Framing;
  /** In ms; 0 where characters have no time of their own. */
  readonly characterTime: number;
  /** What a request gets whose unit is not there, on a line without broadcasts: exception 11 (default), or nothing. */
  readonly missingUnit?: 'exception' | 'silence';
}

const NO_FAULTS: readonly ActedFault[] = [];

/** The devices of one line: finds who is meant by a request, makes a plan of the answer, lets the faults change it. */
export class Bus {
  #line: BusLine;
  /** That of the line, with the delimiter that was set last. */
  #framing: Framing;
  #stations: ReadonlyMap<number | '*', Station>;
  /** What is heard on the line: the line counts, the devices' diagnostics read. */
  readonly activity: Activity = { messages: 0, errors: 0, overruns: 0 };
  readonly #faults: FaultRules;
  /** The true reply to each client's last request, for faults that send it late. */
  readonly #lastReplies = new Map<number, Uint8Array>();

  constructor(line: BusLine, units: Units, faults: FaultRules) {
    this.#line = line;
    this.#framing = line.framing;
    this.#stations = this.#stationsFor(units, new Map());
    this.#faults = faults;
  }

  /** Gives the bus another line and other units; a unit that keeps its device keeps its counters. */
  change(line: BusLine, units: Units): void {
    if (line.framing !== this.#line.framing) {
      // A late reply would not be in the framing that the client speaks now.
      this.#lastReplies.clear();
      this.#framing = line.framing;
    }
    this.#line = line;
    this.#stations = this.#stationsFor(units, this.#stations);
  }

  /** The line as fault rules see it. */
  get line(): FaultLine {
    return this.#line;
  }

  get framing(): Framing {
    return this.#framing;
  }

  /** True when a device of this line answers for `unitId`. */
  owns(unitId: number): boolean {
    return this.#stations.has(unitId) || this.#stations.has('*');
  }

  /** Names of the devices by unit identifier. */
  get units(): [unitId: string, device: string][] {
    return Array.from(this.#stations, ([unitId, { device }]) => [String(unitId), device.name]);
  }

  /** The devices of this line, each once. */
  get devices(): ReadonlySet<Device> {
    return new Set(Array.from(this.#stations.values(), ({ device }) => device));
  }

  /**
   * Answers a request, or executes it silently where it is a broadcast. Undefined when no device of this line has the
   * unit identifier and another device of the bus may answer.
   */
  answer(request: BusRequest): Answer | undefined {
    const framing = this.#framing;
    if (request.unitId === BROADCAST && framing.broadcasts) return this.#broadcast(request.pdu);
    const station = this.#stations.get(request.unitId) ?? this.#stations.get('*');
    if (!station) return framing.broadcasts ? undefined : this.#answerOf(this.#missingUnit(request));
    if (!station.hasPower) return this.#answerOf(silence('the device has no power, or boots'));
    if (this.#faults.isEmpty) {
      const plan = this.#trueReply(station, request);
      return this.#answerOf(plan, NO_FAULTS, station.framing);
    }
    const { plan, acted } = this.#faultyAnswer(station, request);
    return this.#answerOf(plan, acted, station.framing);
  }

  /** A client is gone: what was kept for it is not needed any more. */
  forget(clientId: number): void {
    this.#lastReplies.delete(clientId);
  }

  /** The line was closed and is opened again: nobody knows what a client had asked it before. */
  reopened(): void {
    this.#lastReplies.clear();
    this.#framing = this.#line.framing;
  }

  #stationsFor(
    units: Units,
    present: ReadonlyMap<number | '*', Station>,
  ): ReadonlyMap<number | '*', Station> {
    return new Map(
      Array.from(units, ([unitId, device]) => {
        const station = present.get(unitId);
        return [unitId, station?.device === device ? station : new Station(device, this.activity)];
      }),
    );
  }

  /** What was answered in the framing so far; from now on it is `next`. */
  #answerOf(plan: ReplyPlan, acted = NO_FAULTS, next = this.#framing): Answer {
    const framing = this.#framing;
    if (next === framing) return { plan, acted, framing, next: undefined };
    this.#framing = next;
    return { plan, acted, framing, next };
  }

  /** Executes a broadcast on every device once, silently. */
  #broadcast(pdu: Uint8Array): Answer {
    const executed: Executed = new Map();
    let framing = this.#framing;
    for (const station of this.#stations.values()) {
      station.broadcast(pdu, framing, executed);
      framing = station.framing ?? framing;
    }
    return this.#answerOf(silence('broadcast'), NO_FAULTS, framing);
  }

  /** A gateway says that the device behind it did not respond (Application Protocol V1.1b3, 7); others are silent. */
  #missingUnit({ transactionId, unitId, pdu }: BusRequest): ReplyPlan {
    if (this.#line.missingUnit === 'silence') return silence('no such unit');
    const response = exceptionResponse(pdu[0] as number, ExceptionCode.gatewayTargetFailedToRespond);
    return plainReply(this.#framing.encode({ transactionId, unitId, pdu: response }));
  }

  #trueReply(station: Station, { unitId, pdu, transactionId, clientId }: BusRequest): ReplyPlan {
    const response = station.process(pdu, this.#framing);
    if (!response) return silence('the device is in listen-only mode');
    const reply = this.#framing.encode({ transactionId, unitId, pdu: response });
    this.#lastReplies.set(clientId, reply);
    return plainReply(reply);
  }

  #faultyAnswer(station: Station, request: BusRequest): Pick<Answer, 'plan' | 'acted'> {
    const { unitId, pdu, transactionId, clientId } = request;
    const framing = this.#framing;
    const { characterTime } = this.#line;
    const facts = { line: this.#line, unitId, functionCode: pdu[0] as number, ranges: addressRanges(pdu) };
    const acting = this.#faults.match(facts);
    const previousReply = this.#lastReplies.get(clientId);
    const reply = prevents(acting) ? undefined : this.#trueReply(station, request);
    const context = { unitId, transactionId, requestPdu: pdu, framing, characterTime, previousReply };
    const answer = applyFaults(reply, acting, this.#line, context);
    if (!reply) station.stoodIn(firstResponse(answer.plan, framing), framing);
    return answer;
  }
}

/** The response PDU of the first frame of a plan, when there is one to be read. */
function firstResponse(plan: ReplyPlan, framing: Framing): Uint8Array | undefined {
  const step = plan.kind === 'send' ? plan.steps.find(({ kind }) => kind === 'bytes') : undefined;
  return step?.kind === 'bytes' ? framing.fields(step.bytes)?.pdu : undefined;
}
