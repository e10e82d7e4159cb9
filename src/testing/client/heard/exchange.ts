import { EXCEPTION_FLAG } from '../../../modbus/protocol/function-code.js';
import { addressRanges } from '../../../modbus/protocol/pdu.js';
import { requestMessage } from '../../../simulator/traffic/decode-request.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../simulator/traffic/event.js';
import { isRequest, pduOf } from '../../tested-line.js';
import { median } from '../../times.js';

/** A fault rule put in force by the client test. */
export interface OwnRule {
  readonly name: string;
  /** The faults of the rule, like `do` in a fault rule. */
  readonly faults: readonly object[];
  /** False for a rule that only changes the value in replies, which remain good. */
  readonly isSpoiling: boolean;
}

/** A request of the client, and its reply. Times are in ms on the client test's clock. */
export interface Exchange {
  readonly seq: number;
  /** When the last byte of the request was read. */
  readonly at: number;
  readonly request: FrameEvent;
  readonly pdu: Uint8Array;
  /**
   * Identifies the poll: unit, function and addresses. All repetitions have the same text; the values in a
   * write do not matter.
   */
  readonly poll: string;
  /** The reply, or the event that none was sent; absent until that is decided. */
  reply?: ReplyEvent | undefined;
  /** The client test's fault rule that altered the reply. */
  rule?: OwnRule | undefined;
  /** The requests before and after this one, over the same connection or over one that replaced a closed one. */
  before?: Exchange | undefined;
  next?: Exchange | undefined;
  /** The polls of the client that sent it, as far as its connections can be attributed to one client. */
  asks?: Set<string>;
  /** When the connection ended, if no further request came over it. */
  closedAt?: number;
  /** True if the client was stuck, so that its next action is not typical. */
  isStuck?: boolean;
  /** The cached result of `wentWell`. */
  isGood?: boolean;
}

/** Makes an exchange from a request, without a reply; undefined for any other event. */
export function exchangeOf(event: TrafficEvent): Exchange | undefined {
  if (!isRequest(event)) return undefined;
  const pdu = event.framing.fields(event.bytes)?.pdu;
  if (pdu === undefined) return undefined;
  const { seq, at, unitId } = event;
  return { seq, at, request: event, pdu, poll: pollOf(unitId, pdu) };
}

function pollOf(unitId: number, pdu: Uint8Array): string {
  const ranges = addressRanges(pdu).map(({ address, quantity }) => `${address}+${quantity}`);
  const rest = ranges.length > 0 ? ranges.join(',') : Buffer.from(pdu.subarray(1)).toString('hex');
  return `${unitId}/${pdu[0]}/${rest}`;
}

/** When the first byte of the reply left; undefined if none did. */
export function repliedFrom({ reply }: Exchange): number | undefined {
  return reply?.report.steps.find(({ outcome }) => outcome === 'achieved')?.achievedAt;
}

/** When the last byte of the reply left; undefined if none did. */
export function repliedUntil({ reply }: Exchange): number | undefined {
  return reply?.report.steps.findLast(({ outcome }) => outcome === 'achieved')?.endedAt;
}

/**
 * How long after the end of a reply the next request began, in ms. Undefined without a reply, and if the
 * client sent the next request before the reply left, so that it did not react to the reply.
 */
export function askedAfterReply(exchange: Exchange, { request }: Exchange): number | undefined {
  const until = repliedUntil(exchange);
  return until === undefined || request.startedAt < until ? undefined : request.startedAt - until;
}

/** The longest actual pause between two pieces of the reply, in ms. */
export function longestPauseIn(exchange: Exchange | undefined): number {
  const steps = exchange?.reply?.report.steps ?? [];
  return Math.max(0, ...steps.slice(1).map((step, i) => step.achievedAt - (steps[i]?.endedAt ?? 0)));
}

/** True if the device's own reply was sent unaltered, and is not an exception. */
export function wentWell(exchange: Exchange): boolean {
  if (exchange.rule || !exchange.reply) return false;
  exchange.isGood ??= isGood(exchange.reply);
  return exchange.isGood;
}

function isGood(reply: ReplyEvent): boolean {
  const code = pduOf(reply)?.[0];
  return code !== undefined && (code & EXCEPTION_FLAG) === 0;
}

/** Explains why the client test's rule could not act on the reply; undefined if it could, or if nothing is known. */
export function whyNotActed({ rule, reply }: Exchange): string | undefined {
  const acted = reply?.acted.filter((each) => each.rule === rule?.name) ?? [];
  return acted.some(({ notAchieved }) => notAchieved === undefined) ? undefined : acted[0]?.notAchieved;
}

/** The transaction identifier of the request on TCP; 0 if the framing has none. */
export function transactionOf({ request: { framing, bytes } }: Exchange): number {
  return framing.fields(bytes)?.transactionId ?? 0;
}

/** A request that the client sends repeatedly, as seen while watching. Times are in ms. */
export interface Poll {
  /** Identifies the poll, like `Exchange.poll`. */
  readonly key: string;
  readonly unitId: number;
  readonly functionCode: number;
  readonly pdu: Uint8Array;
  /** The poll in words: `unit 1 read holding registers 0–9`. */
  readonly text: string;
  readonly asked: readonly Exchange[];
  /** The times between consecutive requests. */
  readonly intervals: readonly number[];
  /** The median of the intervals; undefined if it was sent only once. */
  readonly periodMs: number | undefined;
  /** True if nearly every request was answered properly: on a busy machine, a reply may come too late. */
  readonly isAnswered: boolean;
}

/** Groups exchanges by poll, in the order of their first requests. */
export function pollsIn(exchanges: readonly Exchange[]): Poll[] {
  const byKey = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const asked = byKey.get(exchange.poll);
    if (asked) asked.push(exchange);
    else byKey.set(exchange.poll, [exchange]);
  }
  return Array.from(byKey, ([key, asked]) => poll(key, asked));
}

/** The fraction of its requests that must be answered for a poll to count as answered. */
const ANSWERED = 0.8;

function poll(key: string, asked: readonly Exchange[]): Poll {
  const [{ request, pdu }] = asked as [Exchange];
  const intervals = timesBetween(asked);
  // The newest request may still wait for its reply.
  const decided = asked.filter(({ reply }, i) => reply !== undefined || i < asked.length - 1);
  return {
    key,
    unitId: request.unitId,
    functionCode: request.functionCode,
    pdu,
    text: `unit ${request.unitId} ${requestMessage(pdu).text}`,
    asked,
    intervals,
    periodMs: intervals.length > 0 ? median(intervals) : undefined,
    isAnswered:
      request.kind === 'request' &&
      decided.length > 0 &&
      decided.filter(wentWell).length >= ANSWERED * decided.length,
  };
}

/** The times from each exchange to the next one, in ms. */
export function timesBetween(asked: readonly Exchange[]): number[] {
  return asked.slice(1).map(({ at }, i) => at - (asked[i] as Exchange).at);
}

/** Functions 1 and 2 read bits, 3 and 4 read registers. Altering replies to them changes nothing in the plant. */
const LAST_BITS = 2;
const LAST_READING = 4;

export function isReading({ functionCode }: Pick<Poll, 'functionCode'>): boolean {
  return functionCode <= LAST_READING;
}

/**
 * True if a reply does not show whether it belongs to the exchange or to the target: both read the same
 * amount from the same unit.
 */
export function isAlike({ request, pdu }: Exchange, target: Poll): boolean {
  if (request.unitId !== target.unitId || pdu[0] !== target.functionCode) return false;
  const [asked, other] = [addressRanges(target.pdu)[0], addressRanges(pdu)[0]];
  // A reply to a read function does not contain the addresses.
  return asked?.quantity === other?.quantity && (isReading(target) || asked?.address === other?.address);
}

/** How much a poll reads, and the number of data bytes in its reply; undefined if it reads nothing. */
export function readingOf({ functionCode, pdu }: Pick<Poll, 'functionCode' | 'pdu'>) {
  const quantity = addressRanges(pdu)[0]?.quantity;
  if (functionCode > LAST_READING || quantity === undefined) return undefined;
  const isBits = functionCode <= LAST_BITS;
  return { isBits, quantity, bytes: isBits ? Math.ceil(quantity / 8) : 2 * quantity };
}

/**
 * Chooses the poll to disturb: the most frequent one that is answered, preferably one that reads.
 * @param unitId only polls to this unit count; if undefined, polls to any unit
 */
export function targetOf(polls: readonly Poll[], unitId: number | undefined): Poll | undefined {
  const fit = polls.filter(
    (each) => each.isAnswered && (unitId === undefined || each.unitId === unitId) && each.asked.length > 1,
  );
  const reading = fit.filter(isReading);
  const [first, ...others] = reading.length > 0 ? reading : fit;
  return others.reduce((best, each) => (each.asked.length > (best?.asked.length ?? 0) ? each : best), first);
}

/** The conditions of a fault rule that acts on only one poll. */
export function conditionsOf({ unitId, functionCode, pdu }: Poll): object {
  const [range] = addressRanges(pdu);
  return {
    unit: unitId,
    function: functionCode,
    ...(range && { address: range.address, quantity: range.quantity }),
  };
}
