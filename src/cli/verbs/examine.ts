import type { Result } from '../../common/result.js';
import { CHECKS, linesFor } from '../../testing/checks.js';
import { REAL_WORLD, realWorldChecks } from '../../testing/examine/checks/real-world.js';
import { DEFAULT_LIMIT_MS } from '../../testing/examine/examination-order.js';
import { readObserver } from '../../testing/examine/observer.js';
import { htmlReport } from '../../testing/report/html.js';
import { examinationJson } from '../../testing/report/json.js';
import { aboutText, type ReportView } from '../../testing/report/report.js';
import { durationText } from '../../testing/report/words.js';
import type { ExaminationWanted, ExamineRequest } from '../command-line/commands/examine.js';
import { examineHere } from './examine-here.js';
import { examineRemotely } from './examine-remote.js';
import { printFinding } from './print-finding.js';
import { complain, FAILED, OK, say } from './say.js';
import { standardOutput } from './standard.js';
import { stopSignal } from './stop-signal.js';
import { reportsProblem, writeReports } from './write-files.js';

/**
 * The exit code when the command, the configuration or the line is wrong, nobody polls, or the examination
 * was stopped.
 */
const WRONG = 2;

/** Examines the client that polls a line, and prints how it behaves. */
export async function examine(request: ExamineRequest): Promise<number> {
  if (request.what === 'list') return list();
  const read = readObserver(request.observer, (part) => `--witness-${part}`);
  if (!read.ok) return complain(read.error, WRONG);
  const unwritable = reportsProblem(request);
  if (unwritable !== undefined) return complain(unwritable, WRONG);
  let isStopped = false;
  const stop = stopSignal(WRONG, { reader: standardOutput() }).then(() => {
    isStopped = true;
  });
  const report = await (request.url === undefined
    ? examineHere(request, read.value, stop)
    : examineThere(request, request.url, stop));
  if (!report.ok) return complain(report.error, WRONG);
  return report.value ? conclude(request, report.value, isStopped) : WRONG;
}

function list(): number {
  for (const check of CHECKS) {
    const { id, group, title, does, matters, rule, fix, source } = check;
    const lines = [does, matters, rule, `Lines: ${linesFor(check)}`, `To mend: ${fix}`, `Source: ${source}`];
    say([`${id} (${group}): ${title}`, ...lines].join('\n    '));
  }
  say(`Only with --checks ${REAL_WORLD}, or with the names of some; modbus-sim catalogue ID explains them:`);
  for (const { id, group, title } of realWorldChecks()) say(`${id} (${group}): ${title}`);
  return OK;
}

/** Examines the client of a line on a simulator that already runs. */
function examineThere(
  {
    line,
    unitId,
    checks,
    limitMs = DEFAULT_LIMIT_MS,
    seed,
    dut,
    token,
    observer: { register },
  }: ExaminationWanted,
  url: string,
  stop: Promise<unknown>,
): Promise<Result<ReportView>> {
  say(`line ${line} at ${url}: watching the client, then its checks, ${durationText(limitMs)} at most`);
  const wanted = { line, unitId, checks, limitMs, seed, register, dut };
  return examineRemotely(wanted, { url, token }, { onFinding: printFinding, stop });
}

function conclude(wanted: ExaminationWanted, found: ReportView, isStopped: boolean): number {
  const { about = found.about } = wanted;
  const report = { ...found, about };
  const said = aboutText(about);
  if (said !== '') say(said);
  for (const text of report.conclusions) say(text);
  const forms = { html: htmlReport, json: () => examinationJson(report) };
  const problem = writeReports(wanted, [report], forms);
  if (problem !== undefined) return complain(problem, WRONG);
  if (isStopped || report.verdict === 'error') return WRONG;
  const isFailure = report.verdict === 'inconclusive' && wanted.inconclusive === 'failure';
  return report.verdict === 'fail' || isFailure ? FAILED : OK;
}
