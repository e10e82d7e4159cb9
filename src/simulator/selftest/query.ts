import { concatBytes, packWords } from '../../protocol/bytes.js';
import type { AduContent } from '../../protocol/framing.js';

/** Odd, so that all words come, and neighbours differ in both bytes. */
const STEP = 40503;

/**
 * The n-th query of a self-test: return query data (Application Protocol V1.1b3, 6.8), which every device has and which
 * changes nothing. The answer is the same bytes, so each query has other data: a late answer is not taken for that of
 * the next query, and a line doesn't take the next query for an echo of its answer.
 */
export function query(n: number, unitId: number): AduContent {
  return { transactionId: n & 0xffff, unitId, pdu: concatBytes([8], packWords([0, (n * STEP) & 0xffff])) };
}
