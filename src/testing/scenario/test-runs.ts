import { At } from '../../schema/at.js';
import { Findings, type Mistakes } from '../../schema/findings.js';
import type { Simulator } from '../../simulator/simulator.js';
import { KeptRuns } from '../kept-runs.js';
import type { LineLeases } from '../line-leases.js';
import { Progress } from '../progress.js';
import type { Report } from '../report/report.js';
import { readingScenario } from './read-scenario.js';
import { TestRun } from './test-run.js';

/** A test that runs or has run on the lines of a running simulator. */
export interface KnownTest {
  readonly id: number;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  readonly report: Report;
}

/** `issues`: the scenario is wrong. `busy`: a line is not open, or has a test or an examination. */
export type TestStart =
  | { readonly ok: true; readonly test: KnownTest }
  | { readonly ok: false; readonly issues: Mistakes }
  | {
      readonly ok: false;
      readonly busy: string;
      readonly code: 'device.changed' | 'line.not_open' | 'line.under_test';
    };

/** The sections that only a bench of its own has. A program would run on this machine with the rights of this one. */
const NOT_HERE = ['configuration', 'devices', 'lines', 'dut', 'parameters'] as const;

const DEVICES_CHANGED = 'a device was added or removed while the scenario was read; send it again';

/** The tests on a running simulator. */
export class TestRuns {
  readonly #simulator: Simulator;
  readonly #leases: LineLeases;
  readonly #runs = new KeptRuns<TestRun>();

  constructor(simulator: Simulator, leases: LineLeases) {
    this.#simulator = simulator;
    this.#leases = leases;
  }

  /** Starts a scenario. Reading it yields where the lines can be served. */
  *starting(source: unknown): Generator<void, TestStart> {
    const findings = new Findings();
    const at = new At(source, findings);
    for (const key of NOT_HERE) {
      if (at.key(key).value !== undefined) at.key(key).wrong('a running bench is tested, which has its own');
    }
    const { deviceChanges } = this.#simulator;
    const scenario = findings.count === 0 ? yield* readingScenario(at, this.#simulator) : undefined;
    if (scenario && [scenario, ...scenario.steps].some(({ capture }) => capture !== undefined)) {
      at.key('capture').wrong('no file is written here; GET /api/v1/capture.pcapng has the traffic');
    }
    if (!scenario || findings.count > 0) return { ok: false, issues: findings };
    if (this.#simulator.deviceChanges !== deviceChanges) {
      return { ok: false, busy: DEVICES_CHANGED, code: 'device.changed' };
    }
    const closed = scenario.lines.find((line) => this.#simulator.lines.get(line)?.state.kind !== 'open');
    if (closed !== undefined) {
      return { ok: false, busy: `line ${closed} is not open`, code: 'line.not_open' };
    }
    const lease = this.#leases.take(scenario.lines, 'test');
    if (typeof lease === 'string') return { ok: false, busy: lease, code: 'line.under_test' };
    const { id } = lease;
    const progress = new Progress(this.#simulator, scenario.lines, id);
    const run = new TestRun(this.#simulator, scenario, (finding, number) => progress.ended(finding, number));
    this.#runs.add(id, run);
    progress.began(scenario.name);
    void run
      .run()
      .then((report) => progress.over(report))
      .finally(() => lease.end());
    return { ok: true, test: known(id, run) };
  }

  get(id: number): KnownTest | undefined {
    const run = this.#runs.get(id);
    return run && known(id, run);
  }

  list(): KnownTest[] {
    return this.#runs.entries().map(([id, run]) => known(id, run));
  }

  /**
   * Ends a test; the report on what it has done stays. Does nothing for one that is over.
   * @param failure why the step that runs has failed; without it, that step is inconclusive
   */
  stop(id: number, failure?: string): void {
    if (failure !== undefined) this.#runs.get(id)?.end('fail', failure);
    else this.#runs.get(id)?.end('inconclusive', 'the test was stopped before its end');
  }

  stopAll(): void {
    for (const [id] of this.#runs.entries()) this.stop(id);
  }
}

function known(id: number, run: TestRun): KnownTest {
  return {
    id,
    get isOver() {
      return run.isOver;
    },
    lines: run.scenario.lines,
    get report() {
      return run.report;
    },
  };
}
