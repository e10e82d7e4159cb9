import { z } from 'zod';
import { UNLIMITED } from './parts.js';

/** Milliseconds of each unit that a duration can be written in. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** There is only one way to match a run of digits, so that a long text is not searched again and again. */
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** The milliseconds of `250ms`, `20s`, `5m` or `1.5h`: a text that matches DURATION. */
function parseDuration(text: string): number {
  const [, digits, unit = ''] = DURATION.exec(text) ?? [];
  // Rounds off the error of the multiplication, beyond a millionth of a millisecond: 1.1s is 1100.
  return Math.round(Number(digits) * (UNITS[unit] ?? Number.NaN) * 1e6) / 1e6;
}

/**
 * A duration of the range, ends included, in ms: a plain number of milliseconds, or text with a unit.
 * `error` is what was expected, where the duration is a part of something else.
 */
export function duration(min = 0, max = UNLIMITED, error = durationText(min, max)) {
  const atLeast = z.number({ error }).min(min, { error });
  return z
    .union([z.number(), z.string().regex(DURATION, { error }).transform(parseDuration)], { error })
    .pipe(max === UNLIMITED ? atLeast : atLeast.max(max, { error }));
}

function durationText(min: number, max: number): string {
  const range = max === UNLIMITED ? `${min} or more` : `from ${min} to ${max}`;
  return `a number of milliseconds${max === UNLIMITED ? ',' : ''} ${range}, or a time such as 250ms, 20s, 5m, 1h`;
}
