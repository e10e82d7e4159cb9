import { newSeed, seededRandom } from '../../common/random.js';
import { plainReply, type ReplyPlan } from '../../modbus/protocol/reply-plan.js';
import { type ActedFault, applyFaults, prevents, type ReplyContext } from './apply.js';
import { matchesRequest, type RequestFacts } from './matching.js';
import type { FaultRule } from './rule.js';

/** The effect of a rule on one reply. */
export interface PlayedRule {
  /** True when the rule is for the request. If not, the plan is that of the reply without the rule. */
  readonly matches: boolean;
  /** The seed of the random parts. */
  readonly seed: number;
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
}

/**
 * Plays a rule on one reply, within the budget of a reply, and counts nothing. The rule acts as on its first
 * match, whatever its `after`, `every`, `count`, `probability` and times are.
 * @param reply the whole frame
 * @param random returns a number from 0 up to 1, without 1 itself, for the seed of a rule that has none
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
