import type { Simulator } from '../simulator/simulator.js';
import type { Finding, Report } from './report/report.js';

/** Tells how far a test has come. */
export type Progress = ReturnType<typeof progressOn>;

/**
 * Tells how far a test has come, as events of its lines, so that whoever follows the traffic follows the test.
 * @param test its number
 */
export function progressOn({ lines: known }: Simulator, lines: readonly string[], test: number) {
  const report = (state: 'began' | 'step' | 'over', text: string) => {
    for (const line of lines) known.get(line)?.tested({ test, state, text });
  };
  return {
    began: (name: string) => report('began', name),
    /** @param number of the step, from 1 */
    ended({ title, verdict, summary }: Pick<Finding, 'title' | 'verdict' | 'summary'>, number: number) {
      const [first = ''] = summary.split('\n');
      const why = verdict === 'pass' || first === '' ? '' : ` (${first})`;
      report('step', `${number} ${title}: ${verdict}${why}`);
    },
    /** @param text what is waited for, as a sentence */
    waits: (text: string) => report('step', text),
    over: ({ name, verdict }: Pick<Report, 'name' | 'verdict'>) => report('over', `${name}: ${verdict}`),
  };
}
