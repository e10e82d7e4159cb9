import type { Device } from '../device/device.js';
import type { Activity } from '../device/diagnostics.js';
import type { FaultLine } from '../faults/ability.js';
import { type ActedFault, applyFaults, prevents } from '../faults/apply.js';
import type { FaultRules } from '../faults/rules.js';
import { addressRanges } from '../protocol/address-range.js';
import { AsciiFraming, LINE_FEED } from '../protocol/ascii.js';
import type { Framing } from '../protocol/framing.js';
import { plainReply, type ReplyPlan, silence } from '../protocol/reply-plan.js';
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
}

/** Which device answers for a unit identifier; `*` for every one that is not listed. */
export type Units = ReadonlyMap<number | '*', Device>;

/** The line that a bus belongs to. */
export interface BusLine extends FaultLine {
  readonly framing: Framing;
  /** In ms; 0 where characters have no time of their own. */
  readonly characterTime: number;
}

const NO_FAULTS: readonly ActedFault[] = [];

/** The devices of one line: finds who is meant by a request, makes a plan of the answer, lets the faults change it. */
export class Bus {
  #line: BusLine;
  #stations: ReadonlyMap<number | '*', Station>;
  /** What is heard on the line: the line counts, the devices' diagnostics read. */
  readonly activity: Activity = { messages: 0, errors: 0, overruns: 0, asciiDelimiter: undefined };
  readonly #faults: FaultRules;
  /** The true reply to each client's last request, for faults that send it late. */
  readonly #lastReplies = new Map<number, Uint8Array>();

  constructor(line: BusLine, units: Units, faults: FaultRules) {
    this.#line = line;
    this.#stations = this.#stationsFor(units, new Map());
    this.#faults = faults;
    this.#setDelimiter();
  }

  /** Gives the bus another line and other units; a unit that keeps its device keeps its counters. */
  change(line: BusLine, units: Units): void {
    // A late reply would not be in the framing that the client speaks now.
    if (line.framing !== this.#line.framing) this.forgetClients();
    this.#line = line;
    this.#stations = this.#stationsFor(units, this.#stations);
    this.#setDelimiter();
  }

  /** The line as fault rules see it. */
  get line(): FaultLine {
    return this.#line;
  }

  get framing(): Framing {
    return this.#line.framing;
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

  /** Undefined when no device of this line has the unit identifier: what then happens differs between lines. */
  answer(request: BusRequest): Answer | undefined {
    const station = this.#stations.get(request.unitId) ?? this.#stations.get('*');
    if (!station) return undefined;
    if (!station.hasPower) return { plan: silence('the device has no power, or boots'), acted: NO_FAULTS };
    return this.#faults.isEmpty
      ? { plan: this.#trueReply(station, request), acted: NO_FAULTS }
      : this.#faultyAnswer(station, request);
  }

  /** Executes a broadcast on every device once, silently. */
  broadcast(pdu: Uint8Array): Answer {
    const executed: Executed = new Map();
    for (const station of this.#stations.values()) station.broadcast(pdu, executed);
    return { plan: silence('broadcast'), acted: NO_FAULTS };
  }

  /** A client is gone: what was kept for it is not needed any more. */
  forget(clientId: number): void {
    this.#lastReplies.delete(clientId);
  }

  /** The same for all clients: their connections were closed. */
  forgetClients(): void {
    this.#lastReplies.clear();
  }

  /** The line was closed and is opened again: nobody knows what a client had asked it before. */
  reopened(): void {
    this.forgetClients();
    const { framing } = this.#line;
    if (framing instanceof AsciiFraming) framing.delimiter = LINE_FEED;
    this.#setDelimiter();
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

  /** Only an ASCII line has a delimiter that can be changed. */
  #setDelimiter(): void {
    const { framing } = this.#line;
    this.activity.asciiDelimiter = framing instanceof AsciiFraming ? framing.delimiter : undefined;
  }

  #trueReply(station: Station, { unitId, pdu, transactionId, clientId }: BusRequest): ReplyPlan {
    const response = station.process(pdu);
    if (!response) return silence('the device is in listen-only mode');
    const reply = this.#line.framing.encode({ transactionId, unitId, pdu: response });
    this.#lastReplies.set(clientId, reply);
    return plainReply(reply);
  }

  #faultyAnswer(station: Station, request: BusRequest): Answer {
    const { unitId, pdu, transactionId, clientId } = request;
    const { framing, characterTime } = this.#line;
    const facts = { line: this.#line, unitId, functionCode: pdu[0] as number, ranges: addressRanges(pdu) };
    const acting = this.#faults.match(facts);
    const previousReply = this.#lastReplies.get(clientId);
    const reply = prevents(acting) ? undefined : this.#trueReply(station, request);
    const context = { unitId, transactionId, requestPdu: pdu, framing, characterTime, previousReply };
    const answer = applyFaults(reply, acting, this.#line, context);
    if (!reply) station.stoodIn(firstResponse(answer.plan, framing));
    return answer;
  }
}

/** The response PDU of the first frame of a plan, when there is one to be read. */
function firstResponse(plan: ReplyPlan, framing: Framing): Uint8Array | undefined {
  const step = plan.kind === 'send' ? plan.steps.find(({ kind }) => kind === 'bytes') : undefined;
  return step?.kind === 'bytes' ? framing.fields(step.bytes)?.pdu : undefined;
}
