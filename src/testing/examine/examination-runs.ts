import { At } from '../../schema/at.js';
import { Findings, type Mistakes } from '../../schema/findings.js';
import type { Simulator } from '../../simulator/simulator.js';
import { KeptRuns } from '../kept-runs.js';
import type { LineLeases } from '../line-leases.js';
import { Progress } from '../progress.js';
import type { Report } from '../report/report.js';
import { Examination } from './examination.js';
import { readOrder } from './read-order.js';

/** An examination that runs or has run on a line of a running bench. */
export interface KnownExamination {
  readonly id: number;
  readonly isOver: boolean;
  readonly report: Report;
}

/** `issues`: the request is wrong. `busy`: the line is not open, or has a test or an examination. */
type ExaminationStart =
  | { readonly ok: true; readonly examination: KnownExamination }
  | { readonly ok: false; readonly issues: Mistakes }
  | { readonly ok: false; readonly busy: string; readonly code: 'line.not_open' | 'line.under_test' };

/** The examinations on a running bench. */
export class ExaminationRuns {
  readonly #bench: Simulator;
  readonly #leases: LineLeases;
  readonly #runs = new KeptRuns<Examination>();

  constructor(bench: Simulator, leases: LineLeases) {
    this.#bench = bench;
    this.#leases = leases;
  }

  /** Starts an examination, as `orderSchema` describes it. */
  start(source: unknown): ExaminationStart {
    const findings = new Findings();
    const order = readOrder(new At(source, findings), this.#bench);
    if (!order) return { ok: false, issues: findings };
    const { name, state } = order.line;
    if (state.kind !== 'open') {
      return { ok: false, busy: `line ${name} is not open`, code: 'line.not_open' };
    }
    const lease = this.#leases.take([name], 'examination');
    if (typeof lease === 'string') return { ok: false, busy: lease, code: 'line.under_test' };
    const { id } = lease;
    const progress = new Progress(this.#bench, [name], id);
    const run = new Examination(this.#bench, order, (finding, number) => progress.ended(finding, number));
    this.#runs.add(id, run);
    progress.began(run.report.name);
    void run
      .run()
      .then((report) => progress.over(report))
      .finally(() => lease.end());
    return { ok: true, examination: known(id, run) };
  }

  get(id: number): KnownExamination | undefined {
    const run = this.#runs.get(id);
    return run && known(id, run);
  }

  list(): KnownExamination[] {
    return this.#runs.entries().map(([id, run]) => known(id, run));
  }

  /**
   * Ends an examination; what it has found stays. Does nothing for one that is over.
   * @param failure why the check that runs has failed; without it, that check is not run
   */
  stop(id: number, failure?: string): void {
    if (failure !== undefined) this.#runs.get(id)?.end('fail', failure);
    else this.#runs.get(id)?.stop();
  }

  stopAll(): void {
    for (const [, run] of this.#runs.entries()) run.stop();
  }
}

function known(id: number, run: Examination): KnownExamination {
  return {
    id,
    get isOver() {
      return run.isOver;
    },
    get report() {
      return run.report;
    },
  };
}
