import { MAX_SEED } from '../../random.js';
import { At } from '../../schema/at.js';
import { Findings, type Mistakes } from '../../schema/findings.js';
import { unknownName } from '../../schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { KeptRuns } from '../kept-runs.js';
import type { LineLeases } from '../line-leases.js';
import { Progress } from '../progress.js';
import type { Report } from '../report/report.js';
import { chosenChecks } from './checks.js';
import { Examination } from './examination.js';
import type { ExaminationOrder } from './examination-order.js';
import { registerObserver } from './observer/register-observer.js';
import { orderSchema } from './order-schema.js';

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
    const run = new Examination(this.#bench, order, {
      found: (finding, number) => progress.ended(finding, number),
      note: (text) => progress.waits(text),
    });
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
   * @param failure how the client has ended: the check that runs has failed; without it, that check is not run
   */
  stop(id: number, failure?: string): void {
    if (failure !== undefined) this.#runs.get(id)?.clientEnded(failure);
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

const DEFAULT_LIMIT_MS = 600_000;

/**
 * Reads what a request asks to examine, and checks it against a running bench. Undefined after reporting every mistake.
 * Of observers only registers are allowed: a command would run with the rights of this program, and an address would be
 * asked from inside this machine's network.
 */
function readOrder(at: At, bench: Simulator): ExaminationOrder | undefined {
  return at.unlessWrong(() => {
    if (hasForeignObserver(at.key('witness'))) return undefined;
    const source = at.check(orderSchema);
    if (!source) return undefined;
    const line = bench.lines.get(source.line);
    if (!line) return at.key('line').wrong(unknownName('line', source.line, [...bench.lines.keys()]));
    if (source.unit !== undefined && !line.owns(source.unit)) {
      return at.key('unit').wrong(`line ${line.name} has no unit ${source.unit}`);
    }
    const checks = chosenChecks(source.checks ?? [], line);
    if (typeof checks === 'string') return at.key('checks').wrong(checks);
    const observer = source.witness && registerObserver(source.witness.register, bench.devices);
    if (typeof observer === 'string') return at.key('witness').key('register').wrong(observer);
    return {
      line,
      unitId: source.unit,
      checks,
      limitMs: source.limit ?? DEFAULT_LIMIT_MS,
      seed: source.seed ?? Math.floor(Math.random() * (MAX_SEED + 1)),
      observer,
    };
  });
}

/** Reports observers that only `modbus-sim examine` takes, on a bench of its own. */
function hasForeignObserver(at: At): boolean {
  for (const key of ['command', 'url'] as const) {
    if (at.key(key).value === undefined) continue;
    const why = key === 'command' ? 'a request can start no program' : 'a request can have no address asked';
    at.key(key).wrong(`${why}; use a register, or modbus-sim examine without --url`);
    return true;
  }
  return false;
}
