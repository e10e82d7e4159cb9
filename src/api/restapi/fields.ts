import { z } from 'zod';
import { MAX_REPLY_MS } from '../../faults/budget.js';
import { thousandths } from '../thousandths.js';

/*
 * What fields hold; `error` is what a message puts after "expected". Numbers arrive as numbers or, from HTML forms
 * and scripts, as their text. Every option of a union has the error of all: which of them is told is zod's choice.
 */

const INTEGER = 'a whole number, 0 or more';

/** A whole number, 0 or more. */
export const integer = z
  .union(
    [
      z.int({ error: INTEGER }).min(0, { error: INTEGER, abort: true }),
      z.string({ error: INTEGER }).regex(/^\s*\d{1,9}\s*$/, { error: INTEGER }),
    ],
    { error: INTEGER },
  )
  .transform(Number);

/** The schema where an empty field of a form stands for `unset`. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema, unset: unknown) {
  return z.preprocess((value) => (value === '' ? unset : value), schema);
}

/** The same where an empty field means that nothing was chosen. */
export const optionalInteger = orEmpty(integer.nullish(), undefined);

const MS_PER_S = 1000;

export const LONGEST_WAIT_S = MAX_REPLY_MS / MS_PER_S;

const SECONDS = `seconds, 0 to ${LONGEST_WAIT_S}`;

/** Seconds, fractions allowed. */
export const seconds = z
  .union(
    [
      z.number({ error: SECONDS }),
      z
        .string({ error: SECONDS })
        .regex(/^\s*\d{1,9}(\.\d{1,9})?\s*$/, { error: SECONDS })
        .transform(Number),
    ],
    { error: SECONDS },
  )
  .pipe(z.number().min(0, { error: SECONDS }).max(LONGEST_WAIT_S, { error: SECONDS }));

/** Seconds in ms, to the µs: what is beyond comes of binary fractions and could make two times more than their sum. */
export function inMs(seconds: number): number {
  return thousandths(MS_PER_S * seconds);
}

/** A flag that is on when its key is there, whatever its value: the specification wants it so. */
export const anyValue = z.unknown().optional();

/** A flag of the web page's form: on when its key is there; off too when a script says false. */
export const formFlag = z
  .unknown()
  .optional()
  .transform((value) => value !== undefined && value !== false);

const FLAG = 'true or false';

/** true or false, or their text; an empty field says nothing. */
export const textFlag = orEmpty(
  z
    .union(
      [
        z.boolean({ error: FLAG }),
        z
          .string({ error: FLAG })
          .regex(/^\s*(?:true|false)\s*$/i, { error: FLAG })
          .transform((text) => text.trim().toLowerCase() === 'true'),
      ],
      { error: FLAG },
    )
    .optional(),
  undefined,
);

/** Milliseconds, fractions allowed; `error` says what else may stand there. */
export function milliseconds(error = 'a number of milliseconds') {
  const text = z.string({ error }).regex(/^\s*\d{1,9}(\.\d{1,9})?\s*$/, { error });
  return z.union([z.number({ error }), text.transform(Number)], { error });
}
