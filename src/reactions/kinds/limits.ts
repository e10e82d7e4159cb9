import { ExceptionCode } from '../../protocol/exception-code.js';
import { number, section } from '../../schema/parts.js';
import { unlessNumber, unlessWritable } from '../fits.js';
import type { ReactionKind } from '../reaction.js';

/** `limits`: a value outside of them is refused. */
export const limits: ReactionKind<{ min?: number | undefined; max?: number | undefined }> = {
  schema: section({ min: number.optional(), max: number.optional() })
    .refine(({ min, max }) => min !== undefined || max !== undefined, { error: 'expected min, max or both' })
    .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
      path: ['max'],
      error: 'expected max to be at least min',
    }),
  doc: {
    entry: '`limits: {min, max}`',
    effect: 'a value below `min` or above `max` is refused with exception 03. Either may be left out',
  },
  whyUnfit: (entry) => unlessNumber(entry) ?? unlessWritable(entry),
  start: ({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }, { stored }) => {
    // A limit of 230.1 allows the float32 that is nearest to 230.1, which is a little more.
    const ends = [min, max].filter(Number.isFinite).map(stored);
    return {
      refusal: (value) =>
        (value >= min && value <= max) || ends.includes(value) ? undefined : ExceptionCode.illegalDataValue,
    };
  },
};
