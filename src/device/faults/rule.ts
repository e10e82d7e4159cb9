import { z } from 'zod';
import { MAX_SEED, type Random } from '../../common/random.js';
import { failure, type Result, success } from '../../common/result.js';
import type { At } from '../../common/schema/at.js';
import {
  bounded,
  flag,
  isMapping,
  section,
  UNLIMITED,
  WITHOUT_CONTROLS,
  wholeNumber,
} from '../../common/schema/parts.js';
import type { Issue } from '../../common/schema/problem.js';
import { duration } from '../../common/schema/units.js';
import { documentAs, having, oneOfKeys } from '../../common/schema/written-as.js';
import { AsciiFraming } from '../../modbus/protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../../modbus/protocol/framing.js';
import { FunctionCode } from '../../modbus/protocol/function-code.js';
import { MAX_PDU_LENGTH } from '../../modbus/protocol/limits.js';
import { plainReply } from '../../modbus/protocol/reply-plan.js';
import { Budget, type Excess, refusal } from './budget.js';
import {
  aimsAt,
  type Condition,
  conditionSchema,
  scheduleSchema,
  stateName,
  type Window,
} from './condition.js';
import { abilities, act, type Fault, type FaultLine, lackOf, type Medium } from './kind.js';
import { faultSchema, writtenFault } from './kinds.js';
import { THEN } from './then.js';

const MAX_NAME_LENGTH = 64;

/** More faults than this on one reply are treated as a mistake, because each fault is recorded for each request. */
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

/** The schema of `do`: a single fault need not be in a list. */
const doSchema = z.codec(z.unknown(), faultList, {
  decode: (input) => (isMapping(input) ? [input] : input),
  encode: (faults) => faults,
});

documentAs(doSchema, () =>
  z
    .union([writtenFault, z.array(writtenFault)])
    .describe('A fault, or a list of faults in the order in which they act.'),
);

/** The keys of a fault rule, each with its own schema. */
export const ruleSection = section({
  name: nameSchema.describe('Letters, digits, dots, hyphens and underscores.'),
  enabled: flag.describe('`false` keeps the rule and switches it off (default: true).').optional(),
  when: conditionSchema
    .default({})
    .describe('Which requests the rule applies to. An omitted field matches every request.'),
  schedule: scheduleSchema
    .describe('Time windows. The rule acts while one of them is open (default: always).')
    .optional(),
  do: doSchema.optional(),
  [THEN]: section(
    {
      state: stateName,
      for: duration(1).optional(),
      requests: wholeNumber(1, UNLIMITED, 'a number of requests').optional(),
    },
    {
      state: 'A name of your choice.',
      for: 'How long, in ms.',
      requests: 'For how many requests to the device.',
    },
  )
    .describe(
      'Puts the device into a state once the rule has acted: `for` a time, or for a number of `requests` (default: until the device is power-cycled or reset).',
    )
    .optional(),
  seed: wholeNumber(0, MAX_SEED, 'a seed')
    .describe('The same seed gives the same bytes for the same requests (default: random).')
    .optional(),
});

/** The schema of a fault rule as written in the native file and over REST. */
export const ruleSchema = ruleSection
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

/** The documented form of a rule in a file; in a scenario, a rule needs no name. */
export const ruleForm = (isNamed: boolean) =>
  having(isNamed ? ruleSection : ruleSection.partial({ name: true }), {
    title: 'Fault rule',
    ...oneOfKeys('do', 'then'),
  });

/** A checked rule. If it has no seed, one is drawn when the rule is armed. */
export interface FaultRule {
  readonly name: string;
  /** False if the rule is switched off; absent if it is on. */
  readonly enabled?: false;
  readonly when: Condition;
  /** The values of the names in `when.name`; absent without names. */
  readonly values?: readonly NamedValue[];
  readonly schedule?: readonly Window[];
  readonly faults: readonly Fault[];
  /**
   * The state that the device enters once the rule has acted, and how many ms and how many requests to the
   * device it lasts; it has no end if both are absent.
   */
  readonly becomes?: {
    readonly state: string;
    readonly for?: number | undefined;
    readonly requests?: number | undefined;
  };
  readonly seed?: number;
}

/** A named value, or a bit of one: registers of a table of a device. */
export interface NamedValue {
  readonly device: string;
  readonly table: 'coils' | 'discrete' | 'input' | 'holding';
  readonly address: number;
  readonly quantity: number;
  /** The number of the bit, and the name of its value in the device, if the name belongs to a bit. */
  readonly bit?: { readonly number: number; readonly of: string };
}

/** Finds the value with a name such as `meter.voltage`, or says why there is none. */
export type FindValue = (name: string) => Result<NamedValue>;

/** A rule with the values of its names, or the first name without a value. */
type ResolvedRule = Result<FaultRule, Issue>;

/** Returns as much of a rule with mistakes, already reported, as is needed to check its lines and values. */
export function namesIn(at: At): FaultRule {
  return { name: '', when: at.key('when').fitting(conditionSchema), faults: [] };
}

/** Finds the values of the names in a rule's `when.name`. */
export function resolveNames(rule: FaultRule, find: FindValue): ResolvedRule {
  const { name } = rule.when;
  if (name === undefined) return success(rule);
  const values: NamedValue[] = [];
  for (const each of [name].flat()) {
    const found = find(each);
    if (!found.ok) {
      return failure({ path: ['when', 'name'], message: found.error, code: 'rule.unknown_value' });
    }
    values.push(found.value);
  }
  return success({ ...rule, values });
}

/**
 * Returns why a rule can't be used: it names an unknown line, or a line that does not support one of its
 * faults. A rule for any line is refused only if no line at all supports the fault. Lines that don't support
 * the fault report it as not achieved.
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

/** Returns the mistakes in a rule that has conditions on connections, but applies to lines without connections. */
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

/** The lines and the named values that a rule is checked against. */
export interface RuleHome {
  /** The lines; undefined if some lines are not known, and the rule may apply to one of them. */
  readonly lines: readonly FaultLine[] | undefined;
  /** Finds the named values; undefined if some values are not known. */
  readonly find: FindValue | undefined;
}

type UsableRule = Result<FaultRule, readonly Issue[]>;

/**
 * Decides whether a rule can be used here; nothing else does. A usable rule has the addresses of its named
 * values. Otherwise the issues say what is missing, with paths in the rule.
 */
export function usableRule(rule: FaultRule, { lines, find }: RuleHome): UsableRule {
  const issues = lines ? lineProblems(rule, lines) : [];
  const resolved = find ? resolveNames(rule, find) : success(rule);
  if (!resolved.ok) return failure([...issues, resolved.error]);
  return issues.length > 0 ? failure(issues) : resolved;
}

/**
 * Tries the faults of a rule on the longest possible replies, one or more for each framing. Returns the first
 * limit that a fault exceeds, or undefined if all faults can act. The lines tried have no connection to
 * close, because a reply that is cut short stays within the limits more easily.
 *
 * A fault may do more at run time than here: `change` with a probability acts on none of these replies. At
 * run time the budget of each reply applies.
 */
function excessOf(faults: readonly Fault[]): Excess | undefined {
  const usesPrevious = faults.some(({ kind }) => kind === 'stale');
  for (const reply of REPLIES) {
    // Only `stale` becomes longer with a previous reply, so the two cases are the same for all other faults.
    if (reply.previousReply === undefined && !usesPrevious) continue;
    const excess = excessOn(reply, faults);
    if (excess) return excess;
  }
  return undefined;
}

interface TrialReply {
  readonly framing: Framing;
  readonly line: FaultLine;
  readonly adu: Uint8Array;
  /** The reply that `stale` sends. If undefined, the reply stays as the faults before `stale` left it. */
  readonly previousReply: Uint8Array | undefined;
}

const IDS = { unitId: 1, transactionId: 1 };

/** A PDU that can serve as a request and as its response. All bytes after the byte count are data. */
const PDU = Uint8Array.from({ length: MAX_PDU_LENGTH }, (_, i) =>
  i === 0 ? FunctionCode.readHoldingRegisters : 0,
);

const REPLIES: readonly TrialReply[] = [
  ...repliesIn(new AsciiFraming(), 'serial'),
  ...repliesIn(RTU, 'serial'),
  ...repliesIn(SOCKET, 'udp'),
];

function repliesIn(framing: Framing, medium: Medium): TrialReply[] {
  const line = { name: framing.name, abilities: abilities(medium, framing.name) };
  const adu = framing.encode({ ...IDS, pdu: PDU });
  return [adu, undefined].map((previousReply) => ({ framing, line, adu, previousReply }));
}

/** The duration of a character of 12 bits at 50 baud, the slowest possible line, in ms. */
const SLOWEST_CHARACTER_MS = 240;

/** A stopped clock, so that whether a rule is accepted does not depend on how long trying it takes. */
const NEVER_LATE = () => () => 0;

/** Always draws the largest number, so a delay with jitter is as long as possible. */
const GREATEST: Random = {
  next: () => 1 - Number.EPSILON / 2,
  below: (limit) => limit - 1,
};

function excessOn({ adu, line, ...reply }: TrialReply, faults: readonly Fault[]): Excess | undefined {
  const context = {
    ...IDS,
    ...reply,
    requestPdu: PDU,
    random: GREATEST,
    turn: 0,
    characterTime: SLOWEST_CHARACTER_MS,
    budget: new Budget(NEVER_LATE),
  };
  let plan = plainReply(adu);
  for (const fault of faults) {
    const result = act(fault, plan, line, context);
    if (typeof result === 'string') continue;
    if (result.kind === 'excess') return result;
    plan = result;
  }
  return undefined;
}
