import { useSignal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { RegisterView } from '../../../api/v1/value-view.js';
import { serverNow } from '../../clock.js';
import { theme } from '../../theme.js';
import { type Course, extend, WINDOW_S } from './course.js';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 150;

/** The course of a value while it is selected. */
export function Plot({ about }: { readonly about: RegisterView | undefined }) {
  const place = useRef<HTMLDivElement>(null);
  const course = useRef<Course>({ times: [], values: [] });
  const plot = useSignal<uPlot | undefined>(undefined);
  const scheme = theme.value;

  useEffect(() => {
    if (!about) return;
    extend(course.current, serverNow() / 1000, about.value);
    const { times, values } = course.current;
    plot.peek()?.setData([times, values]);
  }, [about]);
  useEffect(() => {
    let isGone = false;
    const stop = draw(
      place.current as HTMLElement,
      course.current,
      () => isGone,
      (made) => {
        plot.value = made;
      },
    );
    return () => {
      isGone = true;
      void stop.then((end) => end?.());
    };
  }, []);
  useEffect(() => plot.value?.redraw(false), [scheme]);

  const label = `The last ${WINDOW_S / 60} minutes of ${about?.name ?? 'the register'}`;
  return html`<figure class="plot">
    <div ref=${place} class="canvas" role="img" aria-label=${label}></div>
    <figcaption class="dim">Since it was selected, at most ${WINDOW_S / 60} min${about?.unit ? `, in ${about.unit}` : ''}</figcaption>
  </figure>`;
}

/** Loads the library and draws. @returns what ends it */
async function draw(
  place: HTMLElement,
  { times, values }: Course,
  isGone: () => boolean,
  onMade: (plot: uPlot) => void,
): Promise<(() => void) | undefined> {
  const { default: Library } = await import('uplot');
  if (isGone()) return undefined;
  const ink = () => getComputedStyle(place).color;
  const line = () => getComputedStyle(place).outlineColor;
  const edge = () => getComputedStyle(place).borderTopColor;
  const axis = { stroke: ink, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge, width: 1 } };
  const plot = new Library(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { range: (_, __, max) => [max - Math.min(WINDOW_S, Math.max(10, max - (times[0] ?? max))), max] },
      },
      axes: [
        {
          ...axis,
          space: 70,
          size: 30,
          values: (_, ticks) => ticks.map((s) => new Date(s * 1000).toLocaleTimeString('en-GB')),
        },
        { ...axis, size: 56, space: 24 },
      ],
      series: [{}, { stroke: line, width: 1.5, points: { show: false } }],
    },
    [times, values],
    place,
  );
  onMade(plot);
  const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
  observer.observe(place);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const redraw = () => plot.redraw(false);
  dark.addEventListener('change', redraw);
  return () => {
    observer.disconnect();
    dark.removeEventListener('change', redraw);
    plot.destroy();
  };
}
