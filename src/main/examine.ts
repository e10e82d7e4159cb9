import type { ExamineRequest } from '../config/examine-arguments.js';
import { MAX_SEED } from '../random.js';
import { At } from '../schema/at.js';
import { fileFindings } from '../schema/findings.js';
import { unknownName } from '../schema/nearest.js';
import { Simulator } from '../simulator/simulator.js';
import { CHECKS } from '../testing/examine/checks.js';
import { Examination, type ExaminationOrder } from '../testing/examine/examination.js';
import { chosenChecks } from '../testing/examine/plan.js';
import { htmlReport } from '../testing/report/html.js';
import { junitReport } from '../testing/report/junit.js';
import type { Report } from '../testing/report/report.js';
import { viewReport } from '../testing/report/view.js';
import { Dut } from '../testing/scenario/dut.js';
import { openPlaces, tellUnknownPlaces, withPlaces } from '../testing/scenario/places.js';
import { durationText } from '../testing/scenario/words.js';
import { load } from './load.js';
import { warningLog } from './log.js';
import { complain, FAILED, OK, say } from './say.js';
import { stopSignal } from './stop-signal.js';
import { tellFinding } from './tell-finding.js';
import { writeReports } from './write-reports.js';

/** The command, the configuration or the line is wrong, nobody polls, or the examination was stopped. */
const WRONG = 2;

type Wanted = Extract<ExamineRequest, { what: 'examine' }>;

/** Examines the client that polls a line, and says how it behaves. */
export async function examine(request: ExamineRequest): Promise<number> {
  if (request.what === 'list') return list();
  const configuration = load(request.source, {});
  if (!configuration) return WRONG;
  // Faults of the file would be taken for what the client does.
  const simulator = new Simulator({ ...configuration, faults: [] }, warningLog());
  const order = orderOf(request, simulator);
  if (typeof order === 'string') return complain(order, WRONG);
  let isStopped = false;
  const stop = stopSignal(WRONG).then(() => {
    isStopped = true;
  });
  const started = await simulator.start();
  if (!started.ok) return complain(started.error, WRONG);
  for (const { name, description } of started.lines) say(`line ${name}: ${description}`);
  try {
    const report = await examineLine(request, simulator, order, stop);
    if (typeof report === 'string') return complain(report, WRONG);
    return conclude(request, simulator, report, isStopped);
  } finally {
    await simulator.stop();
  }
}

function list(): number {
  for (const { id, group, title, does, matters, rule, source } of CHECKS) {
    say(`${id} (${group}): ${title}\n    ${does}\n    ${matters}\n    ${rule}\n    Source: ${source}`);
  }
  return OK;
}

/** @returns what is wrong, as a sentence */
function orderOf(request: Wanted, simulator: Simulator): ExaminationOrder | string {
  const { line: name, unitId, checks: names, limitMs, dut } = request;
  const line = simulator.lines.get(name);
  if (!line) return unknownName('line', name, [...simulator.lines.keys()]);
  if (line.definition.kind === 'serial' && line.definition.mode === 'monitor') {
    return `line ${name} only listens, so it can't disturb a client`;
  }
  if (unitId !== undefined && !line.owns(unitId)) return `line ${name} has no unit ${unitId}`;
  if (dut !== undefined) {
    const findings = fileFindings();
    tellUnknownPlaces(dut, simulator, new At(dut, findings));
    const [issue] = findings.listed;
    if (issue) return `--dut: ${issue.message}`;
  }
  const checks = chosenChecks(names, line);
  if (typeof checks === 'string') return `--checks: ${checks}`;
  const seed = request.seed ?? Math.floor(Math.random() * (MAX_SEED + 1));
  return { line, unitId, checks, limitMs, seed };
}

/** @returns why the client could not be started, as lines for a terminal */
async function examineLine(
  { dut: command }: Wanted,
  simulator: Simulator,
  order: ExaminationOrder,
  stop: Promise<unknown>,
): Promise<Report | string> {
  const { line, checks, limitMs, seed } = order;
  const many = `${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`;
  say(`line ${line.name}: watching the client, then ${many}, ${durationText(limitMs)} at most, seed ${seed}`);
  const dut = command === undefined ? undefined : await startDut(command, simulator, stop);
  if (typeof dut === 'string') return dut;
  try {
    const examination = new Examination(simulator, order, tellFinding);
    void stop.then(() => examination.stop());
    void dut?.died().then((how) => examination.end('fail', how));
    return await examination.run();
  } finally {
    await dut?.stop();
  }
}

async function startDut(
  command: string,
  simulator: Simulator,
  giveUp: Promise<unknown>,
): Promise<Dut | string> {
  const started = await Dut.start(
    { command, ready: undefined, readyWithin: 0 },
    { command: withPlaces(command, openPlaces(simulator)), directory: process.cwd(), giveUp },
  );
  return started.ok ? started.dut : started.error;
}

function conclude({ junit, html }: Wanted, simulator: Simulator, report: Report, isStopped: boolean): number {
  for (const text of report.conclusions) say(text);
  const view = viewReport(report, (seq) => simulator.traffic.read(seq));
  const files = [
    [junit, junitReport],
    [html, htmlReport],
  ] as const;
  const problem = writeReports(files, [view]);
  if (problem !== undefined) return complain(problem, WRONG);
  if (isStopped || report.verdict === 'error') return WRONG;
  return report.verdict === 'fail' ? FAILED : OK;
}
