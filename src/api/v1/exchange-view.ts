import { z } from 'zod';
import { hex } from '../../protocol/bytes.js';
import type { PlayReport, StepReport } from '../../protocol/play-report.js';
import type { ReplyPlan, Step } from '../../protocol/reply-plan.js';
import type { Exchange } from '../../traffic/ledger.js';

/**
 * The most that is shown of one exchange. A reply can have 64 KiB, thousands of pieces and as many faults, and the
 * lines are not served while an answer is made.
 */
const MAX_FAULTS = 64;
const MAX_STEPS = 64;
const MAX_BYTES = 1024;

/** One step of a reply. Times are in µs since the last byte of the request was received. */
const stepView = z.object({
  kind: z.enum(['bytes', 'break', 'close']),
  /** Hexadecimal bytes of a `bytes` step. */
  bytes: z.string().optional(),
  plannedUs: z.number().nullable(),
  achievedUs: z.number().nullable(),
  /** The true moment is between `achievedUs` and this many µs later; null when nothing is known about the port. */
  uncertaintyUs: z.number().nullable(),
  outcome: z.enum(['achieved', 'not achieved', 'pending']),
  reason: z.string().optional(),
});

export const exchangeViewSchema = z.object({
  id: z.number(),
  time: z.string(),
  line: z.string(),
  client: z.string().nullable(),
  unitId: z.number(),
  request: z.string(),
  /** Why nothing was sent; null when a reply was sent. */
  silence: z.string().nullable(),
  /** The faults that were to act on the reply, in order. */
  faults: z.array(
    z.object({
      rule: z.string(),
      kind: z.string(),
      outcome: z.enum(['applied', 'not achieved']),
      reason: z.string().optional(),
    }),
  ),
  /** Faults that are not shown: those between the 63rd and the last one. */
  omittedFaults: z.number(),
  steps: z.array(stepView),
  /** Steps that are not shown: those after the 64th. */
  omittedSteps: z.number(),
  /** Bytes omitted from the shown steps: those after the 1024th. */
  omittedBytes: z.number(),
  /** `not sent`: the plan was played to its end, but no byte of it was sent. */
  ended: z.enum(['complete', 'not sent', 'superseded', 'disconnected', 'pending']),
});

export function exchangeView(exchange: Exchange): z.infer<typeof exchangeViewSchema> {
  const { id, time, line, client, unitId, requestAdu, receivedAt, plan, acted, report } = exchange;
  const steps = plan.kind === 'send' ? plan.steps : [];
  const { shown, omittedBytes } = shorten(steps.slice(0, MAX_STEPS));
  return {
    id,
    time: time.toISOString(),
    line,
    client: client ?? null,
    unitId,
    request: hex(requestAdu),
    silence: plan.kind === 'silence' ? plan.reason : null,
    faults: ends(acted).map(({ rule, kind, notAchieved }) =>
      notAchieved === undefined
        ? { rule, kind, outcome: 'applied' as const }
        : { rule, kind, outcome: 'not achieved' as const, reason: notAchieved },
    ),
    omittedFaults: Math.max(0, acted.length - MAX_FAULTS),
    steps: shown.map((step, i) => viewStep(step, report?.steps[i], receivedAt)),
    omittedSteps: Math.max(0, steps.length - MAX_STEPS),
    omittedBytes,
    ended: endOf(plan, report),
  };
}

/** The first faults and the last one, because the last one reports faults that were not tried. */
function ends(acted: Exchange['acted']): Exchange['acted'] {
  return acted.length <= MAX_FAULTS ? acted : [...acted.slice(0, MAX_FAULTS - 1), ...acted.slice(-1)];
}

function endOf(plan: ReplyPlan, report: PlayReport | undefined): z.infer<typeof exchangeViewSchema>['ended'] {
  if (!report) return 'pending';
  if (report.ended !== 'complete' || plan.kind === 'silence') return report.ended;
  return report.steps.some(({ outcome }) => outcome === 'achieved') ? 'complete' : 'not sent';
}

/** Steps cut down to the bytes that are shown. */
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

function viewStep(step: Step, report: StepReport | undefined, receivedAt: number) {
  const us = (at: number) => Math.round(1000 * (at - receivedAt));
  const bytes = step.kind === 'bytes' ? { bytes: hex(step.bytes) } : {};
  if (!report) {
    const outcome = 'pending' as const;
    return { kind: step.kind, ...bytes, plannedUs: null, achievedUs: null, uncertaintyUs: null, outcome };
  }
  const { plannedAt, achievedAt, uncertainty, outcome, reason } = report;
  return {
    kind: step.kind,
    ...bytes,
    plannedUs: us(plannedAt),
    achievedUs: outcome === 'achieved' ? us(achievedAt) : null,
    uncertaintyUs:
      outcome === 'achieved' && uncertainty !== undefined ? Math.round(1000 * uncertainty) : null,
    outcome,
    ...(reason !== undefined && { reason }),
  };
}
