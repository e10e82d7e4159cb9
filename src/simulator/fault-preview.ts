import { type ActedFault, applyFaults, prevents } from '../faults/apply.js';
import { matchesRequest } from '../faults/condition.js';
import type { FaultRule } from '../faults/rule.js';
import { addressRanges } from '../protocol/address-range.js';
import { achieved, type StepReport } from '../protocol/play-report.js';
import { plainReply, type ReplyPlan } from '../protocol/reply-plan.js';
import { seededRandom } from '../random.js';
import type { LikeRequest } from './like-request.js';
import { lineStatus } from './line-status.js';

/** What a rule would make of the reply to a request. */
export interface FaultPreview {
  /** Whether the rule is for such a request. If not, the plan is that of a reply without it. */
  readonly matches: boolean;
  readonly plan: ReplyPlan;
  readonly acted: readonly ActedFault[];
  /** When each step would happen on a line that is free, in ms since the end of the request. */
  readonly steps: readonly StepReport[];
  /** Times of a serial line, in ms. */
  readonly wire: { readonly characterTime: number; readonly t35: number } | undefined;
}

/**
 * Plays a rule on the reply to a request. Nothing is sent, executed or counted; other rules do not act. The rule acts as
 * on its first hit, whatever its `after`, `every`, `count`, `probability` and times are. The reply before, which `stale`
 * sends, is taken to have been the same.
 */
export function previewFault(rule: FaultRule, seed: number, like: LikeRequest): FaultPreview {
  const { line, device, unitId, transactionId, pdu, reply } = like;
  const { times } = lineStatus(line);
  const { line: faultLine, framing } = line.bus;
  const functionCode = pdu[0] as number;
  const facts = { line: faultLine, unitId, device: device.name, functionCode, ranges: addressRanges(pdu) };
  const matches = matchesRequest(rule.when, rule.values, facts);
  const acting = matches ? [{ rule, random: seededRandom(seed, 1) }] : [];
  const { plan, acted } = applyFaults(prevents(acting) ? undefined : plainReply(reply), acting, faultLine, {
    unitId,
    transactionId,
    requestPdu: pdu,
    framing,
    characterTime: times?.characterTime ?? 0,
    previousReply: reply,
  });
  const wire = times && { characterTime: times.characterTime, t35: times.t35 };
  return {
    matches,
    plan,
    acted,
    steps: timesOf(plan, times?.turnaround ?? 0, wire?.characterTime ?? 0),
    wire,
  };
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
