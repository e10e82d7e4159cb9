import { durationText, timesText } from '../../../scenario/words.js';
import { type Check, fail, inconclusive, pass } from '../../check.js';
import { silentRun, WITHOUT_END } from '../../silent-run.js';

/** Attempts per request. */
export const attempts: Check = {
  id: 'attempts',
  group: 'time',
  title: 'Asks again when no reply comes',
  does: 'Leaves one question without any reply, until the client turns to another one or to the next poll.',
  matters:
    'On a serial line single frames get lost. A client that asks once loses a value each time; one that asks without end never comes to the other devices.',
  rule: 'Passes from two attempts on, fails when the client asks once or goes on without end; inconclusive where a repetition looks like the next poll.',
  source: 'Modbus over Serial Line V1.02, 2.4.1 leaves the number of retries to the client',
  needs: ['time-out'],
  async run(exam) {
    const run = await silentRun(exam);
    const { asked, after, attempts } = run;
    if (asked.length === 0) return inconclusive('no request came that could be disturbed');
    const evidence = after ? [...asked, after] : asked;
    if (attempts === undefined) {
      const told = `asked ${timesText(asked.length)} in ${durationText(exam.clock.now() - (asked[0]?.at ?? 0))}`;
      if (exam.questions.length > 1 && asked.length > WITHOUT_END) {
        return fail(`${told} and nothing else`, evidence, 'asks without end where there is no reply');
      }
      return inconclusive(`${told}; its repetitions look like its polls`, evidence);
    }
    exam.found.attempts = attempts;
    if (attempts === 1)
      return fail('asked once and gave up', evidence, 'does not ask again where a reply is lost');
    return pass(`asked ${timesText(attempts)}`, evidence);
  },
};
