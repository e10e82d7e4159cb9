import { signal, useComputed } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { TICK, ticksOf } from '../../../../common/timeline/times.js';
import { counted } from '../../../../common/words.js';
import type { LineView } from '../../../../simulator/commands/schemas/line.js';
import { recorded } from '../../recorded.js';
import { go, hrefOf } from '../../route.js';
import { followGestures, usAt, xOf } from '../../strip/model.js';
import { Button } from '../../ui/controls.js';
import { followSize } from '../../ui/element.js';
import { timeOfDay } from '../../ui/format.js';
import {
  type AskedRow,
  bunchFor,
  HEIGHT,
  indexOf,
  type Load,
  loadOf,
  loadPaths,
  OUTCOMES,
  RANGES,
  type RowSum,
  rowsOf,
  shareText,
  sumOf,
  troublesOf,
  wordsOf,
} from './score-model.js';
import { nearLine, ScoreStrip } from './score-strip.js';
import { axis, dayRuler, FINE, FIRST_S, read, resizeAxis, show, spanS, wallAt } from './score-sums.js';

/** The time at the cursor of the lanes, in µs. */
const cursor = signal<number | undefined>(undefined);
/** What happened at the cursor's time, on the line under the pointer or with keyboard focus, as text. */
const readout = signal('');

/** How far the lanes can look back, in s. */
const SPANS: readonly (readonly [seconds: number, title: string])[] = recorded
  ? [[FIRST_S, 'All']]
  : RANGES.map(({ seconds, count, title }) => [seconds * count, title]);

/** How far back the lanes look, their time axis, and the meaning of their colours. */
export function ScoreBar() {
  const ruler = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const svg = ruler.current as SVGSVGElement;
    return followSize(svg, () => resizeAxis(svg.getBoundingClientRect().width));
  }, []);
  const { fromUs, usPerPixel } = axis.scale.value;
  const toUs = usAt(axis.scale.value, axis.width.value);
  const isAt = (seconds: number) => axis.isFollowing.value && Math.abs(spanS.value / seconds - 1) < 0.01;
  const ticks =
    read.value.endUs === 0 ? [] : ticksOf(dayRuler(), fromUs, toUs, Math.max(1, TICK * usPerPixel));
  return html`<div class="flow">
      <span class="flow" role="group" aria-label="Time span of the lanes">${SPANS.map(
        ([seconds, title]) => html`<button type="button" class="tab" aria-pressed=${isAt(seconds)}
          onClick=${() => show(seconds)}>${title}</button>`,
      )}</span>
      <${Button} label="Zoom in" onClick=${() => axis.zoom(2)}>+<//>
      <${Button} label="Zoom out" onClick=${() => axis.zoom(0.5)}>−<//>
      <ul class="legend flow dim small" aria-label="Colours of the lanes">${Object.entries({
        ...OUTCOMES,
        speaking: 'wire: characters',
        pauses: 't3.5',
      }).map(
        ([name, title]) => html`<li><i class=${`swatch ${name}`} aria-hidden="true"></i>${title}</li>`,
      )}</ul>
    </div>
    <div class="lane axis"><span></span><svg ref=${ruler} class="drawing" aria-hidden="true">
      ${ticks.map(({ us, text }) => html`<text x=${xOf(axis.scale.value, us)} y="8">${text}</text>`)}</svg>
<span class="words small dim" role="status">${
    axis.isFollowing.value
      ? readout.value
      : html`<${Button} kind="link" onClick=${() => axis.follow()}>Follow the newest<//> ${readout.value}`
  }</span></div>`;
}

/** What a line's lane shows. */
export interface Score {
  readonly rows: readonly { readonly row: AskedRow; readonly sum: RowSum }[];
  readonly load: Load | undefined;
  /** What is wrong in the time span shown, in sentences. */
  readonly troubles: readonly string[];
  readonly nameOf: (unit: number) => string;
  readonly t35Ms: number;
  /** How many periods are drawn as one. */
  readonly bunch: number;
}

/** The traffic of a line in the time span of the axis. @param detail undefined until it is known */
export function useScore(line: string, detail: LineView | undefined): Score {
  const { range, lines, endUs } = read.value;
  const units = detail?.units ?? {};
  const served = JSON.stringify(units);
  const own = lines.get(line) ?? [];
  const newest = indexOf(endUs, range);
  const bunch = bunchFor(axis.scale.value.usPerPixel, range);
  const rows = useMemo(() => {
    const numbers = Object.keys(units).map(Number);
    return rowsOf(
      own,
      numbers.filter((unit) => Number.isInteger(unit) && unit >= 0),
      range,
      newest,
      bunch,
    );
  }, [read.value, served, bunch]);
  const { fromUs } = axis.scale.value;
  const toUs = usAt(axis.scale.value, axis.width.value);
  return useMemo(() => {
    const nameOf = (unit: number) => {
      const device = units[unit] ?? units['*'];
      return device === undefined ? `unit ${unit}` : `unit ${unit} ${device}`;
    };
    const t35Ms = detail?.times?.t35 ?? 0;
    // Whole periods: parts of a period are not known.
    const timeUs = 1e6 * range.seconds;
    const span = {
      fromUs: indexOf(fromUs, range) * timeUs,
      toUs: Math.min(Math.ceil(toUs / timeUs) * timeUs, (indexOf(endUs, RANGES[0]) + 1) * 1e6),
    };
    const asked = rows.map((row) => ({ row, sum: sumOf(row, span, range) }));
    const load = loadOf(rows, span, t35Ms);
    return { rows: asked, load, troubles: troublesOf(asked, load, nameOf), nameOf, t35Ms, bunch };
  }, [rows, served, fromUs, toUs]);
}

/** Maximum number of rows in a lane. */
const MOST_ROWS = 60;

interface LaneProps {
  readonly line: string;
  readonly score: Score;
}

/** The lane of a line: a row for each unit and function, coloured by the outcome of its requests, and the load. */
export function Lane({ line, score }: LaneProps) {
  const { rows, load, nameOf, t35Ms, bunch } = score;
  const { range, endUs } = read.value;
  const newest = indexOf(endUs, range);
  const over = useRef<HTMLDivElement>(null);
  const self = useRef<HTMLDivElement>(null);
  const isFine = useComputed(() => axis.scale.value.usPerPixel < FINE && nearLine.value === line).value;
  useEffect(() => {
    if (!over.current) return;
    return followGestures(over.current, axis, {
      boxes: () => [],
      onPick: () => {},
      onClick: (us) => open(line, us),
      takesWheel: (event) => takesWheel(event, self.current),
    });
  }, [rows.length === 0]);
  const loads = useMemo(
    () =>
      loadPaths(
        rows.map(({ row }) => row),
        range,
        newest,
        t35Ms,
        bunch,
      ),
    [rows],
  );
  if (rows.length === 0) return html`<p class="dim">No traffic${recorded ? '' : ' yet'}.</p>`;
  const perTime = 1e6 * range.seconds;
  const { fromUs, usPerPixel } = axis.scale.value;
  const wide = Math.max(1e-9, (axis.width.value * usPerPixel) / perTime);
  const box = {
    viewBox: `${fromUs / perTime - newest} 0 ${wide} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    'aria-hidden': true,
  };
  const at = cursor.value;
  const shown = rows.slice(0, MOST_ROWS);
  const near = () => {
    nearLine.value = line;
  };
  return html`<div ref=${self} class="lane" role="slider" tabindex="0" aria-label=${`Traffic on line ${line}`} aria-valuemin="0"
      aria-valuemax=${Math.round(endUs / 1e6)} aria-valuenow=${Math.round((at ?? endUs) / 1e6)}
      aria-valuetext=${valueText(rows, at ?? endUs)} onFocus=${near} onPointerDown=${near} onWheel=${near}
      onKeyDown=${(event: KeyboardEvent) => pressed(event, line, rows)}>
      ${shown.map(
        ({ row, sum }) => html`<span class="cut" title=${labelOf(row, nameOf)}>${labelOf(row, nameOf)}</span>
          <svg class="drawing" ...${box}>${row.paths.map(([name, d]) => html`<path class=${name} d=${d} />`)}</svg>
          <span class="words small">${wordsOf(row, sum)}</span>`,
      )}
      ${
        load
          ? html`<span class="cut">wire</span>
            <svg class="drawing" ...${box}><path class="speaking" d=${loads.speaking} /><path class="pauses" d=${loads.pauses} /></svg>
            <span class="words small">${shareText(load.speaking)} on the wire, ${shareText(load.pauses)} t3.5, ${shareText(1 - load.speaking - load.pauses)} quiet</span>`
          : null
      }
      <div ref=${over} class="over" onPointerMove=${({ clientX }: PointerEvent) => {
        const { left } = (over.current as Element).getBoundingClientRect();
        point(rows, usAt(axis.scale.peek(), clientX - left));
      }} onPointerLeave=${() => point(rows, undefined)}>${at === undefined ? null : html`<i class="at" style=${{ left: `${xOf(axis.scale.value, at)}px` }}></i>`}</div>
    </div>
    ${rows.length > MOST_ROWS ? html`<p class="dim small">And ${counted(rows.length - MOST_ROWS, 'more row')}.</p>` : null}
    ${isFine ? html`<${ScoreStrip} line=${line} />` : null}`;
}

function labelOf({ unit, code }: AskedRow, nameOf: Score['nameOf']): string {
  if (unit === null) return 'no unit';
  return code === null ? nameOf(unit) : `${nameOf(unit)} fn ${code}`;
}

/** What happened at a time: `14:03:07, good 24, exceptions 1`. */
function valueText(rows: Score['rows'], us: number): string {
  const { range } = read.peek();
  const from = indexOf(us, range) * 1e6 * range.seconds;
  const span = { fromUs: from, toUs: from + 1e6 * range.seconds };
  const sums = rows.map(({ row }) => sumOf(row, span, range));
  const parts = Object.entries(OUTCOMES).flatMap(([name, title]) => {
    const sum = sums.reduce((total, each) => total + each[name as keyof typeof OUTCOMES], 0);
    return sum > 0 ? [`${title} ${sum}`] : [];
  });
  return [timeOfDay(wallAt(from)), ...(parts.length > 0 ? parts : ['nothing'])].join(', ');
}

function point(rows: Score['rows'], us: number | undefined): void {
  cursor.value = us;
  readout.value = us === undefined ? '' : valueText(rows, us);
}

/** Opens the traffic at a time. */
function open(line: string, us: number): void {
  const { range } = read.peek();
  const begin = wallAt(indexOf(us, range) * 1e6 * range.seconds);
  const times = {
    since: new Date(begin).toISOString(),
    until: new Date(begin + 1000 * range.seconds).toISOString(),
  };
  go(hrefOf('traffic', [], { line, ...times }));
}

/**
 * The wheel zooms with Ctrl, which is also how touchpads report a pinch, or if the lane has the keyboard
 * focus. Otherwise it scrolls the page.
 */
function takesWheel(event: WheelEvent, lane: HTMLElement | null): boolean {
  if (!event.ctrlKey && !event.shiftKey && !lane?.contains(document.activeElement)) return false;
  // What is under the pointer stays in place.
  if (event.deltaY < 0) axis.isFollowing.value = false;
  return true;
}

const KEY_ZOOM = 1.5;

function pressed(event: KeyboardEvent, line: string, rows: Score['rows']): void {
  const { range, endUs } = read.peek();
  const width = axis.width.peek();
  const { usPerPixel } = axis.scale.peek();
  const column = Math.max(1e6 * range.seconds, 3 * usPerPixel);
  const from = cursor.peek() ?? endUs;
  const move = (byUs: number) => {
    const to = Math.min(endUs, Math.max(0, from + byUs));
    point(rows, to);
    const x = xOf(axis.scale.peek(), to);
    if (x < 0 || x > width) axis.centre(to);
  };
  const zoom = (factor: number) => {
    const x = xOf(axis.scale.peek(), from);
    if (cursor.peek() !== undefined && factor > 1) axis.isFollowing.value = false;
    axis.zoom(factor, Math.max(0, Math.min(width, x)));
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => move(-column),
    ArrowRight: () => move(column),
    PageUp: () => move((-width * usPerPixel) / 10),
    PageDown: () => move((width * usPerPixel) / 10),
    '+': () => zoom(KEY_ZOOM),
    '=': () => zoom(KEY_ZOOM),
    '-': () => zoom(1 / KEY_ZOOM),
    '0': () => show(SPANS.at(-1)?.[0] ?? FIRST_S),
    End: () => {
      point(rows, undefined);
      axis.follow();
    },
    Enter: () => open(line, from),
    Escape: () => point(rows, undefined),
  };
  // The strip below handles its own keys.
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]?.();
}
