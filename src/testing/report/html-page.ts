import { escaped } from './escape.js';

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
