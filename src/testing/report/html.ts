import { counted } from '../../common/words.js';
import { RUN_KINDS } from '../run-kinds.js';
import {
  className,
  findingAnchor,
  findingHtml,
  LEGEND,
  PAGE_END,
  pageStart,
  verdictHtml,
} from './html-page.js';
import {
  aboutText,
  type FindingView,
  overallVerdict,
  type ReportView,
  type Verdict,
  type VerdictCount,
} from './report.js';
import { capital, escaped, longDuration, sentence } from './words.js';

/** Reports as one HTML document that needs nothing from the network. */
export function htmlReport(reports: readonly ReportView[]): string {
  return [...htmlPieces(reports)].join('');
}

/** The document of `htmlReport` in pieces, one for each finding. */
export function* htmlPieces(reports: readonly ReportView[]): Generator<string, void> {
  const title = reports.map(titleOf).join(', ');
  yield pageStart(title);
  for (const [number, report] of reports.entries()) yield* lined(reportPieces(report, number));
  yield PAGE_END;
}

function* lined(pieces: Iterable<string>): Generator<string, void> {
  for (const piece of pieces) yield `${piece}\n`;
}

function titleOf({ kind, name }: ReportView): string {
  return kind === 'scenario' ? name : `Report on ${name}`;
}

function* reportPieces(report: ReportView, number: number): Generator<string, void> {
  const { kind, startedAt, durationMs, verdict, line, seed, configuration, findings } = report;
  const when = `${new Date(startedAt).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  const about = [
    capital(RUN_KINDS[kind]),
    ...(line === undefined ? [] : [`line ${line}`]),
    when,
    lastedText(durationMs),
    `seed ${seed}`,
  ].join(' · ');
  // The findings are not destructured, because that would read their frames, which a long report makes on
  // each read.
  const shown = findings.filter(
    (each) =>
      each.verdict !== 'not run' && (kind === 'scenario' || each.summary !== '' || each.frames.length > 0),
  );
  yield `<article><header class="top"><div><h1>${escaped(titleOf(report))}</h1>`;
  const said = aboutText(report.about);
  if (said !== '') yield `<p>${escaped(said)}</p>`;
  yield `<p class="soft">${escaped(about)}</p></div>${verdictHtml(verdict)}</header>`;
  yield firstPageHtml(report);
  yield scenarioHtml(report);
  yield parametersHtml(report.parameters);
  yield kind === 'scenario' || kind === 'fuzz' ? '' : countsHtml(report);
  yield summaryHtml(report, number);
  yield '<h2 class="evidence">Evidence</h2>';
  yield LEGEND;
  for (const finding of inGroups(shown)) yield findingHtml(finding, number);
  yield `<h2>Configuration</h2><details open><summary>The bench, as a native file</summary><pre>${escaped(configuration)}</pre></details>`;
  yield `<h2>Versions</h2><p>${report.versions.map((each) => escaped(`${each.name} ${each.version}`)).join(' · ')}</p>`;
  yield '</article>';
}

/** Puts a duration into words: `2.5 s`, `4 min 32 s`. */
function lastedText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return longDuration(Math.round(ms / 1000));
}

/** The first page has room for this many failures. */
const MOST_BLAMED = 4;

/**
 * The first page, for a reader who reads nothing else: the verdict, what was found, what it means, and what
 * to mend.
 */
function firstPageHtml(report: ReportView): string {
  const { kind, findings } = report;
  // A fuzz run says last what it has found.
  const conclusions = kind === 'fuzz' ? report.conclusions.toReversed() : report.conclusions;
  if (kind === 'scenario') return conclusions.map((text) => `<p>${escaped(text)}</p>`).join('\n');
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  const blamed = failed.slice(0, MOST_BLAMED);
  const blames = new Set(failed.map(({ conclusion }) => conclusion && sentence(conclusion)));
  const begin = conclusions.findIndex((text) => blames.has(text));
  // Sentences on the fate of the client come before the failures, and measurements after them.
  const before = begin < 0 ? conclusions : conclusions.slice(0, begin);
  const after = conclusions.slice(before.length).filter((text) => !blames.has(text));
  const more = failed.length - blamed.length;
  const count = failed.length === 1 ? 'One check has failed:' : `${failed.length} checks have failed:`;
  const [first = count, ...others] = before;
  const paragraph = (text: string) => `<p>${escaped(text)}</p>`;
  return [
    `<section class="found"><p class="first">${escaped(first)}</p>`,
    ...others.map(paragraph),
    blamed.length === 0 ? '' : `<ol>${blamed.map(blameHtml).join('\n')}</ol>`,
    more > 0 ? `<p>${more === 1 ? 'One more check has failed' : `${more} more checks have failed`}.</p>` : '',
    ...after.map(paragraph),
    '</section>',
  ].join('\n');
}

function blameHtml({ conclusion, title, about }: FindingView): string {
  const what = conclusion === undefined ? `Does not pass: ${title}.` : sentence(conclusion);
  const means =
    about === undefined ? '' : ` ${escaped(about.matters)} <em>To mend:</em> ${escaped(about.fix)}`;
  return `<li><b>${escaped(what)}</b>${means}</li>`;
}

function scenarioHtml({ fuzzed }: ReportView): string {
  if (!fuzzed) return '';
  return `<h2>The scenario that shows it again</h2><pre>${escaped(fuzzed.scenario)}</pre>`;
}

function parametersHtml(parameters: ReportView['parameters']): string {
  if (parameters.length === 0) return '';
  const cells = parameters.map(
    ({ name, value }) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`,
  );
  return `<h2>Parameters</h2><dl class="parameters">${cells.join('\n')}</dl>`;
}

const COUNTED: readonly (readonly [Verdict, string])[] = [
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['inconclusive', 'inconclusive: the line does not decide it'],
  ['error', 'could not be run'],
  ['not run', 'not reached'],
];

function countsHtml({ counts, findings }: ReportView): string {
  const all = counts ?? countsOf(findings);
  const texts = all.map(
    ({ verdict, many, word }) => `<span class="${className(verdict)}"><b>${many}</b> ${word}</span>`,
  );
  return `<h2>Checks</h2><p class="counts">${texts.join('\n')}</p>`;
}

function countsOf(findings: readonly FindingView[]): VerdictCount[] {
  return COUNTED.flatMap(([verdict, word]) => {
    const many = findings.filter((each) => each.verdict === verdict).length;
    return many === 0 ? [] : [{ id: verdict, verdict, many, word }];
  });
}

function summaryHtml({ kind, findings }: ReportView, number: number): string {
  if (kind === 'scenario' || kind === 'fuzz') {
    const rows = findings.map((finding) => rowHtml(finding, number, escaped(finding.id)));
    if (kind === 'fuzz' && rows.length === 0) return '';
    return `<h2>${kind === 'scenario' ? 'Steps' : 'Failures'}</h2><div class="scroll"><table>${rows.join('\n')}</table></div>`;
  }
  const bodies = groupsOf(findings).map((group) => {
    const members = findings.filter((each) => groupOf(each) === group);
    const rows = members.map((finding) => rowHtml(finding, number));
    return `<tbody><tr class="group"><th colspan="3">${escaped(group)}</th></tr>\n${rows.join('\n')}</tbody>`;
  });
  return `<div class="scroll"><table class="checks">${bodies.join('\n')}</table></div>`;
}

/** Sorts checks by their groups. Steps have no group, so they keep their order. */
function inGroups(findings: readonly FindingView[]): FindingView[] {
  return groupsOf(findings).flatMap((group) => findings.filter((each) => groupOf(each) === group));
}

function groupsOf(findings: readonly FindingView[]): string[] {
  return [...new Set(findings.map(groupOf))];
}

function groupOf({ about }: FindingView): string {
  return about?.group ?? '';
}

/**
 * One row of the summary.
 * @param id shown in a column of its own; without it, the text of the finding stands below its title
 */
function rowHtml(finding: FindingView, number: number, id?: string): string {
  const { title, verdict, durationMs, summary } = finding;
  const link =
    verdict === 'not run'
      ? escaped(title)
      : `<a href="#${findingAnchor(finding, number)}">${escaped(title)}</a>`;
  const found = id !== undefined || summary === '' ? '' : `<br><span class="soft">${escaped(summary)}</span>`;
  return [
    '<tr>',
    id === undefined ? '' : `<td class="number">${id}</td>`,
    `<td>${link}${found}</td><td class="verdict-cell">${verdictHtml(verdict, finding.label)}</td>`,
    `<td class="number">${(durationMs / 1000).toFixed(2)} s</td></tr>`,
  ].join('');
}

/** One row of the report: a run on one of many benches. */
export interface RowOfBench {
  readonly bench: string;
  readonly report: ReportView;
  /** URL of the report with its frames on the bench; undefined when the bench keeps none. */
  readonly url: string | undefined;
}

/**
 * One HTML document on many benches, with a row for each run of each bench. The document needs nothing from
 * the network.
 */
export function fleetHtml(rows: readonly RowOfBench[]): string {
  const verdict = overallVerdict(rows.map(({ report }) => report.verdict));
  const benches = new Set(rows.map(({ bench }) => bench)).size;
  const title = `Report on ${counted(benches, 'bench', 'benches')}`;
  const passed = rows.filter(({ report }) => report.verdict === 'pass').length;
  const body = [
    `<article><header class="top"><div><h1>${escaped(title)}</h1>`,
    `<p class="soft">${passed} of ${rows.length} have passed</p></div>${verdictHtml(verdict)}</header>`,
    '<div class="scroll"><table class="checks">',
    '<tr><th>Bench</th><th>Verdict</th><th>Passed</th><th>Took</th></tr>',
    ...rows.map(benchHtml),
    '</table></div></article>',
  ].join('\n');
  return `${pageStart(title)}${body}${PAGE_END}`;
}

const TELLING: readonly Verdict[] = ['error', 'fail', 'inconclusive'];

function benchHtml({ report, url }: RowOfBench): string {
  const { name, verdict, durationMs, findings, conclusions } = report;
  const telling = findings.filter((each) => TELLING.includes(each.verdict));
  const said = telling.map((each) => `${each.title}: ${each.summary}`);
  const lines = (said.length > 0 ? said : verdict === 'pass' ? [] : conclusions).map(
    (text) => `<br><span class="soft">${escaped(text)}</span>`,
  );
  const passed = findings.filter((each) => each.verdict === 'pass').length;
  const head = url === undefined ? escaped(name) : `<a href="${escaped(url)}">${escaped(name)}</a>`;
  return [
    `<tr><td>${head}${lines.join('')}</td>`,
    `<td class="verdict-cell">${verdictHtml(verdict)}</td>`,
    `<td class="number">${passed} of ${findings.length}</td>`,
    `<td class="number">${(durationMs / 1000).toFixed(1)} s</td></tr>`,
  ].join('');
}
