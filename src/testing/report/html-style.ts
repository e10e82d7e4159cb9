/** The style of the HTML report: light and dark, on a telephone and on paper. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1a2230; --soft: #5a6577; --paper: #fff; --line: #d8dee8; --box: #f5f7fa;
  --pass: #177245; --fail: #b3261e; --other: #8a5a00; --request: #2f6fd6; --reply: #2a9d66; --t35: #c9d7ee; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf1; --soft: #9aa6b8; --paper: #12161d; --line: #2e3746;
  --box: #1a202a; --pass: #56c288; --fail: #ff8a80; --other: #e5b454; --request: #6ea3ff; --reply: #4cc38a; --t35: #2b3a55; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; } p { margin: .4rem 0; } .soft { color: var(--soft); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
td.number { width: 1%; white-space: nowrap; font-variant-numeric: tabular-nums; } a { color: inherit; }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; } td code { overflow-wrap: anywhere; }
pre { background: var(--box); padding: .75rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; }
.verdict { font-weight: 600; white-space: nowrap; } .pass { color: var(--pass); } .fail, .error { color: var(--fail); }
.inconclusive, .not-run { color: var(--other); }
.finding { border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; margin: .8rem 0; break-inside: avoid; }
.finding > header { display: flex; gap: 1rem; justify-content: space-between; flex-wrap: wrap; }
.strip { display: block; width: 100%; min-width: 40rem; height: auto; margin: .5rem 0; }
.strip text { font: 10px ui-monospace, monospace; fill: var(--soft); } .strip .scale { text-anchor: middle; }
.strip .request { fill: var(--request); } .strip .reply { fill: var(--reply); } .strip .t35 { fill: var(--t35); }
.strip .damaged, .strip .spoilt, .strip .break { fill: var(--fail); } .strip .other { fill: var(--soft); }
.strip .silence { stroke: var(--fail); stroke-width: 2; } .strip .axis { stroke: var(--soft); fill: none; }
.strip .pause { stroke: var(--soft); fill: none; stroke-dasharray: 3 2; }
.legend span { margin-right: 1rem; white-space: nowrap; } .legend i { display: inline-block; width: .8em; height: .8em;
  margin-right: .35em; border-radius: 2px; }
@media print { :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --box: #f4f4f4; --pass: #0b5d33; --fail: #9a1710;
  --other: #6b4700; --request: #2f6fd6; --reply: #2a9d66; --t35: #c9d7ee; } body { max-width: none; padding: 0; font-size: 11px; }
  .scroll { overflow: visible; } .strip { min-width: 0; } details > pre { display: block; } }
`;
