import { compact } from '../../common/compact.js';
import type { Missed } from '../report/report.js';
import { durationText } from '../report/words.js';
import { matches } from './matcher.js';
import type { Rhythm } from './scenario.js';
import type { Seen } from './seen.js';

/** How a goal ended. Every text is part of a sentence. */
export interface GoalEnd {
  readonly verdict: 'pass' | 'fail' | 'inconclusive';
  /** Empty if `missed` says it. */
  readonly text: string;
  readonly missed?: Missed;
}

/** Watches requests and replies for those that a step expects. Times are in ms of `performance.now()`. */
export interface GoalWatch {
  readonly matched: readonly Seen[];
  /** The current deadline of the goal, which may change. */
  readonly deadline: number;
  /**
   * Looks at the next request or reply.
   * @param spoilt true if a fault of the step acted on this request
   * @returns how the goal ended; undefined if it is not over
   */
  see(seen: Seen, spoilt: boolean): GoalEnd | undefined;
  /** Reports whether a request or a reply is what the goal was waiting for; absent if it waits for none. */
  readonly missing?: ((seen: Seen) => boolean) | undefined;
  /** Ends the goal, once the deadline has passed and everything before it has been seen. */
  timeUp(): GoalEnd;
}

interface Waits {
  /** When the step began, in ms of `performance.now()`. */
  readonly at: number;
  readonly ms: number;
  /** The number of requests after which the step ends; absent if only time ends it. */
  readonly requests?: number;
  /** True if the step lists requests that must not come. */
  readonly hasNever: boolean;
}

/** Lets some time or a number of requests pass. The step itself looks for requests that must not come. */
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
      const text = `no request arrived within ${durationText(ms)}, so this shows nothing`;
      return { verdict: 'inconclusive', text };
    }
    if (this.#requests < requests) {
      const text = `only ${this.#requests} of ${requests} requests arrived within ${durationText(ms)}`;
      return { verdict: 'pass', text };
    }
    return { verdict: 'pass', text: hasNever ? `none of ${this.#requests} requests` : '' };
  }
}

/** Watches whether requests come at regular times: the first within a limit, then one in each period. */
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
      `${durationText(pause)} between frames ${before.event.seq} and ${seen.event.seq}`,
      seen.event.seq,
    );
  }

  timeUp(): GoalEnd {
    const last = this.matched.at(-1);
    if (!last) return this.#failed(`none within ${durationText(this.#within)}`);
    const { every, tolerance } = this.#rhythm;
    if (last.at + every + tolerance < this.#endAt) {
      return this.#failed(
        `none for ${durationText(every + tolerance)} after frame ${last.event.seq}`,
        last.event.seq,
      );
    }
    if (this.matched.length < 2) {
      return { verdict: 'inconclusive', text: 'only one request arrived, so the period is unknown' };
    }
    const range = `${durationText(this.#shortest)} to ${durationText(this.#longest)}`;
    return { verdict: 'pass', text: `${this.matched.length} requests, ${range} apart` };
  }

  /** When the rhythm has been watched for long enough. */
  get #endAt(): number {
    return (this.matched[0] as Seen).at + this.#rhythm.for;
  }

  #failed(received: string, frame?: number): GoalEnd {
    const { matcher, every, tolerance } = this.#rhythm;
    const expected = `${matcher.text} every ${durationText(every)} ± ${durationText(tolerance)}`;
    return { verdict: 'fail', text: '', missed: compact({ expected, received, frame }) };
  }
}
