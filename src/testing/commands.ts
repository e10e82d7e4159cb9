import type { Logger } from 'pino';
import { unknownName } from '../common/schema/nearest.js';
import { type CommandContext, newContext } from '../simulator/commands/context.js';
import { lineNames } from '../simulator/commands/lines.js';
import { done, type Outcome, refusal } from '../simulator/commands/refusal.js';
import type { Simulator } from '../simulator/simulator.js';
import { inSlices } from '../simulator/slices.js';
import { packEvents } from '../simulator/traffic/packed-events.js';
import { type CheckAbout, type Finding, type FindingHead, headOf, type Report } from './report/report.js';
import { type KnownRun, type RunKind, Runs } from './runs.js';

/** A room in which tests run. At most one test or examination works on a line at a time. */
export interface TestContext extends CommandContext {
  readonly runs: Runs;
}

/** @param writesIn where remote clients may let files be made; where the configuration is when undefined */
export function newTestContext(simulator: Simulator, log: Logger, writesIn?: string): TestContext {
  return { ...newContext(simulator, log, writesIn), runs: new Runs(simulator) };
}

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

/**
 * The commands on runs of one kind; what a run has found stays when it is stopped.
 * @param begin starts a run on lines that are open, as it was sent
 */
function commandsOn<Sent>(kind: RunKind, begin: (runs: Runs, sent: Sent) => Promise<Outcome<KnownRun>>) {
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
    get: (room: TestContext, { id }: OfRun): Outcome<Run> => find(room, id, runOf),
    start: async ({ runs }: TestContext, sent: Sent): Promise<Outcome<Run>> => {
      const started = await begin(runs, sent);
      return started.ok ? done(runOf(started.value)) : started;
    },
    stop: (room: TestContext, { id, failure }: Stopped): Outcome<null> =>
      find(room, id, (run) => {
        run.stop(failure);
        return null;
      }),
    findings: (room: TestContext, { id }: OfRun): Outcome<Iterable<PackedFinding>> =>
      find(room, id, ({ report }) => packed(report.findings)),
  };
}

/*
 * Most starts never run a test, so what runs them is loaded when it is first asked for, before the run begins. A load that
 * fails rejects, and the door tells it.
 */

/** Scenarios, which are read in slices because they may be long. */
export const tests = commandsOn('test', async (runs, { scenario }: { readonly scenario: unknown }) => {
  const { startingTest } = await import('./scenario/start-test.js');
  return inSlices(startingTest(runs, scenario));
});

export const examinations = commandsOn(
  'examination',
  async (runs, { order }: { readonly order: unknown }) => {
    const { startExamination } = await import('./start-examination.js');
    return startExamination(runs, order);
  },
);

/** What a check does, why, and when it passes. */
export type CheckView = Omit<CheckAbout, 'fix'> & Readonly<Record<'id' | 'title', string>>;

/** The checks that can be run on a line, or all. */
export async function possibleChecks(
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

function* packed(findings: readonly Finding[]): Generator<PackedFinding> {
  for (const finding of findings) yield { ...headOf(finding), packedFrames: packEvents(finding.frames) };
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
