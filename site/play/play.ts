import { computed, effect, signal } from '@preact/signals';
import { html, render } from 'htm/preact';
import { useEffect, useMemo } from 'preact/hooks';
import '../../src/remote/web/base.css';
import { findMisbehaviour } from '../../src/document/catalogue.js';
import { StripModel, sourceOf } from '../../src/remote/web/strip/model.js';
import { Legend, Strip } from '../../src/remote/web/strip/strip.js';
import { typed } from '../../src/remote/web/ui/controls.js';
import { Bytes } from '../../src/remote/web/views/traffic/opened.js';
import type { TrafficView } from '../../src/simulator/traffic/view-schema.js';
import '../../src/remote/web/views/traffic/traffic.css';
import { addressOf, LONGEST_PAUSE_MS, MOST_TIMES, pdusOf, type Shown, shownAt, within } from './address.js';
import { type Played, play } from './bench.js';
import { drawn } from './drawn.js';
import { EXAMPLES, exampleFor } from './examples.js';
import './play.css';

const FIRST = exampleFor('fault', 'crc') as Shown;
const shown = signal<Shown>(shownAt(location.hash) ?? FIRST);
/** The example that is shown, `fault=crc`, as long as nothing of it was changed. */
const example = signal(nameAt(location.hash));
const chosen = signal<number | undefined>(undefined);

const NOTHING: Played = {
  problems: [],
  warnings: [],
  lines: [],
  wire: { characterUs: undefined, t35Us: undefined },
  traffic: [],
};
const pdus = computed(() => pdusOf(shown.value.pdu));
const played = computed<Played>(() => {
  const { file, line, unit, times, pauseMs } = shown.value;
  if (typeof pdus.value === 'string') return NOTHING;
  try {
    return play(file, { line, unit, pdus: pdus.value, times, pauseMs });
  } catch (error) {
    const message = `this page can't play this file: ${error instanceof Error ? error.message : error}`;
    return { ...NOTHING, problems: [{ path: '', message }] };
  }
});

function nameAt(hash: string): string {
  const text = hash.replace(/^#/, '');
  return text === '' ? 'fault=crc' : /^(fault|entry)=[\w-]+$/.test(text) && shownAt(text) ? text : '';
}

function change(changed: Partial<Shown>): void {
  example.value = '';
  chosen.value = undefined;
  shown.value = { ...shown.value, ...changed };
  history.replaceState(null, '', `#${addressOf(shown.value)}`);
}

/** The height of a line of the file, and what stands above the first, in pixels: those of play.css. */
const LINE = 19;
const ABOVE = 6;

/** The file, with a wave under what is wrong. */
function File() {
  const { file } = shown.value;
  const { problems, warnings } = played.value;
  const lines = file.split('\n').length;
  return html`<section class="stack" aria-label="File">
    <div class="editor panel">
      ${[
        ...warnings.map((each) => ['warn', each] as const),
        ...problems.map((each) => ['bad', each] as const),
      ].map(([tone, { line, column = 1 }]) =>
        line === undefined
          ? null
          : html`<i class=${`wave ${tone}`} style=${{ top: `${ABOVE + (line - 1) * LINE}px`, left: `calc(8px + ${column - 1}ch)` }} aria-hidden="true"></i>`,
      )}
      <textarea class="mono" aria-label="Devices, lines and faults, in YAML" spellcheck="false" autocapitalize="off"
        wrap="off" rows=${Math.max(14, lines + 1)} value=${file} aria-invalid=${problems.length > 0} aria-describedby="mistakes"
        onInput=${typed((value) => change({ file: value }))}></textarea>
    </div>
    <div role="status"><ul id="mistakes" class="stack">
      ${problems.map((problem) => html`<li class="bad-text long">${whereOf(problem)}</li>`)}
      ${warnings.map((problem) => html`<li class="warn long">warning: ${whereOf(problem)}</li>`)}
      ${problems.length === 0 ? html`<li class="dim">${lines - 1} lines, no mistakes.</li>` : null}
    </ul></div>
  </section>`;
}

function whereOf({ line, column, path, message }: Played['problems'][number]): string {
  const at = line === undefined ? '' : `${line}:${column ?? 1} `;
  return `${at}${path === '' ? '' : `${path}: `}${message}`;
}

/** What is asked: unit, request, how often. */
function Request() {
  const { unit, times, pauseMs, pdu: text } = shown.value;
  const { lines, line } = played.value;
  const wrong = typeof pdus.value === 'string' ? pdus.value : '';
  const number = (label: string, value: number, most: number, act: (value: number) => void, least = 0) =>
    html`<label class="field"><span class="small dim">${label}</span><input type="number" min=${least} max=${most} value=${value}
      onChange=${typed((entered) => act(within(entered, least, most, value)))} /></label>`;
  return html`<form class="flow request" aria-label="Request" onSubmit=${(event: Event) => event.preventDefault()}>
    <label class="field"><span class="small dim">line</span><select value=${line} disabled=${lines.length < 2}
      onChange=${typed((value) => change({ line: value }))}>${lines.map((each) => html`<option selected=${each === line}>${each}</option>`)}</select></label>
    ${number('unit', unit, 255, (value) => change({ unit: value }))}
    <label class=${`field pdu ${wrong === '' ? '' : 'wrong'}`}><span class="small dim">requests from their function codes on, hexadecimal, one in each line</span>
      <textarea class="mono" rows=${Math.max(1, text.split('\n').length)} value=${text} spellcheck="false" aria-invalid=${wrong !== ''}
        onInput=${typed((value) => change({ pdu: value }))}></textarea>
      ${wrong === '' ? null : html`<span class="note" role="alert">${wrong}</span>`}</label>
    ${number('times', times, MOST_TIMES, (value) => change({ times: value }), 1)}
    ${number('ms between them', pauseMs, LONGEST_PAUSE_MS, (value) => change({ pauseMs: value }))}
  </form>`;
}

/** What passed the line: to scale, in words, and byte by byte. */
function Wire() {
  const model = useMemo(() => new StripModel(), []);
  const { traffic, wire, problems } = played.value;
  const isDrawn = model.width.value > 0;
  useEffect(() => {
    model.setSource(sourceOf(drawn(played.value), wire, 0));
    model.fit();
  }, [traffic, isDrawn]);
  const last = traffic.at(-1);
  const event = traffic.find(({ seq }) => seq === chosen.value) ?? last;
  return html`<section class="stack" aria-label="On the wire"><h2 class="unseen">On the wire</h2>
    <${Strip} model=${model} label="The line" selected=${event?.seq} onSelect=${(seq: number) => {
      chosen.value = seq;
    }} />
    <${Legend} />
    ${problems.length > 0 ? html`<p class="dim">The file has mistakes, so nothing is asked.</p>` : null}
    <table class="small exchanges"><caption class="unseen">What passed</caption><tbody>${traffic.map(
      (each) => html`<tr class=${each === event ? 'chosen' : ''} onClick=${() => {
        chosen.value = each.seq;
      }}>
        <td class="mono">${(each.monotonicUs / 1000).toFixed(3)} ms</td>
        <td><button class="button link" type="button" aria-pressed=${each === event}>${each.kind}</button></td>
        <td class="long">${each.silence ? `no reply: ${each.silence}` : each.text}</td>
        <td class="long">${(each.faults ?? []).map(({ rule, kind, outcome, reason }) => `${rule}: ${kind}${outcome === 'applied' ? '' : ` can't act: ${reason ?? ''}`}`).join(', ')}</td></tr>`,
    )}</tbody></table>
    ${event?.bytes ? html`<div class="view-traffic"><div class="opened panel"><${Bytes} event=${event} framing=${framingOf(wire, event)} /></div></div>` : null}
  </section>`;
}

/** The framing of the line, as its first request shows it. */
function framingOf({ characterUs }: Played['wire'], { bytes = '' }: TrafficView): 'rtu' | 'ascii' | 'socket' {
  if (bytes.startsWith('3a')) return 'ascii';
  return characterUs === undefined ? 'socket' : 'rtu';
}

/** The examples: the kinds of faults, and what real devices do wrong. */
function Examples() {
  const [kind, name = ''] = example.value.split('=');
  const entry = kind === 'entry' ? findMisbehaviour(name) : undefined;
  return html`<div class="stack">
    <label class="flow">Example <select value=${example.value} onChange=${typed((value) => {
      if (value !== '') location.hash = `#${value}`;
    })}>
      <option value="" selected=${example.value === ''}>your own</option>
      <optgroup label="Kinds of faults">${EXAMPLES.fault.map((each) => html`<option value=${`fault=${each}`} selected=${example.value === `fault=${each}`}>${each}</option>`)}</optgroup>
      <optgroup label="What real devices do wrong">${EXAMPLES.entry.map((each) => html`<option value=${`entry=${each}`} selected=${example.value === `entry=${each}`}>${each}</option>`)}</optgroup>
    </select></label>
    ${entry?.ok ? html`<p class="long"><b>${entry.value.title}.</b> A client sees: ${entry.value.sees} <a href=${`../docs/catalogue.html#${name}`}>Its reports</a></p>` : null}
  </div>`;
}

function Page() {
  return html`<header class="header flow panel"><a href="../">modbus-sim</a><h1>Play</h1></header>
    <main class="stack">
      <p class="long">A device, its line and its faults on the left; a request, and what comes back, on the right. The page has the
      program's own devices, faults and checks, and time that is only counted. It has no port, one client and no other device: frames that
      nobody asked for, several connections and real devices need the program. The address carries all of it.</p>
      <${Examples} />
      <div class="columns play"><${File} /><div class="stack"><${Request} /><${Wire} /></div></div>
    </main>`;
}

addEventListener('hashchange', () => {
  const found = shownAt(location.hash);
  if (!found) return;
  example.value = nameAt(location.hash);
  chosen.value = undefined;
  shown.value = found;
});
effect(() => {
  document.title = `${example.value.replace(/.*=/, '') || 'Play'} - modbus-sim`;
});
render(html`<${Page} />`, document.body);
