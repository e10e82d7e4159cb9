import { MAX_SEED } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { unknownName } from '../../common/schema/nearest.js';
import { withFreePortsHint } from '../../files/config/free-ports.js';
import { Simulator } from '../../simulator/simulator.js';
import { chosenChecks } from '../../testing/checks.js';
import { Examination } from '../../testing/examine/examination.js';
import { DEFAULT_LIMIT_MS, type ExaminationOrder } from '../../testing/examine/examination-order.js';
import type { MakeObserver } from '../../testing/examine/observer/read-observer.js';
import type { ReportView } from '../../testing/report/report.js';
import { Dut } from '../../testing/scenario/dut.js';
import {
  openEndpoints,
  reportUnknownEndpoints,
  withEndpoints,
} from '../../testing/scenario/line-endpoints.js';
import { durationText } from '../../testing/scenario/words.js';
import type { ExaminationWanted } from '../command-line/commands/examine.js';
import { load } from './load.js';
import { warningLog } from './log.js';
import { printFinding } from './print-finding.js';
import { say } from './say.js';
import { shownReport } from './shown-report.js';

/**
 * Examines the client of a line on a simulator of its own.
 * @param stop resolves when the examination is to stop
 * @returns the report, or lines for a terminal that say why there is none; undefined if they have been
 * printed
 */
export async function examineHere(
  wanted: ExaminationWanted,
  makeObserver: MakeObserver | undefined,
  stop: Promise<unknown>,
): Promise<Result<ReportView | undefined>> {
  const configuration = load(wanted.source, {});
  if (!configuration) return success(undefined);
  // Faults of the file would be taken for the client's behaviour.
  const simulator = new Simulator({ ...configuration, faults: [] }, warningLog());
  const order = orderOf(wanted, makeObserver, simulator);
  if (!order.ok) return order;
  const started = await simulator.start();
  if (!started.ok) return failure(withFreePortsHint(started));
  for (const { name, description } of started.lines) say(`line ${name}: ${description}`);
  try {
    return await examineLine(wanted, simulator, order.value, stop);
  } finally {
    await simulator.stop();
  }
}

/** @returns the order, or what is wrong, as a sentence */
function orderOf(
  { line: name, unitId, checks: names, limitMs = DEFAULT_LIMIT_MS, dut, seed }: ExaminationWanted,
  makeObserver: MakeObserver | undefined,
  simulator: Simulator,
): Result<ExaminationOrder> {
  const line = simulator.lines.get(name);
  if (!line) return failure(unknownName('line', name, [...simulator.lines.keys()]));
  if (line.definition.kind === 'serial' && line.definition.mode === 'monitor') {
    return failure(`line ${name} only listens, so it can't disturb a client`);
  }
  if (unitId !== undefined && !line.owns(unitId)) return failure(`line ${name} has no unit ${unitId}`);
  if (dut !== undefined) {
    const findings = fileFindings();
    reportUnknownEndpoints(dut, simulator, new At(dut, findings));
    const [issue] = findings.listed;
    if (issue) return failure(`--dut: ${issue.message}`);
  }
  const checks = chosenChecks(names, line);
  if (typeof checks === 'string') return failure(`--checks: ${checks}`);
  const observer = makeObserver?.(simulator);
  // Only the name of a register can be unknown; those of pages and commands are not checked here.
  if (typeof observer === 'string') return failure(`--witness-register: ${observer}`);
  return success({
    line,
    unitId,
    checks,
    limitMs,
    seed: seed ?? Math.floor(Math.random() * (MAX_SEED + 1)),
    observer,
  });
}

/** @returns why the client could not be started, as lines for a terminal */
async function examineLine(
  { dut: command, restart }: ExaminationWanted,
  simulator: Simulator,
  order: ExaminationOrder,
  stop: Promise<unknown>,
): Promise<Result<ReportView>> {
  const { line, checks, limitMs, seed } = order;
  const many = `${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`;
  say(`line ${line.name}: watching the client, then ${many}, ${durationText(limitMs)} at most, seed ${seed}`);
  let dut: Dut | undefined;
  const startClient = async (): Promise<string | undefined> => {
    if (command === undefined) return undefined;
    await dut?.stop();
    const started = await startDut(command, simulator, stop);
    if (!started.ok) return started.error;
    dut = started.value;
    void started.value.died().then((how) => examination.clientEnded(how));
    return undefined;
  };
  const restarted = { ...order, ...(restart && { restart: startClient }) };
  const examination = new Examination(simulator, restarted, { found: printFinding, note: say });
  const problem = await startClient();
  if (problem !== undefined) return failure(problem);
  try {
    void stop.then(() => examination.stop());
    const report = await examination.run();
    return success(await shownReport(report, simulator));
  } finally {
    await dut?.stop();
  }
}

async function startDut(
  command: string,
  simulator: Simulator,
  giveUp: Promise<unknown>,
): Promise<Result<Dut>> {
  const started = await Dut.start(
    { command, ready: undefined, readyWithin: 0 },
    { command: withEndpoints(command, openEndpoints(simulator)), directory: process.cwd(), giveUp },
  );
  return started.ok ? success(started.dut) : failure(started.error);
}
