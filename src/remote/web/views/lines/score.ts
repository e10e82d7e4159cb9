import { effect, signal, useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { SumsView } from '../../../api/v1/sums.js';
import { ask } from '../../api.js';
import { restarts, serverNow, summary } from '../../live.js';
import { go, hrefOf } from '../../route.js';
import { put } from '../../ui/controls.js';
import { timeOfDay } from '../../ui/format.js';
import {
  HEIGHT,
  keyOf,
  loadOf,
  OUTCOMES,
  placeOf,
  RANGES,
  type ScoreRange,
  shareText,
  unitRows,
} from './score-model.js';

const range = signal<ScoreRange>(RANGES[0]);
/** What was read of the range, and a moment of its newest time. */
const read = signal<{ readonly sums: ReadonlyMap<string, SumsView>; readonly endUs: number }>({
  sums: new Map(),
  endUs: 0,
});

/** Reads what is new of the range as often as something is, until the returned function is called. */
export function followScore(): () => void {
  let known = '';
  let at = -1;
  return effect(() => {
    const { seconds, every } = range.value;
    const now = Math.floor((summary.value?.monotonicUs ?? 0) / (1e6 * seconds));
    const wanted = `${every} ${restarts.value}`;
    if (!summary.value || (wanted === known && now === at)) return;
    const isNew = wanted !== known;
    [known, at] = [wanted, now];
    void readNew(isNew);
  });
}

async function readNew(isNew: boolean): Promise<void> {
  const wanted = range.peek();
  // Of seconds, only those are known that are over.
  const endUs = (summary.peek()?.monotonicUs ?? 0) - 1e6;
  // The newest time may not have been over.
  const since = isNew ? '' : `&since=${Math.ceil((endUs - read.peek().endUs) / 1e6) + 2 * wanted.seconds}s`;
  const answer = await ask<{ readonly sums: readonly SumsView[] }>(
    'GET',
    `/sums?every=${wanted.every}${since}`,
  );
  if (!answer.ok || wanted !== range.peek()) return;
  const sums = new Map(isNew ? [] : read.peek().sums);
  for (const each of answer.value.sums) sums.set(keyOf(each), each);
  for (const [key, { monotonicUs }] of sums) {
    if (placeOf(monotonicUs, wanted, endUs) >= 0) break;
    sums.delete(key);
  }
  read.value = { sums, endUs };
}

function zoom(by: 1 | -1): void {
  range.value = RANGES[RANGES.indexOf(range.peek()) + by] ?? range.peek();
}

/** How far the lanes look back, and the meaning of their colours. */
export function ScoreBar() {
  return html`<div class="flow">
    <span class="flow" role="group" aria-label="How far the lanes look back">${RANGES.map(
      (each) => html`<button type="button" class="tab" aria-pressed=${each === range.value}
        onClick=${put(range, each as ScoreRange)}>${each.title}</button>`,
    )}</span>
    <ul class="legend flow dim small" aria-label="Colours of the lanes">${Object.entries(OUTCOMES).map(
      ([name, title]) => html`<li><i class=${`swatch ${name}`} aria-hidden="true"></i>${title}</li>`,
    )}</ul>
  </div>`;
}

interface LaneProps {
  readonly line: string;
  /** The unit identifiers that the line serves. */
  readonly units: readonly number[];
}

/** The lane of a line: a row for each unit, coloured by what became of its requests, and the load of the wire. */
export function Lane({ line, units }: LaneProps) {
  const at = useSignal<number | undefined>(undefined);
  useEffect(() => {
    at.value = undefined;
  }, [range.value]);
  const now = range.value;
  const { sums, endUs } = read.value;
  const own = [...sums.values()].filter((each) => each.line === line);
  const rows = unitRows(own, units, now, endUs);
  const load = loadOf(own, now, endUs);
  if (rows.length === 0) return html`<p class="lane dim">Nothing passed in the last ${now.title}.</p>`;
  const full = load?.slice(-Math.ceil(60 / now.seconds)) ?? [];
  const mean = full.reduce((sum, each) => sum + each, 0) / Math.max(1, full.length);
  /** When the time at a place begins, by the wall clock, in ms. */
  const timeAt = (place: number) => {
    const us = (Math.floor(endUs / (1e6 * now.seconds)) - (now.count - 1 - place)) * now.seconds * 1e6;
    return serverNow() - ((summary.peek()?.monotonicUs ?? 0) - us) / 1000;
  };
  const placeIn = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(now.count - 1, Math.floor(((clientX - left) / width) * now.count)));
  };
  const open = () => {
    if (at.peek() === undefined) return;
    const begin = timeAt(at.peek() as number);
    const times = {
      since: new Date(begin).toISOString(),
      until: new Date(begin + 1000 * now.seconds).toISOString(),
    };
    go(hrefOf('traffic', [], { line, ...times }));
  };
  const pressed = (event: KeyboardEvent) => {
    const from = at.peek() ?? now.count;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => move(from - 1),
      ArrowRight: () => move(from + 1),
      PageUp: () => move(from - now.count / 10),
      PageDown: () => move(from + now.count / 10),
      '+': () => zoom(-1),
      '-': () => zoom(1),
      Enter: open,
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]?.();
  };
  const move = (to: number) => {
    at.value = Math.max(0, Math.min(now.count - 1, to));
  };
  const box = { viewBox: `0 0 ${now.count} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': true };
  const cursor =
    at.value === undefined ? null : html`<path class="at" d=${`M${at.value} 0h1v${HEIGHT}h-1z`} />`;
  return html`<div class="lane" role="slider" tabindex="0" aria-label=${`What passed line ${line}`} aria-valuemin="0"
    aria-valuemax=${now.count - 1} aria-valuenow=${at.value ?? now.count - 1}
    aria-valuetext=${timeOfDay(timeAt(at.value ?? now.count - 1))}
    onKeyDown=${pressed}>
    ${rows.map(
      ({ unit, paths, words }) => html`<span class="cut">${unit === null ? 'no unit' : `unit ${unit}`}</span>
        <svg class="drawing" ...${box} onPointerMove=${(event: PointerEvent) => move(placeIn(event))} onClick=${open}>
          ${paths.map(([name, d]) => html`<path class=${name} d=${d} />`)}${cursor}</svg>
        <span class="words small">${words}</span>`,
    )}
    ${
      load
        ? html`<span class="cut">load</span>
          <svg class="drawing" ...${box} onPointerMove=${(event: PointerEvent) => move(placeIn(event))} onClick=${open}>
            <path class="load" d=${load.map((each, i) => `M${i} ${HEIGHT}h1v${-(each * HEIGHT).toFixed(1)}h-1z`).join('')} />${cursor}</svg>
          <span class="words small">${shareText(mean)} in the last minute</span>`
        : null
    }
    <span></span><span class="small dim">${at.value === undefined ? `the last ${now.title}` : `${timeOfDay(timeAt(at.value))}: a click or Enter opens the traffic`}</span><span></span>
  </div>`;
}
