import { z } from 'zod';
import { unknownName } from './nearest.js';
import { expectedMessage, type Path } from './problem.js';
import { documentAs, type KeyNotes, type Keywords, noteKeys } from './written-as.js';

/*
 * Building blocks of the schemas of files and requests. Their `error` is the text that a message puts after
 * "expected"; for unknown keys it lists the known keys. `At.check` turns these errors into mistakes and adds
 * what was found.
 */

/**
 * Creates a schema for a mapping with only these keys.
 * @param notes what the keys are for, for editors
 * @param keywords what editors need to know about the mapping as a whole
 */
export function section<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  notes?: KeyNotes<keyof Shape>,
  keywords: Keywords = {},
) {
  const keys = Object.keys(shape).join(KEY_SEPARATOR);
  const schema = z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : 'a mapping'),
  });
  if (notes) noteKeys(schema, notes, keywords);
  return schema;
}

/** Returns a shape in which several keys share a schema, or notes shared by several keys. */
export function each<Key extends string, Part>(keys: readonly Key[], part: Part) {
  return Object.fromEntries(keys.map((key) => [key, part])) as { readonly [K in Key]: Part };
}

/**
 * Creates a schema for a key whose contents are read separately, so that a mistake in one key does not hide
 * mistakes in others.
 * @param form the form of its contents, for documents and editors
 */
export function readApart(form: () => z.ZodType = z.unknown) {
  const part = z.unknown().optional();
  documentAs(part, form);
  return part;
}

/** Separates the known keys in the error for an unknown key. */
export const KEY_SEPARATOR = ', ';

/** Maximum nesting of lists and mappings in an input. A configuration has about six levels. */
export const DEEPEST = 64;

/** The upper end of a range without a limit. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Creates a schema for a whole number in the range, inclusive. `what` names the number in messages. */
export function wholeNumber(min: number, max: number, what = 'a whole number') {
  const error = rangeText(what, min, max);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** Creates a schema for a number in the range, inclusive, fractions allowed. `what` names the number in messages. */
export function numberFrom(min: number, max: number, what: string) {
  const error = rangeText(what, min, max);
  const atLeast = z.number({ error }).min(min, { error });
  return max === UNLIMITED ? atLeast : atLeast.max(max, { error });
}

function rangeText(what: string, min: number, max: number): string {
  return max === UNLIMITED ? `${what}, ${min} or more` : `${what} from ${min} to ${max}`;
}

export function oneOf<const Value extends string | number | boolean>(values: readonly Value[]) {
  const words = values.map(String);
  const last = words.pop() as string;
  return z.literal(values, { error: words.length === 0 ? last : `${words.join(', ')} or ${last}` });
}

/**
 * Wraps `schema` for a value that may be a list: a list longer than `max` is refused before any element is
 * checked. The result is a codec rather than a preprocessing step, because answers are encoded with the same
 * schema.
 */
export function bounded<Schema extends z.ZodType>(schema: Schema, max: number, error = 'of them') {
  const codec = z.codec(z.unknown(), schema, {
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
  documentAs(codec, () => (schema instanceof z.ZodArray ? schema.max(max) : schema));
  return codec;
}

/**
 * Creates a schema for bytes written as hexadecimal digits, `ff 00`. Spaces are allowed between bytes.
 * @param max the maximum number of bytes
 * @param what the name of the bytes in messages
 */
export function hexadecimal(max: number, what: string, example: string) {
  const error = `${what} as 1 to ${max} bytes of hexadecimal text: write it in quotes, as in "${example}"`;
  return z
    .string({ error })
    .max(3 * max, { error, abort: true })
    .regex(new RegExp(`^ *([0-9a-fA-F]{2} *){1,${max}}$`), { error, abort: true })
    .transform((text) => Uint8Array.from(text.match(/\w\w/g) ?? [], (byte) => Number.parseInt(byte, 16)));
}

export const probability = numberFrom(0, 1, 'a probability');

export const flag = z.boolean({ error: 'true or false' });

export const number = z.number({ error: 'a number' });

/** Creates a schema for text of at least one character without control characters: names, hosts, paths. */
export function text(error: string) {
  return z.string({ error }).regex(/^\P{Cc}+$/u, { error });
}

/** The message for a name with control characters, which a message could not show. */
export const NO_CONTROLS = 'control characters are not allowed in a name';

export function hasControls(name: string): boolean {
  return /\p{Cc}/u.test(name);
}

/**
 * Arguments for `refine` of a schema for names. This refinement precedes the one that specifies the allowed
 * characters.
 */
export const WITHOUT_CONTROLS = [
  (name: string) => !hasControls(name),
  { error: NO_CONTROLS, abort: true },
] as const;

/** A schema for text that no message may show, such as a token. The mistakes of other schemas show what was found. */
export const secret = z.custom<string>((value) => typeof value === 'string' && value !== '', {
  error: 'expected text of at least one character',
});
documentAs(secret, () => z.string().min(1));

/**
 * A schema for an object of the device identification: ASCII, and short enough for one response (Application
 * Protocol, 6.21).
 */
export const identityText = z
  .string({ error: 'text (in quotes)' })
  .regex(/^[\x20-\x7e]{0,244}$/, { error: 'printable ASCII text of at most 244 bytes' });

/** Reports whether a value is a mapping of YAML or an object of JSON, and not a list. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reports whether two values contain the same data, whatever their prototypes: YAML mappings and JSON objects
 * have different ones.
 */
export function isSameData(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, i) => isSameData(each, other[i]));
  if (!isMapping(one) || !isMapping(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameData(one[key], other[key]))
  );
}

/**
 * Returns the value at a path into plain data, by member names and indexes; undefined if there is none. Only
 * own members count.
 */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, step) => {
    const isMember = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, step);
    return isMember ? (inner as Readonly<Record<string | number, unknown>>)[step] : undefined;
  }, value);
}

/** Returns the value of a key of a mapping; undefined if the mapping does not have the key. */
export function sectionOf(value: unknown, key: string): unknown {
  return isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** One kind of an entry written as `{KIND: parameters}`, without the type of its parameters. */
export interface Kind<Made> {
  readonly schema: z.ZodType;
  /** Checks the parameters. Returns the result built from them, or the schema's issues with them. */
  parse(entry: WrittenKind): { readonly made: Made } | { readonly issues: readonly z.core.$ZodIssue[] };
}

/** The name of a kind, and the parameters as written. */
interface WrittenKind {
  readonly kind: string;
  readonly written: unknown;
}

/** Creates a kind from its schema. @param make gets the checked parameters, and their entry */
export function kindOf<Parameters, Made>(
  schema: z.ZodType<Parameters>,
  make: (parameters: Parameters, entry: WrittenKind) => Made,
): Kind<Made> {
  return {
    schema,
    parse(entry) {
      const parsed = schema.safeParse(entry.written, { reportInput: true });
      return parsed.success ? { made: make(parsed.data, entry) } : { issues: parsed.error.issues };
    },
  };
}

/**
 * Creates a schema for a mapping with one key, the name of a kind, and the parameters of that kind.
 * @param what the name of all kinds together, for messages: `fault`
 * @param example an example of such a mapping, for messages: `{delay: 100}`
 */
export function oneOfKinds<Made>(what: string, example: string, kinds: ReadonlyMap<string, Kind<Made>>) {
  return z.unknown().transform((input, context): Made => {
    const fail = (path: Path, message: string) => {
      context.issues.push({ code: 'custom', input, path: [...path], message });
      return z.NEVER;
    };
    const expected = `one kind of ${what} with its parameters, as in ${example}`;
    if (!isMapping(input)) return fail([], expectedMessage(expected, input));
    const entries = Object.entries(input);
    const [entry] = entries;
    if (!entry || entries.length > 1)
      return fail([], `expected one kind of ${what}, got ${entries.length} keys`);
    const [name, written] = entry;
    const kind = kinds.get(name);
    if (!kind) return fail([name], unknownName(`kind of ${what}`, name, [...kinds.keys()]));
    const parsed = kind.parse({ kind: name, written });
    if ('made' in parsed) return parsed.made;
    // The issues are passed on unchanged. Only those that are listed are formatted later.
    for (const issue of parsed.issues) {
      context.issues.push({ ...issue, path: [name, ...issue.path] } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  });
}
