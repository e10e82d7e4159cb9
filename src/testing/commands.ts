import type { Logger } from 'pino';
import { lineNames } from '../control/lines.js';
import { done, type Outcome, refusal, refusalOf } from '../control/refusal.js';
import { newRoom, type Room } from '../control/room.js';
import { inSlices } from '../control/slices.js';
import { unknownName } from '../schema/nearest.js';
import type { Simulator } from '../simulator/simulator.js';
import { packEvents } from '../traffic/packed-events.js';
import { CHECKS, checksFor } from './examine/checks.js';
import { ExaminationRuns, type KnownExamination } from './examine/examination-runs.js';

import { LineLeases } from './line-leases.js';
import type { Finding, Report } from './report/report.js';
import { type KnownTest, TestRuns } from './scenario/test-runs.js';

/** The tests and examinations of a running simulator. At most one works on a line at a time. */
interface Runs {
  readonly tests: TestRuns;
  readonly examinations: ExaminationRuns;
  readonly stopAll: () => void;
}

function newRuns(simulator: Simulator): Runs {
  const leases = new LineLeases();
  const tests = new TestRuns(simulator, leases);
  const examinations = new ExaminationRuns(simulator, leases);
  const stopAll = () => {
    tests.stopAll();
    examinations.stopAll();
  };
  return { tests, examinations, stopAll };
}

/** A room in which tests run. */
export interface TestRoom extends Room {
  readonly runs: Runs;
}

/** @param writesIn where remote clients may let files be made; where the configuration is when undefined */
export function newTestRoom(simulator: Simulator, log: Logger, writesIn?: string): TestRoom {
  return { ...newRoom(simulator, log, writesIn), runs: newRuns(simulator) };
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

interface OfRun {
  readonly id: number;
}

export function listTests({ runs }: TestRoom): Outcome<readonly Run[]> {
  return done(runs.tests.list().map(runOf));
}

export function getTest({ runs }: TestRoom, { id }: OfRun): Outcome<Run> {
  const test = runs.tests.get(id);
  return test ? done(runOf(test)) : refusal('test.unknown', 'id', `no test ${id}`);
}

/** Starts a scenario on lines that are open. */
export async function startTest(
  { runs }: TestRoom,
  { scenario }: { readonly scenario: unknown },
): Promise<Outcome<Run>> {
  const started = await inSlices(runs.tests.starting(scenario));
  if (started.ok) return done(runOf(started.test));
  if ('issues' in started) return refusalOf(started.issues, 'test.invalid');
  return refusal(started.code, '', started.busy);
}

/** Ends a test, if it runs. What it has found stays. @param input `failure`: why the step that runs has failed */
export function stopTest(
  { runs }: TestRoom,
  { id, failure }: OfRun & { readonly failure?: string | undefined },
): Outcome<null> {
  if (!runs.tests.get(id)) return refusal('test.unknown', 'id', `no test ${id}`);
  runs.tests.stop(id, failure);
  return done(null);
}

export function testFindings({ runs }: TestRoom, { id }: OfRun): Outcome<Iterable<PackedFinding>> {
  const test = runs.tests.get(id);
  return test ? done(packed(test.report.findings)) : refusal('test.unknown', 'id', `no test ${id}`);
}

export function listExaminations({ runs }: TestRoom): Outcome<readonly Run[]> {
  return done(runs.examinations.list().map(runOf));
}

export function getExamination({ runs }: TestRoom, { id }: OfRun): Outcome<Run> {
  const run = runs.examinations.get(id);
  return run ? done(runOf(run)) : unknownExamination(id);
}

/** Examines the client of a line. */
export function startExamination({ runs }: TestRoom, { order }: { readonly order: unknown }): Outcome<Run> {
  const started = runs.examinations.start(order);
  if (started.ok) return done(runOf(started.examination));
  if ('issues' in started) return refusalOf(started.issues, 'examination.invalid');
  return refusal(started.code, 'line', started.busy);
}

/** Ends an examination, if it runs. @param input `failure`: why the check that runs has failed */
export function stopExamination(
  { runs }: TestRoom,
  { id, failure }: OfRun & { readonly failure?: string | undefined },
): Outcome<null> {
  if (!runs.examinations.get(id)) return unknownExamination(id);
  runs.examinations.stop(id, failure);
  return done(null);
}

export function examinationFindings({ runs }: TestRoom, { id }: OfRun): Outcome<Iterable<PackedFinding>> {
  const run = runs.examinations.get(id);
  return run ? done(packed(run.report.findings)) : unknownExamination(id);
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

function unknownExamination(id: number) {
  return refusal('examination.unknown', 'id', `no examination ${id}`);
}

function* packed(findings: readonly Finding[]): Generator<PackedFinding> {
  for (const finding of findings) yield { ...headOf(finding), packedFrames: packEvents(finding.frames) };
}

function headOf({ id, title, verdict, summary, durationMs, about }: Finding): FindingHead {
  return { id, title, verdict, summary, durationMs, ...(about && { about }) };
}

function runOf({ id, isOver, report, ...run }: KnownTest | KnownExamination): Run {
  const { kind, name, startedAt, durationMs, verdict, line, seed, conclusions, parameters, found, versions } =
    report;
  const lines = 'lines' in run ? run.lines : [line ?? ''];
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
