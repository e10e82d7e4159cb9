import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { rulerOfDay, TICK, ticksOf } from '../../../common/timeline/times.js';
import { put } from './controls.js';
import { followSize, textWidth } from './element.js';
import { timeOfDay } from './format.js';
import { type Course, nearest, shareOf, timeSpan, valueAxis } from './plot-layout.js';
import './plot.css';

/** Height in pixels. */
const HEIGHT = 150;
const BOTTOM = 18;
const TOP = 8;
const PAD = 6;
const DOT = 3;
const US = 1e6;

interface PlotProps {
  readonly label: string;
  readonly unit: string;
  /** The samples; each new sample makes a new object. */
  readonly course: Course;
  readonly longestS: number;
  /** The text below the plot while no sample is being read. */
  readonly children: string;
}

/** A plot of a value over time. A pointer or the arrow keys select samples to read. */
export function Plot({ label, unit, course, longestS, children }: PlotProps) {
  const svg = useRef<SVGSVGElement>(null);
  const width = useSignal(0);
  /** The time of the sample that is being read. */
  const at = useSignal<number | undefined>(undefined);
  useEffect(() => {
    const element = svg.current as SVGSVGElement;
    return followSize(element, () => {
      width.value = element.clientWidth;
    });
  }, []);
  const { times, values } = course;
  const index = at.value === undefined || at.value < (times[0] ?? 0) ? -1 : nearest(course, at.value);
  const read = (to: number) => {
    at.value = times[Math.max(0, Math.min(times.length - 1, to))];
  };

  const axis = valueAxis(values);
  const left = Math.ceil(Math.max(0, ...axis.lines.map(({ text }) => textWidth(text)))) + PAD;
  const { from, to } = timeSpan(course, longestS);
  const sPerPixel = (to - from) / Math.max(1, width.value - left - PAD);
  const xAt = (time: number) => left + (time - from) / sPerPixel;
  const yAt = (value: number) => TOP + (1 - shareOf(axis, value)) * (HEIGHT - BOTTOM - TOP);
  const zoneUs = new Date(to * 1000).getTimezoneOffset() * 60 * US;
  const ticks = ticksOf(rulerOfDay(zoneUs), from * US, to * US, TICK * sPerPixel * US);
  const shown = index < 0 ? values.length - 1 : index;
  const value = values[shown];
  const shownX = xAt(times[shown] ?? to);
  const path = values.map((each, i) => {
    if (each === null) return '';
    const [x, y] = [xAt(times[i] as number).toFixed(1), yAt(each).toFixed(1)];
    // A register keeps its value until it changes. The line breaks where the value was not a number.
    return values[i - 1] == null ? `M${x} ${y}` : `H${x}V${y}`;
  });

  const pressed = (event: KeyboardEvent) => {
    const start = index < 0 ? times.length : index;
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: start - 1,
      ArrowRight: start + 1,
      PageUp: start + 10,
      PageDown: start - 10,
      Home: 0,
      End: times.length - 1,
    };
    const next = targets[event.key];
    if (next !== undefined) read(next);
    else if (event.key === 'Escape') at.value = undefined;
    else return;
    event.preventDefault();
  };
  const sample =
    index < 0
      ? undefined
      : `${values[index] ?? 'no number'} ${unit} at ${timeOfDay(1000 * (times[index] as number))}`;
  return html`<figure class="plot">
    <svg ref=${svg} class="drawing" height=${HEIGHT} role="slider" tabindex="0" aria-label=${label} aria-valuemin="0"
      aria-valuemax=${Math.max(0, times.length - 1)} aria-valuenow=${Math.max(0, shown)}
      aria-valuetext=${sample ?? `${values.at(-1) ?? ''} ${unit} now`} onKeyDown=${pressed}
      onPointerMove=${({ clientX }: PointerEvent) => {
        const x = clientX - (svg.current?.getBoundingClientRect().left ?? 0);
        read(nearest(course, from + (x - left) * sPerPixel));
      }}
      onPointerLeave=${put(at, undefined)}>${
        axis.lines.length > 0
          ? html`
      <path class="grid" d=${axis.lines.map((line) => `M${left} ${Math.round(yAt(line.value)) + 0.5}H${width.value}`).join('')} />
      <path class="grid" d=${ticks.map(({ us }) => `M${Math.round(xAt(us / US)) + 0.5} ${TOP}V${HEIGHT - BOTTOM}`).join('')} />
      ${axis.lines.map((line) => html`<text class="value" x=${left - PAD} y=${yAt(line.value)}>${line.text}</text>`)}
      ${ticks.map(
        ({ us, text }) =>
          html`<text class="time" x=${Math.min(xAt(us / US), width.value - textWidth(text) / 2)} y=${HEIGHT - BOTTOM / 2}>${text}</text>`,
      )}
      <path class="course" d=${path.join('')} />
      ${index < 0 ? null : html`<path class="read" d=${`M${Math.round(shownX) + 0.5} ${TOP}V${HEIGHT - BOTTOM}`} />`}
      ${value == null ? null : html`<circle cx=${shownX} cy=${yAt(value)} r=${DOT} />`}`
          : null
      }</svg>
    <figcaption class=${sample ? 'mono' : 'dim'}>${sample ?? children}</figcaption>
  </figure>`;
}

interface SparklineProps {
  readonly label: string;
  readonly unit: string;
  /** The values, oldest first; undefined if nothing was measured. */
  readonly values: readonly (number | undefined)[];
  /** Number of values that fill the width; fewer are aligned to the right. */
  readonly width: number;
  readonly format: (value: number) => string;
}

const SPARK_HEIGHT = 24;

/** A small plot of a value over time, with its newest and largest values as figures. */
export function Sparkline({ label, unit, values, width, format }: SparklineProps) {
  const known = values.filter((value) => value !== undefined);
  const max = Math.max(...known, 0);
  const now = values.at(-1);
  const text = (value: number | undefined) => (value === undefined ? '–' : format(value));
  return html`<figure class="sparkline">
    <figcaption><span class="dim">${label}</span>
      <span><b>${text(now)}</b> ${unit} <span class="dim">max ${text(known.length > 0 ? max : undefined)}</span></span>
    </figcaption>
    <svg viewBox=${`0 0 ${width} ${SPARK_HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="course" d=${sparkPath(values, width, max)} vector-effect="non-scaling-stroke" />
    </svg>
  </figure>`;
}

/** The path through the values; it breaks where there is no value. */
function sparkPath(values: readonly (number | undefined)[], width: number, max: number): string {
  const start = width - values.length;
  let [path, command] = ['', 'M'];
  values.forEach((value, i) => {
    const y = SPARK_HEIGHT - 1 - ((value ?? 0) / (max || 1)) * (SPARK_HEIGHT - 2);
    if (value !== undefined) path += `${command}${start + i} ${y.toFixed(1)}`;
    command = value === undefined ? 'M' : 'L';
  });
  return path;
}
