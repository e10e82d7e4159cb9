import { z } from 'zod';
import { thousandths } from '../../control/thousandths.js';
import { MAX_REPLY_MS } from '../../faults/budget.js';
import { At } from '../../schema/at.js';
import { Findings } from '../../schema/findings.js';
import { oneOf } from '../../schema/parts.js';
import { type Failure, mistakes } from '../failure.js';

/** A request of each kind: `submit`, and the fields that fit the schema of its kind. */
type RequestOf<Schemas extends Readonly<Record<string, z.ZodType>>> = {
  [Submit in keyof Schemas]: { readonly submit: Submit; readonly fields: z.output<Schemas[Submit]> };
}[keyof Schemas];

/** Makes a reader of the bodies of requests. Which fields are expected depends on `submit`, so that is checked first. */
export function requestReader<Schemas extends Readonly<Record<string, z.ZodType>>>(
  schemas: Schemas,
): (body: object) => RequestOf<Schemas> | Failure {
  const kind = z.object({ submit: oneOf(Object.keys(schemas)) });
  return (body) => {
    const findings = new Findings();
    const at = new At(body, findings);
    const known = at.check(kind);
    const fields = known && at.check<unknown>(schemas[known.submit] as z.ZodType);
    return findings.count > 0 || !known
      ? mistakes(findings)
      : ({ submit: known.submit, fields } as RequestOf<Schemas>);
  };
}

/** A request of which nothing but `submit` is read. */
export const noFields = z.object({});

/*
 * The values of fields. `error` is the text that a message puts after "expected". Numbers arrive as numbers or, from
 * HTML forms and scripts, as text. Every option of a union has the error of the whole union, because zod chooses which
 * option's error it reports.
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

/** The schema, with an empty form field read as `unset`. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema, unset: unknown) {
  return z.preprocess((value) => (value === '' ? unset : value), schema);
}

/** A whole number; an empty field counts as absent. */
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

/**
 * Converts seconds to ms, rounded to the µs. Without rounding, two times could exceed their sum by binary fractions.
 */
export function inMs(seconds: number): number {
  return thousandths(MS_PER_S * seconds);
}

/** A flag that is on when its key is present, whatever its value, as the specification requires. */
export const anyValue = z.unknown().optional();

/** A flag of the web page's form: on when its key is present, unless a script sends false. */
export const formFlag = z
  .unknown()
  .optional()
  .transform((value) => value !== undefined && value !== false);

const FLAG = 'true or false';

/** true or false, or their text; an empty field counts as absent. */
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
