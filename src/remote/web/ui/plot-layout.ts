import { roundStep } from '../../../common/timeline/times.js';

/** What a value was: times in seconds since 1970, the oldest first, and null where it was no number. */
export interface Course {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** Four samples a second are the most that are kept. */
const MOST_A_SECOND = 4;

/**
 * A course with one more sample; those that are too old are given up.
 * @param time in seconds since 1970
 * @param longestS how long the course may be, in seconds
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

/** Which values a plot shows from its lower to its upper edge, and the lines at round ones. */
export interface ValueAxis {
  readonly low: number;
  readonly high: number;
  readonly lines: readonly { readonly value: number; readonly text: string }[];
}

/** About so many steps from the least to the greatest value. */
const STEPS = 4;
/** Of a value that stays the same, so large a part is shown above and below. */
const FLAT = 1 / 8;
/** Values that differ in less than the digits that are shown are the same; so is what is next to nothing. */
const SAME = 1e-12;
const TINY = 1e-290;
const MOST = Number.MAX_VALUE;
const DIGITS = 12;

/** Round values around all that are there; no lines where there are none. */
export function valueAxis(values: Course['values']): ValueAxis {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { low: 0, high: 1, lines: [] };
  const [least, most] = [Math.min(...known), Math.max(...known)];
  // Each part for itself: the greatest numbers are too far apart for their difference.
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

/** Where a value stands between the edges: 0 is the lower one. */
export function shareOf({ low, high }: ValueAxis, value: number): number {
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** The times that are shown: up to the newest, at least ten seconds. @param longest in seconds, as all results */
export function timeSpan({ times }: Course, longest: number): { readonly from: number; readonly to: number } {
  const to = times.at(-1) ?? 0;
  return { from: to - Math.min(longest, Math.max(LEAST_S, to - (times[0] ?? to))), to };
}

const LEAST_S = 10;

/** The index of the sample that is nearest to a time; -1 where there is none. */
export function nearest({ times }: Course, time: number): number {
  const after = times.findIndex((each) => each >= time);
  if (after <= 0) return after < 0 ? times.length - 1 : 0;
  return time - (times[after - 1] as number) < (times[after] as number) - time ? after - 1 : after;
}
