import { readFileSync } from 'node:fs';
import { compact } from '../../common/compact.js';
import { packageFile, version } from '../../common/package.js';
import { counted } from '../../common/words.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import { type FindingView, headOf, type ReportView } from './report.js';
import { escaped, reportTitle } from './words.js';

/** A report as stored in the page of reports. */
export type RecordedReport = Omit<ReportView, 'json'>;

/** The data that a console page in a file has instead of a simulator. */
export interface Recorded {
  /** The version of the program that wrote the file. */
  readonly version: string;
  readonly title: string;
  readonly reports: readonly RecordedReport[];
  /** Traffic without a report; absent if the findings in the reports contain all events. */
  readonly events?: readonly TrafficView[] | undefined;
  /** The runs on many benches, whose reports have no frames; absent for the reports of a single bench. */
  readonly benches?: readonly RowOfBench[] | undefined;
  /** The parts that are not shown, one sentence each; only for opened files. */
  readonly notes?: readonly string[];
}

/** A run on one of many benches. */
export interface RowOfBench {
  readonly bench: string;
  readonly report: RecordedReport;
  /** URL of the bench's own report, which has the frames; undefined if the bench keeps none. */
  readonly url: string | undefined;
}

/** Formats reports as one HTML document that needs nothing from the network: the console, and its data. */
export function htmlReport(reports: readonly ReportView[]): string {
  return [...htmlPieces(reports)].join('');
}

/** The document of `htmlReport` in pieces, one for each finding. */
export function* htmlPieces(reports: readonly ReportView[]): Generator<string, void> {
  const title = reports.map(reportTitle).join(', ');
  yield* page(title, reports.map(reportWords), function* () {
    yield `"reports":[`;
    for (const [i, report] of reports.entries()) {
      // Findings are not destructured, because that would read their frames, which a long report creates on
      // each read.
      const { findings, json: _, ...head } = report as ReportView & { readonly json?: unknown };
      yield `${i === 0 ? '' : ','}${inScript(head).slice(0, -1)},"findings":[`;
      for (const [j, finding] of findings.entries()) yield `${j === 0 ? '' : ','}${inScript(shown(finding))}`;
      yield ']}';
    }
    yield ']';
  });
}

/** Makes one HTML document for many benches, with a row for each run on each bench. */
export function fleetHtml(rows: readonly RowOfBench[]): string {
  const count = new Set(rows.map(({ bench }) => bench)).size;
  return recordedHtml({
    title: `Report on ${counted(count, 'bench', 'benches')}`,
    reports: [],
    benches: rows,
  });
}

/** Makes one HTML document from traffic, or from a page that was read. */
export function recordedHtml(recorded: Omit<Recorded, 'version'>): string {
  const { title, reports, benches = [], notes = [], events, ...more } = recorded;
  const words = [
    ...(benches.length > 0 ? [] : [title]),
    ...[...notes, ...reports.map(reportWords)],
    ...benches.map(({ bench, report }) => `${bench}\n${reportWords(report)}`),
  ];
  const data = function* () {
    yield inScript({
      reports,
      ...(recorded.benches && { benches }),
      ...more,
      ...(notes.length > 0 && { notes }),
    }).slice(1, -1);
    for (const [i, event] of (events ?? []).entries())
      yield `${i === 0 ? ',"events":[' : ','}${inScript(event)}`;
    if (events) yield events.length === 0 ? ',"events":[]' : ']';
  };
  return [...page(title, words, data)].join('');
}

function shown(finding: FindingView): FindingView {
  const { label, code } = finding;
  return { ...headOf(finding), ...compact({ label, code }), frames: finding.frames };
}

/** Embeds data in a script element. No text in the data can end the element (HTML 13.1.2.1). */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/**
 * The page made by `scripts/console.mjs`.
 * @param words the text for readers without JavaScript
 */
function* page(
  title: string,
  words: readonly string[],
  data: () => Iterable<string>,
): Generator<string, void> {
  const [start = '', middle = '', afterWords = '', end = ''] = readFileSync(
    packageFile('dist/web/report.html'),
    'utf8',
  ).split(/<!--(?:title|words|data)-->/);
  yield `${start}${escaped(title)}${middle}${escaped(words.join('\n\n'))}${afterWords}`;
  yield `{"version":${inScript(version())},"title":${inScript(title)},`;
  yield* data();
  yield `}${end}`;
}

/** Formats a report as plain text. */
function reportWords(report: RecordedReport): string {
  const { verdict, conclusions, findings, seed, startedAt } = report;
  return [
    `${reportTitle(report)}: ${verdict}`,
    `${new Date(startedAt).toISOString()}, seed ${seed}`,
    ...conclusions,
    // Copying a finding would read its frames.
    ...findings.map(
      (each) => `${each.label ?? each.verdict}: ${each.title}${each.summary && `: ${each.summary}`}`,
    ),
  ].join('\n');
}
