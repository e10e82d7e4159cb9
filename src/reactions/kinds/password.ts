import { z } from 'zod';
import { ExceptionCode } from '../../protocol/exception-code.js';
import { ADDRESS_SPACE } from '../../protocol/limits.js';
import { section, text } from '../../schema/parts.js';
import { unlessWritable } from '../fits.js';
import type { ReactionKind } from '../reaction.js';

interface Password {
  readonly register: string | number;
  readonly value: number;
}

const REGISTER = `the name of a value, or an address of the holding registers from 0 to ${ADDRESS_SPACE - 1}`;

/** `password`: writes are refused unless another register holds the right number. */
export const password: ReactionKind<Password> = {
  schema: section({
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
  }),
  doc: {
    entry: '`password: {register, value}`',
    effect:
      'a write is refused with exception 02 unless `register` (a name, or an address of the holding registers) holds `value`',
  },
  whyUnfit: unlessWritable,
  uses: ({ register }) => [
    {
      as: typeof register === 'string' ? 'read' : 'holding register',
      place: register,
      path: ['register'],
    },
  ],
  start: ({ register, value }, { named, holding, now }) => {
    const entered = typeof register === 'string' ? named(register) : { valueAt: () => holding(register) };
    return {
      refusal: () => {
        // 70 times a scale of 0.1 is a little more than 7.
        const difference = Math.abs(entered.valueAt(now()) - value);
        return difference <= 1e-12 * Math.abs(value) ? undefined : ExceptionCode.illegalDataAddress;
      },
    };
  },
};
