import { type Check, fail, inconclusive, pass } from '../../check.js';
import { measuredText, numberText } from '../../found.js';
import { learnPace, type Pace, toleranceOf } from '../../pace.js';
import { promised, searchTimeOut } from './search-time-out.js';

/** Times that differ by less are steady, in ms. */
const STEADY_MS = 2;
/** A client that waits longer than this for a reply keeps its user waiting. */
const LONGEST_MS = 30_000;

/** The response time-out. */
export const timeOut: Check = {
  id: 'time-out',
  group: 'time',
  title: 'Gives up waiting for a reply',
  does: 'Leaves out replies and delays others, by a delay that is halved again and again between one that is taken and one that is not.',
  matters: 'The time-out decides which devices can be used, and how long a dead one holds up all others.',
  rule: 'Passes when the time-out is found to 3 ms or 2 %, fails when it is over 30 s or the client never asks again; inconclusive when its requests do not show when it gives up.',
  source: 'Modbus over Serial Line V1.02, 2.4.1: 1 s to several s at 9600 baud',
  async run(exam) {
    const pace = await learnPace(exam);
    if (typeof pace === 'string') return inconclusive(pace);
    if (looksAlike(pace)) {
      const summary =
        'the client polls on in the same rhythm when there is no reply, so the line does not show when it gives up';
      return inconclusive(summary, pace.evidence);
    }
    const search = await searchTimeOut(exam, pace);
    const { value, plusMinus } = search.found;
    const told = `waits ${measuredText(search.found)} for a reply (${search.probes} delays tried)`;
    if (!search.isSure || plusMinus > promised(value)) {
      const between = `between ${numberText(Math.max(0, value - plusMinus))} and ${numberText(value + plusMinus)} ms`;
      return inconclusive(`the time-out is ${between}; ${whyNotBetter(pace)}`, search.evidence);
    }
    exam.found.timeoutMs = search.found;
    if (value > LONGEST_MS) return fail(told, search.evidence, 'waits more than 30 s for a reply');
    return pass(told, search.evidence);
  },
};

function looksAlike(pace: Pace): boolean {
  const { usual, silent, closedAfterMs } = pace;
  if (closedAfterMs !== undefined || usual.question !== silent.question) return false;
  return Math.abs(usual.afterMs - silent.afterMs) <= toleranceOf(pace);
}

function whyNotBetter({ jitter, spread: waits }: Pace): string {
  const spread = Math.max(jitter, waits);
  return spread <= STEADY_MS
    ? 'the rhythm of this client does not show it better'
    : `times of this client differ by up to ${numberText(spread)} ms here, by its own rhythm or because the machine is busy`;
}
