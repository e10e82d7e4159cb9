import { At } from '../../schema/at.js';
import { Findings, type Mistakes } from '../../schema/findings.js';
import type { Simulator } from '../../simulator/simulator.js';
import type { Report } from '../report/report.js';
import { Progress } from './progress.js';
import { readScenario } from './read-scenario.js';
import { TestRun } from './test-run.js';

/** Tests that are kept after their end, the newest ones. */
const MOST_KEPT = 20;

/** A test that runs or has run on the lines of a running bench. */
export interface KnownTest {
  readonly id: number;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  readonly report: Report;
}

/** `issues`: the scenario is wrong. `busy`: another test runs on one of its lines. `closed`: a line is not open. */
export type TestStart =
  | { readonly ok: true; readonly test: KnownTest }
  | { readonly ok: false; readonly issues: Mistakes }
  | { readonly ok: false; readonly busy: string };

/** The sections that only a bench of its own has. A program would run on this machine with the rights of this one. */
const NOT_HERE = ['configuration', 'devices', 'lines', 'dut', 'parameters'] as const;

/** The tests on a running bench. At most one runs on a line at a time: two would take each other's faults for their own. */
export class TestRuns {
  readonly #bench: Simulator;
  readonly #runs = new Map<number, TestRun>();
  #last = 0;

  constructor(bench: Simulator) {
    this.#bench = bench;
  }

  /** Starts a scenario. */
  start(source: unknown): TestStart {
    const findings = new Findings();
    const at = new At(source, findings);
    for (const key of NOT_HERE) {
      if (at.key(key).value !== undefined) at.key(key).wrong('a running bench is tested, which has its own');
    }
    const scenario = findings.count === 0 ? readScenario(at, this.#bench) : undefined;
    if (scenario && [scenario, ...scenario.steps].some(({ capture }) => capture !== undefined)) {
      at.key('capture').wrong('no file is written here; GET /api/v1/capture.pcapng has the traffic');
    }
    if (!scenario || findings.count > 0) return { ok: false, issues: findings };
    const busy = this.#busyLine(scenario.lines);
    if (busy !== undefined) return { ok: false, busy };
    const closed = scenario.lines.find((line) => this.#bench.lines.get(line)?.state.kind !== 'open');
    if (closed !== undefined) return { ok: false, busy: `line ${closed} is not open` };
    const id = ++this.#last;
    const progress = new Progress(this.#bench, scenario.lines, id);
    const run = new TestRun(this.#bench, scenario, (finding, number) => progress.ended(finding, number));
    this.#runs.set(id, run);
    this.#forgetOld();
    progress.began(scenario.name);
    void run.run().then((report) => progress.over(report));
    return { ok: true, test: known(id, run) };
  }

  get(id: number): KnownTest | undefined {
    const run = this.#runs.get(id);
    return run && known(id, run);
  }

  list(): KnownTest[] {
    return Array.from(this.#runs, ([id, run]) => known(id, run));
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
    for (const id of this.#runs.keys()) this.stop(id);
  }

  #busyLine(lines: readonly string[]): string | undefined {
    for (const [id, run] of this.#runs) {
      const line = run.isOver ? undefined : run.scenario.lines.find((each) => lines.includes(each));
      if (line !== undefined) return `test ${id} runs on line ${line}; DELETE stops it`;
    }
    return undefined;
  }

  #forgetOld(): void {
    for (const [id, run] of this.#runs) {
      if (this.#runs.size > MOST_KEPT && run.isOver) this.#runs.delete(id);
    }
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
