import type { Device, RealDevice, RealOutcome } from '../../device/device.js';
import type { Activity } from '../../device/diagnostics.js';
import { type AppliedFaults, applyFaults, prevents } from '../../device/faults/apply.js';
import { startWorkTime } from '../../device/faults/budget.js';
import type { Circumstances } from '../../device/faults/condition.js';
import type { FaultLine } from '../../device/faults/kind.js';
import type { RequestFacts } from '../../device/faults/matching.js';
import type { ActingRule, FaultRules } from '../../device/faults/rules.js';
import type { Connection, Moment } from '../../device/manners.js';
import { refusedAddresses } from '../../device/read-write.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG, ExceptionCode } from '../../modbus/protocol/function-code.js';
import { addressRanges, exceptionResponse, type RefusedRange } from '../../modbus/protocol/pdu.js';
import { plainReply, type ReplyPlan, silence } from '../../modbus/protocol/reply-plan.js';
import { BROADCAST } from '../../modbus/protocol/rtu.js';
import type { LineRequest } from '../../modbus/transport/transport.js';
import { NO_FAULTS, Reply } from './reply.js';
import type { Executed, Station } from './station.js';
import { type Served, Stations } from './stations.js';

/** A request, without its transport and its times. */
export type BusRequest = Omit<LineRequest, 'adu' | 'startedAt' | 'receivedAt'>;

export interface BusLine extends FaultLine {
  /** The framing when the line is opened. */
  readonly framing: Framing;
  /** Time of one character on the wire, in ms; 0 if the line is not serial. */
  readonly characterTime: number;
  /** The reply to a request for an unknown unit on a line without broadcasts: exception 11 (default) or none. */
  readonly missingUnit?: 'exception' | 'silence';
}

const NO_ANSWER = silence('broadcast');

/** The devices on one line. For each request it finds the device, plans the reply and applies the faults. */
export class Bus {
  #line: BusLine;
  /** The framing of the line, with the most recent delimiter. */
  #framing: Framing;
  #stations: Stations;
  readonly #faults: FaultRules;
  /** The correct reply to each client's last request, for the fault that sends it late. */
  readonly #lastReplies = new Map<number, Uint8Array>();
  /**
   * The rejected addresses of the answer in progress. Only an exception 02 sets this, so other answers cost
   * nothing more.
   */
  #refused: RefusedRange | undefined;

  constructor(line: BusLine, served: Served, faults: FaultRules) {
    this.#line = line;
    this.#framing = line.framing;
    this.#faults = faults;
    this.#stations = new Stations(served, this.#framing);
  }

  /** Replaces the line and the units. A unit that keeps its device also keeps its counters. */
  change(line: BusLine, served: Served): void {
    if (line.framing !== this.#line.framing) {
      // A stored reply has the old framing, which clients no longer use.
      this.#lastReplies.clear();
      this.#framing = line.framing;
    }
    this.#line = line;
    this.#stations = new Stations(served, this.#framing, this.#stations);
  }

  /** The line in the form that fault rules need. */
  get line(): FaultLine {
    return this.#line;
  }

  /** The devices on the line, by unit and address. */
  get stations(): Stations {
    return this.#stations;
  }

  get framing(): Framing {
    return this.#framing;
  }

  /**
   * The device that answers for `unitId`; undefined for a broadcast, which all devices execute.
   * @param host the address that a request was sent to; the line's first address when absent
   */
  deviceAt(unitId: number, host?: string): Device | undefined {
    const isBroadcast = unitId === BROADCAST && this.#framing.broadcasts;
    return isBroadcast ? undefined : this.#stations.at(host).of(unitId)?.device;
  }

  /**
   * Traffic counts for the devices at an address, or for the whole line if all of its addresses have the same
   * devices.
   */
  activityAt(host: string | undefined): Activity {
    return this.#stations.at(host).activity;
  }

  /**
   * Answers a request. A broadcast is executed without a reply. Undefined if no device on this line has the
   * unit identifier and another device on the bus may answer. The plan of a real device may arrive later.
   * @param moment the times that manners depend on; without it, timing manners do not act
   */
  answer(request: BusRequest, moment?: Moment): Reply | undefined {
    const framing = this.#framing;
    if (request.unitId === BROADCAST && framing.broadcasts) return this.#broadcast(request, moment);
    const station = this.#stations.at(request.host).of(request.unitId);
    if (!station) return framing.broadcasts ? undefined : this.#answerOf(this.#missingUnit(request));
    if (!station.hasPower) return this.#answerOf(silence('the device is off or booting'));
    const unheard = moment && station.device.timedManners?.whyUnheard(moment);
    if (unheard !== undefined) return this.#answerOf(silence(unheard));
    const { real } = station.device;
    if (real) return this.#realAnswer(real, station, request, moment);
    if (this.#faults.isEmpty) {
      const plan = this.#trueReply(station, request, moment);
      return this.#answerOf(plan, NO_FAULTS, station.framing);
    }
    const { plan, acted } = this.#faultyAnswer(station, request, moment);
    return this.#answerOf(plan, acted, station.framing);
  }

  /**
   * Notifies the devices that a client has connected to the line.
   * @param host the address that the client connected to
   */
  connected(connection: Connection, host: string | undefined): void {
    for (const { timedManners } of this.#stations.at(host).devices) timedManners?.connected(connection);
  }

  /** Drops the stored reply for a client that has disconnected. */
  forget(clientId: number): void {
    this.#lastReplies.delete(clientId);
  }

  /**
   * Call this when a closed line is opened again: drops earlier replies, and returns to the framing of the
   * definition.
   */
  reopened(): void {
    this.#lastReplies.clear();
    this.#framing = this.#line.framing;
  }

  /** Makes an answer in the current framing. Everything after this answer uses the framing `next`. */
  #answerOf(plan: ReplyPlan, acted = NO_FAULTS, next = this.#framing): Reply {
    const framing = this.#framing;
    const refused = this.#refused;
    this.#refused = undefined;
    this.#framing = next;
    return new Reply(framing, plan, acted, next === framing ? undefined : next, refused);
  }

  /**
   * Executes a broadcast once on every device, without a reply unless a device's manners answer broadcasts.
   * Also applies the rules that name unit 0.
   */
  #broadcast(request: BusRequest, moment: Moment | undefined): Reply {
    const { host } = request;
    const endpoint = this.#stations.at(host);
    const deaf = new Set<Device>();
    for (const device of endpoint.devices)
      if (moment && device.timedManners?.whyUnheard(moment)) deaf.add(device);
    const heard = [...endpoint.stations].filter(([, { device }]) => !deaf.has(device));
    const framing = this.#framing;
    const concerned = this.#faults.isEmpty
      ? undefined
      : heard.find(([, station]) => this.#faults.concern(this.#factsOf(station, request, moment)))?.[1];
    const acting = concerned ? this.#acting(concerned, request, moment) : [];
    const executed = prevents(acting) ? undefined : this.#executed(heard, request, moment);
    if (!concerned) return this.#answerOf(executed?.plan ?? NO_ANSWER, NO_FAULTS, executed?.framing);
    const previousReply = this.#lastReplies.get(request.clientId);
    const { plan, acted } = this.#applied(acting, executed?.plan, previousReply, concerned, request, framing);
    return this.#answerOf(plan, acted, executed?.framing);
  }

  /** Executes a broadcast. @returns the reply, which most devices do not send, and the framing after it */
  #executed(
    heard: readonly (readonly [unitId: number | '*', station: Station])[],
    request: BusRequest,
    moment: Moment | undefined,
  ) {
    const { pdu, client } = request;
    const executed: Executed = new Map();
    const asked = this.#framing;
    let framing = asked;
    let plan = NO_ANSWER;
    for (const [own, station] of heard) {
      const { device, hasPower } = station;
      device.writer = { by: 'line', line: this.#line.name, client };
      const { answersBroadcasts } = device.manners ?? {};
      if (answersBroadcasts && hasPower && !device.real && !executed.has(device)) {
        const response = station.process(pdu, framing);
        executed.set(device, response);
        const unitId = answersBroadcasts === 'own' && own !== '*' ? own : BROADCAST;
        if (response && plan === NO_ANSWER)
          plan = this.#replyOf(response, device, { ...request, unitId }, asked, moment);
      } else station.broadcast(pdu, framing, executed);
      framing = station.framing ?? framing;
    }
    return { plan, framing };
  }

  /** A gateway replies with exception 11 (Application Protocol V1.1b3, 7) unless it is configured not to reply. */
  #missingUnit({ transactionId, unitId, pdu }: BusRequest): ReplyPlan {
    if (this.#line.missingUnit === 'silence') return silence('no such unit');
    const response = exceptionResponse(pdu[0] as number, ExceptionCode.gatewayTargetDeviceFailedToRespond);
    return plainReply(this.#framing.encode({ transactionId, unitId, pdu: response }));
  }

  #trueReply(station: Station, request: BusRequest, moment: Moment | undefined): ReplyPlan {
    const { pdu, client } = request;
    station.device.writer = { by: 'line', line: this.#line.name, client };
    const response = station.process(pdu, this.#framing);
    if (!response) return silence(station.whySilent);
    if (response[1] === ExceptionCode.illegalDataAddress && (response[0] as number) & EXCEPTION_FLAG) {
      this.#refused = refusedAddresses(station.device.servedTables, pdu);
    }
    return this.#replyOf(response, station.device, request, this.#framing, moment);
  }

  #replyOf(
    pdu: Uint8Array,
    device: Device,
    { unitId, transactionId, clientId }: BusRequest,
    framing: Framing,
    moment: Moment | undefined,
  ): ReplyPlan {
    const reply = framing.encode({ transactionId, unitId, pdu });
    this.#lastReplies.set(clientId, reply);
    return plainReply(reply, moment && device.timedManners?.answered(pdu, moment));
  }

  #faultyAnswer(station: Station, request: BusRequest, moment: Moment | undefined): AppliedFaults {
    const acting = this.#acting(station, request, moment);
    if (acting.length === 0) return { plan: this.#trueReply(station, request, moment), acted: NO_FAULTS };
    const previousReply = this.#lastReplies.get(request.clientId);
    const reply = prevents(acting) ? undefined : this.#trueReply(station, request, moment);
    return this.#applied(acting, reply, previousReply, station, request, this.#framing);
  }

  /**
   * The rules that act on the reply to a request. Call this once per request, in order, because rules count
   * requests.
   */
  #acting(station: Station, request: BusRequest, moment: Moment | undefined): ActingRule[] {
    return this.#faults.match(this.#factsOf(station, request, moment));
  }

  #factsOf({ device }: Station, { unitId, pdu }: BusRequest, moment: Moment | undefined): RequestFacts {
    return {
      line: this.#line,
      isBroadcast: unitId === BROADCAST && this.#framing.broadcasts,
      unitId,
      device: device.name,
      functionCode: pdu[0] as number,
      ranges: addressRanges(pdu),
      circumstances: moment && circumstancesOf(moment),
      stored: device.stored,
      starts: device.starts,
    };
  }

  /** @param reply undefined if a fault hides the request from the device */
  #applied(
    acting: readonly ActingRule[],
    reply: ReplyPlan | undefined,
    previousReply: Uint8Array | undefined,
    station: Station,
    { unitId, transactionId, pdu }: BusRequest,
    framing: Framing,
  ): AppliedFaults {
    if (acting.length === 0 && reply) return { plan: reply, acted: NO_FAULTS };
    const answer = applyFaults(reply, acting, this.#line, {
      unitId,
      transactionId,
      requestPdu: pdu,
      framing,
      characterTime: this.#line.characterTime,
      previousReply,
      startTime: startWorkTime,
    });
    this.#faults.wereApplied(acting, answer.acted);
    if (!reply) station.stoodIn(firstResponse(answer.plan, framing), framing);
    return answer;
  }

  /**
   * Forwards a request to the real device behind a simulated one. The rules that act on the reply are chosen
   * now, in the order of the requests.
   */
  #realAnswer(real: RealDevice, station: Station, request: BusRequest, moment: Moment | undefined): Reply {
    const framing = this.#framing;
    const acting = this.#faults.isEmpty ? [] : this.#acting(station, request, moment);
    if (prevents(acting)) {
      const previousReply = this.#lastReplies.get(request.clientId);
      const { plan, acted } = this.#applied(acting, undefined, previousReply, station, request, framing);
      return this.#answerOf(plan, acted);
    }
    const { device } = station;
    const answer = new Reply(framing);
    const become = (outcome: RealOutcome) => {
      const previousReply = this.#lastReplies.get(request.clientId);
      if (outcome.kind === 'fallback')
        outcome.device.writer = { by: 'line', line: this.#line.name, client: request.client };
      const response = station.passedOn(request.pdu, outcome, framing);
      const reply = response
        ? this.#replyOf(response, device, request, framing, moment)
        : silence(outcome.kind === 'silence' ? outcome.reason : station.whySilent);
      const { plan, acted } = this.#applied(acting, reply, previousReply, station, request, framing);
      answer.become(plan, acted);
    };
    const taken = device.takes(request.pdu);
    if ('response' in taken) {
      const { response: pdu } = taken;
      become(pdu ? { kind: 'response', pdu } : { kind: 'silence', reason: station.whySilent });
    } else answer.onGivenUp(real.ask(request.unitId, taken.request, become));
    return answer;
  }
}

function circumstancesOf({ startedAt, receivedAt, quietSince, connection }: Moment): Circumstances {
  return {
    connected: connection && receivedAt - connection.since,
    nth: connection?.requests,
    pause: quietSince === undefined ? undefined : Math.max(0, startedAt - quietSince),
  };
}

/** The response PDU of the first frame in a plan; undefined if the plan sends no readable frame. */
function firstResponse(plan: ReplyPlan, framing: Framing): Uint8Array | undefined {
  const step = plan.kind === 'send' ? plan.steps.find(({ kind }) => kind === 'bytes') : undefined;
  return step?.kind === 'bytes' ? framing.fields(step.bytes)?.pdu : undefined;
}
