import { z } from 'zod';
import { flag, section, text } from '../../../common/schema/parts.js';
import { ruleSchema, ruleSection } from '../../../device/faults/rule.js';
import { THEN } from '../../../device/faults/then.js';
import type { DeclaredCommands } from '../declared.js';
import { previewBody, previewSchema, RULE } from './fault-preview.js';
import { failures } from './problem.js';
import { pastMoment } from './value.js';

/** A fault rule in the form of a native file, and what it has done so far. */
const ruleViewSchema = z
  .object({
    name: z.string(),
    enabled: z.boolean().describe('Whether the rule is switched on.'),
    when: z.record(z.string(), z.unknown()).describe('The rule as written, with times in ms.'),
    schedule: z.array(z.record(z.string(), z.unknown())).optional(),
    do: z.array(z.record(z.string(), z.unknown())),
    [THEN]: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The state of the device after the rule has acted.'),
    seed: z
      .number()
      .describe(
        'The seed in use, drawn at random when the rule has none. Pass it in a rule to get the same faults again.',
      ),
    matches: z.number().describe("Requests that match the rule's conditions, including those it skipped."),
    hits: z.number().describe('Requests that the rule acted on.'),
    lastHit: z.string().nullable(),
    open: z.boolean().describe('Whether the times of the rule allow it to act now.'),
    remaining: z
      .number()
      .nullable()
      .describe('How many more times the rule can act; null when there is no limit.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Why the rule may not act as expected; absent when it should.'),
  })
  .meta({
    id: 'RuleStatus',
    description: 'A fault rule as written, and its effect so far.',
  });

export type RuleView = z.infer<typeof ruleViewSchema>;

const pastRulesSchema = z
  .object({
    at: z.string().describe('The moment that is shown.'),
    since: z.string().describe('The time from which rule changes are recorded.'),
    faults: z
      .array(
        ruleViewSchema.pick({
          name: true,
          enabled: true,
          when: true,
          schedule: true,
          do: true,
          [THEN]: true,
          seed: true,
        }),
      )
      .describe('The rules, in the order in which they came into force. Their counts are not kept.'),
  })
  .meta({ id: 'PastRules', description: 'The fault rules in force at a past moment.' });

export type PastRules = z.infer<typeof pastRulesSchema>;

const switchRequest = section({ enabled: flag }).meta({ examples: [{ enabled: false }] });

const params = z.object({
  name: z.string().meta({ description: 'Name of the rule.', examples: ['slow'] }),
});
const ruleList = z
  .object({ faults: z.array(ruleViewSchema) })
  .describe('The rules, in the order in which they act.');

const ofRule = { of: { name: text('the name of a rule') }, params };
const writtenRule = z.record(z.string(), z.unknown(), { error: 'a fault rule' });
/** A rule as the user wrote it: the command parses it again. */
const newRule = { sent: writtenRule, as: 'rule' } as const;
const ruleBody = { checkedBody: ruleSchema.meta({ examples: [RULE] }) };
/** The body for a rule whose name is in the path; the desk adds the name. */
const replacedRule = {
  ...ruleBody,
  describedBody: ruleSection.partial({ name: true }).meta({ examples: [RULE] }),
};

/** The commands on fault rules. `../faults.ts` carries them out. */
export const RULE_COMMANDS = {
  'rule.list': {
    rest: 'GET /faults',
    kind: 'list',
    summary: 'List the fault rules',
    description: 'The rules in the order in which they act, with their counts.',
    member: 'faults',
    response: { 200: ruleList },
  },
  'rule.past': {
    rest: 'GET /past/faults',
    kind: 'query',
    sent: z.object({ at: pastMoment }),
    summary: 'List the fault rules of a past moment',
    description:
      'The rules that were in force or switched off at that moment. The last 1,000 rule changes are kept, up to 1 MB.',
    response: { 200: pastRulesSchema, ...failures(400, 409) },
  },
  'rule.add': {
    rest: 'POST /faults',
    ...newRule,
    summary: 'Add a fault rule',
    description: 'The rule acts after the existing rules. docs/faults.md explains conditions and faults.',
    schema: ruleBody,
    response: { 201: ruleViewSchema, ...failures(400, 409) },
  },
  'rule.reset': {
    rest: 'POST /faults/reset',
    summary: 'Reset the fault rules',
    description: 'Only the configured rules are in force again, and counts start from zero.',
    list: 'rule.list',
    member: 'faults',
    response: { 200: ruleList },
  },
  'rule.preview': {
    rest: 'POST /faults/preview',
    kind: 'query',
    sent: section({ rule: writtenRule, like: z.unknown().optional() }),
    summary: 'Preview a fault rule',
    description:
      'Plays the rule on the reply to one request, as on its first hit, without other rules. Nothing is sent, executed or counted.',
    schema: { checkedBody: previewBody },
    response: { 200: previewSchema, ...failures(400) },
  },
  'rule.get': {
    rest: 'GET /faults/:name',
    kind: 'query',
    ...ofRule,
    summary: 'Get a fault rule',
    description: 'The rule as written, and how many times it has acted.',
    response: { 200: ruleViewSchema, ...failures(404) },
  },
  'rule.replace': {
    rest: 'PUT /faults/:name',
    ...newRule,
    summary: 'Set a fault rule',
    description:
      'Adds the rule, or replaces the one with this name; its count starts from zero. The name may be given only in the path.',
    params,
    schema: replacedRule,
    response: { 200: ruleViewSchema, ...failures(400, 409) },
  },
  'rule.switch': {
    rest: 'PATCH /faults/:name',
    ...ofRule,
    sent: switchRequest,
    summary: 'Switch a fault rule on or off',
    description:
      'A rule that is off keeps its place and its counts. Switching a rule on restarts it: counts and times as after PUT, with the same seed.',
    response: { 200: ruleViewSchema, ...failures(400, 404) },
  },
  'rule.remove': {
    rest: 'DELETE /faults/:name',
    ...ofRule,
    summary: 'Remove a fault rule',
    description: 'The rule does not act on later replies.',
    response: { 204: z.null().describe('The rule no longer exists.'), ...failures(404) },
  },
} as const satisfies DeclaredCommands;
