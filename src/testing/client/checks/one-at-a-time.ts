import { lateText } from '../../lateness.js';
import { type Exchange, repliedUntil } from '../heard/exchange.js';
import { numberText } from '../heard/found.js';
import { type Check, LOST } from '../trial/exam.js';
import { behaviourAfter } from '../trial/observation.js';
import { decide, isBroken, learn, runChain } from '../trial/trial.js';
import { sure, type Trial } from '../trial/verdict.js';

/** How long to delay replies, as a fraction of the time after which the client continues without one. */
const PART_OF_WAIT = 0.75;
/**
 * How long to delay replies if continuing without one looks like the next poll, as a multiple of the time
 * after which the next request usually comes.
 */
const PART_OF_GAP = 1.5;
/** No client on a serial line gives up sooner than this, in ms; the specification suggests a second or more. */
const SHORTEST_TIMEOUT_MS = 100;
/** Replies are delayed by at most this, in ms, or by twice the time after which the next request is due. */
const LONG_ENOUGH_MS = 1_000;
const ALIKE_MS = 25;
const BLAME = 'sends a request while a reply is pending';

export const oneAtATime: Check = {
  id: 'one-at-a-time',
  group: 'watching',
  title: 'Sends no request while a reply is pending',
  what: 'a late reply',
  does: 'Delays replies until the next poll is due, but by less than the time-out, and watches for a request in that time.',
  matters: 'Two devices that send at once on a serial line destroy both frames.',
  fix: 'Send the next request only after the reply or the time-out, with one queue for the whole line.',
  expected: 'no request while a reply is pending',
  rule: 'Passes when no request comes while a reply is pending, in three trials that agree; fails when one does. Inconclusive when the client may already have given up on the reply, or when its next request is due only after it gives up.',
  source: 'Modbus over Serial Line V1.02, 2.1 and 2.4.1',
  transports: ['serial'],
  async run(exam) {
    const asked = overlapping(exam.log.newest().filter(({ rule }) => !rule)).filter(
      ([before, next]) => next.request.startedAt - before.at < SHORTEST_TIMEOUT_MS,
    );
    if (asked.length > 2) {
      const text = `sent a request within ${SHORTEST_TIMEOUT_MS} ms of the previous one, before the device had replied, ${asked.length} times`;
      return sure('wrong', text, asked.flat().slice(0, 4), BLAME);
    }
    const missing = await learn(exam, [LOST]);
    if (isBroken(missing)) return sure('unclear', missing.why, missing.asked);
    const [usual, silent] = [behaviourAfter(exam, ['good']).frequent, missing.frequent];
    if (!usual || !silent) return sure('unclear', 'the request that usually follows a poll is not known');
    const [dueMs, waitMs] = [Math.max(...usual.times), Math.min(...silent.times)];
    // A client that continues the same way with and without a reply, or with its next poll, may not wait at
    // all.
    const isPoll = silent.poll === exam.target.key && Math.abs(silent.afterMs - exam.periodMs) < ALIKE_MS;
    const overlap = dueMs >= waitMs && Math.max(...silent.times) >= Math.min(...usual.times);
    const isNear = overlap || Math.abs(silent.afterMs - usual.afterMs) < ALIKE_MS;
    const isNext = silent.poll === usual.poll && isNear;
    const isAlike = isPoll || isNext;
    const longest = Math.max(LONG_ENOUGH_MS, 2 * dueMs);
    const delay = isAlike
      ? PART_OF_GAP * Math.max(silent.afterMs, dueMs)
      : Math.min(PART_OF_WAIT * waitMs, longest);
    if (!isAlike && delay <= dueMs) {
      const text = `its next request is due up to ${numberText(dueMs)} ms after the last one, but without a reply it continues after ${numberText(waitMs)} ms, so no reply is still pending when the next request is due`;
      return sure('unclear', text, exam.askedAfter(0).slice(-2));
    }
    const about = `while the previous reply was delayed by ${numberText(delay)} ms`;
    return decide(exam, this, async (): Promise<Trial> => {
      const chain = await runChain(exam, [[{ delay }]], delay);
      if (isBroken(chain)) return { shows: 'unclear', text: chain.why, evidence: chain.asked };
      const pairs = overlapping([...chain.asked, chain.continuation.next]);
      const evidence = pairs.length > 0 ? pairs.flat() : chain.asked;
      if (pairs.length === 0) return { shows: 'right', text: `sent no request ${about}`, evidence };
      const stallMs = exam.client.lateness.between(chain.asked[0]?.at ?? 0);
      if (stallMs > (1 - PART_OF_WAIT) * waitMs)
        return {
          shows: 'unclear',
          text: `${lateText(stallMs)}, so the reply came later than intended`,
          evidence,
        };
      const isSure = !isAlike || silent.afterMs < SHORTEST_TIMEOUT_MS;
      if (isSure) return { shows: 'wrong', text: `sent a request ${about}`, evidence, conclusion: BLAME };
      return {
        shows: 'unclear',
        text: `sent a request ${about}, but may already have given up on that reply`,
        evidence,
      };
    });
  },
};

/** Pairs of requests where the second began before the reply to the first ended. */
function overlapping(exchanges: readonly Exchange[]): (readonly [Exchange, Exchange])[] {
  return exchanges.slice(1).flatMap((next, i) => {
    const before = exchanges[i] as Exchange;
    const until = repliedUntil(before);
    const isPending =
      before.reply?.report.ended === 'superseded' || (until !== undefined && next.request.startedAt < until);
    return isPending || next.request.kind === 'dropped' ? [[before, next] as const] : [];
  });
}
