import { z } from 'zod';
import { unknownName } from './nearest.js';
import { isMapping } from './parts.js';
import { expectedMessage, type Path } from './problem.js';

/** One kind of an entry that is written as `{KIND: parameters}`, without the type of its parameters. */
export interface Kind<Made> {
  readonly schema: z.ZodType;
  /** Checks the parameters. Returns what they make, or the issues that the schema has with them. */
  parse(entry: WrittenKind): { readonly made: Made } | { readonly issues: readonly z.core.$ZodIssue[] };
}

/** The name of a kind, and the parameters as they were written. */
interface WrittenKind {
  readonly kind: string;
  readonly written: unknown;
}

/** Makes a kind from its schema. @param make gets the checked parameters, and the entry that they are from */
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
 * Makes a schema for a mapping with one key, the name of a kind, and the parameters of that kind.
 * @param what all kinds together, for messages: `fault`
 * @param example such a mapping, for messages: `{delay: 100}`
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
    // The issues are passed on unchanged. Only the mistakes that are listed are put into words later.
    for (const issue of parsed.issues) {
      context.issues.push({ ...issue, path: [name, ...issue.path] } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  });
}
