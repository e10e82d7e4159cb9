import { MAX_SEED } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import type { Simulator } from '../../simulator/simulator.js';
import { chosenChecks } from '../../testing/checks.js';
import { Examination } from '../../testing/examine/examination.js';
import { DEFAULT_LIMIT_MS, type ExaminationOrder } from '../../testing/examine/examination-order.js';
import type { MakeObserver } from '../../testing/examine/observer.js';
import type { ReportView } from '../../testing/report/report.js';
import { durationText } from '../../testing/report/words.js';
import type { ExaminationWanted } from '../command-line/commands/examine.js';
import { ClientProgram, clientOf, onOwnSimulator } from './bench-here.js';
import { printFinding } from './print-finding.js';
import { say } from './say.js';
import { shownReport } from './shown-report.js';

/**
 * Examines the client of a line on a simulator of its own.
 * @param stop resolves when the examination is to stop
 * @returns the report, or lines for a terminal that say why there is none; undefined if they have been
 * printed
 */
export function examineHere(
  wanted: ExaminationWanted,
  makeObserver: MakeObserver | undefined,
  stop: Promise<unknown>,
): Promise<Result<ReportView | undefined>> {
  return onOwnSimulator(wanted.source, (simulator) => {
    const order = orderOf(wanted, makeObserver, simulator);
    return order.ok ? success(() => examineLine(wanted, simulator, order.value, stop)) : order;
  });
}

/** @returns the order, or what is wrong, as a sentence */
function orderOf(
  wanted: ExaminationWanted,
  makeObserver: MakeObserver | undefined,
  simulator: Simulator,
): Result<ExaminationOrder> {
  const { unitId, checks: names, limitMs = DEFAULT_LIMIT_MS, seed } = wanted;
  const client = clientOf(wanted, makeObserver, simulator);
  if (!client.ok) return client;
  const checks = chosenChecks(names, client.value.line);
  if (!checks.ok) return failure(`--checks: ${checks.error}`);
  return success({
    ...client.value,
    unitId,
    checks: checks.value,
    limitMs,
    seed: seed ?? Math.floor(Math.random() * (MAX_SEED + 1)),
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
  const program = new ClientProgram(command, simulator, stop, (how) => examination.clientEnded(how));
  const restarted = { ...order, ...(restart && { restart: () => program.start() }) };
  const examination = new Examination(simulator, restarted, { found: printFinding, note: say });
  const problem = await program.start();
  if (problem !== undefined) return failure(problem);
  try {
    void stop.then(() => examination.stop());
    const report = await examination.run();
    return success(await shownReport(report, simulator));
  } finally {
    await program.stop();
  }
}
