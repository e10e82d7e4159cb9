import { z } from 'zod';
import { MAX_SEED } from '../random.js';
import { unknownName } from '../schema/nearest.js';
import { bounded, flag, isMapping, section, wholeNumber } from '../schema/parts.js';
import { expectedMessage, type Path } from '../schema/problem.js';
import { documentAs } from '../schema/written-as.js';
import { refusal } from './budget.js';
import { type Condition, conditionSchema } from './condition.js';
import { type Fault, faultKinds, faultParser, writtenFault } from './kinds.js';
import type { NamedValue } from './named-value.js';
import { excessOf } from './trial.js';
import { scheduleSchema, type Window } from './window.js';

const MAX_NAME_LENGTH = 64;

/** More faults than this on one reply are taken for a mistake, because each one is recorded for each request. */
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
  // Schema errors are passed on unchanged, so that a cursor puts only the listed ones into words.
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

const faultList = bounded(
  z
    .array(faultSchema, { error: 'a fault, as in {delay: 100}, or a list of faults' })
    .min(1, { error: 'at least one fault' }),
  MAX_FAULTS,
  'faults',
).superRefine((faults, context) => {
  const excess = excessOf(faults);
  if (excess) context.addIssue({ code: 'custom', message: refusal(excess) });
});

/** A single fault needs no list around it. */
const doSchema = z.codec(z.unknown(), faultList, {
  decode: (input) => (isMapping(input) ? [input] : input),
  encode: (faults) => faults,
});

const written = writtenFault();
documentAs(
  doSchema,
  z
    .union([written, z.array(written)])
    .describe('A fault, or a list of faults in the order in which they act.'),
);

/** A fault rule as written in the native file and over REST. */
export const ruleSchema = section({
  name: nameSchema.describe('Letters, digits, dots, hyphens and underscores.'),
  enabled: flag.describe('`false` keeps the rule and switches it off (default: true).').optional(),
  when: conditionSchema
    .default({})
    .describe('Which requests the rule is for. Empty fields match every request.'),
  schedule: scheduleSchema
    .describe('Windows of time. The rule acts while one of them is open (default: always).')
    .optional(),
  do: doSchema,
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .describe('The same seed gives the same bytes for the same requests (default: random).')
    .optional(),
}).transform(
  ({ name, enabled, when, schedule, do: faults, seed }): FaultRule => ({
    name,
    ...(enabled === false && { enabled }),
    when,
    ...(schedule !== undefined && { schedule }),
    faults,
    ...(seed !== undefined && { seed }),
  }),
);

/** A checked rule. When it has no seed, one is drawn when the rule is put in force. */
export interface FaultRule {
  readonly name: string;
  /** Switched off: absent for a rule that is on. */
  readonly enabled?: false;
  readonly when: Condition;
  /** What the names in `when.name` stand for; absent without names. */
  readonly values?: readonly NamedValue[];
  readonly schedule?: readonly Window[];
  readonly faults: readonly Fault[];
  readonly seed?: number;
}
