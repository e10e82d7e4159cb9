import { EXCEPTION_FLAG } from '../../../modbus/protocol/function-code.js';
import { addressRanges } from '../../../modbus/protocol/pdu.js';
import { requestMessage } from '../../../simulator/traffic/decode-request.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../simulator/traffic/event.js';
import { isRequest, pduOf } from '../../tested-line.js';
import { median } from '../../times.js';

/** A fault rule that the client test has put in force. */
export interface OwnRule {
  readonly name: string;
  /** What the rule does, as `do` of a fault rule. */
  readonly faults: readonly object[];
  /** False for a rule that gives replies another value and leaves them good replies. */
  readonly isSpoiling: boolean;
}

/** A request of the client, and its reply. Times are in ms of the clock of the client test. */
export interface Exchange {
  readonly seq: number;
  /** When the last byte of the request was read. */
  readonly at: number;
  readonly request: FrameEvent;
  readonly pdu: Uint8Array;
  /**
   * Identifies what was asked: unit, function and addresses. All repetitions have the same text; the values
   * of a write do not matter.
   */
  readonly poll: string;
  /** What was sent as reply, or that nothing was; absent until that is decided. */
  reply?: ReplyEvent | undefined;
  /** The fault rule of the client test that spoilt the reply. */
  rule?: OwnRule | undefined;
  /**
   * The requests before and after this one, over the same connection or over one that took the place of a
   * closed one.
   */
  before?: Exchange | undefined;
  next?: Exchange | undefined;
  /** The polls of the client that sent it, as far as its connections are known to be of one client. */
  asks?: Set<string>;
  /** When the connection ended, if no other request came over it. */
  closedAt?: number;
  /** True when the client was stuck, so that what it did next is not what it usually does. */
  isStuck?: boolean;
  /** The result of `wentWell`; absent until somebody has asked. */
  isGood?: boolean;
}

/** Makes an exchange of a request, without a reply; undefined for any other event. */
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

/** When the first byte of the reply left; undefined when none did. */
export function repliedFrom({ reply }: Exchange): number | undefined {
  return reply?.report.steps.find(({ outcome }) => outcome === 'achieved')?.achievedAt;
}

/** When the last byte of the reply left; undefined when none did. */
export function repliedUntil({ reply }: Exchange): number | undefined {
  return reply?.report.steps.findLast(({ outcome }) => outcome === 'achieved')?.endedAt;
}

/**
 * How long after the end of a reply the next request began, in ms; undefined without a reply, and when the
 * client asked on before the reply left: then it did not answer that.
 */
export function askedAfterReply(exchange: Exchange, { request }: Exchange): number | undefined {
  const until = repliedUntil(exchange);
  return until === undefined || request.startedAt < until ? undefined : request.startedAt - until;
}

/** The longest pause that was really made between two pieces of the reply, in ms. */
export function longestPauseIn(exchange: Exchange | undefined): number {
  const steps = exchange?.reply?.report.steps ?? [];
  return Math.max(0, ...steps.slice(1).map((step, i) => step.achievedAt - (steps[i]?.endedAt ?? 0)));
}

/**
 * True when the request was answered as the device answers, with no exception, and nothing spoilt the reply.
 */
export function wentWell(exchange: Exchange): boolean {
  if (exchange.rule || !exchange.reply) return false;
  exchange.isGood ??= isGood(exchange.reply);
  return exchange.isGood;
}

function isGood(reply: ReplyEvent): boolean {
  const code = pduOf(reply)?.[0];
  return code !== undefined && (code & EXCEPTION_FLAG) === 0;
}

/**
 * Says why the rule of the client test could not act on the reply; undefined when it could, or when nothing
 * is known.
 */
export function whyNotActed({ rule, reply }: Exchange): string | undefined {
  const acted = reply?.acted.filter((each) => each.rule === rule?.name) ?? [];
  return acted.some(({ notAchieved }) => notAchieved === undefined) ? undefined : acted[0]?.notAchieved;
}

/** The transaction identifier of the request on TCP; 0 where the framing has none. */
export function transactionOf({ request: { framing, bytes } }: Exchange): number {
  return framing.fields(bytes)?.transactionId ?? 0;
}

/** A request that the client sends again and again, as watching has shown it. Times in ms. */
export interface Poll {
  /** Identifies the poll, as `Exchange.poll` does. */
  readonly key: string;
  readonly unitId: number;
  readonly functionCode: number;
  readonly pdu: Uint8Array;
  /** The poll in words: `unit 1 read holding registers 0–9`. */
  readonly text: string;
  readonly asked: readonly Exchange[];
  /** The times between one request and the next. */
  readonly intervals: readonly number[];
  /** The median of the intervals; undefined when it was sent once. */
  readonly periodMs: number | undefined;
  /** True when nearly every request was answered as it should be: one reply may come too late on a busy machine. */
  readonly isAnswered: boolean;
}

/** Groups exchanges by their polls, in the order of the first request. */
export function pollsIn(exchanges: readonly Exchange[]): Poll[] {
  const byKey = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const asked = byKey.get(exchange.poll);
    if (asked) asked.push(exchange);
    else byKey.set(exchange.poll, [exchange]);
  }
  return Array.from(byKey, ([key, asked]) => poll(key, asked));
}

/** The fraction of its requests that a poll needs answered. */
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

/**
 * Functions 1 and 2 read bits, 3 and 4 read registers. Spoiling replies to them changes nothing in the plant.
 */
const LAST_BITS = 2;
const LAST_READING = 4;

export function isReading({ functionCode }: Pick<Poll, 'functionCode'>): boolean {
  return functionCode <= LAST_READING;
}

/**
 * True when a reply does not tell whether it belongs to the exchange or to the target: both read as much from
 * one unit.
 */
export function isAlike({ request, pdu }: Exchange, target: Poll): boolean {
  if (request.unitId !== target.unitId || pdu[0] !== target.functionCode) return false;
  const [asked, other] = [addressRanges(target.pdu)[0], addressRanges(pdu)[0]];
  // A reply to a reading function does not name the addresses that were read.
  return asked?.quantity === other?.quantity && (isReading(target) || asked?.address === other?.address);
}

/** How much a poll reads, and how many data bytes its reply has; undefined when it reads nothing. */
export function readingOf({ functionCode, pdu }: Pick<Poll, 'functionCode' | 'pdu'>) {
  const quantity = addressRanges(pdu)[0]?.quantity;
  if (functionCode > LAST_READING || quantity === undefined) return undefined;
  const isBits = functionCode <= LAST_BITS;
  return { isBits, quantity, bytes: isBits ? Math.ceil(quantity / 8) : 2 * quantity };
}

/**
 * Chooses the poll to disturb: one that is answered, the most frequent one, and a reading one if there is
 * any.
 * @param unitId only polls to this unit count; those to any unit when undefined
 */
export function targetOf(polls: readonly Poll[], unitId: number | undefined): Poll | undefined {
  const fit = polls.filter(
    (each) => each.isAnswered && (unitId === undefined || each.unitId === unitId) && each.asked.length > 1,
  );
  const reading = fit.filter(isReading);
  const [first, ...others] = reading.length > 0 ? reading : fit;
  return others.reduce((best, each) => (each.asked.length > (best?.asked.length ?? 0) ? each : best), first);
}

/** The conditions of a fault rule that acts on one poll alone. */
export function conditionsOf({ unitId, functionCode, pdu }: Poll): object {
  const [range] = addressRanges(pdu);
  return {
    unit: unitId,
    function: functionCode,
    ...(range && { address: range.address, quantity: range.quantity }),
  };
}
