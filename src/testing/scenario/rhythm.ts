import type { GoalEnd, GoalWatch } from './goal.js';
import { matches } from './matcher.js';
import type { Rhythm } from './scenario.js';
import type { Seen } from './seen.js';
import { durationText } from './words.js';

/** Watches whether requests come at regular times: the first one within a time, then one in each period. */
export class RhythmWatch implements GoalWatch {
  readonly matched: Seen[] = [];
  readonly #rhythm: Rhythm;
  readonly #within: number;
  readonly #firstBy: number;
  #shortest = Number.POSITIVE_INFINITY;
  #longest = 0;

  /**
   * @param startAt when the step began, in ms of `performance.now()`
   * @param within how long the first request may take, in ms
   */
  constructor(rhythm: Rhythm, startAt: number, within: number) {
    this.#rhythm = rhythm;
    this.#within = within;
    this.#firstBy = startAt + within;
  }

  get deadline(): number {
    const last = this.matched.at(-1);
    if (!last) return this.#firstBy;
    const { every, tolerance } = this.#rhythm;
    return Math.min(last.at + every + tolerance, this.#endAt);
  }

  see(seen: Seen): GoalEnd | undefined {
    if (!matches(this.#rhythm.matcher, seen)) return undefined;
    const before = this.matched.at(-1);
    if (before && seen.at > this.#endAt) return this.timeUp();
    this.matched.push(seen);
    if (!before) return undefined;
    const pause = seen.at - before.at;
    this.#shortest = Math.min(this.#shortest, pause);
    this.#longest = Math.max(this.#longest, pause);
    const { every, tolerance } = this.#rhythm;
    if (Math.abs(pause - every) <= tolerance) return undefined;
    return this.#failed(
      `between frames ${before.event.seq} and ${seen.event.seq} were ${durationText(pause)}`,
    );
  }

  timeUp(): GoalEnd {
    const last = this.matched.at(-1);
    if (!last) return this.#failed(`it did not come within ${durationText(this.#within)}`);
    const { every, tolerance } = this.#rhythm;
    if (last.at + every + tolerance < this.#endAt) {
      return this.#failed(`none came for ${durationText(every + tolerance)} after frame ${last.event.seq}`);
    }
    if (this.matched.length < 2) {
      return { verdict: 'inconclusive', text: 'only one request came, which shows no period' };
    }
    const range = `${durationText(this.#shortest)} to ${durationText(this.#longest)}`;
    return { verdict: 'pass', text: `${this.matched.length} requests, ${range} apart` };
  }

  /** When the rhythm has been watched for long enough. */
  get #endAt(): number {
    return (this.matched[0] as Seen).at + this.#rhythm.for;
  }

  #failed(instead: string): GoalEnd {
    const { matcher, every, tolerance } = this.#rhythm;
    const wanted = `${matcher.text} every ${durationText(every)} ± ${durationText(tolerance)}`;
    return { verdict: 'fail', text: `wanted ${wanted}; ${instead}` };
  }
}
