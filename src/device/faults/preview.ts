import { newSeed, seededRandom } from '../../common/random.js';
import { plainReply, type ReplyPlan } from '../../modbus/protocol/reply-plan.js';
import { type ActedFault, applyFaults, prevents, type ReplyContext } from './apply.js';
import { matchesRequest, type RequestFacts } from './matching.js';
import type { FaultRule } from './rule.js';

/** What a rule would make of a reply. */
export interface PlayedRule {
  /** Whether the rule is for the request. If not, the plan is that of the reply without it. */
  readonly matches: boolean;
  /** The seed of the random parts. */
  readonly seed: number;
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
}

/**
 * Plays a rule on one reply, within the budget of a reply, and counts nothing. It acts as on its first match,
 * whatever its `after`, `every`, `count`, `probability` and times are.
 * @param reply the whole frame
 * @param random at least 0, below 1: rules without a seed get one from here
 */
export function playRule(
  rule: FaultRule,
  facts: RequestFacts,
  reply: Uint8Array,
  context: ReplyContext,
  random: () => number,
): PlayedRule {
  const seed = rule.seed ?? newSeed(random);
  const matches = matchesRequest(rule.when, rule.values, facts);
  const acting = matches ? [{ rule, random: seededRandom(seed, 1) }] : [];
  const plain = prevents(acting) ? undefined : plainReply(reply);
  return { matches, seed, ...applyFaults(plain, acting, facts.line, context) };
}
