import type { GoalEnd, GoalWatch } from './goal.js';
import type { Seen } from './seen.js';
import { durationText } from './words.js';

interface Waits {
  /** When the step began, in ms of `performance.now()`. */
  readonly at: number;
  readonly ms: number;
  /** After so many requests the step is over; absent when only time ends it. */
  readonly requests?: number;
  /** True when the step says what must not come. */
  readonly hasNever: boolean;
}

/** Lets time pass, or so many requests. The step itself looks for what must not come. */
export class Waiting implements GoalWatch {
  readonly matched: readonly Seen[] = [];
  readonly deadline: number;
  readonly #waits: Waits;
  #requests = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
    this.deadline = waits.at + waits.ms;
  }

  see(seen: Seen): GoalEnd | undefined {
    if (seen.reply === undefined) this.#requests++;
    return this.#requests === this.#waits.requests ? this.timeUp() : undefined;
  }

  timeUp(): GoalEnd {
    const { ms, hasNever, requests = 0 } = this.#waits;
    if (hasNever && this.#requests === 0) {
      const text = `nothing at all was asked within ${durationText(ms)}, so this shows nothing`;
      return { verdict: 'inconclusive', text };
    }
    if (this.#requests < requests) {
      const text = `${this.#requests} of ${requests} requests came within ${durationText(ms)}`;
      return { verdict: 'pass', text };
    }
    return { verdict: 'pass', text: hasNever ? `none of ${this.#requests} requests` : '' };
  }
}
