/** What became of one step of a reply plan. Times are `performance.now()` ms. */
export interface StepReport {
  /** When the plan wanted the step: its wait after the step before it had ended (the first: after the request). */
  readonly plannedAt: number;
  /**
   * The earliest moment at which the step can have happened, as far as the transport can know: for bytes on a socket,
   * before they were given to the operating system. For a step not achieved, when the transport gave up.
   */
  readonly achievedAt: number;
  /**
   * The true moment lies between `achievedAt` and so many ms later, by what is known of the port; undefined where
   * nothing is known beyond the system call (sockets), and for a step not achieved.
   */
  readonly uncertainty: number | undefined;
  readonly outcome: 'achieved' | 'not achieved';
  /** Why a step was not achieved, in words. */
  readonly reason?: string;
}

/** What was really done of a reply plan: one entry per step, in the order of the plan. A silence has none. */
export interface PlayReport {
  readonly steps: readonly StepReport[];
  /** `superseded`: a newer request took its place. `disconnected`: the client or the port went away before its end. */
  readonly ended: 'complete' | 'superseded' | 'disconnected';
}
