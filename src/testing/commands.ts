import type { Logger } from 'pino';
import { lineNames } from '../control/lines.js';
import { done, type Outcome, refusal, refusalOf } from '../control/refusal.js';
import { newRoom, type Room } from '../control/room.js';
import { inSlices } from '../control/slices.js';
import { unknownName } from '../schema/nearest.js';
import type { Simulator } from '../simulator/simulator.js';
import { packEvents } from '../traffic/packed-events.js';
import { CHECKS, checksFor } from './checks.js';
import { LineLeases } from './line-leases.js';
import type { Finding, Report } from './report/report.js';
import { type KnownRun, Runs, type Start } from './runs.js';
import { startingTest } from './scenario/start-test.js';
import { startExamination as start } from './start-examination.js';

/** A room in which tests run. At most one test or examination works on a line at a time. */
export interface TestRoom extends Room {
  readonly runs: {
    readonly tests: Runs;
    readonly examinations: Runs;
    readonly stopAll: () => void;
  };
}

/** @param writesIn where remote clients may let files be made; where the configuration is when undefined */
export function newTestRoom(simulator: Simulator, log: Logger, writesIn?: string): TestRoom {
  const leases = new LineLeases();
  const tests = new Runs('test', simulator, leases);
  const examinations = new Runs('examination', simulator, leases);
  const stopAll = () => {
    tests.stopAll();
    examinations.stopAll();
  };
  return { ...newRoom(simulator, log, writesIn), runs: { tests, examinations, stopAll } };
}

/** A finding without the frames that show it. */
type FindingHead = Omit<Finding, 'frames'>;

/** What became of a run, without frames and configuration. */
interface RunReport extends Omit<Report, 'findings' | 'configuration'> {
  readonly findings: readonly FindingHead[];
}

/** A test or an examination that runs or has run. */
export interface Run {
  readonly id: number;
  readonly isOver: boolean;
  readonly lines: readonly string[];
  readonly report: RunReport;
}

/** A finding with its frames, as `packEvents` packs them. */
export interface PackedFinding extends FindingHead {
  readonly packedFrames: Uint8Array;
}

type OfRun = { readonly id: number };

/** `failure`: why the step or the check that runs has failed. */
type Stopped = OfRun & { readonly failure?: string | undefined };

/** The commands on runs of one kind; what a run has found stays when it is stopped. */
function commandsOn(runsOf: (room: TestRoom) => Runs) {
  const find = <Result>(
    room: TestRoom,
    id: number,
    use: (run: KnownRun, runs: Runs) => Result,
  ): Outcome<Result> => {
    const runs = runsOf(room);
    const run = runs.get(id);
    return run ? done(use(run, runs)) : refusal(`${runs.kind}.unknown`, 'id', `no ${runs.kind} ${id}`);
  };
  return {
    list: (room: TestRoom): Outcome<readonly Run[]> => done(runsOf(room).list().map(runOf)),
    get: (room: TestRoom, { id }: OfRun): Outcome<Run> => find(room, id, runOf),
    stop: (room: TestRoom, { id, failure }: Stopped): Outcome<null> =>
      find(room, id, (_, runs) => {
        runs.stop(id, failure);
        return null;
      }),
    findings: (room: TestRoom, { id }: OfRun): Outcome<Iterable<PackedFinding>> =>
      find(room, id, ({ report }) => packed(report.findings)),
  };
}

export const tests = commandsOn(({ runs }) => runs.tests);
export const examinations = commandsOn(({ runs }) => runs.examinations);

/** Starts a scenario on lines that are open. */
export async function startTest(
  { runs }: TestRoom,
  { scenario }: { readonly scenario: unknown },
): Promise<Outcome<Run>> {
  return outcomeOf(await inSlices(startingTest(runs.tests, scenario)), 'test', '');
}

/** Examines the client of a line. */
export function startExamination({ runs }: TestRoom, { order }: { readonly order: unknown }): Outcome<Run> {
  return outcomeOf(start(runs.examinations, order), 'examination', 'line');
}

/** @param path of what is busy */
function outcomeOf(started: Start, kind: Runs['kind'], path: string): Outcome<Run> {
  if (started.ok) return done(runOf(started.run));
  if ('issues' in started) return refusalOf(started.issues, `${kind}.invalid`);
  return refusal(started.code, path, started.busy);
}

/** What a check does, why, and when it passes. */
export type CheckView = Readonly<
  Record<'id' | 'group' | 'title' | 'does' | 'matters' | 'rule' | 'source', string>
>;

/** The checks that can be run on a line, or all. */
export function possibleChecks(
  { simulator }: Room,
  { line: name }: { readonly line?: string | undefined },
): Outcome<readonly CheckView[]> {
  const line = name === undefined ? undefined : simulator.lines.get(name);
  if (name !== undefined && !line) {
    return refusal('request.invalid', 'line', unknownName('line', name, lineNames(simulator)));
  }
  const checks = line ? checksFor(line) : CHECKS;
  return done(
    checks.map(({ id, group, title, does, matters, rule, source }) => {
      return { id, group, title, does, matters, rule, source };
    }),
  );
}

function* packed(findings: readonly Finding[]): Generator<PackedFinding> {
  for (const finding of findings) yield { ...headOf(finding), packedFrames: packEvents(finding.frames) };
}

function headOf({ id, title, verdict, summary, durationMs, about }: Finding): FindingHead {
  return { id, title, verdict, summary, durationMs, ...(about && { about }) };
}

function runOf({ id, isOver, report, lines }: KnownRun): Run {
  const { kind, name, startedAt, durationMs, verdict, line, seed, conclusions, parameters, found, versions } =
    report;
  return {
    id,
    isOver,
    lines,
    report: {
      kind,
      name,
      startedAt,
      durationMs,
      verdict,
      line,
      seed,
      conclusions,
      parameters,
      ...(found && { found }),
      findings: report.findings.map(headOf),
      versions,
    },
  };
}
