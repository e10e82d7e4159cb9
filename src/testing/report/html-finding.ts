import type { TrafficView } from '../../simulator/traffic/view.js';
import { escaped } from './escape.js';
import type { CheckAbout, Verdict } from './report.js';
import { stripSvg } from './strip-svg.js';
import type { FindingView } from './view.js';

/**
 * One step or check with its evidence, as HTML.
 * @param number number of its report in the document, from 0
 */
export function findingHtml(finding: FindingView, number: number): string {
  const { id, title, verdict, summary, about } = finding;
  // A view on demand makes the frames on each read, so they are read once.
  const { frames } = finding;
  const strip = stripSvg(frames);
  const name = about ? title : `${id} ${title}`;
  return [
    `<section class="finding ${className(verdict)}" id="${findingAnchor(finding, number)}">`,
    `<header><h3>${escaped(name)}${about ? ` <code>${escaped(id)}</code>` : ''}</h3>${verdictHtml(verdict)}</header>`,
    summary === '' ? '' : `<p class="message">${escaped(summary)}</p>`,
    about === undefined ? '' : aboutHtml(about, verdict),
    strip === '' ? '' : `<div class="scroll">${strip}</div>`,
    frames.length === 0 ? '' : framesHtml(frames, verdict),
    '</section>',
  ].join('\n');
}

/** The anchor of a finding in the document. */
export function findingAnchor({ id }: FindingView, number: number): string {
  return escaped(`report-${number + 1}-${id.replace(/[^\w-]/g, '-')}`);
}

/** The CSS class for a verdict. */
export function className(verdict: Verdict): string {
  return verdict.replace(' ', '-');
}

export function verdictHtml(verdict: Verdict): string {
  return `<span class="verdict ${className(verdict)}">${verdict}</span>`;
}

function aboutHtml({ does, matters, rule, fix, source }: CheckAbout, verdict: Verdict): string {
  const rows = [
    ['What was done', does],
    ['Why it matters', matters],
    ['Rule', rule],
    ...(verdict === 'fail' ? [['To mend', fix]] : []),
    ['Source', source],
  ].map(([name = '', text = '']) => `<div><dt>${name}</dt><dd>${escaped(text)}</dd></div>`);
  return `<dl class="about">${rows.join('\n')}</dl>`;
}

/**
 * The traffic of a finding as a table. The table is folded up when the finding has passed: its timing strip
 * shows enough.
 */
function framesHtml(frames: readonly TrafficView[], verdict: Verdict): string {
  const lines = new Set(frames.map(({ line }) => line));
  const rows = frames.map(
    ({ seq, time, line, text, bytes = '' }) =>
      `<tr><td class="number">#${seq}</td><td class="number">${escaped(time.slice(11, 26))}</td>` +
      `${lines.size > 1 ? `<td>${escaped(line)}</td>` : ''}` +
      `<td>${escaped(text)}${bytes === '' ? '' : `<br><code>${escaped(bytes)}</code>`}</td></tr>`,
  );
  const [first, last] = [frames[0], frames.at(-1)];
  const which = frames.length === 1 ? `#${first?.seq}` : `#${first?.seq} to #${last?.seq}`;
  const title = `${frames.length} ${frames.length === 1 ? 'event' : 'events'} of the traffic: ${which}`;
  const table = `<div class="scroll"><table class="frames">${rows.join('\n')}</table></div>`;
  return `<details${verdict === 'pass' ? '' : ' open'}><summary>${title}</summary>${table}</details>`;
}

const COLOURS = [
  ['request', 'received'],
  ['reply', 'sent'],
  ['other', 'changed by a fault'],
  ['fail', 'damaged, not sent'],
  ['t35', 't3.5'],
];

/** The legend of the timing strips: what their colours mean. */
export const LEGEND = `<p class="soft legend">${COLOURS.map(
  ([colour, text]) => `<span><i style="background:var(--${colour})"></i>${text}</span>`,
).join('')}<em>To scale but for long pauses, which are cut out (zigzag). Times are UTC.</em></p>`;
