import type { Ended, GoalWatch } from './goal.js';
import { matches } from './matcher.js';
import type { Expected } from './scenario.js';
import type { Seen } from './seen.js';
import { durationText, rangeOfTimes, timesText } from './words.js';

interface Start {
  /** ms of `performance.now()`. */
  readonly at: number;
  readonly within: number;
  /** Look only from the first request on that a fault of the step acted on. */
  readonly fromFault: boolean;
}

/** Waits for requests or replies in the order of a list; others may come between them. */
export class InOrder implements GoalWatch {
  readonly matched: Seen[] = [];
  readonly deadline: number;
  readonly #items: readonly Expected[];
  readonly #start: Start;
  #index = 0;
  #count = 0;
  /** The request that a fault acted on, or the last one that matched. */
  #before: Seen | undefined;
  /** The first request that a fault acted on. */
  #spoilt: Seen | undefined;

  constructor(items: readonly Expected[], start: Start) {
    this.#items = items;
    this.#start = start;
    this.deadline = start.at + start.within;
  }

  see(seen: Seen, spoilt: boolean): Ended | undefined {
    const isFirstSpoilt = spoilt && this.#spoilt === undefined;
    if (isFirstSpoilt) this.#spoilt = seen;
    if (this.#start.fromFault && this.#spoilt === undefined) return undefined;
    if (isFirstSpoilt && this.#current.same) {
      this.#before = seen;
      this.matched.push(seen);
      return undefined;
    }
    return this.#look(seen);
  }

  timeUp(): Ended {
    if (this.#start.fromFault && this.#spoilt === undefined) {
      return { verdict: 'inconclusive', text: 'the fault never acted: no request met its conditions' };
    }
    if (this.#isLast && this.#count >= this.#current.min) return this.#passed();
    const missing = this.#count === 0 ? 'it did not come' : `it came ${timesText(this.#count)}`;
    return this.#failed(`${missing} within ${durationText(this.#start.within)}`);
  }

  get #current(): Expected {
    return this.#items[this.#index] as Expected;
  }

  get #isLast(): boolean {
    return this.#index === this.#items.length - 1;
  }

  #look(seen: Seen): Ended | undefined {
    const current = this.#current;
    const next = this.#items[this.#index + 1];
    const isNext = next !== undefined && this.#count > 0 && this.#isMeant(next, seen);
    if (isNext && this.#count >= current.min) {
      this.#index++;
      this.#count = 0;
      return this.#take(seen);
    }
    if (this.#isMeant(current, seen)) return this.#take(seen);
    if (!isNext) return undefined;
    return this.#failed(`after ${timesText(this.#count)} came ${next.matcher.text}`);
  }

  #isMeant({ matcher, same }: Expected, seen: Seen): boolean {
    return matches(matcher, seen) && (!same || (this.#before !== undefined && isSame(this.#before, seen)));
  }

  #take(seen: Seen): Ended | undefined {
    const { after, max, min } = this.#current;
    const since = this.#before?.at ?? this.#start.at;
    this.matched.push(seen);
    this.#count++;
    // A request may have come before the step has begun, right after the one that ended the step before.
    if (this.#count === 1 && after > 0 && seen.at - since < after) {
      return this.#failed(
        `it came after ${durationText(Math.max(0, seen.at - since))}, which is less than ${durationText(after)}`,
      );
    }
    this.#before = seen;
    if (this.#count > max) return this.#failed(`it came ${timesText(this.#count)}`);
    // With a limit, one too many may still come.
    return this.#isLast && this.#count >= min && max === Number.POSITIVE_INFINITY
      ? this.#passed()
      : undefined;
  }

  #passed(): Ended {
    const first = this.matched[0] as Seen;
    const last = this.matched.at(-1) as Seen;
    const took = durationText(Math.max(0, last.at - this.#start.at));
    const count = this.matched.length;
    if (count === 1) return { verdict: 'pass', text: `came after ${took} (frame ${first.event.seq})` };
    const frames = `frames ${first.event.seq} to ${last.event.seq}`;
    return { verdict: 'pass', text: `${count} frames within ${took} (${frames})` };
  }

  #failed(instead: string): Ended {
    return { verdict: 'fail', text: `wanted ${this.#wanted()}; ${instead}` };
  }

  #wanted(): string {
    const { matcher, same, min, max } = this.#current;
    const place = this.#items.length > 1 ? ` as number ${this.#index + 1} of ${this.#items.length}` : '';
    const times = rangeOfTimes(min, max);
    return `${same ? 'the same request again' : matcher.text}${times === '' ? '' : ` ${times}`}${place}`;
  }
}

/** The same request on the same line; a transaction identifier may be another. */
function isSame(before: Seen, seen: Seen): boolean {
  return (
    before.line === seen.line &&
    before.unitId === seen.unitId &&
    before.event.seq !== seen.event.seq &&
    Buffer.compare(before.pdu, seen.pdu) === 0
  );
}
