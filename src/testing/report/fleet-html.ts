import { escaped } from './escape.js';
import { PAGE_END, pageStart, verdictHtml } from './html-page.js';
import { overallVerdict, type ReportView, type Verdict } from './report.js';

/** One row of the report: a test or an examination on one of many benches. */
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
  const title = `Report on ${benches} ${benches === 1 ? 'bench' : 'benches'}`;
  const passed = rows.filter(({ report }) => report.verdict === 'pass').length;
  const body = [
    `<article><header class="top"><div><h1>${escaped(title)}</h1>`,
    `<p class="soft">${passed} of ${rows.length} have passed</p></div>${verdictHtml(verdict)}</header>`,
    '<div class="scroll"><table class="checks">',
    '<tr><th>Bench</th><th>Verdict</th><th>Passed</th><th>Took</th></tr>',
    ...rows.map(rowHtml),
    '</table></div></article>',
  ].join('\n');
  return `${pageStart(title)}${body}${PAGE_END}`;
}

const TELLING: readonly Verdict[] = ['error', 'fail', 'inconclusive'];

function rowHtml({ report, url }: RowOfBench): string {
  const { name, verdict, durationMs, findings, conclusions } = report;
  const telling = findings.filter((each) => TELLING.includes(each.verdict));
  const told = telling.map((each) => `${each.title}: ${each.summary}`);
  const lines = (told.length > 0 ? told : verdict === 'pass' ? [] : conclusions).map(
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
