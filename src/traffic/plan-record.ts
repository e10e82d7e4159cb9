import type { PlayReport, StepReport } from '../protocol/play-report.js';
import type { ReplyPlan, Step } from '../protocol/reply-plan.js';
import { type Reader, sizeOfText, type Writer } from './bytes.js';

/** A reply plan with the report on it, as bytes. Each step stands beside its report. */

const ENDS = ['complete', 'superseded', 'disconnected'] as const;
const END_CODES = { complete: 0, superseded: 1, disconnected: 2 } as const satisfies Record<
  PlayReport['ended'],
  number
>;

const SILENCE = 0;
const REPLY = 1;
const EARLY_REPLY = 2;

/** Code of an achieved step without a reason, which nearly all steps are. */
const ACHIEVED = 1;
const NOT_ACHIEVED = 0;

/** No fewer bytes than a step takes with its report, besides its bytes and its reason. */
const STEP_SIZE = 64;

/** No fewer bytes than `writePlan` takes. */
export function sizeOfPlan(plan: ReplyPlan, report: PlayReport): number {
  if (plan.kind === 'silence') return sizeOfText(plan.reason);
  let size = 0;
  for (const step of plan.steps) size += STEP_SIZE + (step.kind === 'bytes' ? step.bytes.length : 0);
  for (const { reason } of report.steps) if (reason !== undefined) size += sizeOfText(reason);
  return size;
}

export function writePlan(w: Writer, plan: ReplyPlan, report: PlayReport): void {
  w.byte(END_CODES[report.ended]);
  if (plan.kind === 'silence') {
    w.byte(SILENCE);
    w.text(plan.reason);
    return;
  }
  w.byte(plan.early ? EARLY_REPLY : REPLY);
  w.long(plan.steps.length);
  for (let i = 0; i < plan.steps.length; i++) {
    writeStep(w, plan.steps[i] as Step);
    writeReport(w, report.steps[i] as StepReport);
  }
}

export function readPlan(r: Reader): { plan: ReplyPlan; report: PlayReport } {
  const ended = ENDS[r.byte()] as PlayReport['ended'];
  const code = r.byte();
  if (code === SILENCE) return { plan: { kind: 'silence', reason: r.text() }, report: { steps: [], ended } };
  const steps: Step[] = [];
  const reports: StepReport[] = [];
  for (let left = r.long(); left > 0; left--) {
    steps.push(readStep(r));
    reports.push(readReport(r));
  }
  return { plan: { kind: 'send', early: code === EARLY_REPLY, steps }, report: { steps: reports, ended } };
}

const BYTES = 0;
const CONTINUED_BYTES = 1;
const BREAK = 2;
const END = 3;
const RESET = 4;

function writeStep(w: Writer, step: Step): void {
  switch (step.kind) {
    case 'bytes':
      w.byte(step.continues ? CONTINUED_BYTES : BYTES);
      w.number(step.waitMs);
      w.bytes(step.bytes);
      return;
    case 'break':
      w.byte(BREAK);
      w.number(step.waitMs);
      w.number(step.ms);
      return;
    case 'close':
      w.byte(step.how === 'end' ? END : RESET);
      w.number(step.waitMs);
  }
}

function readStep(r: Reader): Step {
  const code = r.byte();
  const waitMs = r.number() ?? 0;
  switch (code) {
    case BYTES:
    case CONTINUED_BYTES:
      return { kind: 'bytes', waitMs, continues: code === CONTINUED_BYTES, bytes: r.bytes() };
    case BREAK:
      return { kind: 'break', waitMs, ms: r.number() ?? 0 };
    default:
      return { kind: 'close', waitMs, how: code === END ? 'end' : 'reset' };
  }
}

function writeReport(
  w: Writer,
  { plannedAt, achievedAt, endedAt, uncertainty, outcome, reason }: StepReport,
): void {
  w.byte(outcome === 'achieved' ? ACHIEVED : NOT_ACHIEVED);
  w.number(plannedAt);
  w.number(achievedAt);
  w.number(endedAt);
  w.number(uncertainty);
  if (outcome === 'not achieved') w.text(reason ?? '');
}

function readReport(r: Reader): StepReport {
  const isAchieved = r.byte() === ACHIEVED;
  const [plannedAt, achievedAt, endedAt] = [r.number() ?? 0, r.number() ?? 0, r.number() ?? 0];
  const uncertainty = r.number();
  if (isAchieved) return { plannedAt, achievedAt, endedAt, uncertainty, outcome: 'achieved' };
  const reason = r.text();
  return { plannedAt, achievedAt, endedAt, uncertainty, outcome: 'not achieved', ...(reason && { reason }) };
}
