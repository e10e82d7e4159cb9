import type { Device } from '../device/device.js';
import type { FaultLine } from '../faults/ability.js';
import { type ActedFault, applyFaults, prevents } from '../faults/apply.js';
import type { FaultRules } from '../faults/rules.js';
import { addressRanges } from '../protocol/address-range.js';
import type { Framing } from '../protocol/framing.js';
import { FunctionCode } from '../protocol/function-code.js';
import { plainReply, type ReplyPlan, silence } from '../protocol/reply-plan.js';

/** A request as the bus sees it, whatever carried it. */
export interface BusRequest {
  readonly unitId: number;
  readonly pdu: Uint8Array;
  /** 0 where the framing has none. */
  readonly transactionId: number;
  /** Which client of the line it came from; a serial line has one. */
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

/** Functions that a broadcast may carry: those that write (Modbus over Serial Line V1.02, 2.2). */
const WRITING: ReadonlySet<number> = new Set([
  FunctionCode.writeSingleCoil,
  FunctionCode.writeSingleRegister,
  FunctionCode.writeMultipleCoils,
  FunctionCode.writeMultipleRegisters,
  FunctionCode.maskWriteRegister,
  FunctionCode.readWriteMultipleRegisters,
]);

/** The devices of one line: finds who is meant by a request, makes a plan of the answer, lets the faults change it. */
export class Bus {
  readonly #line: BusLine;
  readonly #units: Units;
  readonly #faults: FaultRules;
  /** The true reply to each client's last request, for faults that send it late. */
  readonly #lastReplies = new Map<number, Uint8Array>();

  constructor(line: BusLine, units: Units, faults: FaultRules) {
    this.#line = line;
    this.#units = units;
    this.#faults = faults;
  }

  /** The line as fault rules see it. */
  get line(): FaultLine {
    return this.#line;
  }

  /** True when a device of this line answers for `unitId`. */
  owns(unitId: number): boolean {
    return this.#units.has(unitId) || this.#units.has('*');
  }

  /** The devices of this line, each once. */
  get devices(): ReadonlySet<Device> {
    return new Set(this.#units.values());
  }

  /** Undefined when no device of this line has the unit identifier: what then happens differs between lines. */
  answer(request: BusRequest): Answer | undefined {
    const device = this.#units.get(request.unitId) ?? this.#units.get('*');
    if (!device) return undefined;
    if (this.#faults.isEmpty) return { plan: plainReply(this.#reply(device, request)), acted: NO_FAULTS };
    return this.#faultyAnswer(device, request);
  }

  /** Executes a broadcast on every device, silently. */
  broadcast(pdu: Uint8Array): Answer {
    const writes = WRITING.has(pdu[0] as number);
    if (writes) for (const device of this.devices) device.respond(pdu);
    return {
      plan: silence(writes ? 'broadcast' : 'broadcast of a function that does not write'),
      acted: NO_FAULTS,
    };
  }

  /** A client is gone: what was kept for it is not needed any more. */
  forget(clientId: number): void {
    this.#lastReplies.delete(clientId);
  }

  #reply(device: Device, { unitId, pdu, transactionId, clientId }: BusRequest): Uint8Array {
    const reply = this.#line.framing.encode({ transactionId, unitId, pdu: device.respond(pdu) });
    this.#lastReplies.set(clientId, reply);
    return reply;
  }

  #faultyAnswer(device: Device, request: BusRequest): Answer {
    const { unitId, pdu, transactionId, clientId } = request;
    const { name, framing, characterTime } = this.#line;
    const facts = { line: name, unitId, functionCode: pdu[0] as number, ranges: addressRanges(pdu) };
    const acting = this.#faults.match(facts);
    const previousReply = this.#lastReplies.get(clientId);
    const plan = prevents(acting)
      ? silence('kept from the device by a fault rule')
      : plainReply(this.#reply(device, request));
    const context = { unitId, transactionId, requestPdu: pdu, framing, characterTime, previousReply };
    return applyFaults(plan, acting, this.#line, context);
  }
}
