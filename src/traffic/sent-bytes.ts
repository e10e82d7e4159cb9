import { concatBytes } from '../protocol/bytes.js';
import type { PlayReport } from '../protocol/play-report.js';
import type { ReplyPlan } from '../protocol/reply-plan.js';

/** The pieces of a reply that were really sent. */
export function sentBytes(plan: ReplyPlan, report: PlayReport): Uint8Array[] {
  const steps = plan.kind === 'send' ? plan.steps : [];
  return steps.flatMap((step, i) =>
    step.kind === 'bytes' && report.steps[i]?.outcome === 'achieved' ? [step.bytes] : [],
  );
}

/** The frames of a reply that were really sent, at least in part. A fault may send a frame twice, or in pieces. */
export function sentFrames(plan: ReplyPlan, report: PlayReport): Uint8Array[] {
  const frames: Uint8Array[][] = [];
  const steps = plan.kind === 'send' ? plan.steps : [];
  steps.forEach((step, i) => {
    if (step.kind !== 'bytes' || report.steps[i]?.outcome !== 'achieved') return;
    if (step.continues && frames.length > 0) frames.at(-1)?.push(step.bytes);
    else frames.push([step.bytes]);
  });
  return frames.map((pieces) => concatBytes(...pieces));
}
