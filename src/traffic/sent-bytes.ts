import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';

/** The pieces of a reply that were really sent. */
export function sentBytes(plan: ReplyPlan, report: PlayReport): Uint8Array[] {
  const steps = plan.kind === 'send' ? plan.steps : [];
  return steps.flatMap((step, i) =>
    step.kind === 'bytes' && report.steps[i]?.outcome === 'achieved' ? [step.bytes] : [],
  );
}
