import { z } from 'zod';
import { At } from '../../common/schema/at.js';
import { Findings, type Mistakes, moreText } from '../../common/schema/findings.js';
import { oneOf } from '../../common/schema/parts.js';
import { pathText } from '../../common/schema/problem.js';
import { MAX_REPLY_MS } from '../../device/faults/budget.js';
import { type Failure, failure } from '../../remote/api/error-answer.js';
import type { Filter } from '../../simulator/filter/filter.js';
import type { KeptEvents } from '../../simulator/traffic/kept-events.js';
import { thousandths } from '../../simulator/traffic/words.js';

/** The request types by `submit`, whose value selects the schema of the other fields. */
type RequestOf<Schemas extends Readonly<Record<string, z.ZodType>>> = {
  [Submit in keyof Schemas]: { readonly submit: Submit; readonly fields: z.output<Schemas[Submit]> };
}[keyof Schemas];

/**
 * The requests that an endpoint accepts. `submit` is checked first, because it decides which fields are
 * expected.
 * @returns a function that reads a body, and the description of bodies for OpenAPI
 */
export function requests<Schemas extends Readonly<Record<string, z.ZodType>>>(
  schemas: Schemas,
  example: object,
) {
  const kind = z.object({ submit: oneOf(Object.keys(schemas)) });
  const read = (body: object): RequestOf<Schemas> | Failure => {
    const findings = new Findings();
    const at = new At(body, findings);
    const known = at.check(kind);
    const fields = known && at.check<unknown>(schemas[known.submit] as z.ZodType);
    return findings.count > 0 || !known
      ? mistakes(findings)
      : ({ submit: known.submit, fields } as RequestOf<Schemas>);
  };
  const variants = Array.from(new Set(Object.values(schemas)), (schema) => {
    const submits = Object.keys(schemas).filter((submit) => schemas[submit] === schema);
    return z.object({ ...shapeOf(schema), submit: z.literal(submits) });
  });
  return { read, described: z.union(variants).meta({ examples: [example] }) };
}

/** Formats the mistakes in a body with their paths: `range_start: expected a whole number, 0 or more, got "x"`. */
export function mistakes(found: Mistakes): Failure {
  const texts = found.listed.map(({ path, message }) => `${pathText(path) || 'body'}: ${message}`);
  return failure([...texts, moreText(found) ?? []].flat().join('; '));
}

/** The fields of a schema, even if it transforms them. */
function shapeOf(schema: z.core.$ZodType): z.core.$ZodShape {
  return schema instanceof z.ZodPipe ? shapeOf(schema.in) : (schema as z.ZodObject).shape;
}

/** A request whose only used field is `submit`. */
export const noFields = z.object({});

/*
 * Schemas of field values. `error` is the text of a message after "expected". Numbers arrive as numbers or,
 * from HTML forms and scripts, as text. Every option of a union has the error of the whole union, because zod
 * chooses which option's error it reports.
 */

/** Accepts a number, or text of the given form that represents one. */
function orText(number: z.ZodType<number>, form: RegExp, error: string) {
  return z.union([number, z.string({ error }).regex(form, { error }).transform(Number)], { error });
}

const DECIMAL = /^\s*\d{1,9}(\.\d{1,9})?\s*$/;
const INTEGER = 'a whole number, 0 or more';

/** A whole number, 0 or more. */
export const integer = orText(
  z.int({ error: INTEGER }).min(0, { error: INTEGER, abort: true }),
  /^\s*\d{1,9}\s*$/,
  INTEGER,
);

/** Accepts an empty form field as `unset`. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema, unset: unknown) {
  return z.preprocess((value) => (value === '' ? unset : value), schema);
}

/** A whole number; an empty field counts as absent. */
export const optionalInteger = orEmpty(integer.nullish(), undefined);

const MS_PER_S = 1000;

export const LONGEST_WAIT_S = MAX_REPLY_MS / MS_PER_S;

const SECONDS = `seconds, 0 to ${LONGEST_WAIT_S}`;

/** Seconds, fractions allowed. */
export const seconds = orText(z.number({ error: SECONDS }), DECIMAL, SECONDS).pipe(
  z.number().min(0, { error: SECONDS }).max(LONGEST_WAIT_S, { error: SECONDS }),
);

/**
 * Converts seconds to ms, rounded to the µs. Without rounding, binary fractions could make two times exceed
 * their sum.
 */
export function inMs(seconds: number): number {
  return thousandths(MS_PER_S * seconds);
}

/** A flag that is on if its key is present, whatever its value, as the specification requires. */
export const anyValue = z.unknown().optional();

/** A flag of the web page's form. It is on if its key is present, unless a script sends false. */
export const formFlag = z
  .unknown()
  .optional()
  .transform((value) => value !== undefined && value !== false);

const FLAG = 'true or false';

/** True or false, or either as text. An empty field counts as absent. */
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

/** Milliseconds, fractions allowed. @param error the text of a message after "expected" */
export function milliseconds(error = 'a number of milliseconds') {
  return orText(z.number({ error }), DECIMAL, error);
}

/** The filters of a list: function and addresses. A field that is absent or empty matches anything. */
export const listed = {
  function: optionalInteger,
  range_start: optionalInteger,
  range_stop: optionalInteger,
};

type Listed = z.output<z.ZodObject<typeof listed>>;

/** Whether a range is in order, so that it does not end before it begins. */
export function isInOrder({ range_start, range_stop }: Listed): boolean {
  return range_stop == null || (range_start ?? 0) <= range_stop;
}

export const NOT_IN_ORDER = { error: 'expected range_start or more', path: ['range_stop'] };

/** The traffic filter for these functions and addresses. Without `range_stop`, the range is one address. */
export function listFilter({ function: code, range_start, range_stop }: Listed): Filter[] {
  const last = range_stop ?? range_start;
  return [
    ...(code == null ? [] : [{ field: 'fc', ranges: [[code, code]] } as const]),
    ...(last == null ? [] : [{ field: 'addr', ranges: [[range_start ?? 0, last]] } as const]),
  ];
}

/**
 * Selects the events for a list: all from the first request to watch until the request to stop, with the
 * newest filter.
 */
export class Watch<Filter> {
  readonly #traffic: KeptEvents;
  #filter: Filter | undefined;
  #after = 0;
  #until: number | undefined;

  constructor(traffic: KeptEvents) {
    this.#traffic = traffic;
  }

  get isActive(): boolean {
    return this.#filter !== undefined && this.#until === undefined;
  }

  /** Starts watching. If it is already watching, only the filter is replaced. */
  begin(filter: Filter): void {
    if (!this.isActive) this.#after = this.#traffic.last;
    this.#until = undefined;
    this.#filter = filter;
  }

  /** Stops watching: later events are not listed. */
  stop(): void {
    if (this.isActive) this.#until = this.#traffic.last;
  }

  /** The newest filter, and the range of sequence numbers; undefined before the first request. */
  get watched():
    | { readonly filter: Filter; readonly span: { readonly after: number; readonly until?: number } }
    | undefined {
    const [filter, after, until] = [this.#filter, this.#after, this.#until];
    return filter === undefined
      ? undefined
      : { filter, span: { after, ...(until !== undefined && { until }) } };
  }
}
