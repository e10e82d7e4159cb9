import { z } from 'zod';
import { MAX_SEED } from '../../common/random.js';
import type { At } from '../../common/schema/at.js';
import {
  bounded,
  flag,
  isMapping,
  section,
  WITHOUT_CONTROLS,
  wholeNumber,
} from '../../common/schema/parts.js';
import type { Issue } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';
import { documentAs } from '../../common/schema/written-as.js';
import { type FaultLine, lackOf } from './ability.js';
import { refusal } from './budget.js';
import { aimsAt, type Condition, conditionSchema, stateName } from './condition.js';
import type { Fault } from './kind.js';
import { faultSchema, writtenFault } from './kinds.js';
import { excessOf } from './trial.js';
import { scheduleSchema, type Window } from './window.js';

const MAX_NAME_LENGTH = 64;

/**
 * The key `then` of a rule. A name of its own keeps an object with this key from looking like a promise;
 * nothing awaits a rule.
 */
export const THEN = 'then';

/**
 * More faults than this on one reply are taken for a mistake, because each fault is recorded for each
 * request.
 */
const MAX_FAULTS = 64;

const nameSchema = z
  .string({ error: 'a name' })
  .min(1, { error: 'a name' })
  .max(MAX_NAME_LENGTH, { error: `at most ${MAX_NAME_LENGTH} characters` })
  .refine(...WITHOUT_CONTROLS)
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

/** The schema of `do`: a single fault needs no list around it. */
const doSchema = z.codec(z.unknown(), faultList, {
  decode: (input) => (isMapping(input) ? [input] : input),
  encode: (faults) => faults,
});

documentAs(
  doSchema,
  z
    .union([writtenFault, z.array(writtenFault)])
    .describe('A fault, or a list of faults in the order in which they act.'),
);

/** The schema of a fault rule as written in the native file and over REST. */
export const ruleSchema = section({
  name: nameSchema.describe('Letters, digits, dots, hyphens and underscores.'),
  enabled: flag.describe('`false` keeps the rule and switches it off (default: true).').optional(),
  when: conditionSchema
    .default({})
    .describe('Which requests the rule is for. Empty fields match every request.'),
  schedule: scheduleSchema
    .describe('Windows of time. The rule acts while one of them is open (default: always).')
    .optional(),
  do: doSchema.optional(),
  [THEN]: section({ state: stateName, for: duration(1).optional() })
    .describe(
      'Puts the device into a state once the rule has acted (default: until its supply is switched or it is reset).',
    )
    .optional(),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .describe('The same seed gives the same bytes for the same requests (default: random).')
    .optional(),
})
  .refine(({ do: faults, then }) => faults !== undefined || then !== undefined, {
    error: 'missing, expected a fault, as in {delay: 100}, or a list of faults',
    path: ['do'],
    // This check runs even if the rule has other mistakes, so that they do not hide this one.
    when: ({ value }) => isMapping(value),
  })
  .transform(
    ({ name, enabled, when, schedule, do: faults = [], then, seed }): FaultRule => ({
      name,
      ...(enabled === false && { enabled }),
      when,
      ...(schedule !== undefined && { schedule }),
      faults,
      ...(then !== undefined && { becomes: then }),
      ...(seed !== undefined && { seed }),
    }),
  );

/** A checked rule. If it has no seed, a seed is drawn when the rule is put in force. */
export interface FaultRule {
  readonly name: string;
  /** False when the rule is switched off; absent when it is on. */
  readonly enabled?: false;
  readonly when: Condition;
  /** The values that the names in `when.name` stand for; absent without names. */
  readonly values?: readonly NamedValue[];
  readonly schedule?: readonly Window[];
  readonly faults: readonly Fault[];
  /**
   * The state that the device is in once the rule has acted, and for how many ms; without an end when `for`
   * is absent.
   */
  readonly becomes?: { readonly state: string; readonly for?: number | undefined };
  readonly seed?: number;
}

/** A value with a name: registers of a table of a device. */
export interface NamedValue {
  readonly device: string;
  readonly table: 'coils' | 'discrete' | 'input' | 'holding';
  readonly address: number;
  readonly quantity: number;
}

/** Finds the value of a name such as `meter.voltage`. A text says why there is none. */
export type FindValue = (name: string) => NamedValue | string;

/** A rule with the values that its names stand for, or the first name that no value has. */
export type ResolvedRule =
  | { readonly ok: true; readonly rule: FaultRule }
  | { readonly ok: false; readonly issue: Issue };

/**
 * Returns as much of a rule with mistakes, which were reported, as is needed to check the names of its lines
 * and values.
 */
export function namesIn(at: At): FaultRule {
  return { name: '', when: at.key('when').fitting(conditionSchema), faults: [] };
}

/** Finds the values that `when.name` of a rule stands for. */
export function resolveNames(rule: FaultRule, find: FindValue): ResolvedRule {
  const { name } = rule.when;
  if (name === undefined) return { ok: true, rule };
  const values: NamedValue[] = [];
  for (const each of [name].flat()) {
    const found = find(each);
    if (typeof found === 'string') {
      return { ok: false, issue: { path: ['when', 'name'], message: found, code: 'rule.unknown_value' } };
    }
    values.push(found);
  }
  return { ok: true, rule: { ...rule, values } };
}

/**
 * Returns why a rule can't be used: it names an unknown line, or a line that can't carry out one of its
 * faults. A rule for any line is refused only when no line at all supports the fault. Lines that don't
 * support the fault report it as not achieved.
 */
export function lineProblems(rule: FaultRule, lines: readonly FaultLine[]): Issue[] {
  const aimedAt = lines.filter(({ name }) => aimsAt(rule.when, name));
  return [
    ...unknownLines(rule, lines),
    ...impossibleConditions(rule, aimedAt),
    ...impossibleFaults(rule, aimedAt),
  ];
}

function unknownLines({ when: { line = [] } }: FaultRule, lines: readonly FaultLine[]): Issue[] {
  const known = lines.map(({ name }) => name);
  return [line]
    .flat()
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: ['when', 'line'],
      message: `unknown line ${name}, expected one of ${known.join(', ')}`,
      code: 'rule.unknown_line',
    }));
}

/** Returns the mistakes of conditions on connections in a rule for lines without connections. */
function impossibleConditions({ when }: FaultRule, lines: readonly FaultLine[]): Issue[] {
  const lacking = lines.filter(({ abilities }) => !abilities.has('close'));
  const [first] = lacking;
  if (!first || (when.line === undefined && lacking.length < lines.length)) return [];
  const keys = (['connected', 'nth'] as const).filter((key) => when[key] !== undefined);
  return keys.map((key) => ({
    path: ['when', key],
    message: `line ${first.name} has no connections`,
    code: 'rule.impossible',
  }));
}

function impossibleFaults({ when, faults }: FaultRule, lines: readonly FaultLine[]): Issue[] {
  return faults.flatMap(({ kind, needs }, i) => {
    const lacks = lines.flatMap((line) => lackOf(line, needs) ?? []);
    const [message] = lacks;
    const impossible = when.line !== undefined || lacks.length === lines.length;
    return message && impossible ? [{ path: ['do', i, kind], message, code: 'rule.impossible' }] : [];
  });
}
