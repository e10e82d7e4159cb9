import { z } from 'zod';
import { type Expression, parseExpression } from '../expression/parse.js';
import type { SignalKind } from '../signal.js';

/** `expression`: computed from other values and the time. */
export const expression: SignalKind<Expression> = {
  schema: z.string({ error: 'an expression, in quotes' }).transform((text, context) => {
    const parsed = parseExpression(text);
    if (!('error' in parsed)) return parsed;
    context.issues.push({ code: 'custom', input: text, message: parsed.error });
    return z.NEVER;
  }),
  fits: 'numbers and bits',
  doc: {
    entry: '`expression: "voltage * current / 1000"`',
    value:
      'computed from other values of the device (`name`), of other devices (`other.name`) and the time in seconds (`t`)',
  },
  needs: ({ names }) => names,
  start: (parsed, { named }) => ({
    valueAt: parsed.bind((name) => {
      const value = named(name);
      return (time) => value.valueAt(time);
    }),
  }),
};
