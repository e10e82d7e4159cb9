import { concatBytes } from './bytes.js';

/**
 * How a line responds to a request, as data. The bus and the fault rules make the plan; a transport carries
 * it out.
 *
 * Times are relative, in ms: a step waits for `waitMs` after the end of the previous step, that is, after the
 * last character of that step has left. Before the first step the transport waits for its turnaround, counted
 * from the end of the request, unless the plan is `early`.
 */
export type ReplyPlan =
  | { readonly kind: 'silence'; readonly reason: string }
  | {
      readonly kind: 'send';
      readonly early: boolean;
      /** Hold the bytes back, and send them together with the next reply on the connection (TCP, TLS). */
      readonly coalesce?: true;
      readonly steps: readonly Step[];
    };

export type Step = SendStep | BreakStep | CloseStep;

/** Bytes that are sent in one piece. `continues` marks a piece that belongs to the same frame as the previous piece. */
export interface SendStep {
  readonly kind: 'bytes';
  readonly waitMs: number;
  readonly bytes: Uint8Array;
  readonly continues: boolean;
}

/** Holds the line in the break state for `ms` milliseconds (serial lines). */
export interface BreakStep {
  readonly kind: 'break';
  readonly waitMs: number;
  readonly ms: number;
}

/** Closes the connection (sockets): `end` gracefully, `reset` with RST. It is always the last step. */
interface CloseStep {
  readonly kind: 'close';
  readonly waitMs: number;
  readonly how: 'end' | 'reset';
}

/**
 * Creates the plan of a well-behaved device: the whole response in one piece, on time or `waitMs`
 * milliseconds late.
 */
export function plainReply(bytes: Uint8Array, waitMs = 0): ReplyPlan {
  return { kind: 'send', early: false, steps: [{ kind: 'bytes', waitMs, bytes, continues: false }] };
}

export function silence(reason: string): ReplyPlan {
  return { kind: 'silence', reason };
}

/** Returns the plan with `steps` and `pauseMs` of silence inserted before it. A silent plan is returned unchanged. */
export function prepend(plan: ReplyPlan, steps: readonly SendStep[], pauseMs: number): ReplyPlan {
  if (plan.kind === 'silence') return plan;
  const [first, ...rest] = plan.steps;
  const late = first && { ...first, waitMs: first.waitMs + pauseMs };
  return { ...plan, steps: late ? [...steps, late, ...rest] : steps };
}

/** Returns the steps of a plan; none if it is silent or does not exist yet. */
export function stepsOf(plan: ReplyPlan | undefined): readonly Step[] {
  return plan?.kind === 'send' ? plan.steps : [];
}

/** The outcome of one step of a reply plan. Times are `performance.now()` ms. */
export interface StepReport {
  /** When the step was due: its wait after the end of the previous step (the first step: after the request). */
  readonly plannedAt: number;
  /**
   * The earliest moment at which the step can have happened, as far as the transport knows: for bytes on a
   * socket, the time before they were passed to the operating system. For a step that was not achieved, the
   * time when the transport gave up.
   */
  readonly achievedAt: number;
  /** When the last character left or the break ended, if the step began at `achievedAt`. */
  readonly endedAt: number;
  /**
   * The true moment is between `achievedAt` and this many ms later, as far as the port is known. Undefined if
   * nothing is known beyond the system call (sockets), and for a step that was not achieved.
   */
  readonly uncertainty: number | undefined;
  readonly outcome: 'achieved' | 'not achieved';
  /** Why a step was not achieved, in words. */
  readonly reason?: string;
}

/**
 * The outcome of a reply plan: one entry for each step, in the order of the plan, even for steps that were
 * not reached. A silent plan has none.
 */
export interface PlayReport {
  readonly steps: readonly StepReport[];
  /**
   * `superseded`: a newer request replaced the plan. `disconnected`: the client or the port went away before
   * the plan ended.
   */
  readonly ended: 'complete' | 'superseded' | 'disconnected';
}

/** Creates the report on a step that was done. `endedAt` and `uncertainty` are explained at `StepReport`. */
export function achieved(
  plannedAt: number,
  achievedAt: number,
  endedAt: number,
  uncertainty: number | undefined,
): StepReport {
  return { plannedAt, achievedAt, endedAt, uncertainty, outcome: 'achieved' };
}

/**
 * Returns when each step of a plan would happen on an idle line, in ms since the end of the request.
 * @param turnaround the wait before a reply, in ms
 * @param characterTime in ms
 */
export function onIdleLine(plan: ReplyPlan, turnaround: number, characterTime: number): StepReport[] {
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

/**
 * Creates the report on a step that was not done.
 * @param gaveUpAt when it became clear that the step would not be done
 */
export function notAchieved(plannedAt: number, gaveUpAt: number, reason: string): StepReport {
  const never = { achievedAt: gaveUpAt, endedAt: gaveUpAt, uncertainty: undefined };
  return { plannedAt, ...never, outcome: 'not achieved', reason };
}

/**
 * Creates the reports on steps that were not reached because the plan was given up at `gaveUpAt`, for
 * `reason`.
 * @param from when the wait before the first of these steps began
 */
export function notReached(
  steps: readonly Step[],
  from: number,
  gaveUpAt: number,
  reason: string,
): StepReport[] {
  let plannedAt = from;
  return steps.map(({ waitMs }) => {
    plannedAt += waitMs;
    return notAchieved(plannedAt, gaveUpAt, reason);
  });
}

/** Returns the pieces of a reply that were actually sent. */
export function sentBytes(plan: ReplyPlan, report: PlayReport): Uint8Array[] {
  return stepsOf(plan).flatMap((step, i) =>
    step.kind === 'bytes' && report.steps[i]?.outcome === 'achieved' ? [step.bytes] : [],
  );
}

/**
 * Returns the frames of a reply that were actually sent, at least in part. A fault may send a frame twice, or
 * in pieces.
 */
export function sentFrames(plan: ReplyPlan, report: PlayReport): Uint8Array[] {
  const frames: Uint8Array[][] = [];
  stepsOf(plan).forEach((step, i) => {
    if (step.kind !== 'bytes' || report.steps[i]?.outcome !== 'achieved') return;
    if (step.continues && frames.length > 0) frames.at(-1)?.push(step.bytes);
    else frames.push([step.bytes]);
  });
  return frames.map((pieces) => concatBytes(...pieces));
}
