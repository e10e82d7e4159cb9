import { wordAt } from '../../../protocol/bytes.js';
import { dataOffset } from '../../../protocol/pdu.js';
import { sentFrames } from '../../../protocol/reply-plan.js';
import { wentWell } from '../heard/exchange.js';
import { isReading, type Question, readingOf } from '../heard/question.js';

/** So many replies have marks that differ. */
export const MARKS = 4;
/** Bits that are needed to count to `MARKS`. */
const FEWEST_BITS = 3;

/** Steps between the values, tried in this order: small ones may be lost where the client rounds. */
export const STEPS = [1, 16, 256] as const;

/**
 * Values for the replies to a question, each different from the others and from the true one, and near it, because a
 * client may refuse what is out of range. Every word is changed, so that values of each type and order change.
 * @returns the words of each, for the fault `values`; or why there can be none, as a sentence
 */
export function marksFor(question: Question, step: number): readonly number[][] | string {
  if (!isReading(question)) return 'the client asks nothing that reads registers or bits';
  const reply = question.asked.findLast(wentWell)?.reply;
  const [frame] = reply ? sentFrames(reply.plan, reply.report) : [];
  const pdu = frame && reply?.framing.decode(frame)?.pdu;
  if (!pdu) return 'no reply to the question is known';
  const data = pdu.slice(dataOffset(pdu));
  const numbers = Array.from({ length: MARKS }, (_, i) => i + 1);
  if (readingOf(question)?.isBits !== true) {
    const words = wordsOf(data);
    return numbers.map((number) => words.map((word) => (word + number * step) & 0xffff));
  }
  if (wordAt(question.pdu, 3) < FEWEST_BITS) return `the client asks for fewer than ${FEWEST_BITS} bits`;
  return numbers.map((number) => wordsOf(data.with(0, (data[0] as number) ^ number)));
}

/** The bytes two by two; an odd one at the end is the high byte of a word. */
function wordsOf(data: Uint8Array): number[] {
  return Array.from({ length: Math.ceil(data.length / 2) }, (_, i) => {
    return ((data[2 * i] as number) << 8) | (data[2 * i + 1] ?? 0);
  });
}
