import type { Logger } from 'pino';
import { unknownName } from '../common/schema/nearest.js';
import { isMapping } from '../common/schema/parts.js';
import { inSlices } from '../common/work.js';
import { type CommandContext, newContext } from '../simulator/commands/context.js';
import type { FunctionsOf } from '../simulator/commands/declared.js';
import { lineNames } from '../simulator/commands/lines.js';
import { done, type Outcome, refusal } from '../simulator/commands/refusal.js';
import type { Line } from '../simulator/line.js';
import type { Simulator } from '../simulator/simulator.js';
import { packEvents } from '../simulator/traffic/kept-events.js';
import type { CheckView, RUN_COMMANDS } from './declared.js';
import { headOf, type PackedFinding, type Run, type ServerFindingView } from './report/report.js';
import { isRunKind, KIND_NAMES, type RunKind } from './run-kinds.js';
import { type AnyReport, type KnownRun, Runs } from './runs.js';

export interface TestContext extends CommandContext {
  readonly runs: Runs;
}

/**
 * Makes the context of a simulator.
 * @param writesIn the directory in which remote clients may create files; default: the one of the
 * configuration
 */
export function newTestContext(simulator: Simulator, log: Logger, writesIn?: string): TestContext {
  return { ...newContext(simulator, log, writesIn), runs: new Runs(simulator) };
}

type OfRun = { readonly id: number };

/** The run to stop. `failure` says why its current step or check has failed. */
type Stopped = OfRun & { readonly failure?: string | undefined };

/*
 * Most processes never run a test, so the code for running tests is loaded when the first one is requested.
 * If loading fails, the promise rejects, and rpc passes the error on.
 */

type StartRun = (
  runs: Runs,
  order: Readonly<Record<string, unknown>>,
  context: TestContext,
) => Promise<Outcome<KnownRun>>;

/** Starts a run of each kind from its order, without the kind. Scenarios and moves are read in slices. */
const STARTS: Readonly<Record<RunKind, StartRun>> = {
  scenario: async (runs, { scenario, ...others }) => {
    const [other] = Object.keys(others);
    if (other !== undefined)
      return refusal('run.invalid', other, 'unknown key: only kind and scenario are expected');
    const { startingTest } = await import('./scenario/start-test.js');
    return inSlices(startingTest(runs, scenario));
  },
  client: async (runs, order) => (await import('./start-client-test.js')).startClientTest(runs, order),
  server: async (runs, order, context) =>
    (await import('./server/start-server-test.js')).startServerTest(runs, context, order),
  fuzz: async (runs, order) => {
    const { startingFuzz } = await import('./fuzz/start-fuzz.js');
    return inSlices(startingFuzz(runs, order));
  },
};

function find<Result>({ runs }: TestContext, id: number, use: (run: KnownRun) => Result): Outcome<Result> {
  const run = runs.get(id);
  return run ? done(use(run)) : refusal('run.unknown', 'id', `no run ${id}`);
}

async function start(context: TestContext, { order }: { readonly order: unknown }): Promise<Outcome<Run>> {
  const { kind, ...rest } = isMapping(order) ? order : {};
  const expected = `expected ${KIND_NAMES.join(', ')}`;
  if (!isMapping(order)) return refusal('run.invalid', '', 'expected a mapping with kind');
  if (!isRunKind(kind)) return refusal('run.invalid', 'kind', expected);
  const started = await STARTS[kind](context.runs, rest, context);
  return started.ok ? done(runOf(started.value)) : started;
}

/** Stops a run. It keeps its findings. */
async function stop(context: TestContext, { id, failure }: Stopped): Promise<Outcome<null>> {
  const run = find(context, id, (found) => found);
  if (!run.ok) return run;
  run.value.stop(failure);
  // The next command may start another run on the same lines. A server test uses no lines, and may take long
  // to put values back.
  if (run.value.lines.length > 0) await run.value.ended;
  return done(null);
}

/** Lists the checks for servers or for clients: all, or those that can run on a line. */
async function possibleChecks(
  { simulator }: CommandContext,
  {
    kind = 'client',
    line: name,
  }: { readonly kind?: 'client' | 'server' | undefined; readonly line?: string | undefined },
): Promise<Outcome<readonly CheckView[]>> {
  const line = name === undefined ? undefined : simulator.lines.get(name);
  if (name !== undefined && !line) {
    return refusal('request.invalid', 'line', unknownName('line', name, lineNames(simulator)));
  }
  const checks =
    kind === 'server' ? (await import('./server/checks.js')).SERVER_CHECKS : await clientChecks(line);
  return done(
    checks.map(({ id, group, title, does, matters, rule, ...others }) => {
      return {
        id,
        group,
        title,
        does,
        matters,
        rule,
        source: 'clause' in others ? others.clause : others.source,
      };
    }),
  );
}

/** The checks for clients: all, or those that can run on a line. */
async function clientChecks(line: Line | undefined) {
  const { CHECKS, checksFor } = await import('./checks.js');
  return line ? checksFor(line) : CHECKS;
}

/** The findings of a run with their evidence, one at a time. */
function* withEvidence(report: AnyReport): Generator<PackedFinding | ServerFindingView> {
  if (report.kind === 'server') {
    for (const finding of report.findings)
      yield { ...headOf(finding), frames: finding.frames, exchanges: finding.exchanges };
    return;
  }
  for (const finding of report.findings)
    yield { ...headOf(finding), packedFrames: packEvents(finding.frames) };
}

function runOf({ id, isOver, report, lines, doing }: KnownRun): Run {
  const { findings, ...others } = report;
  // A server test's findings create their frames on each read.
  return { id, isOver, lines, doing, report: { ...others, findings: findings.map(headOf) } };
}

export const RUN_FUNCTIONS = {
  'run.checks': possibleChecks,
  'run.list': ({ runs }: TestContext, { kind }: { readonly kind?: RunKind | undefined }) =>
    done(runs.list(kind).map(runOf)),
  'run.start': start,
  'run.get': (context: TestContext, { id }: OfRun) => find(context, id, runOf),
  'run.stop': stop,
  'run.findings': (context: TestContext, { id }: OfRun) =>
    find(context, id, ({ report }) => withEvidence(report)),
} satisfies FunctionsOf<typeof RUN_COMMANDS>;
