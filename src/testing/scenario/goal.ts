import type { Seen } from './seen.js';

/** How a goal ended. Every text is a part of a sentence. */
export interface GoalEnd {
  readonly verdict: 'pass' | 'fail' | 'inconclusive';
  readonly text: string;
}

/** Watches requests and replies for what a step expects. Times are ms of `performance.now()`. */
export interface GoalWatch {
  /** The requests and replies that count for the goal so far. */
  readonly matched: readonly Seen[];
  /** When the time of the goal ends, as far as is known now. */
  readonly deadline: number;
  /**
   * Looks at the next request or reply.
   * @param spoilt true when a fault of the step acted on this request
   * @returns how the goal ended; undefined while it goes on
   */
  see(seen: Seen, spoilt: boolean): GoalEnd | undefined;
  /** Tells whether a request or a reply is what the goal has waited for in vain; absent when it waits for nothing. */
  readonly missing?: ((seen: Seen) => boolean) | undefined;
  /** Ends the goal, once the deadline has passed and everything that came before it was seen. */
  timeUp(): GoalEnd;
}
