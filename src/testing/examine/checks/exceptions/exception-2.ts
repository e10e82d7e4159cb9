import { durationText } from '../../../scenario/words.js';
import { type Check, fail, inconclusive, pass } from '../../check.js';

const ILLEGAL_DATA_ADDRESS = 2;
/** The exception is given for so many poll periods, and for so long at least, in ms. */
const PERIODS = 4;
const SHORTEST_MS = 2_000;
/** Asking so many times as often as usual is asking without end, unless the client repeats more after silence. */
const MOST_PER_POLL = 5;

/** Exception 2 to every asking of a question. */
export const exception2: Check = {
  id: 'exception-2',
  group: 'exceptions',
  title: 'Does not ask again at once after exception 2',
  does: 'Answers every asking of one question with exception 2 (illegal data address) for some poll periods.',
  matters:
    'The address does not become legal by asking again, and a client that tries without end takes the line from all others.',
  rule: 'Passes when the client polls on at about its usual pace, and fails when it asks more than five times as often, or no longer polls afterwards.',
  source: 'Application Protocol V1.1b3, 7',
  async run(exam) {
    const ms = Math.max(SHORTEST_MS, PERIODS * exam.periodMs);
    const { spoilt } = await exam.disturb(
      { faults: [{ exception: ILLEGAL_DATA_ADDRESS }] },
      () => undefined,
      ms,
    );
    if (spoilt.length === 0) return inconclusive('no request came that could be disturbed');
    const usual = Math.max(1, ms / exam.periodMs);
    const told = `asked ${spoilt.length} times in ${durationText(ms)}, usually ${Math.round(usual)} times`;
    const most = usual * Math.max(MOST_PER_POLL, exam.found.attempts ?? 0) + 1;
    if (spoilt.length > most) return fail(told, spoilt, 'asks again and again after exception 2');
    if (!(await exam.recover()))
      return fail(
        `${told}, and did not poll as before afterwards`,
        spoilt,
        'no longer polls after exception 2',
      );
    return pass(told, spoilt);
  },
};
