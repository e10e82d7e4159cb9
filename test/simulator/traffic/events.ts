import { type Framing, RTU } from '../../../src/modbus/protocol/framing.js';
import {
  achieved,
  type PlayReport,
  plainReply,
  type ReplyPlan,
  type Step,
} from '../../../src/modbus/protocol/reply-plan.js';
import type { FrameEvent, ReplyEvent } from '../../../src/simulator/traffic/event.js';

/** The bytes that a text of hexadecimal digits stands for: `03 0000 000a`. */
export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

/** The ADU of a PDU that is written in hexadecimal digits. */
export function adu(pdu: string, framing: Framing = RTU, unitId = 17): Uint8Array {
  return framing.encode({ transactionId: 7, unitId, pdu: bytesOf(pdu) });
}

const COMMON = { line: 'bench', at: 1000, time: 1_790_000_000_000, client: undefined, clientId: 0 };

/** A frame for unit 17, in RTU unless the framing says otherwise. */
export function frameEvent(pdu: string, change: Partial<FrameEvent> = {}): FrameEvent {
  const { framing = RTU, unitId = 17 } = change;
  return {
    ...COMMON,
    seq: 1,
    kind: 'request',
    bytes: adu(pdu, framing, unitId),
    framing,
    startedAt: 992,
    pause: 20,
    characterTime: 1,
    unitId,
    functionCode: bytesOf(pdu)[0] as number,
    answers: undefined,
    ...change,
  };
}

/** What came of a request to unit 17: the reply with a PDU, unless another plan is given. All of its steps were done. */
export function replyEvent(
  requestPdu: string,
  responsePdu: string,
  { framing = RTU, ...change }: Partial<ReplyEvent> = {},
): ReplyEvent {
  const plan = change.plan ?? plainReply(adu(responsePdu, framing));
  return {
    ...COMMON,
    seq: 2,
    kind: 'reply',
    at: 1004,
    framing,
    request: 1,
    requestAdu: adu(requestPdu, framing),
    requestedAt: 1000,
    unitId: 17,
    functionCode: bytesOf(requestPdu)[0] as number,
    acted: [],
    omittedFaults: 0,
    report: allDone(plan),
    ...change,
    plan,
  };
}

/** The plan that sends these pieces. */
export function sendPlan(...steps: readonly Step[]): ReplyPlan {
  return { kind: 'send', early: false, steps };
}

function allDone(plan: ReplyPlan): PlayReport {
  const steps = plan.kind === 'send' ? plan.steps : [];
  return { steps: steps.map(() => achieved(1004, 1004, 1010, 0)), ended: 'complete' };
}
