import { z } from 'zod';
import { hex } from '../../modbus/protocol/bytes.js';
import {
  type PlayReport,
  type ReplyPlan,
  type Step,
  type StepReport,
  stepsOf,
} from '../../modbus/protocol/reply-plan.js';
import type { ReplyEvent } from './event.js';
import { micros } from './words.js';

/** One step of a reply. Times are in µs since the last byte of the request was received. */
const stepSchema = z.object({
  kind: z.enum(['bytes', 'break', 'close']),
  bytes: z.string().optional().describe('Hexadecimal bytes of a `bytes` step.'),
  plannedUs: z.number(),
  achievedUs: z.number().nullable(),
  endedUs: z
    .number()
    .nullable()
    .describe('When the last character left or the break ended, if the step began at `achievedUs`.'),
  uncertaintyUs: z
    .number()
    .nullable()
    .describe(
      'The true moment is between `achievedUs` and this many µs later; null when nothing is known about the port.',
    ),
  outcome: z.enum(['achieved', 'not achieved']),
  reason: z.string().optional(),
});

export const replySchema = {
  silence: z.string().nullable().describe('Why nothing was sent; null when a reply was sent.'),
  faults: z
    .array(
      z.object({
        rule: z.string(),
        kind: z.string(),
        outcome: z.enum(['applied', 'not achieved']),
        reason: z.string().optional(),
      }),
    )
    .describe('The faults that were to act on the reply, in order.'),
  omittedFaults: z.number().describe('Faults that are not shown: those between the 63rd and the last one.'),
  steps: z.array(stepSchema),
  omittedSteps: z.number().describe('Steps that are not shown: those after the 64th.'),
  omittedBytes: z.number().describe('Bytes omitted from the shown steps: those after the 1024th.'),
  ended: z
    .enum(['complete', 'not sent', 'superseded', 'disconnected'])
    .describe('`not sent`: the plan was played to its end, but no byte of it was sent.'),
};

type ReplyView = Readonly<z.infer<z.ZodObject<typeof replySchema>>>;

/**
 * Limits what is shown of one reply. A reply can have 64 KiB and thousands of pieces, and the lines are not
 * served while a view is made. The bytes of any other event have the same limit.
 */
const MAX_STEPS = 64;
export const MAX_SHOWN_BYTES = 1024;

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
    const room = Math.max(0, MAX_SHOWN_BYTES - bytes);
    bytes += step.bytes.length;
    return { ...step, bytes: step.bytes.subarray(0, room) };
  });
  return { shown, omittedBytes: Math.max(0, bytes - MAX_SHOWN_BYTES) };
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
