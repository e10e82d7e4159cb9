import { type Box, boxPath, drawingOf, HEIGHT, laneTop } from '../../common/timeline/drawing.js';
import { LANES, type Piece, piecesOf } from '../../common/timeline/pieces.js';
import { msText, rulerFrom, ticksOf } from '../../common/timeline/times.js';
import { counted } from '../../common/words.js';
import type { TrafficView } from '../../simulator/traffic/view-schema.js';
import type { CheckAbout, FindingView, Verdict } from './report.js';
import { escaped } from './words.js';

/**
 * The style of the HTML report: light and dark, on a telephone and on paper. Paper leaves out folded frames,
 * because nobody can unfold them there; the timing strip stands for them.
 */
const STYLE = `
:root { color-scheme: light dark; --ink: #1a2230; --soft: #5a6577; --paper: #fff; --line: #d8dee8; --box: #f5f7fa;
  --pass: #177245; --fail: #b3261e; --other: #8a5a00; --request: #2f6fd6; --reply: #2a9d66; --t35: #c9d7ee; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf1; --soft: #9aa6b8; --paper: #12161d; --line: #2e3746;
  --box: #1a202a; --pass: #56c288; --fail: #ff8a80; --other: #e5b454; --request: #6ea3ff; --reply: #4cc38a; --t35: #2b3a55; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; } h3 code { font-weight: 400; color: var(--soft); margin-left: .35rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
.top { display: flex; gap: 1rem; justify-content: space-between; align-items: flex-start; margin-bottom: 1rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
td.number { width: 1%; white-space: nowrap; font-variant-numeric: tabular-nums; } a { color: inherit; }
.checks td.number { text-align: right; padding-right: 0; color: var(--soft); } .verdict-cell { width: 1%; }
.group th { padding-top: 1rem; text-transform: capitalize; }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; } td code { overflow-wrap: anywhere; color: var(--soft); }
pre { background: var(--box); padding: .75rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; }
.verdict { display: inline-block; font-weight: 600; font-size: .8rem; line-height: 1.5; white-space: nowrap; padding: 0 .55em;
  border: 1px solid currentColor; border-radius: 1em; }
.top .verdict { font-size: 1.05rem; padding: .1em .8em; }
.verdict.pass, .counts .pass b { color: var(--pass); } .verdict.fail, .verdict.error, .counts .fail b, .counts .error b { color: var(--fail); }
.verdict.inconclusive, .verdict.not-run, .counts .inconclusive b, .counts .not-run b { color: var(--other); }
.found { background: var(--box); border-left: 4px solid var(--request); padding: .75rem 1rem; border-radius: 0 6px 6px 0; }
.found .first { font-size: 1.1rem; font-weight: 600; margin: 0; } .found ol { margin: .5rem 0 0; padding-left: 1.4rem; }
.parameters { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0; }
.parameters div { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .9rem; min-width: 9rem; }
.parameters dt { color: var(--soft); font-size: .85rem; } .parameters dd { margin: 0; font-size: 1.1rem; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.counts span { margin-right: 1.25rem; white-space: nowrap; } .counts b { font-size: 1.1rem; }
.finding { border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: 6px; padding: .8rem 1rem; margin: .8rem 0; }
.finding.pass { border-left-color: var(--pass); } .finding.fail, .finding.error { border-left-color: var(--fail); }
.finding.inconclusive { border-left-color: var(--other); }
.finding > header { display: flex; gap: 1rem; justify-content: space-between; align-items: flex-start; }
.about { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: .5rem 0; font-size: .9rem; color: var(--soft); }
.about div { display: contents; } .about dt { font-weight: 600; } .about dd { margin: 0; }
.frames { font-size: .9rem; } summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
.strip { display: block; width: 100%; min-width: 40rem; height: auto; margin: .5rem 0; }
.strip text { font: 11px ui-monospace, monospace; fill: var(--soft); dominant-baseline: central; } .strip .inside { fill: var(--ink); }
.strip path { fill: none; stroke: var(--soft); } .strip .grid { stroke: var(--line); } .strip .wait { fill: var(--t35); stroke: none; }
.strip .planned, .strip .missing { stroke-dasharray: 3 2; } .strip .foreign { fill: var(--line); } .strip .mark { fill: var(--ink); }
.strip .request { fill: var(--request); fill-opacity: .15; stroke: var(--request); }
.strip .reply { fill: var(--reply); fill-opacity: .15; stroke: var(--reply); }
.strip .spoilt, .strip .fault { fill: var(--other); fill-opacity: .15; stroke: var(--other); }
.strip .damaged, .strip .break { fill: var(--fail); fill-opacity: .15; } .strip .damaged, .strip .break, .strip .missing { stroke: var(--fail); }
.strip .cut { fill: var(--paper); stroke: var(--soft); }
.legend span { margin-right: 1rem; white-space: nowrap; } .legend i { display: inline-block; width: .8em; height: .8em;
  margin-right: .35em; border-radius: 2px; }
@media (max-width: 40rem) { .about { display: block; } .about div { display: block; margin-top: .3rem; } }
@media print { @page { margin: 16mm; }
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --box: #f4f4f4; --pass: #0b5d33;
  --fail: #9a1710; --other: #6b4700; --request: #2f6fd6; --reply: #2a9d66; --t35: #c9d7ee; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 11px; } h2, h3, .group, .finding > header, .message { break-after: avoid; }
  tr, .strip, .about, .found, .parameters div { break-inside: avoid; } .evidence { break-before: page; }
  .finding { break-inside: auto; } a { text-decoration: none; } .frames code, code, pre { font-size: 9px; }
  .scroll { overflow: visible; } .strip { min-width: 0; } details > pre { display: block; }
  .about, .frames, summary { font-size: 9.5px; } h3 { font-size: 12px; } summary { list-style: none; }
  .finding.pass { break-inside: avoid; } details:not([open]) { display: none; } }
`;

/** The beginning of an HTML document that needs nothing from the network. */
export function pageStart(title: string): string {
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title><style>${STYLE}</style></head><body>`,
    '',
  ].join('\n');
}

export const PAGE_END = '</body></html>\n';

const WIDTH = 940;
/** Width of the names of the rows, in pixels. */
const LEFT = 64;
/** How many events are drawn. With more of them, each would be too narrow to see. */
const MOST_EVENTS = 24;
/** Width of a character in the font of the strips, in pixels. */
const CHARACTER = 6.7;
const TICK = 90;
/** A pause is cut out when it lasts longer than this, and longer than this many times all frames together. */
const LONG_PAUSE_US = 20_000;
const LONG_PAUSE_SHARE = 3;
/** Width of a pause that is cut out, and of the margin around the frames, in pixels. */
const CUT = 120;
const MARGIN = 12;
/** Above 19200 baud t3.5 is 1.75 ms; a character takes less than this there (Serial Line V1.02, 2.5.1.1). */
const FAST_CHARACTER_US = 500;
const FAST_T35_US = 1750;
const T35_CHARACTERS = 3.5;

/** A span of time that is drawn to scale, in µs. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The first frames of a finding as inline SVG: to scale, with long pauses cut out. Empty without frames. */
export function stripSvg(frames: readonly TrafficView[]): string {
  const characterUs = characterTime(frames);
  const t35Us = characterUs && (characterUs < FAST_CHARACTER_US ? FAST_T35_US : T35_CHARACTERS * characterUs);
  const pieces = frames.slice(0, MOST_EVENTS).flatMap((frame) => piecesOf(frame, { characterUs, t35Us }));
  const spans = spansOf(pieces);
  const [first] = spans;
  if (!first) return '';
  const width = WIDTH - LEFT;
  const { xOf, usPerPixel } = axisOf(spans, width);
  const ruler = rulerFrom(first.from);
  const { boxes, texts, grid, pauses } = drawingOf(pieces, {
    xOf,
    width,
    characterUs,
    widthOf: (text) => text.length * CHARACTER,
    ticks: spans.flatMap(({ from, to }) => ticksOf(ruler, from, to, TICK * usPerPixel)),
  });
  const whole = msText((spans.at(-1) ?? first).to - first.from);
  return [
    `<svg class="strip" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Timing of ${pieces.length} pieces within ${whole}">`,
    ...LANES.map((lane) => `<text x="0" y="${laneTop(lane) + 13}">${lane}</text>`),
    `<g transform="translate(${LEFT})">`,
    `<path class="grid" d="${grid}"/>`,
    ...boxes.map(boxSvg),
    `<path class="pauses" d="${pauses}"/>`,
    ...texts.map(
      ({ kind, x, y, text }) => `<text class="${kind}" x="${x.toFixed(1)}" y="${y}">${escaped(text)}</text>`,
    ),
    ...spans.slice(1).map(({ from }) => cutSvg(xOf(from) - MARGIN - 2)),
    '</g></svg>',
  ].join('\n');
}

function boxSvg(box: Box): string {
  const { look, words } = box.piece;
  return `<path class="${look}" d="${boxPath(box)}"><title>${escaped(words)}</title></path>`;
}

/** Two zigzag lines from top to bottom. The time between them is not to scale. */
function cutSvg(x: number): string {
  const teeth = Array.from({ length: HEIGHT / 8 }, (_, i) => `l${i % 2 === 0 ? 4 : -4} 8`).join('');
  return `<path class="cut" d="M${x.toFixed(1)} 0${teeth}m6 0${teeth.replaceAll(' 8', ' -8')}"/>`;
}

/** The spans in which somebody sends on the line. Short pauses belong to a span, long ones separate two. */
function spansOf(pieces: readonly Piece[]): TimeSpan[] {
  const busyUs = pieces.reduce(
    (sum, { lane, startUs, endUs }) => sum + (lane === 'planned' ? 0 : endUs - startUs),
    0,
  );
  const long = Math.max(LONG_PAUSE_US, LONG_PAUSE_SHARE * busyUs);
  const spans: { from: number; to: number }[] = [];
  for (const { startUs, endUs } of pieces.toSorted((a, b) => a.startUs - b.startUs)) {
    const last = spans.at(-1);
    if (last && startUs - last.to <= long) last.to = Math.max(last.to, endUs);
    else spans.push({ from: startUs, to: endUs });
  }
  return spans;
}

/** Maps µs to pixels: one scale for all spans, and a fixed width for the pauses between them. */
function axisOf(spans: readonly TimeSpan[], width: number) {
  const shown = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const cut = Math.min(CUT, width / 2 / spans.length);
  const room = width - 2 * MARGIN - (spans.length - 1) * (cut + 2 * MARGIN);
  const usPerPixel = Math.max(1, shown) / Math.max(1, room);
  let x = MARGIN;
  const starts = spans.map(({ from, to }) => {
    const start = x;
    x += (to - from) / usPerPixel + cut + 2 * MARGIN;
    return start;
  });
  const xOf = (us: number) => {
    const after = spans.findIndex(({ to }) => us <= to);
    const i = after < 0 ? spans.length - 1 : after;
    return (starts[i] ?? 0) + (us - (spans[i]?.from ?? 0)) / usPerPixel;
  };
  return { xOf, usPerPixel };
}

/** Time of one character on the line of the frames, in µs; undefined where characters take no time. */
function characterTime(frames: readonly TrafficView[]): number | undefined {
  const known = frames.find(({ pauseUs, pauseCharacters }) => pauseUs && pauseCharacters);
  return known && (known.pauseUs ?? 0) / (known.pauseCharacters ?? 1);
}

/**
 * One step or check with its evidence, as HTML.
 * @param number number of its report in the document, from 0
 */
export function findingHtml(finding: FindingView, number: number): string {
  const { id, title, verdict, summary, about, code } = finding;
  // A view on demand makes the frames on each read, so they are read once.
  const { frames } = finding;
  const strip = stripSvg(frames);
  const name = about ? title : `${id} ${title}`;
  return [
    `<section class="finding ${className(verdict)}" id="${findingAnchor(finding, number)}">`,
    `<header><h3>${escaped(name)}${about ? ` <code>${escaped(code === undefined ? id : `${id}: ${code}`)}</code>` : ''}</h3>${verdictHtml(verdict, finding.label)}</header>`,
    summary === '' ? '' : `<p class="message">${escaped(summary)}</p>`,
    about === undefined ? '' : aboutHtml(about, verdict),
    strip === '' ? '' : `<div class="scroll">${strip}</div>`,
    frames.length === 0 ? '' : framesHtml(frames, verdict),
    '</section>',
  ].join('\n');
}

export function findingAnchor({ id }: FindingView, number: number): string {
  return escaped(`report-${number + 1}-${id.replace(/[^\w-]/g, '-')}`);
}

export function className(verdict: Verdict): string {
  return verdict.replace(' ', '-');
}

export function verdictHtml(verdict: Verdict, label: string = verdict): string {
  return `<span class="verdict ${className(verdict)}">${label}</span>`;
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
  const title = `${counted(frames.length, 'event')} of the traffic: ${which}`;
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
