import { failure, type Result, success } from '../../common/result.js';
import { MOST_RECORDED } from '../../remote/api/register-recorder.js';
import { overallVerdict, type ReportView } from '../../testing/report/report.js';
import { aboutText } from '../../testing/report/words.js';
import type { DutDefinition } from '../../testing/scenario/dut.js';
import { runScenario } from '../../testing/scenario/run-scenario.js';
import {
  forRunningSimulator,
  loadScenarioFile,
  type ScenarioFile,
} from '../../testing/scenario/scenario-file.js';
import { dutSchema } from '../../testing/scenario/schema.js';
import type { TestCommand } from '../command-line/commands/test.js';
import { shownReport } from './bench-here.js';
import { runThere } from './follow-run.js';
import { warningLog } from './log.js';
import { Remote } from './remote.js';
import { reportsProblem, writeReports } from './reports.js';
import { complain, FAILED, OK, printFinding, say, WRONG_USAGE } from './say.js';
import { stopOfReader } from './stop-signal.js';

/** Runs scenarios one at a time, and writes the reports on all of them. */
export async function test(command: TestCommand): Promise<number> {
  const loaded = command.files.map((file) => loadScenarioFile(file, command.settings, command.dut));
  const mistakes = loaded.flatMap((each) => (each.ok ? [] : [each.text]));
  if (mistakes.length > 0) return complain(mistakes.join('\n'), WRONG_USAGE);
  const unwritable = reportsProblem(command);
  if (unwritable !== undefined) return complain(unwritable, WRONG_USAGE);
  const stop = stopOfReader(WRONG_USAGE);
  const reports: ReportView[] = [];
  let isWrong = false;
  for (const each of loaded) {
    if (!each.ok || stop.isStopped) continue;
    const ended = await runOne(each.scenario, command, stop.signal);
    if (ended.ok) reports.push({ ...ended.report, about: command.about ?? ended.report.about });
    const wrong = ended.ok ? ended.unwritten : ended.text;
    if (wrong === undefined) continue;
    complain(wrong);
    isWrong = true;
  }
  const said = aboutText(command.about);
  if (said !== '') say(said);
  const problem = writeReports(command, reports);
  if (problem !== undefined) return complain(problem, WRONG_USAGE);
  const verdict = overallVerdict(reports.map((report) => report.verdict));
  const isStopped = stop.isStopped || reports.some((report) => report.isStopped);
  if (isWrong || isStopped || verdict === 'error') return WRONG_USAGE;
  return verdict === 'pass' ? OK : FAILED;
}

async function runOne(
  file: ScenarioFile,
  { url, token, freePorts, html, files }: TestCommand,
  stop: Promise<unknown>,
): Promise<RunEnd> {
  if (url !== undefined) return runRemotely(file, { url, token }, stop);
  const warn = (text: string) => void complain(text);
  const audience = { log: await warningLog(), say, warn, onFinding: printFinding, stop };
  const ended = await runScenario(file, audience, freePorts === true);
  if (!ended.ok) return ended;
  const recorded = html === undefined ? 0 : MOST_RECORDED / files.length;
  const report = await shownReport(ended.report, ended.simulator, recorded);
  say(`${report.name}: ${report.verdict}. ${report.conclusions.join(' ')}`);
  return { ...ended, report };
}

/**
 * The report of one scenario. If there is none, `text` says why, in lines for a terminal; `unwritten` names
 * the captures that were lost.
 */
type RunEnd =
  | { readonly ok: true; readonly report: ReportView; readonly unwritten?: string }
  | { readonly ok: false; readonly text: string };

/** Runs a scenario on a running simulator. The scenario's program runs on this machine. */
async function runRemotely(
  file: ScenarioFile,
  where: { readonly url: string; readonly token: string | undefined },
  stop: Promise<unknown>,
): Promise<RunEnd> {
  const { directory } = file;
  const dut = dutOf(file);
  if (!dut.ok) return { ok: false, text: dut.error };
  const report = await runThere(
    new Remote(where.url, where.token),
    {
      kind: 'scenario',
      body: { scenario: forRunningSimulator(file) },
      name: file.file,
      dut: dut.value,
      directory,
    },
    { onFinding: printFinding, stop },
  );
  if (!report.ok) return { ok: false, text: report.error };
  say(`${report.value.name}: ${report.value.verdict}. ${report.value.conclusions.join(' ')}`);
  return { ok: true, report: report.value };
}

/** The program that the scenario starts; undefined if it starts none; a sentence if the program is invalid. */
function dutOf({ file, value }: ScenarioFile): Result<DutDefinition | undefined> {
  const source = (value as { readonly dut?: unknown }).dut;
  if (source === undefined) return success(undefined);
  const definition = dutSchema.safeParse(source);
  if (!definition.success)
    return failure(`${file}: dut: expected a mapping with command, ready and readyWithin`);
  return success({ ready: undefined, ...definition.data });
}
