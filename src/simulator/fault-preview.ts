import { type PlayedRule, playRule } from '../device/faults/apply.js';
import { startWorkTime } from '../device/faults/budget.js';
import type { FaultRule } from '../device/faults/rule.js';
import { achieved, type ReplyPlan, type StepReport } from '../modbus/protocol/reply-plan.js';
import { factsOf, type LikeRequest } from './like-request.js';
import { lineStatus } from './line-status.js';

/** What a rule would make of the reply to a request. */
export interface FaultPreview extends PlayedRule {
  /** When each step would happen on an idle line, in ms since the end of the request. */
  readonly steps: readonly StepReport[];
  /** Times of a serial line, in ms; undefined for a socket. */
  readonly wire: { readonly characterTime: number; readonly t35: number } | undefined;
}

/**
 * Plays a rule on the reply to a request. Nothing is sent, executed or counted; other rules do not act. The
 * preceding reply, which the fault `stale` sends, is assumed to be the same.
 */
export function previewFault(rule: FaultRule, like: LikeRequest): FaultPreview {
  const { line, unitId, transactionId, pdu, reply } = like;
  const { times } = lineStatus(line);
  const { framing } = line.bus;
  const characterTime = times?.characterTime ?? 0;
  const played = playRule(
    rule,
    factsOf(like),
    reply,
    {
      unitId,
      transactionId,
      requestPdu: pdu,
      framing,
      characterTime,
      previousReply: reply,
      startTime: startWorkTime,
    },
    Math.random,
  );
  const steps = timesOf(played.plan, times?.turnaround ?? 0, characterTime);
  return { ...played, steps, wire: times && { characterTime, t35: times.t35 } };
}

/** When each step of a plan would happen. */
function timesOf(plan: ReplyPlan, turnaround: number, characterTime: number): StepReport[] {
  if (plan.kind === 'silence') return [];
  let at = plan.early ? 0 : turnaround;
  return plan.steps.map((step) => {
    const plannedAt = at + step.waitMs;
    at = plannedAt;
    if (step.kind === 'bytes') at += step.bytes.length * characterTime;
    if (step.kind === 'break') at += step.ms;
    return achieved(plannedAt, plannedAt, at, undefined);
  });
}
