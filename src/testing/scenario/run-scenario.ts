import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { formatWarnings } from '../../common/schema/problem.js';
import { onFreePorts, withFreePortsHint } from '../../document/free-ports.js';
import { Simulator } from '../../simulator/simulator.js';
import type { Finding, Report } from '../report/report.js';
import { Dut, openEndpoints, withEndpoints } from './dut.js';
import { readScenario } from './read-scenario.js';
import { loadOwnConfiguration, type ScenarioFile } from './scenario-file.js';
import { TestRun, writeCapture } from './test-run.js';

/** How a run communicates with the user who started it. */
export interface Audience {
  readonly log: Logger;
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly onFinding: (finding: Finding, number: number) => void;
  readonly stop: Promise<unknown>;
}

/**
 * How a run ended. `ok: false`: the file or its configuration is wrong, and `text` says how. `unwritten`
 * names the captures that could not be written. Both are lines for a terminal. The simulator has stopped; its
 * devices and lines explain the frames in the report.
 */
export type ScenarioEnd =
  | { readonly ok: true; readonly report: Report; readonly simulator: Simulator; readonly unwritten?: string }
  | { readonly ok: false; readonly text: string };

/**
 * Runs a scenario on its own simulator, with its program, and stops both.
 * @param freePorts puts the lines of the simulator on free ports, whatever its configuration says
 */
export async function runScenario(
  file: ScenarioFile,
  audience: Audience,
  freePorts: boolean,
): Promise<ScenarioEnd> {
  const loaded = loadOwnConfiguration(file);
  if (!loaded.ok) return loaded;
  if (loaded.warnings !== '') audience.warn(loaded.warnings);
  const { configuration } = loaded;
  const simulator = new Simulator(freePorts ? onFreePorts(configuration) : configuration, audience.log);
  const findings = fileFindings();
  const scenario = readScenario(new At(file.value, findings), simulator);
  if (findings.warnings.length > 0) audience.warn(file.format(findings.warnings, formatWarnings));
  if (!scenario) return { ok: false, text: file.format(findings.listed) };
  const run = new TestRun(simulator, scenario, audience.onFinding);
  const started = await simulator.start();
  if (!started.ok) return { ok: true, report: run.notBegun(withFreePortsHint(started)), simulator };
  for (const { name, description } of started.lines) audience.say(`line ${name}: ${description}`);
  try {
    const report = await runWithDut(run, simulator, file.directory, audience.stop);
    const problems = run.captures.flatMap((span) => {
      return writeCapture(simulator, span, resolve(file.directory, span.file), scenario.lines) ?? [];
    });
    return { ok: true, report, simulator, ...(problems.length > 0 && { unwritten: problems.join('\n') }) };
  } finally {
    await simulator.stop();
  }
}

async function runWithDut(
  run: TestRun,
  simulator: Simulator,
  directory: string,
  stop: Promise<unknown>,
): Promise<Report> {
  void stop.then(() => run.stop());
  const { dut: definition } = run.scenario;
  if (!definition) return run.run();
  const command = withEndpoints(definition.command, openEndpoints(simulator));
  let dut: Dut | undefined;
  const start = async () => {
    if (dut) return 'the device under test is already running';
    const started = await Dut.start(definition, { command, directory, giveUp: stop });
    if (!started.ok) return withFreePortsHint(started);
    dut = started.dut;
    void dut.died().then((how) => run.end('fail', how));
    return undefined;
  };
  const stopDut = async () => {
    await dut?.stop();
    dut = undefined;
  };
  const problem = await start();
  if (problem !== undefined) return run.notBegun(problem);
  run.dut = { start, stop: stopDut };
  try {
    return await run.run();
  } finally {
    await stopDut();
  }
}
