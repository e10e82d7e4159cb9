import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Scale, usAt } from '../strip/scale.js';
import { keepPainted } from './canvas.js';
import { timeOfDay } from './format.js';
import { type Course, nearest } from './plot-layout.js';
import { HEIGHT, paintPlot, US } from './plot-paint.js';
import './plot.css';

interface PlotProps {
  readonly label: string;
  readonly unit: string;
  /** Another object after each sample. */
  readonly course: Course;
  readonly longestS: number;
  /** Stands below while no sample is read. */
  readonly children: string;
}

/** The course of a value. A pointer or the arrows read its samples. */
export function Plot({ label, unit, course, longestS, children }: PlotProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const redraw = useRef(() => {});
  const scale = useRef<Scale>({ fromUs: 0, usPerPixel: 1 });
  /** The time of the sample that is read. */
  const at = useSignal<number | undefined>(undefined);
  const { times, values } = course;
  const place = at.value === undefined || at.value < (times[0] ?? 0) ? -1 : nearest(course, at.value);
  const shown = useRef({ course, longestS, place });
  shown.current = { course, longestS, place };

  useEffect(() => {
    const painted = keepPainted(canvas.current as HTMLCanvasElement, HEIGHT, {
      paint: (context, palette, width) => {
        scale.current = paintPlot(context, palette, width, shown.current);
      },
    });
    redraw.current = painted.redraw;
    return painted.end;
  }, []);
  useEffect(() => redraw.current(), [course, place]);

  const read = (to: number) => {
    at.value = times[Math.max(0, Math.min(times.length - 1, to))];
  };
  const pressed = (event: KeyboardEvent) => {
    const from = place < 0 ? times.length : place;
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: from - 1,
      ArrowRight: from + 1,
      PageUp: from + 10,
      PageDown: from - 10,
      Home: 0,
      End: times.length - 1,
    };
    const to = places[event.key];
    if (to !== undefined) read(to);
    else if (event.key === 'Escape') at.value = undefined;
    else return;
    event.preventDefault();
  };
  const sample =
    place < 0
      ? undefined
      : `${values[place] ?? 'no number'} ${unit} at ${timeOfDay(1000 * (times[place] as number))}`;
  return html`<figure class="plot">
    <canvas ref=${canvas} height=${HEIGHT} role="slider" tabindex="0" aria-label=${label} aria-valuemin="0"
      aria-valuemax=${Math.max(0, times.length - 1)} aria-valuenow=${place < 0 ? times.length - 1 : place}
      aria-valuetext=${sample ?? `${values.at(-1) ?? ''} ${unit} now`} onKeyDown=${pressed}
      onPointerMove=${({ offsetX }: PointerEvent) => read(nearest(course, usAt(scale.current, offsetX) / US))}
      onPointerLeave=${() => {
        at.value = undefined;
      }}></canvas>
    <figcaption class=${sample ? 'mono' : 'dim'}>${sample ?? children}</figcaption>
  </figure>`;
}
