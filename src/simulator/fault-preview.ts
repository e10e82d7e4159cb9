import type { Device } from '../device/device.js';
import { predict } from '../device/read-write.js';
import { startWorkTime } from '../faults/budget.js';
import { type PlayedRule, playRule } from '../faults/preview.js';
import type { FaultRule } from '../faults/rule.js';
import { concatBytes, packBits, packWords } from '../protocol/bytes.js';
import { FunctionCode } from '../protocol/function-code.js';
import { functionOf } from '../protocol/function-table.js';
import { addressRanges } from '../protocol/pdu.js';
import { achieved, type StepReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';
import type { TrafficEvent } from '../traffic/event.js';
import { sentBytes } from '../traffic/sent-bytes.js';
import type { Line } from './line.js';
import { lineStatus } from './line-status.js';
import type { Simulator } from './simulator.js';

/** A request that may have been sent, or not, to one of our units. */
export interface LikeRequest {
  readonly line: Line;
  readonly device: Device;
  readonly unitId: number;
  readonly transactionId: number;
  readonly pdu: Uint8Array;
  /** The reply without any fault; the whole frame. */
  readonly reply: Uint8Array;
}

/** A request that nobody has sent. What is absent is the first there is. */
export interface MadeUpRequest {
  readonly line?: string | undefined;
  readonly unit?: number | undefined;
  readonly function: number;
  readonly address: number;
  readonly quantity: number;
}

/** So many events after a request, its reply is looked for. */
const MOST_SEARCHED = 256;

/** The request of an event of the traffic, or why there is none. @param seq of the request, or of its reply */
export function likeEvent(simulator: Simulator, seq: number): LikeRequest | string {
  const event = simulator.traffic.read(seq);
  if (!event) return `event ${seq} is not kept; the newest is ${simulator.traffic.last}`;
  const adu = requestAdu(event);
  const line = simulator.lines.get(event.line);
  if (!adu) return `event ${seq} is of kind ${event.kind}; expected a request, or the reply to one`;
  if (!line) return `line ${event.line} is not there any more`;
  const content = adu.framing.decode(adu.bytes);
  if (!content) return `event ${seq} is no whole request`;
  return complete({ ...content, line }, keptReply(simulator, event));
}

/** A request that nobody has sent, or why nobody can send it. */
export function likeMadeUp(simulator: Simulator, wanted: MadeUpRequest): LikeRequest | string {
  const [first] = simulator.lines.keys();
  const line = simulator.lines.get(wanted.line ?? first ?? '');
  if (!line) return `unknown line ${wanted.line}, expected one of ${[...simulator.lines.keys()].join(', ')}`;
  const listed = [...line.definition.units.keys()].find((unit) => unit !== '*');
  const unitId = wanted.unit ?? (typeof listed === 'number' ? listed : 1);
  return complete({ line, unitId, transactionId: 1, pdu: madeUpPdu(wanted) });
}

type Asked = Pick<LikeRequest, 'line' | 'unitId' | 'transactionId' | 'pdu'>;

function complete(asked: Asked, kept?: Uint8Array): LikeRequest | string {
  const { line, unitId, transactionId, pdu } = asked;
  const { definition } = line;
  if (definition.kind === 'serial' && definition.mode === 'monitor') return `line ${line.name} only listens`;
  const { framing } = line.bus;
  const device = line.bus.deviceAt(unitId);
  if (unitId === 0 && framing.broadcasts) return 'unit 0 is a broadcast, which nobody answers';
  if (!device) return `line ${line.name} has no unit ${unitId}`;
  const response = kept === undefined ? predict(device.servedTables, pdu) : undefined;
  const reply = kept ?? (response && framing.encode({ unitId, transactionId, pdu: response }));
  if (!reply) return `no true reply to function ${pdu[0]} is kept; take a request that was answered`;
  return { ...asked, device, reply };
}

function requestAdu(event: TrafficEvent) {
  switch (event.kind) {
    case 'request':
    case 'dropped':
    case 'foreign request':
      return { bytes: event.bytes, framing: event.framing };
    case 'reply':
      return { bytes: event.requestAdu, framing: event.framing };
    default:
      return undefined;
  }
}

/** The true reply to a request, where it is kept: one that no fault has acted on. */
function keptReply({ traffic }: Simulator, event: TrafficEvent): Uint8Array | undefined {
  const request = event.kind === 'reply' ? event.request : event.seq;
  for (let seq = event.seq; seq < event.seq + MOST_SEARCHED && seq <= traffic.last; seq++) {
    const reply = traffic.read(seq);
    if (reply?.kind !== 'reply' || reply.request !== request) continue;
    const isTrue = reply.acted.length === 0 && reply.report.ended === 'complete';
    const sent = isTrue ? sentBytes(reply.plan, reply.report) : [];
    return sent.length > 0 ? concatBytes(...sent) : undefined;
  }
  return undefined;
}

function madeUpPdu({ function: code, address, quantity }: MadeUpRequest): Uint8Array {
  const head = (second: number) => concatBytes([code], packWords([address, second]));
  switch (code) {
    case FunctionCode.writeSingleCoil:
    case FunctionCode.writeSingleRegister:
      return head(0);
    case FunctionCode.writeMultipleCoils: {
      const data = packBits(new Array<boolean>(quantity).fill(false));
      return concatBytes(head(quantity), [data.length], data);
    }
    case FunctionCode.writeMultipleRegisters:
      return concatBytes(head(quantity), [2 * quantity], packWords(new Array<number>(quantity).fill(0)));
    default:
      return functionOf(code)?.ranges.length ? head(quantity) : Uint8Array.of(code);
  }
}

/** What a rule would make of the reply to a request. */
export interface FaultPreview extends PlayedRule {
  /** When each step would happen on a line that is free, in ms since the end of the request. */
  readonly steps: readonly StepReport[];
  /** Times of a serial line, in ms. */
  readonly wire: { readonly characterTime: number; readonly t35: number } | undefined;
}

/**
 * Plays a rule on the reply to a request. Nothing is sent, executed or counted; other rules do not act. The reply before,
 * which `stale` sends, is taken to have been the same.
 */
export function previewFault(rule: FaultRule, like: LikeRequest): FaultPreview {
  const { line, device, unitId, transactionId, pdu, reply } = like;
  const { times } = lineStatus(line);
  const { line: faultLine, framing } = line.bus;
  const characterTime = times?.characterTime ?? 0;
  const ranges = addressRanges(pdu);
  const played = playRule(
    rule,
    {
      line: faultLine,
      unitId,
      device: device.name,
      functionCode: pdu[0] as number,
      ranges,
      stored: device.stored,
    },
    reply,
    {
      unitId,
      transactionId,
      requestPdu: pdu,
      framing,
      characterTime,
      previousReply: reply,
      startTime: startWorkTime,
    },
    Math.random,
  );
  const steps = timesOf(played.plan, times?.turnaround ?? 0, characterTime);
  return { ...played, steps, wire: times && { characterTime, t35: times.t35 } };
}

/** When each step of a plan would happen. */
function timesOf(plan: ReplyPlan, turnaround: number, characterTime: number): StepReport[] {
  if (plan.kind === 'silence') return [];
  let at = plan.early ? 0 : turnaround;
  return plan.steps.map((step) => {
    const plannedAt = at + step.waitMs;
    at = plannedAt;
    if (step.kind === 'bytes') at += step.bytes.length * characterTime;
    if (step.kind === 'break') at += step.ms;
    return achieved(plannedAt, plannedAt, at, undefined);
  });
}
