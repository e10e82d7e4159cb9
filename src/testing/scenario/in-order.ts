import { compact } from '../../common/compact.js';
import { durationText, framesText, rangeOfTimes, timesText } from '../report/words.js';
import type { GoalEnd, GoalWatch } from './goal.js';
import { matches, NearestMiss } from './matcher.js';
import { type NextPoll, type PollIntervals, whyMayBePoll } from './retry-or-poll.js';
import type { Expected } from './scenario.js';
import { pollOf, type Seen } from './seen.js';

interface Start {
  /** When the step began, in ms of `performance.now()`. */
  readonly at: number;
  readonly within: number;
  /** The intervals of polls, in a step with a fault. In that case the list begins with the altered request. */
  readonly polls?: Pick<PollIntervals, 'after'>;
}

/** The first request that a fault acted on. */
interface Spoilt {
  readonly seen: Seen;
  /** When the client would have sent the same poll again; undefined if too little is known. */
  readonly nextPoll: NextPoll | undefined;
}

/** Waits for requests or replies in the order of a list; others may come in between. */
export class InOrder implements GoalWatch {
  readonly matched: Seen[] = [];
  readonly #items: readonly Expected[];
  readonly #start: Start;
  #index = 0;
  #count = 0;
  /** The request that bounds count from: the altered one, or the last one that matched. */
  #before: Seen | undefined;
  /** The newest request of each poll that the current entry has matched; a client may send several in turn. */
  readonly #taken = new Map<string, Seen>();
  #spoilt: Spoilt | undefined;
  #isTimeUp = false;
  /** True if another request has come on the line since the altered request. */
  #isInterrupted = false;
  /** The nearest miss among the requests since the last match. */
  #nearest: NearestMiss;

  constructor(items: readonly Expected[], start: Start) {
    this.#items = items;
    this.#start = start;
    this.#nearest = this.#newNearest();
  }

  /**
   * The end of the time for a bounded retry, or else of the time for the step. A bound may end before or
   * after the step.
   */
  get deadline(): number {
    const { within } = this.#current;
    if (this.#before && within !== Number.POSITIVE_INFINITY) return this.#before.at + within;
    return this.#start.at + this.#start.within;
  }

  see(seen: Seen, spoilt: boolean): GoalEnd | undefined {
    const { polls } = this.#start;
    const isFirstSpoilt = spoilt && this.#spoilt === undefined;
    if (isFirstSpoilt) this.#spoilt = { seen, nextPoll: polls?.after(seen) };
    if (polls && this.#spoilt === undefined) return undefined;
    if (isFirstSpoilt && this.#current.same) {
      this.#before = seen;
      this.#taken.set(pollOf(seen), seen);
      this.matched.push(seen);
      return undefined;
    }
    const { seen: first } = this.#spoilt ?? {};
    const isOther = first?.line === seen.line && pollOf(first) !== pollOf(seen);
    if (isOther && seen.reply === undefined) this.#isInterrupted = true;
    return this.#look(seen);
  }

  timeUp(): GoalEnd {
    this.#isTimeUp = true;
    // The step itself says why its fault did not act.
    if (this.#start.polls && this.#spoilt === undefined) return { verdict: 'inconclusive', text: '' };
    if (this.#isLast && this.#count >= this.#current.min) return this.#passed();
    const came = this.#count === 0 ? 'none' : `${timesText(this.#count)} (${this.#frames})`;
    const nearest = this.#current.same ? undefined : this.#nearest.text('met all conditions');
    const by = nearest === undefined ? '' : `; ${nearest}`;
    return this.#failed(`${came} within ${this.#allowed()}${by}`);
  }

  /** What the current entry still needs when the time is up. */
  get missing(): ((seen: Seen) => boolean) | undefined {
    const { min } = this.#current;
    return this.#isTimeUp && this.#count < min ? (seen) => this.#isMeant(this.#current, seen) : undefined;
  }

  get #current(): Expected {
    return this.#items[this.#index] as Expected;
  }

  /** The frames that matched the current entry. */
  get #frames(): string {
    return framesText(this.matched.slice(-this.#count).map(({ event }) => event.seq));
  }

  get #isLast(): boolean {
    return this.#index === this.#items.length - 1;
  }

  #newNearest(): NearestMiss {
    return new NearestMiss([this.#current.matcher]);
  }

  #look(seen: Seen): GoalEnd | undefined {
    const current = this.#current;
    const next = this.#items[this.#index + 1];
    const isNext = next !== undefined && this.#count > 0 && this.#isMeant(next, seen);
    if (isNext && this.#count >= current.min) {
      this.#index++;
      this.#count = 0;
      return this.#take(seen);
    }
    if (this.#isMeant(current, seen)) return this.#take(seen);
    if (!isNext) {
      this.#nearest.see(seen);
      return undefined;
    }
    return this.#failed(
      `${timesText(this.#count)} (${this.#frames}), then ${next.matcher.text} (frame ${seen.event.seq})`,
      seen,
    );
  }

  #isMeant({ matcher, same }: Expected, seen: Seen): boolean {
    if (!matches(matcher, seen)) return false;
    const before = same ? this.#taken.get(pollOf(seen)) : undefined;
    return !same || (before !== undefined && isSame(before, seen));
  }

  #take(seen: Seen): GoalEnd | undefined {
    const { after, within, max, min, same } = this.#current;
    const poll = pollOf(seen);
    if (same) this.#before = this.#taken.get(poll);
    const since = this.#before?.at ?? this.#start.at;
    // A request may have come before this step began, immediately after the request that ended the previous
    // step.
    const gap = Math.max(0, seen.at - since);
    this.matched.push(seen);
    this.#count++;
    if (this.#count === 1) this.#taken.clear();
    this.#taken.set(poll, seen);
    const isBounded = this.#count === 1 || same;
    const arrival = `frame ${seen.event.seq}, ${durationText(gap)} after ${this.#beforeText()}`;
    if (isBounded && gap < after) return this.#failed(arrival, seen);
    if (gap > within) return this.#failed(arrival, seen);
    const doubt = same || this.#isRepetition(seen) ? this.#doubt(seen) : undefined;
    if (doubt !== undefined) return { ...this.#failed(doubt, seen), verdict: 'inconclusive' };
    this.#before = seen;
    this.#nearest = this.#newNearest();
    if (this.#count > max) return this.#failed(`${timesText(this.#count)} (${this.#frames})`, seen);
    // With a maximum, the goal is not yet over, because one request too many may still come.
    return this.#isLast && this.#count >= min && max === Number.POSITIVE_INFINITY
      ? this.#passed()
      : undefined;
  }

  /**
   * True if the current entry does not say `same`, still needs this request, and the request repeats the
   * altered one with no other between the two in the list.
   */
  #isRepetition(seen: Seen): boolean {
    const { seen: spoilt } = this.#spoilt ?? {};
    const last = this.matched.at(-2);
    if (!spoilt || !last || this.#count > this.#current.min) return false;
    const isItsReply = seen.event.kind === 'reply' && seen.event.request === spoilt.event.seq;
    return !isItsReply && pollOf(last) === pollOf(spoilt);
  }

  #doubt(seen: Seen): string | undefined {
    if (!this.#spoilt || !isSame(this.#spoilt.seen, seen)) return undefined;
    const { after, within } = this.#current;
    const { nextPoll, seen: spoilt } = this.#spoilt;
    const [isFirst, isInterrupted] = [this.#count === 1, this.#isInterrupted];
    return whyMayBePoll(seen, {
      ...{ spoilt, nextPoll, after, within, before: this.#before ?? spoilt, isFirst, isInterrupted },
    });
  }

  #passed(): GoalEnd {
    const [first, last] = [this.matched[0] as Seen, this.matched.at(-1) as Seen];
    const spoilt = this.#spoilt?.seen;
    const took = durationText(Math.max(0, last.at - (spoilt?.at ?? this.#start.at)));
    const since = `${took} after ${spoilt ? 'the disturbed request' : 'the step began'}`;
    const count = this.matched.length;
    const text =
      count === 1
        ? `came ${since} (frame ${first.event.seq})`
        : `${count} frames, the last ${since} (frames ${first.event.seq} to ${last.event.seq})`;
    const isRetry = this.#spoilt && !this.#spoilt.nextPoll && this.#items.some(({ same }) => same);
    return {
      verdict: 'pass',
      text: isRetry
        ? `${text}; judged only by the bound, because the client's poll period is not known`
        : text,
    };
  }

  #failed(received: string, decides?: Seen): GoalEnd {
    const frame = decides?.event.seq;
    return { verdict: 'fail', text: '', missed: compact({ expected: this.#wanted(), received, frame }) };
  }

  #wanted(): string {
    const { matcher, same, min, max, after, within } = this.#current;
    const place = this.#items.length > 1 ? ` (${this.#index + 1} of ${this.#items.length})` : '';
    const times = rangeOfTimes(min, max);
    const bounds = [
      ...(after > 0 ? [`after ${durationText(after)} or more`] : []),
      ...(within === Number.POSITIVE_INFINITY ? [] : [`within ${durationText(within)}`]),
    ];
    const what = `${same ? 'the same request again' : matcher.text}${times === '' ? '' : ` ${times}`}${place}`;
    return [what, ...bounds].join(', ');
  }

  /** The time allowed for the current entry, and its start: `500 ms of the spoilt request (frame 7)`. */
  #allowed(): string {
    const { within } = this.#current;
    if (this.#before && within !== Number.POSITIVE_INFINITY)
      return `${durationText(within)} of ${this.#beforeText()}`;
    const { at, within: whole } = this.#start;
    const spoilt = this.#spoilt?.seen;
    const since =
      spoilt &&
      `, ${durationText(spoilt.at - at)} of which had passed when the disturbed request arrived (frame ${spoilt.event.seq})`;
    return `the ${durationText(whole)} of the step${since ?? ''}`;
  }

  /** Names the request that bounds count from. */
  #beforeText(): string {
    const before = this.#before;
    if (!before) return 'the beginning of the step';
    const what = before === this.#spoilt?.seen ? 'the disturbed request' : 'the previous one';
    return `${what} (frame ${before.event.seq})`;
  }
}

/** True for the same request on the same line. The transaction identifiers may differ. */
function isSame(before: Seen, seen: Seen): boolean {
  return before.event.seq !== seen.event.seq && pollOf(before) === pollOf(seen);
}
