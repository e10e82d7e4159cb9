import { compact } from '../../common/compact.js';
import { failure, type Result, success } from '../../common/result.js';
import { At } from '../../common/schema/at.js';
import { fileFindings } from '../../common/schema/findings.js';
import { sectionOf } from '../../common/schema/parts.js';
import { formatProblems } from '../../common/schema/problem.js';
import { atOnce } from '../../common/work.js';
import type { SourceText } from '../../document/text/parse-text.js';
import { readConfigFile } from '../../document/text/read-file.js';
import type { Simulator } from '../../simulator/simulator.js';
import { type MakeObserver, readObserver } from '../../testing/client/observer.js';
import type { Audience } from '../../testing/client/watched-client.js';
import { FuzzRun } from '../../testing/fuzz/fuzz-run.js';
import { checkingMoves, type FuzzOrder, type Schedule } from '../../testing/fuzz/move.js';
import { readingFuzz } from '../../testing/fuzz/start-fuzz.js';
import type { ReportView } from '../../testing/report/report.js';
import { scheduleSchema } from '../../testing/report/shapes.js';
import { durationText } from '../../testing/report/words.js';
import { programOf } from '../../testing/scenario/dut.js';
import { writeCapture } from '../../testing/scenario/test-run.js';
import type { FuzzCommand } from '../command-line/commands/fuzz.js';
import { onOwnSimulator, orderHere, runOnClient } from './bench-here.js';
import { runThere } from './follow-run.js';
import { Remote } from './remote.js';
import { conclude, reportsProblem } from './reports.js';
import { complain, printFinding, say, WRONG_USAGE } from './say.js';
import { stopOfReader } from './stop-signal.js';
import { firstProblem, save } from './write-files.js';

/** Fuzzes the client that polls a line, and prints what breaks it. */
export async function fuzz(command: FuzzCommand): Promise<number> {
  const read = readObserver(command.observer, (part) => `--observer-${part}`);
  if (!read.ok) return complain(read.error, WRONG_USAGE);
  const { scenario, capture } = command;
  const unwritable = reportsProblem(command) ?? firstProblem([scenario, 'scenario'], [capture, 'capture']);
  if (unwritable !== undefined) return complain(unwritable, WRONG_USAGE);
  const replay = command.replay === undefined ? success(undefined) : readSchedule(command.replay);
  if (!replay.ok) return complain(replay.error, WRONG_USAGE);
  const stop = stopOfReader(WRONG_USAGE);
  const means = { makeObserver: read.value, replay: replay.value, stop: stop.signal };
  const report = await (command.url === undefined
    ? fuzzHere(command, means)
    : fuzzThere(command, command.url, means));
  if (!report.ok) return complain(report.error, WRONG_USAGE);
  if (!report.value) return WRONG_USAGE;
  const { fuzzed } = report.value;
  return conclude(command, report.value, () =>
    scenario !== undefined && fuzzed ? save(scenario, fuzzed.scenario, 'scenario') : undefined,
  );
}

/** Reads the schedule of a report. Its moves are checked once the lines are known. */
function readSchedule(file: string): Result<SourceText> {
  const read = readConfigFile(file);
  if (!read.ok) return failure(formatProblems(file, read.problems));
  return sectionOf(read.source.value, 'schedule') === undefined
    ? failure(`${file}: has no schedule, expected a report of modbus-sim fuzz --json`)
    : success(read.source);
}

interface Means {
  readonly makeObserver: MakeObserver | undefined;
  /** The report whose schedule is replayed; undefined to draw moves at random. */
  readonly replay: SourceText | undefined;
  /** Resolves when it is to stop. */
  readonly stop: Promise<unknown>;
}

function fuzzHere(command: FuzzCommand, means: Means): Promise<Result<ReportView | undefined>> {
  return onOwnSimulator(command.source, (simulator) => {
    const { dut, source, about } = command;
    const client = { dut, makeObserver: means.makeObserver };
    const readFuzz = (at: At) => atOnce(readingFuzz(at, simulator));
    const wanted = orderHere(bodyOf(command), readFuzz, client, simulator);
    if (!wanted.ok) return wanted;
    const replay =
      means.replay === undefined ? success(undefined) : readMoves(means.replay, simulator, command);
    if (!replay.ok) return replay;
    const order: FuzzOrder = {
      ...wanted.value,
      replay: replay.value,
      about,
      bench: {
        ...(source.kind === 'native' && { configuration: source.file }),
        ...(dut !== undefined && { dut: { command: dut } }),
      },
    };
    return success(() => fuzzLine(command, simulator, order, means.stop));
  });
}

function readMoves(
  { value, locate }: SourceText,
  simulator: Simulator,
  { replay: file = '' }: FuzzCommand,
): Result<Schedule> {
  const findings = fileFindings();
  const at = new At(value, findings).key('schedule');
  const schedule = at.check(scheduleSchema);
  if (schedule) atOnce(checkingMoves(at, schedule, simulator));
  return schedule && findings.count === 0
    ? success(schedule)
    : failure(formatProblems(file, locate(findings.listed)));
}

function fuzzLine(
  { dut, capture, html }: FuzzCommand,
  simulator: Simulator,
  order: FuzzOrder,
  stop: Promise<unknown>,
): Promise<Result<ReportView>> {
  const { line, limitMs, seed } = order;
  say(
    `line ${line.name}: watching the client, then disturbing it for at most ${durationText(limitMs)}, seed ${seed}`,
  );
  const make = (restart: () => Promise<string | undefined>, audience: Audience) =>
    new FuzzRun(simulator, { ...order, ...(dut !== undefined && { restart }) }, audience);
  return runOnClient(simulator, { dut, html }, stop, 'fuzz', make, ({ fuzzed }) => {
    if (capture === undefined || !fuzzed) return;
    const unwritten = writeCapture(simulator, { file: capture, ...fuzzed }, capture, [line.name]);
    if (unwritten !== undefined) complain(unwritten);
  });
}

/** Fuzzes a line's client on a running simulator. The client is started here, and only once. */
function fuzzThere(command: FuzzCommand, url: string, { replay, stop }: Means): Promise<Result<ReportView>> {
  const { line, dut, token, observer } = command;
  const { register } = observer;
  say(`line ${line} at ${url}: watching the client, then disturbing it`);
  const body = {
    ...bodyOf(command),
    ...(replay && { replay: sectionOf(replay.value, 'schedule') }),
    ...(register !== undefined && { observer: { register } }),
  };
  return runThere(
    new Remote(url, token),
    { kind: 'fuzz', body, dut: dut === undefined ? undefined : programOf(dut) },
    { onFinding: printFinding, stop },
  );
}

/** The body of the request that starts a fuzz run, without the moves and the observer. */
function bodyOf({ line, unitId: unit, limitMs: limit, seed, mostMoves: moves, except }: FuzzCommand): object {
  return compact({ line, unit, limit, seed, moves, except });
}
