import { type Scale, ticks, xOf } from '../strip/scale.js';
import { ticksOfClock } from '../strip/times.js';
import type { Palette } from './palette.js';
import { type Course, shareOf, timeSpan, valueAxis } from './plot-layout.js';

/** Of a plot, in pixels. */
export const HEIGHT = 150;
const BOTTOM = 18;
const TOP = 8;
const PAD = 6;
const DOT = 3;
/** A second of a course in the units of a scale. */
export const US = 1e6;

interface Shown {
  readonly course: Course;
  readonly longestS: number;
  /** The sample that is read; -1 without one. */
  readonly place: number;
}

/** Paints the course of a value. @returns where which time stands */
export function paintPlot(
  context: CanvasRenderingContext2D,
  { panel, dim, edge, accent, ink }: Palette,
  width: number,
  { course, longestS, place }: Shown,
): Scale {
  const { times, values } = course;
  const axis = valueAxis(values);
  const left = Math.ceil(Math.max(...axis.lines.map(({ text }) => context.measureText(text).width))) + PAD;
  const { from, to } = timeSpan(course, longestS);
  const usPerPixel = ((to - from) * US) / Math.max(1, width - left - PAD);
  const scale = { fromUs: from * US - left * usPerPixel, usPerPixel };
  const xAt = (i: number) => xOf(scale, (times[i] as number) * US);
  const yAt = (value: number) => TOP + (1 - shareOf(axis, value)) * (HEIGHT - BOTTOM - TOP);

  context.fillStyle = panel;
  context.fillRect(0, 0, width, HEIGHT);
  context.textAlign = 'right';
  for (const { value, text } of axis.lines) {
    const y = Math.round(yAt(value));
    context.fillStyle = edge;
    context.fillRect(left, y, width, 1);
    context.fillStyle = dim;
    context.fillText(text, left - PAD, y);
  }
  context.textAlign = 'center';
  const text = ticksOfClock(-new Date(to * 1000).getTimezoneOffset() * 60 * US);
  const { stepUs, at } = ticks(scale, width);
  for (const us of at) {
    const x = Math.round(xOf(scale, us));
    if (x < left) continue;
    context.fillStyle = edge;
    context.fillRect(x, TOP, 1, HEIGHT - BOTTOM - TOP);
    context.fillStyle = dim;
    const half = context.measureText(text(us, stepUs)).width / 2;
    context.fillText(text(us, stepUs), Math.min(x, width - half), HEIGHT - BOTTOM / 2);
  }
  context.textAlign = 'start';

  context.strokeStyle = accent;
  context.fillStyle = accent;
  context.lineWidth = 1.5;
  context.beginPath();
  values.forEach((value, i) => {
    if (value === null) return;
    // Broken where the value was no number: a line leads only from one number to the next.
    if (values[i - 1] == null) context.moveTo(xAt(i), yAt(value));
    else context.lineTo(xAt(i), yAt(value));
  });
  context.stroke();

  const i = place < 0 ? values.length - 1 : place;
  const value = values[i];
  if (place >= 0) {
    context.fillStyle = ink;
    context.fillRect(Math.round(xAt(i)), TOP, 1, HEIGHT - BOTTOM - TOP);
  }
  if (value != null) {
    context.beginPath();
    context.arc(xAt(i), yAt(value), DOT, 0, 2 * Math.PI);
    context.fill();
  }
  return scale;
}
