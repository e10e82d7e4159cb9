import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { RecordedReport, RowOfBench } from '../../../../testing/report/html.js';
import { aboutText, capital, longDuration, reportTitle } from '../../../../testing/report/words.js';
import { RUN_KINDS } from '../../../../testing/run-kinds.js';
import { recorded } from '../../recorded.js';
import { hrefOf, route } from '../../route.js';
import { Legend } from '../../strip/strip.js';
import { State } from '../../ui/controls.js';
import { timeOfDay } from '../../ui/format.js';
import { TONES } from '../../ui/verdict.js';
import { details } from '../lines/details.js';
import { Evidence } from '../tests/evidence.js';
import { countsOf, firstPage, groupsOf, isShown, type RecordedFinding } from './first-page.js';
import './report.css';

/** The view `report` of a file: everything about its runs, in words and with the frames as evidence. */
export function ReportView() {
  useEffect(details.follow, []);
  const { reports = [], benches } = recorded ?? {};
  const { parts } = route.value;
  useEffect(() => {
    if (parts.length > 0) document.getElementById(anchorOf(...parts))?.scrollIntoView();
  }, [parts.join('/')]);
  return html`${benches ? html`<${Benches} rows=${benches} />` : null}
    ${reports.map((report, i) => html`<${Report} report=${report} number=${i + 1} />`)}`;
}

/** The ID of the element with a finding: `report-1-time-out`. */
function anchorOf(...parts: readonly string[]): string {
  return ['report', ...parts].join('-');
}

interface ReportProps {
  readonly report: RecordedReport;
  readonly number: number;
}

function Report({ report, number }: ReportProps) {
  const { kind, startedAt, durationMs, verdict, line, seed, configuration, findings, fuzzed, parameters } =
    report;
  const when = `${new Date(startedAt).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  const said = aboutText(report.about);
  const isOfChecks = kind === 'client' || kind === 'server';
  const shown = [...groupsOf(findings).values()].flat().filter((each) => isShown(report, each));
  return html`<article class="report panel">
    <header class="flow apart">
      <h2 class="long">${reportTitle(report)}</h2><${State} tone=${TONES[verdict]}>${verdict}<//>
    </header>
    ${said === '' ? null : html`<p class="long">${said}</p>`}
    <p class="dim long">${[
      capital(RUN_KINDS[kind]),
      ...(line === undefined ? [] : [`line ${line}`]),
      when,
      durationMs < 60_000
        ? `${(durationMs / 1000).toFixed(1)} s`
        : longDuration(Math.round(durationMs / 1000)),
      `seed ${seed}`,
    ].join(' · ')}</p>
    <${Found} report=${report} number=${number} />
    ${fuzzed ? html`<h3>The scenario that reproduces it</h3><pre class="mono">${fuzzed.scenario}</pre>` : null}
    ${
      parameters.length === 0
        ? null
        : html`<h3>Parameters</h3><dl class="parameters flow">${parameters.map(
            ({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
          )}</dl>`
    }
    <h3>${isOfChecks ? 'Checks' : kind === 'fuzz' ? 'Failures' : 'Steps'}</h3>
    ${
      isOfChecks
        ? html`<p class="flow">${countsOf(report).map(
            ({ verdict, many, word }) => html`<span class=${TONES[verdict]}><b>${many}</b> ${word}</span>`,
          )}</p>`
        : null
    }
    <${Summary} report=${report} number=${number} />
    ${shown.length === 0 ? null : html`<h3 class="begins">Evidence</h3><${Legend} />`}
    ${shown.map((finding) => html`<${FindingPanel} key=${finding.id} finding=${finding} number=${number} />`)}
    <h3>Registers</h3><${RegisterLinks} report=${report} />
    <h3>Configuration</h3>
    <details open><summary>The bench, in a native file</summary><pre class="mono">${configuration}</pre></details>
    <h3>Versions</h3>
    <p class="long">${report.versions.map(({ name, version }) => `${name} ${version}`).join(' · ')}</p>
  </article>`;
}

const NO_REGISTERS = 'None: the report was not written by the simulator that ran it.';
const NOT_OURS = 'None: they are in the server that was tested, which is not part of this simulator.';

/** The devices whose registers are in the file, and what is not in it. */
function RegisterLinks({ report: { kind, registers } }: Pick<ReportProps, 'report'>) {
  const { devices = [], missing = [kind === 'server' ? NOT_OURS : NO_REGISTERS] } = registers ?? {};
  const none = devices.length + missing.length === 0 ? ['None: no frame shown here is about a device.'] : [];
  return html`<ul class="long">${devices.map(({ device: { name }, states }) => {
    const from = states.at(-1)?.at ?? '';
    return html`<li><a href=${hrefOf('registers', [name])}>${name}</a>, from ${timeOfDay(Date.parse(from))} on</li>`;
  })}${[...missing, ...none].map((text) => html`<li>${text}</li>`)}</ul>`;
}

/** The first page: what is needed by readers who read nothing else. */
function Found({ report, number }: ReportProps) {
  const { before, blamed, more, after } = firstPage(report);
  const [first, ...others] = before;
  const paragraph = (text: string) => html`<p class="long">${text}</p>`;
  if (first === undefined && blamed.length === 0) return null;
  return html`<section class="found stack" aria-label="What was found">
    ${first === undefined ? null : html`<p class="first long">${first}</p>`}
    ${others.map(paragraph)}
    ${
      blamed.length === 0
        ? null
        : html`<ol>${blamed.map(({ finding, what }) => {
            const { id, about, frames, summary, missed } = finding;
            const frame = frames.find(({ seq }) => seq === missed?.frame) ?? frames.at(-1);
            return html`<li class="long"><b><a href=${hrefOf('report', [String(number), id])}>${what}</a></b>
              ${about ? html` ${about.matters} <em>Fix:</em> ${about.fix}` : html` ${summary}`}
              ${frame ? html` <a class="frame" href=${hrefOf('traffic', [], { at: String(frame.seq), strip: frame.line })}>Frame #${frame.seq}</a>` : null}
            </li>`;
          })}</ol>`
    }
    ${more === '' ? null : paragraph(more)}
    ${after.map(paragraph)}
  </section>`;
}

/** What a step or check found; if it missed something, one fact in each line. */
function Result({ finding: { summary, missed } }: { readonly finding: RecordedFinding }) {
  if (missed?.received !== summary) return html`<p class="message long">${summary}</p>`;
  const { expected, received, frame } = missed;
  const rows = [
    ['expected', expected],
    ['received', received],
    ...(frame ? [['when', `frame ${frame}`]] : []),
  ];
  return html`<dl class="message facts">${rows.map(
    ([name, text]) => html`<div><dt>${name}</dt><dd class="long">${text}</dd></div>`,
  )}</dl>`;
}

/** A row for each step or check. */
function Summary({ report: { kind, findings }, number }: ReportProps) {
  const isOfChecks = kind === 'client' || kind === 'server';
  const row = (finding: RecordedFinding) => {
    const { id, title, verdict, label, durationMs, summary } = finding;
    return html`<tr>
    ${isOfChecks ? null : html`<td class="number mono">${id}</td>`}
    <td class="long">${verdict === 'not run' ? title : html`<a href=${hrefOf('report', [String(number), id])}>${title}</a>`}
      ${isOfChecks && summary !== '' ? html`<div class="dim"><${Result} finding=${finding} /></div>` : null}</td>
    <td class="number"><${State} tone=${TONES[verdict]}>${label ?? verdict}<//></td>
    <td class="number mono">${(durationMs / 1000).toFixed(2)} s</td></tr>`;
  };
  return html`<table class="summary">${[...groupsOf(findings)].map(
    ([group, members]) => html`<tbody>
      ${group === '' ? null : html`<tr><th class="group" colspan="3">${group}</th></tr>`}${members.map(row)}</tbody>`,
  )}</table>`;
}

const ABOUT = [
  ['does', 'What was done'],
  ['matters', 'Why it matters'],
  ['rule', 'Rule'],
  ['fix', 'Fix'],
  ['source', 'Source'],
] as const;

/** A step or check with its evidence. */
function FindingPanel({ finding, number }: { readonly finding: RecordedFinding; readonly number: number }) {
  const { id, title, verdict, label, summary, about, code, frames } = finding;
  return html`<section class=${`finding ${TONES[verdict]}`} id=${anchorOf(String(number), id)}>
    <header class="flow apart">
      <h4 class="long">${about ? title : `${id} ${title}`}
        ${about ? html` <span class="mono dim">${code === undefined ? id : `${id}: ${code}`}</span>` : null}</h4>
      <${State} tone=${TONES[verdict]}>${label ?? verdict}<//>
    </header>
    ${summary === '' ? null : html`<${Result} finding=${finding} />`}
    ${
      about === undefined
        ? null
        : html`<dl class="facts small">${ABOUT.filter(([key]) => key !== 'fix' || verdict === 'fail').map(
            ([key, name]) => html`<div><dt>${name}</dt><dd class="long">${about[key]}</dd></div>`,
          )}</dl>`
    }
    ${frames.length === 0 ? null : html`<${Evidence} finding=${finding} isFolded=${verdict === 'pass'} />`}
  </section>`;
}

const TELLING: readonly string[] = ['error', 'fail', 'inconclusive'];

/** A row for each run of each bench. */
function Benches({ rows }: { readonly rows: readonly RowOfBench[] }) {
  const passed = rows.filter(({ report }) => report.verdict === 'pass').length;
  return html`<article class="report panel">
    <h2>${recorded?.title}</h2>
    <p class="dim">${passed} of ${rows.length} passed.</p>
    <table class="summary"><thead><tr><th>Bench</th><th>Verdict</th><th>Passed</th><th>Took</th></tr></thead>
    <tbody>${rows.map(({ bench, report, url }) => {
      const { name, verdict, durationMs, findings, conclusions } = report;
      const telling = findings.filter((each) => TELLING.includes(each.verdict));
      const said = telling.map((each) => `${each.title}: ${each.summary}`);
      const lines = said.length > 0 || verdict === 'pass' ? said : conclusions;
      // Only pages of benches are ever linked.
      const isLink = url !== undefined && /^https?:/.test(url);
      return html`<tr><td class="long">${bench}: ${isLink ? html`<a href=${url}>${name}</a>` : name}
          ${lines.map((text) => html`<br /><span class="dim">${text}</span>`)}</td>
        <td class="number"><${State} tone=${TONES[verdict]}>${verdict}<//></td>
        <td class="number">${findings.filter((each) => each.verdict === 'pass').length} of ${findings.length}</td>
        <td class="number mono">${(durationMs / 1000).toFixed(1)} s</td></tr>`;
    })}</tbody></table>
  </article>`;
}
