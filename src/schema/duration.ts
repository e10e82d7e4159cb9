import { z } from 'zod';
import { DURATION, milliseconds } from './milliseconds.js';
import { UNLIMITED } from './parts.js';

/**
 * A duration of the range, ends included, in ms: a plain number of milliseconds, or text with a unit.
 * `error` is what was expected, where the duration is a part of something else.
 */
export function duration(min = 0, max = UNLIMITED, error = durationText(min, max)) {
  const atLeast = z.number({ error }).min(min, { error });
  return z
    .union([z.number(), z.string().regex(DURATION, { error }).transform(milliseconds)], { error })
    .pipe(max === UNLIMITED ? atLeast : atLeast.max(max, { error }));
}

function durationText(min: number, max: number): string {
  const range = max === UNLIMITED ? `${min} or more` : `from ${min} to ${max}`;
  return `a number of milliseconds${max === UNLIMITED ? ',' : ''} ${range}, or a time such as 250ms, 20s, 5m, 1h`;
}
