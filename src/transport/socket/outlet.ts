import type { PlayReport } from '../../protocol/play-report.js';
import type { Step } from '../../protocol/reply-plan.js';

/** Undefined when the step was done, otherwise the reason why not. */
export type StepFailure = string | undefined;

/** Where the replies to one client leave: plans come one after the other, their steps in order. */
export interface Outlet {
  /** False once nothing can be sent any more. */
  readonly open: boolean;
  /**
   * Does one step, now, as long as the outlet is open. "Done" means that the bytes were given to the operating system,
   * or have to wait until it takes them: `complete` tells what became of those.
   */
  play(step: Step): StepFailure;
  /**
   * Takes the report of the plan that was played last, and hands it on when it is known which of the bytes the
   * operating system has taken: mostly at once. What it does with them later can't be known here.
   */
  complete(report: PlayReport, tell: (report: PlayReport) => void): void;
  /** What was written so far must not leave in one piece with what follows. */
  flush(): void;
}
