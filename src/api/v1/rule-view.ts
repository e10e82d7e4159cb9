import { z } from 'zod';
import type { RuleStatus } from '../../faults/rules.js';
import type { Line } from '../../simulator/line.js';
import { unservedUnits } from './unserved-units.js';

/** A fault rule as it was written, and what has come of it. */
export const ruleViewSchema = z.object({
  name: z.string(),
  /** As it was written, with times in ms. */
  when: z.record(z.string(), z.unknown()),
  schedule: z.array(z.record(z.string(), z.unknown())).optional(),
  do: z.array(z.record(z.string(), z.unknown())),
  /** The seed in use, drawn at random when the rule has none. Pass it in a rule to get the same faults again. */
  seed: z.number(),
  /** Requests that match the rule's conditions, including those it skipped. */
  matches: z.number(),
  /** Requests that the rule acted on. */
  hits: z.number(),
  lastHit: z.string().nullable(),
  /** Whether the times of the rule allow it to act now. */
  open: z.boolean(),
  /** How often the rule will still act; null when there is no limit. */
  remaining: z.number().nullable(),
  /** What is odd about the rule as things are, though it can be used; absent where nothing is. */
  warnings: z.array(z.string()).optional(),
});

export function ruleView(
  { rule, seed, matches, hits, lastHit, open, remaining }: RuleStatus,
  lines: Iterable<Line>,
): z.infer<typeof ruleViewSchema> {
  const warnings = unservedUnits(rule, lines);
  return {
    name: rule.name,
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
