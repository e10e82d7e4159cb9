import { RUN_KINDS } from '../run-kinds.js';
import type { FindingView, ReportView, Verdict } from './report.js';
import { escaped, resultText } from './words.js';

/** How JUnit, which has no such result, reports an inconclusive step or check. */
export type Inconclusive = 'skipped' | 'failure';

/**
 * Formats reports as JUnit XML, in the form that CI systems read: a suite for each report, a case for each
 * step or check. An inconclusive one is skipped, with its reason, unless `inconclusive` says `failure`: in
 * JUnit, a failure means that something was seen to be wrong.
 */
export function junitReport(reports: readonly ReportView[], inconclusive?: Inconclusive): string {
  return [...junitPieces(reports, inconclusive)].join('');
}

/** The XML of `junitReport` in pieces, one for each case. */
export function* junitPieces(
  reports: readonly ReportView[],
  inconclusive: Inconclusive = 'skipped',
): Generator<string, void> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n';
  for (const report of reports) yield* suitePieces(report, inconclusive);
  yield '</testsuites>\n';
}

type Element = 'failure' | 'error' | 'skipped' | undefined;

function elementOf(verdict: Verdict, inconclusive: Inconclusive): Element {
  switch (verdict) {
    case 'pass':
      return undefined;
    case 'fail':
      return 'failure';
    case 'error':
      return 'error';
    case 'not run':
      return 'skipped';
    case 'inconclusive':
      return inconclusive;
  }
}

function* suitePieces(report: ReportView, inconclusive: Inconclusive): Generator<string, void> {
  const { name, startedAt, durationMs, seed, line, versions } = report;
  const findings = [...report.findings, ...wholeOf(report)];
  const elements = findings.map(({ verdict }) => elementOf(verdict, inconclusive));
  const count = (wanted: Element) => elements.filter((element) => element === wanted).length;
  const attributes = {
    name,
    tests: findings.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds(durationMs),
    timestamp: new Date(startedAt).toISOString().slice(0, 19),
  };
  const properties = [
    ['seed', String(seed)],
    ...(line === undefined ? [] : [['line', line]]),
    ...Object.entries(report.about ?? {}).flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])),
    ...(report.counts ?? []).map(({ word, many }) => [`checks: ${word}`, String(many)]),
    ...versions.map(({ name, version }) => [name, version]),
  ].map(([key = '', value = '']) => `      <property${attributesText({ name: key, value })}/>\n`);
  yield `  <testsuite${attributesText(attributes)}>\n    <properties>\n${properties.join('')}    </properties>\n`;
  for (const [i, finding] of findings.entries()) yield testcase(finding, elements[i], name);
  yield '  </testsuite>\n';
}

/** A case for the run as a whole, if no finding says how it ended. Steps always do. */
function wholeOf({ kind, verdict, conclusions, findings }: ReportView): FindingView[] {
  const isSaid = findings.some((each) => each.verdict === 'error' || each.verdict === 'fail');
  const isSilent = kind === 'fuzz' ? findings.length === 0 : verdict === 'error' && !isSaid;
  if (kind === 'scenario' || !isSilent) return [];
  const summary = conclusions.at(-1) ?? '';
  return [{ id: 'whole', title: `The ${RUN_KINDS[kind]}`, verdict, summary, durationMs: 0, frames: [] }];
}

function testcase(
  { title, asked = title, code, verdict, summary, missed, durationMs, frames }: FindingView,
  element: Element,
  suite: string,
) {
  const head = `    <testcase${attributesText({ name: asked, classname: suite, time: seconds(durationMs) })}`;
  const shown = frames.map(
    ({ seq, time, text, bytes }) => `#${seq} ${time} ${text}${bytes ? `  ${bytes}` : ''}\n`,
  );
  const output =
    shown.length > 0 ? `      <system-out>\n${escaped(shown.join(''))}      </system-out>\n` : '';
  const first = missed
    ? `expected: ${missed.expected}; received: ${missed.received.split('\n')[0]}`
    : summary.split('\n')[0];
  const message = element && attributesText({ message: first ?? '', type: code ?? verdict });
  const result =
    element === undefined
      ? ''
      : `      <${element}${message}>${escaped(resultText({ summary, ...(missed && { missed }) }))}</${element}>\n`;
  return output === '' && result === '' ? `${head}/>\n` : `${head}>\n${result}${output}    </testcase>\n`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributesText(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escaped(String(value)).replace(/[\t\n\r]+/g, ' ')}"`)
    .join('');
}
