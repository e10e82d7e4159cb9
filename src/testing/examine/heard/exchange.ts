import { EXCEPTION_FLAG } from '../../../protocol/function-code.js';
import { addressRanges } from '../../../protocol/pdu.js';
import { sentFrames } from '../../../protocol/reply-plan.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../traffic/event.js';

/** A fault rule that an examination has put in. */
export interface OwnRule {
  readonly name: string;
  /** What it does, as `do` of a fault rule. */
  readonly faults: readonly object[];
  /** False for a rule that gives replies another value, and leaves them good replies. */
  readonly isSpoiling: boolean;
}

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
  /** The fault rule of the examination that spoilt its reply. */
  rule: OwnRule | undefined;
  /** The request before it and after it: of the same connection, or of the one that took the place of a closed one. */
  before: Exchange | undefined;
  next: Exchange | undefined;
  /** When its connection ended, where no other request came over it. */
  closedAt: number | undefined;
  /** What `wentWell` has found; undefined as long as nobody has asked. */
  isGood: boolean | undefined;
}

const REQUESTS: ReadonlySet<string> = new Set(['request', 'broadcast', 'dropped', 'foreign request']);

/** A request as an exchange without a reply; undefined for any other event. */
export function exchangeOf(event: TrafficEvent): Exchange | undefined {
  if (!isRequest(event)) return undefined;
  const pdu = event.framing.fields(event.bytes)?.pdu;
  if (pdu === undefined) return undefined;
  const { seq, at, unitId } = event;
  const open = {
    reply: undefined,
    rule: undefined,
    before: undefined,
    next: undefined,
    closedAt: undefined,
    isGood: undefined,
  };
  return { seq, at, request: event, pdu, question: questionOf(unitId, pdu), ...open };
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
export function wentWell(exchange: Exchange): boolean {
  if (exchange.rule || !exchange.reply) return false;
  exchange.isGood ??= isGood(exchange.reply);
  return exchange.isGood;
}

function isGood({ plan, report, framing }: ReplyEvent): boolean {
  const [frame] = sentFrames(plan, report);
  const code = frame && framing.decode(frame)?.pdu[0];
  return code !== undefined && (code & EXCEPTION_FLAG) === 0;
}

/** Transaction identifier of the request on TCP; 0 where the framing has none. */
export function transactionOf({ request: { framing, bytes } }: Exchange): number {
  return framing.fields(bytes)?.transactionId ?? 0;
}
