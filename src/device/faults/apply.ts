import { newSeed, seededRandom } from '../../common/random.js';
import { ExceptionCode } from '../../modbus/protocol/function-code.js';
import { exceptionResponse } from '../../modbus/protocol/pdu.js';
import { plainReply, type ReplyPlan } from '../../modbus/protocol/reply-plan.js';
import { Budget, type StartTime, whyNot } from './budget.js';
import { act, type Fault, type FaultContext, type FaultLine } from './kind.js';
import { matchesRequest, type RequestFacts } from './matching.js';
import type { FaultRule } from './rule.js';
import type { ActingRule } from './rules.js';

/** A fault that should act on a reply. `notAchieved` is the reason why it could not act. */
export interface ActedFault {
  readonly rule: string;
  readonly kind: string;
  readonly notAchieved?: string;
}

/** Reports whether a fault of these rules keeps the request from reaching the device. */
export function prevents(acting: readonly ActingRule[]): boolean {
  return acting.some(({ rule }) => rule.faults.some((fault) => fault.prevents));
}

/** What the bus knows about a reply that faults are about to change. */
export interface ReplyContext extends Omit<FaultContext, 'random' | 'turn' | 'budget'> {
  /** Starts measuring the work of the faults, which is limited. */
  readonly startTime: StartTime;
}

/** A plan, and the result of each fault that should change it. */
export interface AppliedFaults {
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
}

interface FaultsSoFar {
  plan: ReplyPlan;
  readonly acted: ActedFault[];
}

/**
 * Lets each fault of each rule change the plan, in order, and records whether the fault acted. If a fault
 * keeps the request from reaching the device, there is no reply. Earlier faults then act on an exception
 * response that stands in for the reply, so that a delay still takes effect.
 *
 * A fault that would make the reply too long, too slow or too fragmented does not act; later faults still
 * can. Once the work limit or the time limit of the reply is reached, no further fault acts, and a single
 * entry reports all of them.
 */
export function applyFaults(
  reply: ReplyPlan | undefined,
  acting: readonly ActingRule[],
  line: FaultLine,
  context: ReplyContext,
): AppliedFaults {
  const outcome: FaultsSoFar = { plan: reply ?? standIn(context), acted: [] };
  const budget = new Budget(context.startTime);
  for (const { rule, random, turn } of acting) {
    const known = { ...context, random, turn, budget };
    for (const fault of rule.faults) {
      if (letAct(outcome, rule, fault, line, known)) continue;
      const last = lastPreventing(acting, outcome.acted.length);
      // The request did not reach the device, so this fault must act, or there is no reply to send.
      if (last)
        letAct(outcome, last.rule, last.fault, line, {
          ...context,
          random: last.random,
          turn: last.turn,
          budget: new Budget(context.startTime),
        });
      const untried = acting.reduce((sum, { rule }) => sum + rule.faults.length, 0) - outcome.acted.length;
      const notAchieved = `too much work for one reply: faults that did not act, counted from this one: ${untried}`;
      if (untried > 0) outcome.acted.push({ rule: rule.name, kind: fault.kind, notAchieved });
      return outcome;
    }
  }
  return outcome;
}

/** Lets a fault act. Returns false, and changes nothing, if the budget has no work left. */
function letAct(
  outcome: FaultsSoFar,
  rule: FaultRule,
  fault: Fault,
  line: FaultLine,
  context: FaultContext,
): boolean {
  const result = act(fault, outcome.plan, line, context);
  const acted = { rule: rule.name, kind: fault.kind };
  if (typeof result === 'string') outcome.acted.push({ ...acted, notAchieved: result });
  else if (result.kind !== 'excess') {
    outcome.plan = result;
    outcome.acted.push(acted);
  } else if (result.of === 'work') return false;
  else outcome.acted.push({ ...acted, notAchieved: whyNot(result.of) });
  return true;
}

/** Returns the last fault that keeps the request from reaching the device, unless it is one of the first `tried`. */
function lastPreventing(acting: readonly ActingRule[], tried: number) {
  let index = acting.reduce((sum, { rule }) => sum + rule.faults.length, 0);
  for (const { rule, random, turn } of acting.toReversed()) {
    for (const fault of rule.faults.toReversed()) {
      if (--index < tried) return undefined;
      if (fault.prevents) return { rule, fault, random, turn };
    }
  }
  return undefined;
}

function standIn({ framing, unitId, transactionId, requestPdu }: ReplyContext): ReplyPlan {
  const pdu = exceptionResponse(requestPdu[0] as number, ExceptionCode.serverDeviceFailure);
  return plainReply(framing.encode({ unitId, transactionId, pdu }));
}

/** The effect of a rule on one reply. */
export interface PlayedRule {
  /** True if the rule applies to the request. If not, the plan is the reply without the rule. */
  readonly matches: boolean;
  readonly seed: number;
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
}

/**
 * Plays a rule on one reply, within the budget of a reply, without counting anything. The rule acts as on its
 * first match, whatever its `after`, `every`, `count`, `probability` and times.
 * @param reply the whole frame
 * @param random returns a number from 0 to below 1, for the seed of a rule that has none
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
  const acting = matches ? [{ rule, random: seededRandom(seed, 1), turn: 1 }] : [];
  const plain = prevents(acting) ? undefined : plainReply(reply);
  return { matches, seed, ...applyFaults(plain, acting, facts.line, context) };
}
