import { hex } from '../../modbus/protocol/bytes.js';
import {
  type PlayReport,
  type ReplyPlan,
  type Step,
  type StepReport,
  stepsOf,
} from '../../modbus/protocol/reply-plan.js';
import type { ReplyEvent } from './event.js';
import type { ReplyView } from './reply-schema.js';
import { micros } from './time.js';

/**
 * The most that is shown of one reply. A reply can have 64 KiB and thousands of pieces, and the lines are not
 * served while a view is made.
 */
const MAX_STEPS = 64;
const MAX_BYTES = 1024;

/** The fields of a reply that its view needs. */
type ViewedReply = Pick<ReplyEvent, 'plan' | 'acted' | 'omittedFaults' | 'report' | 'requestedAt'>;

export function replyView({ plan, acted, omittedFaults, report, requestedAt }: ViewedReply): ReplyView {
  const steps = stepsOf(plan);
  const { shown, omittedBytes } = shorten(steps.slice(0, MAX_STEPS));
  return {
    silence: plan.kind === 'silence' ? plan.reason : null,
    faults: acted.map(({ rule, kind, notAchieved }) =>
      notAchieved === undefined
        ? { rule, kind, outcome: 'applied' }
        : { rule, kind, outcome: 'not achieved', reason: notAchieved },
    ),
    omittedFaults,
    steps: shown.map((step, i) => viewStep(step, report.steps[i] as StepReport, requestedAt)),
    omittedSteps: Math.max(0, steps.length - MAX_STEPS),
    omittedBytes,
    ended: endOf(plan, report),
  };
}

function endOf(plan: ReplyPlan, report: PlayReport): ReplyView['ended'] {
  if (report.ended !== 'complete' || plan.kind === 'silence') return report.ended;
  return report.steps.some(({ outcome }) => outcome === 'achieved') ? 'complete' : 'not sent';
}

/** Shortens steps to the bytes that are shown. */
function shorten(steps: readonly Step[]): { shown: Step[]; omittedBytes: number } {
  let bytes = 0;
  const shown = steps.map((step) => {
    if (step.kind !== 'bytes') return step;
    const room = Math.max(0, MAX_BYTES - bytes);
    bytes += step.bytes.length;
    return { ...step, bytes: step.bytes.subarray(0, room) };
  });
  return { shown, omittedBytes: Math.max(0, bytes - MAX_BYTES) };
}

function viewStep(step: Step, report: StepReport, requestedAt: number): ReplyView['steps'][number] {
  const us = (at: number) => micros(at - requestedAt);
  const bytes = step.kind === 'bytes' ? { bytes: hex(step.bytes) } : {};
  const { plannedAt, achievedAt, endedAt, uncertainty, outcome, reason } = report;
  return {
    kind: step.kind,
    ...bytes,
    plannedUs: us(plannedAt),
    achievedUs: outcome === 'achieved' ? us(achievedAt) : null,
    endedUs: outcome === 'achieved' ? us(endedAt) : null,
    uncertaintyUs: outcome === 'achieved' && uncertainty !== undefined ? micros(uncertainty) : null,
    outcome,
    ...(reason !== undefined && { reason }),
  };
}
