import { z } from 'zod';
import { unknownName } from '../schema/nearest.js';
import { isMapping, section, wholeNumber } from '../schema/parts.js';
import { expectedMessage, type Path } from '../schema/problem.js';
import { type Condition, conditionSchema } from './condition.js';
import { duration, MAX_REPLY_BYTES, MAX_REPLY_MS, PLAIN_EXTENT } from './extent.js';
import { type Fault, faultKinds, faultParser } from './kinds.js';
import { MAX_SEED } from './random.js';

const MAX_NAME_LENGTH = 64;

/** More faults than this on one reply are a slip; each is noted for each request. */
const MAX_FAULTS = 64;

/** One entry of `do`: an object with one key, the kind of fault. */
const faultSchema = z.unknown().transform((input, context): Fault => {
  const fail = (path: Path, message: string) => {
    context.issues.push({ code: 'custom', input, path: [...path], message });
    return z.NEVER;
  };
  if (!isMapping(input)) {
    return fail([], expectedMessage('one kind of fault with its parameters, as in {delay: 100}', input));
  }
  const entries = Object.entries(input);
  const [entry] = entries;
  if (!entry || entries.length > 1) return fail([], `expected one kind of fault, got ${entries.length} keys`);
  const [kind, parameters] = entry;
  const parse = faultParser(kind);
  if (!parse) return fail([kind], unknownName('kind of fault', kind, faultKinds()));
  const parsed = parse(parameters);
  if (parsed.ok) return parsed.fault;
  // What a schema says is passed on as it is, so that a cursor words as many of the mistakes as are listed.
  for (const issue of parsed.issues) {
    context.issues.push({ ...issue, path: [kind, ...issue.path] } as z.core.$ZodRawIssue);
  }
  return z.NEVER;
});

const nameSchema = z
  .string({ error: 'a name' })
  .min(1, { error: 'a name' })
  .max(MAX_NAME_LENGTH, { error: `at most ${MAX_NAME_LENGTH} characters` })
  .regex(/^[\w.-]+$/, { error: 'letters, digits, dots, hyphens and underscores' });

const doSchema = z
  .array(faultSchema, { error: 'a list of faults, as in [{delay: 100}]' })
  .min(1, { error: 'at least one fault' })
  .max(MAX_FAULTS, { error: `at most ${MAX_FAULTS} faults` })
  .superRefine((faults, context) => {
    const extent = faults.reduce((before, fault) => fault.extent(before), PLAIN_EXTENT);
    const refuse = (max: string, found: number) =>
      context.addIssue({ code: 'custom', message: `expected at most ${max} in a reply, got up to ${found}` });
    if (extent.bytes > MAX_REPLY_BYTES) refuse(`${MAX_REPLY_BYTES} bytes`, extent.bytes);
    if (duration(extent) > MAX_REPLY_MS) refuse(`${MAX_REPLY_MS} ms`, duration(extent));
  });

/** A fault rule as in the native file and over REST. */
export const ruleSchema = section({
  name: nameSchema,
  when: conditionSchema.default({}),
  do: doSchema,
  seed: wholeNumber(0, MAX_SEED, 'a seed').optional(),
}).transform(
  ({ name, when, do: faults, seed }): FaultRule => ({
    name,
    when,
    faults,
    ...(seed !== undefined && { seed }),
  }),
);

/** A rule, checked. Without a seed one is drawn when the rule is put to use. */
export interface FaultRule {
  readonly name: string;
  readonly when: Condition;
  readonly faults: readonly Fault[];
  readonly seed?: number;
}
