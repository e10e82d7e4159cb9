import { type Check, fail, inconclusive, pass } from '../../check.js';
import type { Exchange } from '../../exchange.js';
import { numberText } from '../../found.js';
import { learnPace } from '../../pace.js';
import { probe } from '../../probe.js';

const BELOW = 0.9;
const ABOVE = 1.1;
/** Each side is tried so often. */
const TIMES = 3;

/** What happens at 90 % and 110 % of the time-out. */
export const timeOutMargins: Check = {
  id: 'time-out-margins',
  group: 'time',
  title: 'Keeps to its time-out',
  does: 'Delays replies to 90 % and to 110 % of the time-out that was found, three times each.',
  matters: 'A time-out that depends on chance makes errors that nobody can find.',
  rule: 'Passes when every reply at 90 % is taken and none at 110 %, fails otherwise; inconclusive without a time-out, or when the requests do not show it.',
  source: 'Common practice',
  needs: ['time-out'],
  async run(exam) {
    const { timeoutMs } = exam.found;
    if (!timeoutMs) return inconclusive('the time-out is not known');
    const pace = await learnPace(exam);
    if (typeof pace === 'string') return inconclusive(pace);
    const evidence: Exchange[] = [];
    for (const [part, wanted] of [
      [BELOW, 'taken'],
      [ABOVE, 'given up'],
    ] as const) {
      const lateMs = part * timeoutMs.value;
      for (let i = 0; i < TIMES; i++) {
        const seen = await probe(exam, pace, { delayMs: Math.max(0, lateMs - pace.replyMs), times: 1 });
        evidence.push(...(seen?.evidence ?? []));
        const told = `a reply after ${numberText(lateMs)} ms, ${Math.round(part * 100)} % of the time-out,`;
        if (!seen || seen.answer === 'unclear') {
          return inconclusive(`the requests do not show whether ${told} was taken`, evidence);
        }
        if (seen.answer !== wanted) {
          const was = wanted === 'taken' ? 'was not taken' : 'was still taken';
          return fail(`${told} ${was}`, seen.evidence, 'does not keep to one time-out');
        }
      }
    }
    return pass('took every reply at 90 % of the time-out, and none at 110 %', evidence);
  },
};
