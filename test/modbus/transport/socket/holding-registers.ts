import { wordAt } from '../../../../src/modbus/protocol/bytes.js';
import { type Framing, SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { encodeMbap } from '../../../../src/modbus/protocol/mbap.js';
import {
  type PlayReport,
  plainReply,
  type ReplyPlan,
  silence,
} from '../../../../src/modbus/protocol/reply-plan.js';
import type {
  LineEvent,
  LineHandler,
  LineReply,
  LineRequest,
} from '../../../../src/modbus/transport/transport.js';

/** A small device: functions 3, 6 and 16 on 1000 holding registers, exception 01 for the rest. Remembers what happened. */
export class HoldingRegisters implements LineHandler {
  readonly framing: Framing;
  readonly registers = new Uint16Array(1000);
  readonly requests: LineRequest[] = [];
  readonly events: LineEvent[] = [];
  readonly reports: { readonly request: LineRequest; readonly report: PlayReport }[] = [];
  /** What a fault would do: changes the plain plan. */
  fault: (plan: ReplyPlan, request: LineRequest) => ReplyPlan = (plan) => plan;
  #lastClientId = 0;

  constructor(framing: Framing = SOCKET) {
    this.framing = framing;
  }

  newClientId(): number {
    return ++this.#lastClientId;
  }

  /** Every unit, and where others may be on the line, units 1 to 99. */
  owns(unitId: number): boolean {
    return !this.framing.broadcasts || (unitId >= 1 && unitId <= 99);
  }

  request(request: LineRequest, begin: (reply: LineReply) => void): void {
    this.requests.push(request);
    begin({ plan: this.#plan(request), played: (report) => this.reports.push({ request, report }) });
  }

  #plan(request: LineRequest): ReplyPlan {
    const response = this.framing.encode({ ...request, pdu: this.#respond(request.pdu) });
    if (this.framing.broadcasts && request.unitId === 0) return silence('broadcast');
    return this.fault(plainReply(response), request);
  }

  event(event: LineEvent): void {
    this.events.push(event);
  }

  /** Reasons of the connections that the line closed. */
  get rejections(): string[] {
    return this.events.flatMap((event) => (event.kind === 'rejected' ? [event.reason] : []));
  }

  #respond(pdu: Uint8Array): Uint8Array {
    const [code = 0] = pdu;
    const address = wordAt(pdu, 1);
    if (code === 3) {
      if (pdu.length !== 5) return Uint8Array.of(0x83, 3);
      const words = this.registers.slice(address, address + wordAt(pdu, 3));
      return Uint8Array.from([
        3,
        2 * words.length,
        ...[...words].flatMap((word) => [word >> 8, word & 0xff]),
      ]);
    }
    if (code === 6) {
      this.registers[address] = wordAt(pdu, 3);
      return pdu;
    }
    if (code === 16) {
      for (let i = 0; i < wordAt(pdu, 3); i++) this.registers[address + i] = wordAt(pdu, 6 + 2 * i);
      return pdu.subarray(0, 5);
    }
    return Uint8Array.of(code | 0x80, 1);
  }
}

export function readRequest(transactionId: number, address: number, quantity = 1, unitId = 1): Uint8Array {
  const pdu = Uint8Array.of(3, address >> 8, address & 0xff, quantity >> 8, quantity & 0xff);
  return encodeMbap({ transactionId, unitId, pdu });
}

/** The plan with `ms` before its first step. */
export function delayed(plan: ReplyPlan, ms: number): ReplyPlan {
  if (plan.kind === 'silence') return plan;
  return { ...plan, steps: plan.steps.map((step, i) => (i === 0 ? { ...step, waitMs: ms } : step)) };
}
