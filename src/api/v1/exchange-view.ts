import { z } from 'zod';
import { hex } from '../../protocol/bytes.js';
import type { PlayReport, StepReport } from '../../protocol/play-report.js';
import type { ReplyPlan, Step } from '../../protocol/reply-plan.js';
import type { ReplyEvent } from '../../traffic/event.js';
import { EXCHANGE } from './examples.js';

/**
 * The most that is shown of one exchange. A reply can have 64 KiB and thousands of pieces, and the lines are not served
 * while an answer is made.
 */
const MAX_STEPS = 64;
const MAX_BYTES = 1024;

/** One step of a reply. Times are in µs since the last byte of the request was received. */
const stepView = z.object({
  kind: z.enum(['bytes', 'break', 'close']),
  bytes: z.string().optional().describe('Hexadecimal bytes of a `bytes` step.'),
  plannedUs: z.number(),
  achievedUs: z.number().nullable(),
  uncertaintyUs: z
    .number()
    .nullable()
    .describe(
      'The true moment is between `achievedUs` and this many µs later; null when nothing is known about the port.',
    ),
  outcome: z.enum(['achieved', 'not achieved']),
  reason: z.string().optional(),
});

export const exchangeViewSchema = z
  .object({
    id: z.number().describe('Sequence number of the end of the exchange in the traffic.'),
    requestId: z.number().describe('Sequence number of the request in the traffic.'),
    time: z.string().describe('When the request was received.'),
    line: z.string(),
    client: z.string().nullable(),
    unitId: z.number(),
    request: z.string(),
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
    steps: z.array(stepView),
    omittedSteps: z.number().describe('Steps that are not shown: those after the 64th.'),
    omittedBytes: z.number().describe('Bytes omitted from the shown steps: those after the 1024th.'),
    ended: z
      .enum(['complete', 'not sent', 'superseded', 'disconnected'])
      .describe('`not sent`: the plan was played to its end, but no byte of it was sent.'),
  })
  .meta({ id: 'Exchange', description: 'A request and what became of it.', examples: [EXCHANGE] });

export function exchangeView(exchange: ReplyEvent): z.infer<typeof exchangeViewSchema> {
  const { seq, request, line, client, unitId, requestAdu, requestedAt, at, time } = exchange;
  const { plan, acted, omittedFaults, report } = exchange;
  const steps = plan.kind === 'send' ? plan.steps : [];
  const { shown, omittedBytes } = shorten(steps.slice(0, MAX_STEPS));
  return {
    id: seq,
    requestId: request,
    time: new Date(time - at + requestedAt).toISOString(),
    line,
    client: client ?? null,
    unitId,
    request: hex(requestAdu),
    silence: plan.kind === 'silence' ? plan.reason : null,
    faults: acted.map(({ rule, kind, notAchieved }) =>
      notAchieved === undefined
        ? { rule, kind, outcome: 'applied' as const }
        : { rule, kind, outcome: 'not achieved' as const, reason: notAchieved },
    ),
    omittedFaults,
    steps: shown.map((step, i) => viewStep(step, report.steps[i] as StepReport, requestedAt)),
    omittedSteps: Math.max(0, steps.length - MAX_STEPS),
    omittedBytes,
    ended: endOf(plan, report),
  };
}

function endOf(plan: ReplyPlan, report: PlayReport): z.infer<typeof exchangeViewSchema>['ended'] {
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

function viewStep(step: Step, report: StepReport, requestedAt: number) {
  const us = (at: number) => Math.round(1000 * (at - requestedAt));
  const bytes = step.kind === 'bytes' ? { bytes: hex(step.bytes) } : {};
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
