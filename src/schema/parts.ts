import { z } from 'zod';

/*
 * Schemas of files and requests are made of these parts. Their `error` is what a message puts after "expected";
 * for unknown keys it is the list of known ones. `At.check` makes mistakes of them, and says what was found.
 */

/** A mapping with these keys and no others. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const keys = Object.keys(shape).join(KEY_SEPARATOR);
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : 'a mapping'),
  });
}

/** Between the known keys that the error for an unknown key lists. */
export const KEY_SEPARATOR = ', ';

/** The end of a range that has none. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** A whole number of the range, ends included; `what` names it in messages. */
export function wholeNumber(min: number, max: number, what = 'a whole number') {
  const error = rangeText(what, min, max);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** A number of the range, ends included, fractions allowed; `what` names it in messages. */
export function numberFrom(min: number, max: number, what: string) {
  const error = rangeText(what, min, max);
  const atLeast = z.number({ error }).min(min, { error });
  return max === UNLIMITED ? atLeast : atLeast.max(max, { error });
}

function rangeText(what: string, min: number, max: number): string {
  return max === UNLIMITED ? `${what}, ${min} or more` : `${what} from ${min} to ${max}`;
}

export function oneOf<const Value extends string | number>(values: readonly Value[]) {
  const words = values.map(String);
  const last = words.pop() as string;
  return z.literal(values, { error: words.length === 0 ? last : `${words.join(', ')} or ${last}` });
}

/**
 * What `schema` says of a value that may be a list, unless the list is longer than `max`: that is refused before any
 * element is looked at. A codec and no preprocessing, because answers are encoded with the same schema.
 */
export function bounded<Schema extends z.ZodType>(schema: Schema, max: number, error = 'of them') {
  return z.codec(z.unknown(), schema, {
    decode(input, context) {
      if (!Array.isArray(input) || input.length <= max) return input as z.input<Schema>;
      context.issues.push({
        code: 'custom',
        input,
        message: `expected at most ${max} ${error}, got ${input.length}`,
      });
      return z.NEVER;
    },
    encode: (output) => output,
  });
}

export const flag = z.boolean({ error: 'true or false' });

export const number = z.number({ error: 'a number' });

/** Text of at least one character, without control characters: names, hosts, paths. */
export function text(error: string) {
  return z.string({ error }).regex(/^\P{Cc}+$/u, { error });
}

/** An object of the device identification: ASCII, and short enough for one response (Application Protocol, 6.21). */
export const identityText = z
  .string({ error: 'text (in quotes)' })
  .regex(/^[\x20-\x7e]{0,244}$/, { error: 'printable ASCII text of at most 244 bytes' });

/** True for what YAML and JSON write as keys with their contents; a list is none. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands under a key of a mapping. */
export function sectionOf(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
