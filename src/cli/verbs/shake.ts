import { compact } from '../../common/compact.js';
import { MAX_SEED } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { sectionOf } from '../../common/schema/parts.js';
import { formatProblems } from '../../common/schema/problem.js';
import type { SourceText } from '../../files/config/text/parse-text.js';
import { readConfigFile } from '../../files/config/text/read-file.js';
import type { Simulator } from '../../simulator/simulator.js';
import { type MakeObserver, readObserver } from '../../testing/examine/observer.js';
import { htmlReport } from '../../testing/report/html.js';
import { scheduleSchema, shakeJson } from '../../testing/report/json.js';
import { aboutText, type ReportView } from '../../testing/report/report.js';
import { durationText } from '../../testing/report/words.js';
import { writeCapture } from '../../testing/scenario/test-run.js';
import { checkMoves, DEFAULT_SHAKE_MS, type Schedule, type ShakeOrder } from '../../testing/shake/move.js';
import { Shake } from '../../testing/shake/shake.js';
import type { ShakeCommand } from '../command-line/commands/shake.js';
import { ClientProgram, clientOf, onOwnSimulator } from './bench-here.js';
import { printFinding } from './print-finding.js';
import { Remote } from './remote.js';
import { FINDINGS, runThere, type ShownFinding } from './run-remotely.js';
import { complain, FAILED, OK, say } from './say.js';
import { shownReport } from './shown-report.js';
import { standardOutput } from './standard.js';
import { stopSignal } from './stop-signal.js';
import { fileProblem, reportsProblem, save, writeReports } from './write-files.js';

/** The exit code when the command, the configuration or the line is wrong, nobody polls, or it was stopped early. */
const WRONG = 2;

/** Shakes the client that polls a line, and prints what breaks it. */
export async function shake(command: ShakeCommand): Promise<number> {
  const read = readObserver(command.observer, (part) => `--witness-${part}`);
  if (!read.ok) return complain(read.error, WRONG);
  const { scenario, capture } = command;
  const unwritable =
    reportsProblem(command) ??
    [scenario, capture].flatMap((file) => (file === undefined ? [] : (fileProblem(file, true) ?? [])))[0];
  if (unwritable !== undefined) return complain(unwritable, WRONG);
  const replay = command.replay === undefined ? success(undefined) : readSchedule(command.replay);
  if (!replay.ok) return complain(replay.error, WRONG);
  let isStopped = false;
  const stop = stopSignal(WRONG, { reader: standardOutput() }).then(() => {
    isStopped = true;
  });
  const means = { makeObserver: read.value, replay: replay.value, stop };
  const report = await (command.url === undefined
    ? shakeHere(command, means)
    : shakeThere(command, command.url, means));
  if (!report.ok) return complain(report.error, WRONG);
  return report.value ? conclude(command, report.value, isStopped) : WRONG;
}

/** Reads the schedule of a report; its moves are checked when the lines are known. */
function readSchedule(file: string): Result<SourceText> {
  const read = readConfigFile(file);
  if (!read.ok) return failure(formatProblems(file, read.problems));
  return sectionOf(read.source.value, 'schedule') === undefined
    ? failure(`${file}: has no schedule, expected a report of modbus-sim shake --json`)
    : success(read.source);
}

interface Means {
  readonly makeObserver: MakeObserver | undefined;
  /** The report whose schedule is played; undefined to draw. */
  readonly replay: SourceText | undefined;
  /** Resolves when it is to stop. */
  readonly stop: Promise<unknown>;
}

function shakeHere(command: ShakeCommand, means: Means): Promise<Result<ReportView | undefined>> {
  return onOwnSimulator(command.source, (simulator) => {
    const client = clientOf(command, means.makeObserver, simulator);
    if (!client.ok) return client;
    const replay =
      means.replay === undefined ? success(undefined) : readMoves(means.replay, simulator, command);
    if (!replay.ok) return replay;
    const { unitId, limitMs = DEFAULT_SHAKE_MS, mostMoves, seed, dut, source, about } = command;
    const order: ShakeOrder = {
      ...client.value,
      unitId,
      limitMs,
      mostMoves,
      replay: replay.value,
      seed: seed ?? Math.floor(Math.random() * (MAX_SEED + 1)),
      about,
      bench: {
        ...(source.kind === 'native' && { configuration: source.file }),
        ...(dut !== undefined && { dut: { command: dut } }),
      },
    };
    return success(() => shakeLine(command, simulator, order, means.stop));
  });
}

function readMoves(
  { value, locate }: SourceText,
  simulator: Simulator,
  { replay: file = '' }: ShakeCommand,
): Result<Schedule> {
  const findings = fileFindings();
  const at = new At(value, findings).key('schedule');
  const schedule = at.check(scheduleSchema);
  if (schedule) checkMoves(at, schedule, simulator);
  return schedule && findings.count === 0
    ? success(schedule)
    : failure(formatProblems(file, locate(findings.listed)));
}

async function shakeLine(
  { dut, capture }: ShakeCommand,
  simulator: Simulator,
  order: ShakeOrder,
  stop: Promise<unknown>,
): Promise<Result<ReportView>> {
  const { line, limitMs, seed } = order;
  say(
    `line ${line.name}: watching the client, then moves for ${durationText(limitMs)} at most, seed ${seed}`,
  );
  const program = new ClientProgram(dut, simulator, stop, (how) => shaking.clientEnded(how));
  const restarted = dut === undefined ? order : { ...order, restart: () => program.start() };
  const shaking = new Shake(simulator, restarted, { found: printFinding, note: say });
  const problem = await program.start();
  if (problem !== undefined) return failure(problem);
  try {
    void stop.then(() => shaking.stop());
    const report = await shaking.run();
    const { shaken } = report;
    if (capture !== undefined && shaken) {
      const unwritten = writeCapture(simulator, { file: capture, ...shaken }, capture, [line.name]);
      if (unwritten !== undefined) complain(unwritten);
    }
    return success(await shownReport(report, simulator));
  } finally {
    await program.stop();
  }
}

interface ShakeAnswer {
  readonly id: number;
  readonly state: 'running' | 'over';
  readonly findings: readonly ShownFinding[];
  /** The report; absent if the request did not ask for it. */
  readonly report: ReportView;
}

/** Shakes the client of a line on a simulator that already runs. The client is started here, and only once. */
async function shakeThere(
  { line, unitId, limitMs, seed, mostMoves, dut, token, observer: { register } }: ShakeCommand,
  url: string,
  { replay, stop }: Means,
): Promise<Result<ReportView>> {
  say(`line ${line} at ${url}: watching the client, then moves`);
  const over = await runThere(
    new Remote(url, token),
    {
      path: '/api/v1/shakes',
      body: {
        line,
        ...compact({ unit: unitId, limit: limitMs, seed, moves: mostMoves }),
        ...(replay && { replay: sectionOf(replay.value, 'schedule') }),
        ...(register !== undefined && { witness: { register } }),
      },
      query: '?report=false',
      findings: ({ findings }: ShakeAnswer) => findings,
      shape: FINDINGS,
      dut: dut === undefined ? undefined : { command: dut, ready: undefined, readyWithin: 0 },
      directory: process.cwd(),
    },
    { onFinding: printFinding, stop },
  );
  return over.ok ? success(over.body.report) : failure(over.error);
}

function conclude(command: ShakeCommand, found: ReportView, isStopped: boolean): number {
  const { about = found.about, scenario } = command;
  const report = { ...found, about };
  const said = aboutText(about);
  if (said !== '') say(said);
  for (const text of report.conclusions) say(text);
  const forms = { html: htmlReport, json: () => shakeJson(report) };
  const problem =
    writeReports(command, [report], forms) ??
    (scenario !== undefined && report.shaken ? save(scenario, report.shaken.scenario, true) : undefined);
  if (problem !== undefined) return complain(problem, WRONG);
  if (report.verdict === 'fail') return FAILED;
  if (isStopped || report.verdict === 'error') return WRONG;
  return report.verdict === 'inconclusive' && command.inconclusive === 'failure' ? FAILED : OK;
}
