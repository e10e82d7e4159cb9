import { ExceptionCode } from '../protocol/exception-code.js';
import { plainReply, type ReplyPlan } from '../protocol/reply-plan.js';
import { exceptionResponse } from '../protocol/response.js';
import { type FaultLine, lackOf } from './ability.js';
import { beyondLimits } from './extent.js';
import type { FaultContext } from './kind.js';
import { extentOf } from './plan.js';
import type { ActingRule } from './rules.js';

/** One fault that was to act on a reply; `notAchieved` tells why it could not. */
export interface ActedFault {
  readonly rule: string;
  readonly kind: string;
  readonly notAchieved?: string;
}

/** True when one of the rules keeps the request from the device. */
export function prevents(acting: readonly ActingRule[]): boolean {
  return acting.some(({ rule }) => rule.faults.some((fault) => fault.prevents));
}

/**
 * Lets each fault of each rule change the plan, in order, and notes what came of it on this line. Without a reply,
 * because a fault keeps the request from the device, the faults before that one act on an exception response that
 * stands in for it: so what delays the reply also delays the one that takes its place.
 *
 * Rules are checked one by one when they are made, but what they do to one reply multiplies: a fault that could stretch
 * it beyond the limits does not act. One that keeps a request from the device always does, as it leaves at most a plain
 * frame.
 */
export function applyFaults(
  reply: ReplyPlan | undefined,
  acting: readonly ActingRule[],
  line: FaultLine,
  context: Omit<FaultContext, 'random'>,
): { readonly plan: ReplyPlan; readonly acted: readonly ActedFault[] } {
  let current = reply ?? standIn(context);
  const acted: ActedFault[] = [];
  for (const { rule, random } of acting) {
    for (const fault of rule.faults) {
      const applied =
        lackOf(line, fault.needs) ??
        beyondLimits(fault.extent(extentOf(current))) ??
        fault.apply(current, { ...context, random });
      if (typeof applied === 'string') {
        acted.push({ rule: rule.name, kind: fault.kind, notAchieved: applied });
      } else {
        current = applied;
        acted.push({ rule: rule.name, kind: fault.kind });
      }
    }
  }
  return { plan: current, acted };
}

function standIn({ framing, unitId, transactionId, requestPdu }: Omit<FaultContext, 'random'>): ReplyPlan {
  const pdu = exceptionResponse(requestPdu[0] as number, ExceptionCode.serverDeviceFailure);
  return plainReply(framing.encode({ unitId, transactionId, pdu }));
}
