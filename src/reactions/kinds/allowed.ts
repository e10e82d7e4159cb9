import { z } from 'zod';
import { ExceptionCode } from '../../protocol/exception-code.js';
import { nearestValue } from '../../registers/nearest-value.js';
import { number } from '../../schema/parts.js';
import { unlessNumber, unlessWritable } from '../fits.js';
import type { ReactionKind } from '../reaction.js';

const MAX_ALLOWED = 1000;

/** `allowed`: any other value is refused. */
export const allowed: ReactionKind<readonly number[]> = {
  schema: z
    .array(number, { error: 'a list of numbers' })
    .min(1, { error: 'at least one number' })
    .max(MAX_ALLOWED, { error: `at most ${MAX_ALLOWED} numbers` }),
  doc: { entry: '`allowed: [1, 2, 5]`', effect: 'any other value is refused with exception 03' },
  whyUnfit: (entry, values) => {
    const { type, scale } = entry;
    const unfit = unlessNumber(entry) ?? unlessWritable(entry);
    if (unfit !== undefined) return unfit;
    const isHeld = (value: number) => {
      const nearest = nearestValue(type, value / scale);
      const difference = Math.abs(Number(nearest.value) - value / scale);
      return nearest.fits && difference <= 1e-6 * Math.abs(value / scale);
    };
    const odd = values.find((value) => !isHeld(value));
    return odd === undefined ? undefined : `expected numbers that ${type} can hold, got ${odd}`;
  },
  start: (values, { stored }) => {
    const held = new Set(values.map(stored));
    return { refusal: (value) => (held.has(value) ? undefined : ExceptionCode.illegalDataValue) };
  },
};
