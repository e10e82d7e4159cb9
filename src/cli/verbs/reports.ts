import { htmlReport } from '../../testing/report/html.js';
import { jsonReport } from '../../testing/report/json.js';
import { junitReport } from '../../testing/report/junit.js';
import type { RunAbout, RunView } from '../../testing/report/report.js';
import { aboutText } from '../../testing/report/words.js';
import type { Reports } from '../command-line/commands/values.js';
import { complain, FAILED, OK, say, WRONG_USAGE } from './say.js';
import { firstProblem, save } from './write-files.js';

/**
 * Checks before a run whether its reports can be written: a run takes minutes, and a typo in a name should
 * not lose its findings.
 * @returns which file can't be written, and why; undefined if no obstacle is found
 */
export function reportsProblem({ junit, html, json }: Reports): string | undefined {
  return firstProblem([junit, 'JUnit report'], [html, 'HTML report'], [json, 'JSON report']);
}

/**
 * Writes the requested reports; none if there is nothing to report.
 * @param own makes the page and the JSON if they differ from the usual ones
 * @returns what could not be written
 */
export function writeReports(
  { junit, html, json, inconclusive }: Reports,
  reports: readonly RunView[],
  own?: { readonly html: () => string; readonly json: () => string },
): string | undefined {
  for (const [file, form, kind] of [
    [junit, () => junitReport(reports, inconclusive), 'JUnit report'],
    [html, own?.html ?? (() => htmlReport(reports)), 'HTML report'],
    [json, own?.json ?? (() => jsonReport(reports)), 'JSON report'],
  ] as const) {
    const failure = file === undefined || reports.length === 0 ? undefined : save(file, form(), kind);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/**
 * Prints the results of a run on a client, and writes the requested reports.
 * @param more writes other files, and returns what could not be written
 * @returns the exit code
 */
export function conclude(
  wanted: Reports & { readonly about?: RunAbout | undefined },
  found: RunView,
  more: () => string | undefined = () => undefined,
): number {
  const { about = found.about } = wanted;
  const { conclusions, isStopped, verdict } = found;
  for (const text of [aboutText(about), ...conclusions]) if (text !== '') say(text);
  const problem = writeReports(wanted, [{ ...found, about }]) ?? more();
  if (problem !== undefined) return complain(problem, WRONG_USAGE);
  if (isStopped || verdict === 'error') return WRONG_USAGE;
  const isFailure = verdict === 'inconclusive' && wanted.inconclusive === 'failure';
  return verdict === 'fail' || isFailure ? FAILED : OK;
}
