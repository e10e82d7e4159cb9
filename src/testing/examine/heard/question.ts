import { addressRanges } from '../../../protocol/pdu.js';
import { requestMessage } from '../../../traffic/decode-request.js';
import { type Exchange, wentWell } from './exchange.js';

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

/** The middle one; the mean of the two in the middle. NaN without numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[sorted.length % 2 === 0 ? middle - 1 : middle],
    sorted[middle],
  ];
  return (low + high) / 2;
}
