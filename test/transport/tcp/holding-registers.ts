import { wordAt } from '../../../src/protocol/bytes.js';
import { encodeMbap } from '../../../src/protocol/mbap.js';
import type { PlayReport } from '../../../src/protocol/play-report.js';
import { plainReply, type ReplyPlan } from '../../../src/protocol/reply-plan.js';
import type { TcpLineEvent, TcpLineHandler, TcpRequest } from '../../../src/transport/tcp/handler.js';

/** A small device: functions 3, 6 and 16 on 1000 holding registers, exception 01 for the rest. Remembers what happened. */
export class HoldingRegisters implements TcpLineHandler {
  readonly registers = new Uint16Array(1000);
  readonly requests: TcpRequest[] = [];
  readonly events: TcpLineEvent[] = [];
  readonly reports: { readonly request: TcpRequest; readonly report: PlayReport }[] = [];
  /** What a fault would do: changes the plain plan. */
  fault: (plan: ReplyPlan, request: TcpRequest) => ReplyPlan = (plan) => plan;

  request(request: TcpRequest): ReplyPlan {
    this.requests.push(request);
    return this.fault(plainReply(encodeMbap({ ...request, pdu: this.#respond(request.pdu) })), request);
  }

  event(event: TcpLineEvent): void {
    this.events.push(event);
  }

  played(request: TcpRequest, report: PlayReport): void {
    this.reports.push({ request, report });
  }

  /** Reasons of the connections that the line closed. */
  get rejections(): string[] {
    return this.events.flatMap((event) => (event.kind === 'rejected' ? [event.reason] : []));
  }

  #respond(pdu: Uint8Array): Uint8Array {
    const [code = 0] = pdu;
    const address = wordAt(pdu, 1);
    if (code === 3) {
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
