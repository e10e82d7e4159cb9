import { z } from 'zod';
import { DURATION, milliseconds, momentOf } from './milliseconds.js';
import { UNLIMITED } from './parts.js';
import { expectedMessage } from './problem.js';
import { documentAs } from './written-as.js';

/**
 * Creates a schema for a duration in the range, inclusive, in ms: a plain number of milliseconds, or text
 * with a unit.
 * @param error what was expected, if the duration is part of something else
 */
export function duration(min = 0, max = UNLIMITED, error = durationText(min, max)) {
  const atLeast = z.number({ error }).min(min, { error });
  const inRange = max === UNLIMITED ? atLeast : atLeast.max(max, { error });
  const schema = z
    .union([z.number(), z.string().regex(DURATION, { error }).transform(milliseconds)], { error })
    .pipe(inRange);
  documentAs(schema, () => z.union([inRange, z.string().regex(DURATION)]));
  return schema;
}

function durationText(min: number, max: number): string {
  const range = max === UNLIMITED ? `${min} or more` : `from ${min} to ${max}`;
  return `a number of milliseconds${max === UNLIMITED ? ',' : ''} ${range}, or a time such as 250ms, 20s, 5m, 1h`;
}

/** How many bytes each unit of a size has. */
const UNITS: Readonly<Record<string, number>> = { KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 };

const SIZE = /^(\d+(?:\.\d+)?)(KB|MB|GB)$/;

/**
 * Creates a schema for a number of bytes from `min` to `max`, both in MB: a plain number of bytes, or text
 * such as `64MB`.
 */
export function size(min: number, max: number) {
  const error = `a size from ${min}MB to ${max}MB, such as ${min}MB, 64MB or 1GB`;
  const MB = UNITS.MB as number;
  const bytes = z
    .int({ error })
    .min(min * MB, { error })
    .max(max * MB, { error });
  const schema = z.union([z.number(), z.string().transform(bytesOf)], { error }).pipe(bytes);
  documentAs(schema, () => z.union([bytes, z.string().regex(SIZE)]));
  return schema;
}

/** Returns the bytes of a size, rounded to whole bytes; NaN for other text. */
function bytesOf(text: string): number {
  const [, digits, unit] = SIZE.exec(text) ?? [];
  return unit === undefined ? Number.NaN : Math.round(Number(digits) * (UNITS[unit] as number));
}

const TIME = 'a time such as 2026-03-01T12:00:00Z, or how long ago, such as 30s or 5m';

/** A moment, written as a time or as a duration before now; in ms since 1970. */
export const moment = z.string({ error: TIME }).transform((text, context) => {
  const time = momentOf(text, Date.now());
  if (Number.isNaN(time)) {
    context.issues.push({ code: 'custom', input: text, message: expectedMessage(TIME, text) });
    return z.NEVER;
  }
  return time;
});
