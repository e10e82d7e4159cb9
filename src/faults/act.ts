import type { ReplyPlan } from '../protocol/reply-plan.js';
import { type FaultLine, lackOf } from './ability.js';
import type { Excess } from './budget.js';
import type { Applied, FaultContext } from './kind.js';
import type { Fault } from './kinds.js';
import { sizeOf } from './plan.js';

/**
 * Lets one fault change a plan within the budget. Returns the new plan, why the fault can't act, or the limit that it
 * would exceed.
 */
export function act(fault: Fault, plan: ReplyPlan, line: FaultLine, context: FaultContext): Applied | Excess {
  const { budget } = context;
  const before = sizeOf(plan);
  budget.begin(before);
  const usedUp = budget.excess(before);
  if (usedUp) return usedUp;
  const applied = lackOf(line, fault.needs) ?? fault.apply(plan, context);
  return budget.excess(typeof applied === 'string' ? before : sizeOf(applied)) ?? applied;
}
