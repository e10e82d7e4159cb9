import type { TrafficView } from '../../traffic/view.js';
import { escaped } from './escape.js';
import { STYLE } from './html-style.js';
import type { Verdict } from './report.js';
import { stripSvg } from './strip-svg.js';
import type { FindingView, ReportView } from './view.js';

/** Reports as one HTML document that needs nothing from the network. */
export function htmlReport(reports: readonly ReportView[]): string {
  const title = reports.map(({ name }) => name).join(', ');
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    ...reports.map(reportHtml),
    '</body></html>\n',
  ].join('\n');
}

function reportHtml(report: ReportView, number: number): string {
  const { kind, name, startedAt, durationMs, verdict, line, seed, conclusions, parameters } = report;
  const where = line === undefined ? '' : ` · line ${line}`;
  const when = `${new Date(startedAt).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  const about = `${kind === 'test' ? 'Test' : 'Examination'}${where} · ${when} · ${(durationMs / 1000).toFixed(1)} s · seed ${seed}`;
  return [
    `<article><h1>${escaped(name)}</h1>`,
    `<p>${verdictHtml(verdict)} <span class="soft">${escaped(about)}</span></p>`,
    ...conclusions.map((text) => `<p>${escaped(text)}</p>`),
    parametersHtml(parameters),
    summaryHtml(report, number),
    '<h2>Evidence</h2>',
    LEGEND,
    ...report.findings.map((finding) => findingHtml(finding, number)),
    `<h2>Configuration</h2><details open><summary>The bench</summary><pre>${escaped(report.configuration)}</pre></details>`,
    `<h2>Versions</h2><p>${report.versions.map((each) => escaped(`${each.name} ${each.version}`)).join(' · ')}</p>`,
    '</article>',
  ].join('\n');
}

function parametersHtml(parameters: ReportView['parameters']): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, value }) => `<tr><th>${escaped(name)}</th><td>${escaped(value)}</td></tr>`,
  );
  return `<h2>Parameters</h2><div class="scroll"><table>${rows.join('')}</table></div>`;
}

function summaryHtml({ kind, findings }: ReportView, number: number): string {
  const rows = findings.map(
    ({ id, title, verdict, durationMs }) =>
      `<tr><td class="number">${escaped(id)}</td><td><a href="#${anchor(number, id)}">${escaped(title)}</a></td>` +
      `<td>${verdictHtml(verdict)}</td><td class="number">${(durationMs / 1000).toFixed(2)} s</td></tr>`,
  );
  const heading = kind === 'test' ? 'Steps' : 'Checks';
  return `<h2>${heading}</h2><div class="scroll"><table>${rows.join('\n')}</table></div>`;
}

function findingHtml({ id, title, verdict, summary, about, frames, strip }: FindingView, number: number) {
  return [
    `<section class="finding" id="${anchor(number, id)}">`,
    `<header><h3>${escaped(`${id} ${title}`)}</h3>${verdictHtml(verdict)}</header>`,
    summary === '' ? '' : `<p class="message">${escaped(summary)}</p>`,
    about === undefined ? '' : `<p class="soft">${escaped(about.does)}</p>`,
    strip.length === 0 ? '' : `<div class="scroll">${stripSvg(strip)}</div>`,
    frames.length === 0 ? '' : framesHtml(frames),
    '</section>',
  ].join('\n');
}

function framesHtml(frames: readonly TrafficView[]): string {
  const rows = frames.map(
    ({ seq, time, line, text, bytes = '' }) =>
      `<tr><td class="number">#${seq}</td><td class="number">${escaped(time.slice(11, 26))}</td>` +
      `<td>${escaped(line)}</td><td>${escaped(text)}<br><code>${escaped(bytes)}</code></td></tr>`,
  );
  return `<div class="scroll"><table>${rows.join('\n')}</table></div>`;
}

function verdictHtml(verdict: Verdict): string {
  return `<span class="verdict ${verdict.replace(' ', '-')}">${verdict}</span>`;
}

function anchor(number: number, id: string): string {
  return escaped(`report-${number + 1}-${id.replace(/[^\w-]/g, '-')}`);
}

const COLOURS = [
  ['request', 'request'],
  ['t35', 't3.5 after it'],
  ['reply', 'reply'],
  ['fail', 'spoilt, damaged, no reply (×)'],
];

const LEGEND = `<p class="soft legend">${COLOURS.map(
  ([colour, text]) => `<span><i style="background:var(--${colour})"></i>${text}</span>`,
).join('')}To scale; long pauses are broken.</p>`;
