import type { GoalEnd, GoalWatch } from './goal.js';
import type { Seen } from './seen.js';
import { durationText } from './words.js';

interface Waits {
  /** When the step began, in ms of `performance.now()`. */
  readonly at: number;
  readonly ms: number;
  /** True when the step says what must not come. */
  readonly hasNever: boolean;
}

/** Lets time pass. The step itself looks for what must not come. */
export class Waiting implements GoalWatch {
  readonly matched: readonly Seen[] = [];
  readonly deadline: number;
  readonly #waits: Waits;
  #requests = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
    this.deadline = waits.at + waits.ms;
  }

  see(seen: Seen): undefined {
    if (seen.reply === undefined) this.#requests++;
  }

  timeUp(): GoalEnd {
    const { ms, hasNever } = this.#waits;
    if (hasNever && this.#requests === 0) {
      const text = `nothing at all was asked within ${durationText(ms)}, so this shows nothing`;
      return { verdict: 'inconclusive', text };
    }
    return { verdict: 'pass', text: hasNever ? `none of ${this.#requests} requests` : '' };
  }
}
