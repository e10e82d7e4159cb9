import type { Step } from './reply-plan.js';

/** What became of one step of a reply plan. Times are `performance.now()` ms. */
export interface StepReport {
  /** When the plan wanted the step: its wait after the end of the previous step (the first step: after the request). */
  readonly plannedAt: number;
  /**
   * The earliest moment at which the step can have happened, as far as the transport can know: for bytes on a socket,
   * before they were given to the operating system. For a step not achieved, when the transport gave up.
   */
  readonly achievedAt: number;
  /** When the last character left, or the break ended, if the step began at `achievedAt`. */
  readonly endedAt: number;
  /**
   * The true moment lies between `achievedAt` and this many ms later, as far as is known of the port. Undefined where
   * nothing is known beyond the system call (sockets), and for a step not achieved.
   */
  readonly uncertainty: number | undefined;
  readonly outcome: 'achieved' | 'not achieved';
  /** Why a step was not achieved, in words. */
  readonly reason?: string;
}

/**
 * What was really done of a reply plan: one entry for each step, in the order of the plan, even for steps that were not
 * reached. A silence has no entries.
 */
export interface PlayReport {
  readonly steps: readonly StepReport[];
  /**
   * `superseded`: a newer request replaced the plan. `disconnected`: the client or the port went away before its end.
   */
  readonly ended: 'complete' | 'superseded' | 'disconnected';
}

/** A step that was done. `endedAt` and `uncertainty` as in `StepReport`. */
export function achieved(
  plannedAt: number,
  achievedAt: number,
  endedAt: number,
  uncertainty: number | undefined,
): StepReport {
  return { plannedAt, achievedAt, endedAt, uncertainty, outcome: 'achieved' };
}

/** @param gaveUpAt when it was clear that the step is not done */
export function notAchieved(plannedAt: number, gaveUpAt: number, reason: string): StepReport {
  const never = { achievedAt: gaveUpAt, endedAt: gaveUpAt, uncertainty: undefined };
  return { plannedAt, ...never, outcome: 'not achieved', reason };
}

/**
 * The reports on steps that were not reached because the plan was given up at `gaveUpAt`, for `reason`.
 * @param from when the wait of the first of them began
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
