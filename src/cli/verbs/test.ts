import { htmlReport } from '../../testing/report/html.js';
import { testsJson } from '../../testing/report/json.js';
import { aboutText, overallVerdict, type ReportView } from '../../testing/report/report.js';
import { runScenario } from '../../testing/scenario/run-scenario.js';
import { loadScenarioFile, type ScenarioFile } from '../../testing/scenario/scenario-file.js';
import type { TestCommand } from '../command-line/commands/test.js';
import { warningLog } from './log.js';
import { printFinding } from './print-finding.js';
import { complain, FAILED, OK, say } from './say.js';
import { shownReport } from './shown-report.js';
import { standardOutput } from './standard.js';
import { stopSignal } from './stop-signal.js';
import { type RemoteEnd, runRemotely } from './test-remote.js';
import { reportsProblem, writeReports } from './write-files.js';

/** The exit code when the file or the simulator is wrong. */
const WRONG = 2;

/** Runs scenarios one after the other, and writes the reports on all of them. */
export async function test(command: TestCommand): Promise<number> {
  const loaded = command.files.map((file) => loadScenarioFile(file, command.settings, command.dut));
  const mistakes = loaded.flatMap((each) => (each.ok ? [] : [each.text]));
  if (mistakes.length > 0) return complain(mistakes.join('\n'), WRONG);
  const unwritable = reportsProblem(command);
  if (unwritable !== undefined) return complain(unwritable, WRONG);
  let isStopped = false;
  const stop = stopSignal(WRONG, { reader: standardOutput() }).then(() => {
    isStopped = true;
  });
  const reports: ReportView[] = [];
  let isWrong = false;
  for (const each of loaded) {
    if (!each.ok || isStopped) continue;
    const ended = await runOne(each.scenario, command, stop);
    if (ended.ok) reports.push({ ...ended.report, about: command.about ?? ended.report.about });
    const wrong = ended.ok ? ended.unwritten : ended.text;
    if (wrong === undefined) continue;
    complain(wrong);
    isWrong = true;
  }
  const said = aboutText(command.about);
  if (said !== '') say(said);
  const problem = writeReports(command, reports, { html: htmlReport, json: testsJson });
  if (problem !== undefined) return complain(problem, WRONG);
  const verdict = overallVerdict(reports.map((report) => report.verdict));
  if (isWrong || isStopped || verdict === 'error') return WRONG;
  return verdict === 'pass' ? OK : FAILED;
}

async function runOne(
  file: ScenarioFile,
  { url, token, freePorts }: TestCommand,
  stop: Promise<void>,
): Promise<RemoteEnd> {
  const audience = { say, warn: (text: string) => void complain(text), onFinding: printFinding, stop };
  if (url !== undefined) return runRemotely(file, { url, token }, audience);
  const ended = await runScenario(file, { ...audience, log: warningLog() }, freePorts === true);
  if (!ended.ok) return ended;
  const report = await shownReport(ended.report, ended.simulator);
  say(`${report.name}: ${report.verdict}. ${report.conclusions.join(' ')}`);
  return { ...ended, report };
}
