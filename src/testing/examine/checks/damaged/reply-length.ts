import { sentBytes } from '../../../../traffic/sent-bytes.js';
import type { Exam } from '../../exam.js';
import { wentWell } from '../../exchange.js';

/** A read of one register on RTU, in bytes: for a client of which no reply was kept. */
const SHORTEST = 7;

/** How long the reply to the disturbed question is, in bytes, or in characters on an ASCII line. */
export function replyLength({ target }: Exam): number {
  const reply = target.asked.findLast(wentWell)?.reply;
  if (!reply) return SHORTEST;
  return sentBytes(reply.plan, reply.report).reduce((sum, { length }) => sum + length, 0);
}
