import type { Reports } from '../../cli/command-line/commands/values.js';
import { clientTestOrder, followRun, type RunCarrier, type RunFollower } from '../../cli/verbs/follow-run.js';
import { reportsProblem, writeReports } from '../../cli/verbs/reports.js';
import { complain, FAILED, OK, say, WRONG_USAGE } from '../../cli/verbs/say.js';
import { stopOfReader } from '../../cli/verbs/stop-signal.js';
import { failure, type Result, success } from '../../common/result.js';
import { fleetHtml } from '../../testing/report/html.js';
import { jsonText, reportJson } from '../../testing/report/json.js';
import type { Run } from '../../testing/report/report.js';
import { overallVerdict, type ReportView } from '../../testing/report/report.js';
import { forRunningSimulator, loadScenarioFile } from '../../testing/scenario/scenario-file.js';
import { type BenchRun, runIn } from './answered-run.js';
import type { Fleet } from './benches.js';
import type { FleetCommand } from './command.js';
import type { FleetBench } from './known-benches.js';

/**
 * Interval for asking each bench for its progress, in ms. With many benches it is 5 ms per bench, so that the
 * broker gets at most 200 requests a second.
 */
const ASK_EVERY_MS = 250;
const ASK_EACH_MS = 5;
/** Interval for printing the progress of all benches, in ms. */
const SAY_EVERY_MS = 10_000;

/** A scenario or a client test that runs on each bench. */
export interface Work {
  readonly kind: 'scenario' | 'client';
  readonly name: string;
  /** The order that starts the run, with its kind. */
  readonly body: object;
}

/** The result of one run on one bench. */
interface BenchReport {
  readonly bench: FleetBench;
  readonly report: ReportView;
  /** URL of the bench's own report, which has the frames; undefined if nothing ran. */
  readonly url: string | undefined;
}

/**
 * Reads scenarios from files, in the form in which they are sent to benches.
 * @returns them, or what is wrong, as lines for a terminal
 */
export function readScenarios(files: readonly string[], settings: readonly string[]): Result<Work[]> {
  const loaded = files.map((file) => loadScenarioFile(file, settings));
  const mistakes = loaded.flatMap((each) => (each.ok ? [] : [each.text]));
  if (mistakes.length > 0) return failure(mistakes.join('\n'));
  const scenarios = loaded.flatMap((each) => (each.ok ? [each.scenario] : []));
  const withProgram = scenarios.find(({ value }) => (value as { readonly dut?: unknown }).dut !== undefined);
  if (withProgram)
    return failure(
      `${withProgram.file}: dut: fleet does not start programs; it tests clients that already run at the benches`,
    );
  return success(
    scenarios.map((scenario) => {
      const { name } = scenario.value as { readonly name?: unknown };
      return {
        kind: 'scenario',
        name: String(name ?? scenario.file),
        body: { kind: 'scenario', scenario: forRunningSimulator(scenario) },
      };
    }),
  );
}

export function clientTestWork(order: Parameters<typeof clientTestOrder>[0]): Work {
  return { kind: 'client', name: `line ${order.line}`, body: { kind: 'client', ...clientTestOrder(order) } };
}

/**
 * Runs scenarios or a client test on all benches at the same time, one after another on each bench, and
 * writes one report on all of them. If the user interrupts, the current runs are stopped.
 * @returns the exit code: 1 unless all passed on all benches
 */
export async function runOnAll(
  fleet: Fleet,
  benches: readonly FleetBench[],
  { timeout }: FleetCommand,
  works: readonly Work[],
  wanted: Reports,
): Promise<number> {
  const unwritable = reportsProblem(wanted);
  if (unwritable !== undefined) return complain(unwritable, WRONG_USAGE);
  const stop = stopOfReader(WRONG_USAGE);
  const total = benches.length * works.length;
  const everyMs = Math.max(ASK_EVERY_MS, ASK_EACH_MS * benches.length);
  const steps = new Map<FleetBench, number>();
  const reports: BenchReport[] = [];
  const progress = setInterval(() => {
    const done = Array.from(steps.values()).reduce((sum, each) => sum + each, 0);
    say(`${reports.length} of ${total} finished, ${done} steps done`);
  }, SAY_EVERY_MS);
  const runs = benches.map(async (bench) => {
    for (const work of works) {
      const ended = stop.isStopped
        ? notRun(bench, work, 'was interrupted')
        : await runOne(fleet, bench, work, timeout, { everyMs, stop: stop.signal }, (done) =>
            steps.set(bench, done),
          );
      reports.push(ended);
      const { report } = ended;
      const about = `[${reports.length}/${total}] ${report.name}: ${report.verdict}`;
      const found = report.findings.find(({ verdict }) => verdict !== 'pass' && verdict !== 'not run');
      if (report.verdict === 'pass') say(about);
      else complain(`${about}. ${found ? `${found.title}: ${found.summary}` : report.conclusions.join(' ')}`);
    }
  });
  await Promise.all(runs);
  clearInterval(progress);
  const inOrder = benches
    .flatMap((bench) => reports.filter((each) => each.bench === bench))
    .map(({ bench, report, url }) => ({
      bench: bench.topic,
      report: { ...report, about: wanted.about },
      url,
    }));
  const views = inOrder.map(({ report }) => report);
  const problem = writeReports(wanted, views, {
    html: () => fleetHtml(inOrder),
    json: () => jsonText(inOrder.map(({ bench, report, url }) => ({ bench, url, ...reportJson(report) }))),
  });
  if (problem !== undefined) return complain(problem, WRONG_USAGE);
  const passed = views.filter(({ verdict }) => verdict === 'pass').length;
  say(`${passed} of ${total} passed`);
  const isFailure = ['fail', 'error', ...(wanted.inconclusive === 'failure' ? ['inconclusive'] : [])];
  const overall = overallVerdict(views.map(({ verdict }) => verdict));
  const isGood = works[0]?.kind === 'scenario' ? overall === 'pass' : !isFailure.includes(overall);
  if (stop.isStopped || views.some(({ isStopped }) => isStopped)) return WRONG_USAGE;
  return isGood ? OK : FAILED;
}

async function runOne(
  fleet: Fleet,
  bench: FleetBench,
  work: Work,
  timeout: number,
  follower: Pick<RunFollower<BenchRun>, 'everyMs' | 'stop'>,
  onProgress: (steps: number) => void,
): Promise<BenchReport> {
  const { body } = work;
  let last: BenchRun | undefined;
  const over = await followRun(mqttCarrier(fleet, bench, timeout), body, {
    ...follower,
    seen(run) {
      last = run;
      onProgress(run.findings.filter(({ verdict }) => verdict !== 'not run').length);
    },
  });
  if (!over.ok) return notRun(bench, work, over.error, last);
  const [rest] = bench.rest;
  const url = rest && `${rest}/api/v1/runs/${over.value.id}/report.html`;
  return { bench, report: viewOf(bench, work, over.value), url };
}

function mqttCarrier(fleet: Fleet, bench: FleetBench, timeout: number): RunCarrier<BenchRun> {
  const ask = async (what: 'start' | 'get', input: object) =>
    runIn(await fleet.ask(bench, `run.${what}`, input, timeout));
  return {
    start: (sent) => ask('start', { order: sent }),
    get: (id) => ask('get', { id }),
    stop: (id) => fleet.ask(bench, 'run.stop', { id }, timeout),
  };
}

function viewOf({ topic }: FleetBench, work: Work, { report }: Run): ReportView {
  const findings = report.findings.map((each) => ({ ...each, frames: [] }));
  return { ...report, name: nameOf(topic, work), findings, configuration: '' };
}

function nameOf(topic: string, { name }: Work): string {
  return `${topic}: ${name}`;
}

/** The report on work that did not run, or did not finish. */
function notRun(bench: FleetBench, work: Work, why: string, run?: Run): BenchReport {
  const finding = {
    id: 'bench',
    title: 'The bench',
    verdict: 'error',
    summary: why,
    durationMs: 0,
    frames: [],
  } as const;
  const begun = run && viewOf(bench, work, run);
  const report: ReportView = {
    ...{ kind: work.kind, startedAt: Date.now(), durationMs: 0, line: undefined, seed: 0 },
    ...{ isStopped: false, conclusions: [], parameters: [], versions: [], configuration: '' },
    ...begun,
    name: nameOf(bench.topic, work),
    verdict: 'error',
    findings: [...(begun?.findings ?? []), finding],
  };
  return { bench, report, url: undefined };
}
