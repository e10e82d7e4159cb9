import type { PlayReport } from '../../protocol/play-report.js';
import type { Step } from '../../protocol/reply-plan.js';

/** Undefined when the step was done, otherwise the reason why not. */
export type StepFailure = string | undefined;

/** Where the replies to one client leave. Plans are played one after the other, their steps in order. */
export interface Outlet {
  /** False once nothing can be sent any more. */
  readonly open: boolean;
  /**
   * Does one step now, while the outlet is open. "Done" means that the operating system got the bytes, or that they
   * wait until it takes them; `complete` reports what became of waiting bytes.
   */
  play(step: Step): StepFailure;
  /**
   * Takes the report of the plan that was played last. Hands it on when it is known which of the bytes the operating
   * system has taken, mostly at once. What the system does with them later can't be known here.
   */
  complete(report: PlayReport, tell: (report: PlayReport) => void): void;
  /** Bytes written so far must not leave in one piece with later ones. */
  flush(): void;
}
