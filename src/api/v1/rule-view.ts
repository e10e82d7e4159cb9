import { z } from 'zod';
import type { RuleStatus } from '../../faults/rules.js';
import type { Line } from '../../simulator/line.js';
import { RULE_STATUS } from './examples.js';
import { unservedUnits } from './unserved-units.js';

/** A fault rule as it was written, and what has come of it. */
export const ruleViewSchema = z
  .object({
    name: z.string(),
    enabled: z.boolean().describe('Whether it is switched on.'),
    when: z.record(z.string(), z.unknown()).describe('As it was written, with times in ms.'),
    schedule: z.array(z.record(z.string(), z.unknown())).optional(),
    do: z.array(z.record(z.string(), z.unknown())),
    seed: z
      .number()
      .describe(
        'The seed in use, drawn at random when the rule has none. Pass it in a rule to get the same faults again.',
      ),
    matches: z.number().describe('Requests that match the rule’s conditions, including those it skipped.'),
    hits: z.number().describe('Requests that the rule acted on.'),
    lastHit: z.string().nullable(),
    open: z.boolean().describe('Whether the times of the rule allow it to act now.'),
    remaining: z
      .number()
      .nullable()
      .describe('How often the rule will still act; null when there is no limit.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('What is odd about the rule as things are, though it can be used; absent where nothing is.'),
  })
  .meta({
    id: 'RuleStatus',
    description: 'A fault rule as it was written, and what has come of it.',
    examples: [RULE_STATUS],
  });

export type RuleView = z.infer<typeof ruleViewSchema>;

export function ruleView(
  { rule, seed, matches, hits, lastHit, open, remaining }: RuleStatus,
  lines: Iterable<Line>,
): RuleView {
  const warnings = unservedUnits(rule, lines);
  return {
    name: rule.name,
    enabled: rule.enabled ?? true,
    when: rule.when,
    ...(rule.schedule && { schedule: rule.schedule.map((window) => ({ ...window })) }),
    do: rule.faults.map(({ kind, written }) => ({ [kind]: written })),
    seed,
    matches,
    hits,
    lastHit: lastHit?.toISOString() ?? null,
    open,
    remaining: remaining ?? null,
    ...(warnings.length > 0 && { warnings }),
  };
}
