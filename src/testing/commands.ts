import type { Logger } from 'pino';
import { unknownName } from '../common/schema/nearest.js';
import { inSlices } from '../common/work.js';
import { type CommandContext, newContext } from '../simulator/commands/context.js';
import type { FunctionsOf } from '../simulator/commands/declared.js';
import { lineNames } from '../simulator/commands/lines.js';
import { done, type Outcome, refusal } from '../simulator/commands/refusal.js';
import type { Simulator } from '../simulator/simulator.js';
import { packEvents } from '../simulator/traffic/kept-events.js';
import type { CheckView, EXAMINATION_COMMANDS, SHAKE_COMMANDS, TEST_COMMANDS } from './declared.js';
import { type FindingHead, headOf, type InspectionJson, type Report } from './report/report.js';
import { type AnyReport, type KnownRun, type RunKind, Runs } from './runs.js';

/** The context of commands that work on tests, examinations and other runs. */
export interface TestContext extends CommandContext {
  readonly runs: Runs;
}

/**
 * Makes the context of a simulator.
 * @param writesIn the directory in which remote clients may create files; that of the configuration when
 *   undefined
 */
export function newTestContext(simulator: Simulator, log: Logger, writesIn?: string): TestContext {
  return { ...newContext(simulator, log, writesIn), runs: new Runs(simulator) };
}

/** The report on a run, without frames and configuration. */
interface RunReport extends Omit<Report, 'kind' | 'findings' | 'configuration'> {
  readonly kind: RunKind;
  readonly findings: readonly FindingHead[];
  /** What programs get; inspections only. */
  readonly json?: InspectionJson;
}

/** A run of any kind that goes on or is over. */
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

/** Names the run to stop. `failure` says why its running step or check has failed. */
type Stopped = OfRun & { readonly failure?: string | undefined };

/**
 * Makes the commands on runs of one kind. A run that is stopped keeps its findings.
 * @param findingsOf makes the findings with their evidence, one at a time
 * @param begin starts a run from the request as it was sent
 */
export function commandsOn<Sent, Part>(
  kind: RunKind,
  findingsOf: (report: AnyReport) => Iterable<Part>,
  begin: (runs: Runs, sent: Sent, context: TestContext) => Promise<Outcome<KnownRun>>,
) {
  const find = <Result>(
    { runs }: TestContext,
    id: number,
    use: (run: KnownRun) => Result,
  ): Outcome<Result> => {
    const run = runs.get(kind, id);
    return run ? done(use(run)) : refusal(`${kind}.unknown`, 'id', `no ${kind} ${id}`);
  };
  return {
    list: ({ runs }: TestContext): Outcome<readonly Run[]> => done(runs.list(kind).map(runOf)),
    get: (context: TestContext, { id }: OfRun): Outcome<Run> => find(context, id, runOf),
    start: async (context: TestContext, sent: Sent): Promise<Outcome<Run>> => {
      const started = await begin(context.runs, sent, context);
      return started.ok ? done(runOf(started.value)) : started;
    },
    stop: async (context: TestContext, { id, failure }: Stopped): Promise<Outcome<null>> => {
      const run = find(context, id, (found) => found);
      if (!run.ok) return run;
      run.value.stop(failure);
      // What comes next may be another run on the same lines. An inspection holds none, and may take long to
      // put values back.
      if (run.value.lines.length > 0) await run.value.ended;
      return done(null);
    },
    findings: (context: TestContext, { id }: OfRun): Outcome<Iterable<Part>> =>
      find(context, id, ({ report }) => findingsOf(report)),
  };
}

/*
 * Most processes never run a test, so the code that runs tests is loaded when the first one is asked for,
 * before the run begins. When loading fails, the promise rejects, and rpc passes the error on.
 */

/** The commands on tests. A scenario may be long, so it is read in slices. */
const tests = commandsOn('test', packed, async (runs, { scenario }: { readonly scenario: unknown }) => {
  const { startingTest } = await import('./scenario/start-test.js');
  return inSlices(startingTest(runs, scenario));
});

const examinations = commandsOn(
  'examination',
  packed,
  async (runs, { order }: { readonly order: unknown }) => {
    const { startExamination } = await import('./start-examination.js');
    return startExamination(runs, order);
  },
);

const shakes = commandsOn('shake', packed, async (runs, { order }: { readonly order: unknown }) => {
  const { startingShake } = await import('./shake/start-shake.js');
  return inSlices(startingShake(runs, order));
});

/** Lists the checks that a line can carry, or all checks when no line is named. */
async function possibleChecks(
  { simulator }: CommandContext,
  { line: name }: { readonly line?: string | undefined },
): Promise<Outcome<readonly CheckView[]>> {
  const line = name === undefined ? undefined : simulator.lines.get(name);
  if (name !== undefined && !line) {
    return refusal('request.invalid', 'line', unknownName('line', name, lineNames(simulator)));
  }
  const { CHECKS, checksFor } = await import('./checks.js');
  const checks = line ? checksFor(line) : CHECKS;
  return done(
    checks.map(({ id, group, title, does, matters, rule, source }) => {
      return { id, group, title, does, matters, rule, source };
    }),
  );
}

function* packed(report: AnyReport): Generator<PackedFinding> {
  if (report.kind === 'inspection') return;
  for (const finding of report.findings)
    yield { ...headOf(finding), packedFrames: packEvents(finding.frames) };
}

function runOf({ id, isOver, report, lines }: KnownRun): Run {
  const {
    kind,
    name,
    startedAt,
    durationMs,
    verdict,
    isStopped,
    line,
    seed,
    about,
    conclusions,
    parameters,
    found,
    tried,
    shaken,
    versions,
  } = report;
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
      isStopped,
      line,
      seed,
      ...(about && { about }),
      conclusions,
      parameters,
      ...(found && { found }),
      ...(tried && { tried }),
      ...(shaken && { shaken }),
      findings: report.findings.map(headOf),
      versions,
      ...(report.kind === 'inspection' && { json: report.json }),
    },
  };
}

export const TESTING_FUNCTIONS = {
  'test.list': tests.list,
  'test.start': tests.start,
  'test.get': tests.get,
  'test.stop': tests.stop,
  'test.findings': tests.findings,
  'examination.checks': possibleChecks,
  'examination.list': examinations.list,
  'examination.start': examinations.start,
  'examination.get': examinations.get,
  'examination.stop': examinations.stop,
  'examination.findings': examinations.findings,
  'shake.list': shakes.list,
  'shake.start': shakes.start,
  'shake.get': shakes.get,
  'shake.stop': shakes.stop,
  'shake.findings': shakes.findings,
} satisfies FunctionsOf<typeof TEST_COMMANDS & typeof EXAMINATION_COMMANDS & typeof SHAKE_COMMANDS>;
