import { roundStep } from '../../../common/timeline/times.js';

/**
 * The course of a value: times in s since 1970, oldest first, with the values; null where the value was not a
 * number.
 */
export interface Course {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** The longest course of a value, in s. */
export const LONGEST_S = 300;

/** Maximum number of samples stored per second. */
const MOST_A_SECOND = 4;

/**
 * Adds a sample to a course, and drops samples that are too old.
 * @param time time in s since 1970
 * @param longestS longest course, in s
 */
export function extended(
  { times, values }: Course,
  time: number,
  value: number | string | null,
  longestS: number,
): Course {
  const old = times.findIndex((each) => each >= time - longestS);
  const from = Math.max(old < 0 ? times.length : old, times.length + 1 - longestS * MOST_A_SECOND);
  return {
    times: [...times.slice(from), time],
    values: [...values.slice(from), typeof value === 'number' ? value : null],
  };
}

/** The vertical axis of a plot: the values at its edges, and grid lines at round values. */
export interface ValueAxis {
  readonly low: number;
  readonly high: number;
  readonly lines: readonly { readonly value: number; readonly text: string }[];
}

/** Approximate number of steps from the smallest to the largest value. */
const STEPS = 4;
/** The margin of the axis above and below a constant value, as a fraction of the value. */
const FLAT = 1 / 8;
/**
 * Relative difference below which two values count as equal; and the magnitude (`TINY`) below which a value
 * counts as 0.
 */
const SAME = 1e-12;
const TINY = 1e-290;
const MOST = Number.MAX_VALUE;
const DIGITS = 12;

/** The axis for some values, with round values around all of them; without grid lines if there are no values. */
export function valueAxis(values: Course['values']): ValueAxis {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { low: 0, high: 1, lines: [] };
  const [least, most] = [Math.min(...known), Math.max(...known)];
  // Divided before subtracting, because the difference of very large numbers would overflow.
  const span = most / STEPS - least / STEPS;
  const size = Math.max(Math.abs(least), Math.abs(most), TINY);
  const isFlat = span < size * SAME;
  const step = roundStep(isFlat && size === TINY ? 1 : isFlat ? size * FLAT : span);
  const first = Math.floor(least / step);
  const count = Math.max(1, Math.ceil(most / step) - first);
  const lines = Array.from({ length: count + 1 }, (_, i) => {
    const value = (first + i) * step;
    return { value, text: String(Number(value.toPrecision(DIGITS))) };
  });
  const [low, high] = [Math.max(first * step, -MOST), Math.min((first + count) * step, MOST)];
  return { low, high, lines: lines.filter(({ value }) => Number.isFinite(value)) };
}

/** The position of a value between the edges: 0 is the lower one, 1 the upper one. */
export function shareOf({ low, high }: ValueAxis, value: number): number {
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

/**
 * The time range shown: at least ten seconds up to the newest sample.
 * @param longest longest range; all times are in s
 */
export function timeSpan({ times }: Course, longest: number): { readonly from: number; readonly to: number } {
  const to = times.at(-1) ?? 0;
  return { from: to - Math.min(longest, Math.max(LEAST_S, to - (times[0] ?? to))), to };
}

const LEAST_S = 10;

/** The index of the sample nearest to a time; -1 if there are no samples. */
export function nearest({ times }: Course, time: number): number {
  const after = times.findIndex((each) => each >= time);
  if (after <= 0) return after < 0 ? times.length - 1 : 0;
  return time - (times[after - 1] as number) < (times[after] as number) - time ? after - 1 : after;
}
