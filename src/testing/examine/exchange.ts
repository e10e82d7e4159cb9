import { EXCEPTION_FLAG } from '../../protocol/function-code.js';
import { addressRanges } from '../../protocol/pdu.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../traffic/event.js';
import { sentFrames } from '../../traffic/sent-bytes.js';

/** A request of the client, and what became of it. Times are in ms of the clock of the examination. */
export interface Exchange {
  /** Sequence number of the request. */
  readonly seq: number;
  /** When its last byte was read. */
  readonly at: number;
  readonly request: FrameEvent;
  readonly pdu: Uint8Array;
  /** What was asked, the same for each repetition: unit, function and addresses. What is written does not matter. */
  readonly question: string;
  /** What was sent, or that nothing was; undefined as long as that is not decided. */
  reply: ReplyEvent | undefined;
  /** A fault of the examination acted on it. */
  isSpoilt: boolean;
}

const REQUESTS: ReadonlySet<string> = new Set(['request', 'broadcast', 'dropped', 'foreign request']);

/** A request as an exchange without a reply; undefined for any other event. */
export function exchangeOf(event: TrafficEvent): Exchange | undefined {
  if (!isRequest(event)) return undefined;
  const pdu = event.framing.fields(event.bytes)?.pdu;
  if (pdu === undefined) return undefined;
  const { seq, at, unitId } = event;
  return {
    seq,
    at,
    request: event,
    pdu,
    question: questionOf(unitId, pdu),
    reply: undefined,
    isSpoilt: false,
  };
}

function isRequest(event: TrafficEvent): event is FrameEvent {
  return REQUESTS.has(event.kind);
}

function questionOf(unitId: number, pdu: Uint8Array): string {
  const ranges = addressRanges(pdu).map(({ address, quantity }) => `${address}+${quantity}`);
  const rest = ranges.length > 0 ? ranges.join(',') : Buffer.from(pdu.subarray(1)).toString('hex');
  return `${unitId}/${pdu[0]}/${rest}`;
}

/** When the first byte of the reply left; undefined when none did. */
export function repliedFrom({ reply }: Exchange): number | undefined {
  return reply?.report.steps.find(({ outcome }) => outcome === 'achieved')?.achievedAt;
}

/** When the last byte of the reply left; undefined when none did. */
export function repliedUntil({ reply }: Exchange): number | undefined {
  return reply?.report.steps.findLast(({ outcome }) => outcome === 'achieved')?.endedAt;
}

/** Whether the exchange went as it should: answered as the device answers, with no exception, and not spoilt. */
export function wentWell({ reply, isSpoilt }: Exchange): boolean {
  if (isSpoilt || !reply) return false;
  const [frame] = sentFrames(reply.plan, reply.report);
  const code = frame && reply.framing.decode(frame)?.pdu[0];
  return code !== undefined && (code & EXCEPTION_FLAG) === 0;
}

/** Transaction identifier of the request on TCP; 0 where the framing has none. */
export function transactionOf({ request: { framing, bytes } }: Exchange): number {
  return framing.fields(bytes)?.transactionId ?? 0;
}
