import { addressRanges } from '../../../../protocol/pdu.js';
import type { Exam } from '../../exam.js';

/** Functions 1 and 2 read bits, 3 and 4 read registers. */
const LAST_BITS = 2;
const LAST_READING = 4;

/** What the disturbed question reads, and how many data bytes its reply has; undefined when it reads nothing. */
export function readingOf({ target: { functionCode, pdu } }: Pick<Exam, 'target'>) {
  const quantity = addressRanges(pdu)[0]?.quantity;
  if (functionCode > LAST_READING || quantity === undefined) return undefined;
  const isBits = functionCode <= LAST_BITS;
  return { isBits, quantity, bytes: isBits ? Math.ceil(quantity / 8) : 2 * quantity };
}

/** Why a question that reads nothing is left alone. */
export const READS_NOTHING =
  'the client asks nothing that reads registers or bits, so a reply has no byte count';
