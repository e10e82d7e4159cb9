import type { Simulator } from '../simulator/simulator.js';
import type { Finding, Report } from './report/report.js';

/** Tells how far a test, an examination or a shake has come. */
export type Progress = ReturnType<typeof progressOn>;

/**
 * Tells how far a test, an examination or a shake has come, as events of its lines, so that a client that follows the
 * traffic follows the test as well.
 * @param test number of the run
 */
export function progressOn({ lines: known }: Simulator, lines: readonly string[], test: number) {
  const report = (state: 'began' | 'step' | 'over', text: string) => {
    for (const line of lines) known.get(line)?.tested({ test, state, text });
  };
  return {
    began: (name: string) => report('began', name),
    /**
     * Tells that a step or a check has ended.
     * @param number place of the step or check in the run, counted from 1
     */
    ended({ title, verdict, summary }: Pick<Finding, 'title' | 'verdict' | 'summary'>, number: number) {
      const [first = ''] = summary.split('\n');
      const why = verdict === 'pass' || first === '' ? '' : ` (${first})`;
      report('step', `${number} ${title}: ${verdict}${why}`);
    },
    /**
     * Tells what the run waits for.
     * @param text a sentence
     */
    waits: (text: string) => report('step', text),
    over: ({ name, verdict }: Pick<Report, 'name' | 'verdict'>) => report('over', `${name}: ${verdict}`),
  };
}
