import { z } from 'zod';
import { number, section, text } from '../../common/schema/parts.js';
import { ExceptionCode } from '../../modbus/protocol/function-code.js';
import { ADDRESS_SPACE } from '../../modbus/protocol/limits.js';
import { nearestValue } from '../registers/value.js';
import { reaction, unlessNumber, unlessWritable } from './reaction.js';

const MAX_ALLOWED = 1000;

const REGISTER = `the name of a value, or a holding register address from 0 to ${ADDRESS_SPACE - 1}`;

export const REFUSALS = {
  limits: reaction({
    schema: section(
      { min: number.optional(), max: number.optional() },
      { min: 'The smallest value that is accepted.', max: 'The greatest.' },
    )
      .refine(({ min, max }) => min !== undefined || max !== undefined, {
        error: 'expected min, max or both',
      })
      .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
        path: ['max'],
        error: 'expected max to be at least min',
      }),
    doc: {
      entry: '`limits: {min, max}`',
      effect: 'a value below `min` or above `max` is refused with exception 03. Either may be omitted',
    },
    whyUnfit: (entry) => unlessNumber(entry) ?? unlessWritable(entry),
    limits: (limits) => limits,
    start: ({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }, { stored }) => {
      // A limit of 230.1 allows the float32 nearest to 230.1, which is slightly more than 230.1.
      const ends = [min, max].filter(Number.isFinite).map(stored);
      return {
        refusal: (value) =>
          (value >= min && value <= max) || ends.includes(value) ? undefined : ExceptionCode.illegalDataValue,
      };
    },
  }),

  allowed: reaction({
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
  }),

  password: reaction({
    schema: section(
      {
        register: z.union(
          [
            text(REGISTER),
            z
              .int({ error: REGISTER })
              .min(0, { error: REGISTER })
              .max(ADDRESS_SPACE - 1, { error: REGISTER }),
          ],
          { error: REGISTER },
        ),
        value: z.int({ error: 'a whole number' }),
      },
      { register: 'A name, or a holding register address.', value: 'The value that it must contain.' },
    ),
    doc: {
      entry: '`password: {register, value}`',
      effect:
        'a write is refused with exception 02 unless `register` (a name, or a holding register address) contains `value`',
    },
    whyUnfit: unlessWritable,
    uses: ({ register }) => [
      {
        as: typeof register === 'string' ? 'read' : 'holding register',
        target: register,
        path: ['register'],
      },
    ],
    start: ({ register, value }, { named, holding, now }) => {
      const entered = typeof register === 'string' ? named(register) : { valueAt: () => holding(register) };
      return {
        refusal: () => {
          // A tolerance is needed: 70 times a scale of 0.1 is slightly more than 7.
          const difference = Math.abs(entered.valueAt(now()) - value);
          return difference <= 1e-12 * Math.abs(value) ? undefined : ExceptionCode.illegalDataAddress;
        },
      };
    },
  }),
};
