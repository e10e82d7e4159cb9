import type { Simulator } from '../simulator/simulator.js';
import type { Finding, Report } from './report/report.js';

/** Tells how far a test has come, as events of its lines, so that whoever follows the traffic follows the test. */
export class Progress {
  readonly #simulator: Simulator;
  readonly #lines: readonly string[];
  readonly #test: number;

  /** @param test its number */
  constructor(simulator: Simulator, lines: readonly string[], test: number) {
    this.#simulator = simulator;
    this.#lines = lines;
    this.#test = test;
  }

  began(name: string): void {
    this.#report('began', name);
  }

  /** @param number of the step, from 1 */
  ended({ title, verdict, summary }: Pick<Finding, 'title' | 'verdict' | 'summary'>, number: number): void {
    const [first = ''] = summary.split('\n');
    const why = verdict === 'pass' || first === '' ? '' : ` (${first})`;
    this.#report('step', `${number} ${title}: ${verdict}${why}`);
  }

  /** @param text what is waited for, as a sentence */
  waits(text: string): void {
    this.#report('step', text);
  }

  over({ name, verdict }: Pick<Report, 'name' | 'verdict'>): void {
    this.#report('over', `${name}: ${verdict}`);
  }

  #report(state: 'began' | 'step' | 'over', text: string): void {
    for (const line of this.#lines)
      this.#simulator.lines.get(line)?.tested({ test: this.#test, state, text });
  }
}
