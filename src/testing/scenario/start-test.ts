import { At } from '../../common/schema/at.js';
import { Findings } from '../../common/schema/findings.js';
import { type Outcome, refusal, refusalOf } from '../../simulator/commands/refusal.js';
import type { KnownRun, Runs } from '../runs.js';
import { readingScenario } from './read-scenario.js';
import { TestRun } from './test-run.js';

/**
 * Sections that a scenario for a running simulator can't have: they describe a simulator, or a program that
 * would run on this machine with the rights of this process.
 */
const NOT_HERE = ['configuration', 'devices', 'lines', 'dut', 'parameters'] as const;

const DEVICES_CHANGED = 'a device was added or removed while the scenario was being read; send it again';

/** Starts a scenario on a running simulator. While reading the scenario, it yields wherever the lines can be served. */
export function* startingTest(runs: Runs, source: unknown): Generator<void, Outcome<KnownRun>> {
  const { simulator } = runs;
  const findings = new Findings();
  const at = new At(source, findings);
  for (const key of NOT_HERE) {
    if (at.key(key).value !== undefined) at.key(key).wrong('a running bench has its own');
  }
  const { deviceChanges } = simulator;
  const scenario = findings.count === 0 ? yield* readingScenario(at, simulator) : undefined;
  if (scenario && [scenario, ...scenario.steps].some(({ capture }) => capture !== undefined)) {
    at.key('capture').wrong(
      "a REST request can't write files; GET /api/v1/capture.pcapng returns the traffic",
    );
  }
  if (!scenario || findings.count > 0) return refusalOf(findings, 'run.invalid');
  if (simulator.deviceChanges !== deviceChanges) return refusal('device.changed', '', DEVICES_CHANGED);
  return runs.start(
    'scenario',
    scenario.lines,
    (progress) => new TestRun(simulator, scenario, (finding, number) => progress.ended(finding, number)),
    (run, failure) => {
      if (failure !== undefined) run.end('fail', failure);
      else run.stop();
    },
  );
}
