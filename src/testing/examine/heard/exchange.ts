import { EXCEPTION_FLAG } from '../../../modbus/protocol/function-code.js';
import { addressRanges } from '../../../modbus/protocol/pdu.js';
import { requestMessage } from '../../../simulator/traffic/decode-request.js';
import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../simulator/traffic/event.js';
import { isRequest, pduOf } from '../../line-watch.js';
import { median } from '../../times.js';

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
  /** What was sent, or that nothing was; absent as long as that is not decided. */
  reply?: ReplyEvent | undefined;
  /** The fault rule of the examination that spoilt its reply. */
  rule?: OwnRule | undefined;
  /** The request before it and after it: of the same connection, or of the one that took the place of a closed one. */
  before?: Exchange | undefined;
  next?: Exchange | undefined;
  /** When its connection ended, where no other request came over it. */
  closedAt?: number;
  /** The client was stuck, so what it did next is not what it usually does. */
  isStuck?: boolean;
  /** What `wentWell` has found; absent as long as nobody has asked. */
  isGood?: boolean;
}

/** A request as an exchange without a reply; undefined for any other event. */
export function exchangeOf(event: TrafficEvent): Exchange | undefined {
  if (!isRequest(event)) return undefined;
  const pdu = event.framing.fields(event.bytes)?.pdu;
  if (pdu === undefined) return undefined;
  const { seq, at, unitId } = event;
  return { seq, at, request: event, pdu, question: questionOf(unitId, pdu) };
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

function isGood(reply: ReplyEvent): boolean {
  const code = pduOf(reply)?.[0];
  return code !== undefined && (code & EXCEPTION_FLAG) === 0;
}

/** Why the rule of the examination could not act on the reply; undefined where it could, or nothing is known. */
export function whyNotActed({ rule, reply }: Exchange): string | undefined {
  const acted = reply?.acted.filter((each) => each.rule === rule?.name) ?? [];
  return acted.some(({ notAchieved }) => notAchieved === undefined) ? undefined : acted[0]?.notAchieved;
}

/** Transaction identifier of the request on TCP; 0 where the framing has none. */
export function transactionOf({ request: { framing, bytes } }: Exchange): number {
  return framing.fields(bytes)?.transactionId ?? 0;
}

/** A question that the client asks again and again, as watching has shown it. Times in ms. */
export interface Question {
  /** As in `Exchange.question`. */
  readonly key: string;
  readonly unitId: number;
  readonly functionCode: number;
  readonly pdu: Uint8Array;
  /** `unit 1 read holding registers 0–9`. */
  readonly text: string;
  readonly asked: readonly Exchange[];
  /** The times between one asking and the next. */
  readonly intervals: readonly number[];
  /** The median of them; undefined when it was asked once. */
  readonly periodMs: number | undefined;
  /** Every asking was answered as it should be. */
  readonly isAnswered: boolean;
}

/** The questions in some exchanges, in the order of their first asking. */
export function questionsIn(exchanges: readonly Exchange[]): Question[] {
  const byKey = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    const asked = byKey.get(exchange.question);
    if (asked) asked.push(exchange);
    else byKey.set(exchange.question, [exchange]);
  }
  return Array.from(byKey, ([key, asked]) => question(key, asked));
}

function question(key: string, asked: readonly Exchange[]): Question {
  const [{ request, pdu }] = asked as [Exchange];
  const intervals = timesBetween(asked);
  // The newest one may still wait for its reply.
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
    isAnswered: request.kind === 'request' && decided.length > 0 && decided.every(wentWell),
  };
}

/** From each exchange to the next one, in ms. */
export function timesBetween(asked: readonly Exchange[]): number[] {
  return asked.slice(1).map(({ at }, i) => at - (asked[i] as Exchange).at);
}

/** Functions 1 and 2 read bits, 3 and 4 read registers: to spoil their replies changes nothing in the plant. */
const LAST_BITS = 2;
const LAST_READING = 4;

export function isReading({ functionCode }: Pick<Question, 'functionCode'>): boolean {
  return functionCode <= LAST_READING;
}

/** Nothing in a reply says to which of the two it belongs: they read as much elsewhere. */
export function isAlike({ request, pdu }: Exchange, target: Question): boolean {
  if (request.unitId !== target.unitId || pdu[0] !== target.functionCode) return false;
  const [asked, other] = [addressRanges(target.pdu)[0], addressRanges(pdu)[0]];
  // The replies to reading functions do not say which addresses they are of.
  return asked?.quantity === other?.quantity && (isReading(target) || asked?.address === other?.address);
}

/** What a question reads, and how many data bytes its reply has; undefined when it reads nothing. */
export function readingOf({ functionCode, pdu }: Pick<Question, 'functionCode' | 'pdu'>) {
  const quantity = addressRanges(pdu)[0]?.quantity;
  if (functionCode > LAST_READING || quantity === undefined) return undefined;
  const isBits = functionCode <= LAST_BITS;
  return { isBits, quantity, bytes: isBits ? Math.ceil(quantity / 8) : 2 * quantity };
}

/**
 * The question that is disturbed: one that is answered, the most frequent, and a reading one if there is any.
 * @param unitId only questions to this unit; any when undefined
 */
export function targetOf(questions: readonly Question[], unitId: number | undefined): Question | undefined {
  const fit = questions.filter(
    (each) => each.isAnswered && (unitId === undefined || each.unitId === unitId) && each.asked.length > 1,
  );
  const reading = fit.filter(isReading);
  const [first, ...others] = reading.length > 0 ? reading : fit;
  return others.reduce((best, each) => (each.asked.length > (best?.asked.length ?? 0) ? each : best), first);
}

/** The conditions of a fault rule that acts on one question alone. */
export function conditionsOf({ unitId, functionCode, pdu }: Question): object {
  const [range] = addressRanges(pdu);
  return {
    unit: unitId,
    function: functionCode,
    ...(range && { address: range.address, quantity: range.quantity }),
  };
}
