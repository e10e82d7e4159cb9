import type { Step } from '../../protocol/reply-plan.js';

/** Undefined when the step was done, otherwise the reason why not. */
export type StepFailure = string | undefined;

/** Where the replies to one client leave. */
export interface Outlet {
  /** False once nothing can be sent any more. */
  readonly open: boolean;
  /**
   * Does one step, now. "Done" means that the bytes were given to the operating system, or queued behind earlier
   * ones when the client reads slowly: what the network does later can't be known here.
   */
  play(step: Step): StepFailure;
  /** What was written so far must not leave in one piece with what follows. */
  flush(): void;
}
