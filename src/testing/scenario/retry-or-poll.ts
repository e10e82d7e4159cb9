import { durationText } from '../report/words.js';
import { median } from '../times.js';
import { pollOf, type Seen } from './seen.js';

/* Decides whether a request that repeats an altered one is a retry, or the client's next poll. */

/** When a client will send the same poll again without a disturbance, in ms after a request. */
export interface NextPoll {
  readonly earliest: number;
  readonly latest: number;
  /** The poll does not come before this, unless the client starts its cycle again. */
  readonly soonest: number;
  /** True if another request came within each interval seen. */
  readonly isInTurn: boolean;
  /** The median of the intervals seen. */
  readonly usual: number;
}

/** Maximum number of intervals kept per poll (the newest), and the minimum needed. */
const MOST_INTERVALS = 16;
const FEWEST_INTERVALS = 3;
/** Maximum number of polls remembered, because a client may send a different request each time. */
const MOST_QUESTIONS = 512;
/** How far a busy client on a busy machine deviates from its interval, in ms and as a fraction of it. */
const LEAST_MARGIN_MS = 50;
const MARGIN = 0.25;
/** How far it deviates if the request is also out of turn. */
const LEAST_TURN_MARGIN_MS = 25;
const TURN_MARGIN = 0.1;

interface Interval {
  readonly ms: number;
  /** True if no other request came on the line during the interval. */
  readonly isAlone: boolean;
}

interface Poll {
  /** How many times the line was disturbed before the newest request; -1 if that request was disturbed itself. */
  readonly disturbances: number;
  /** When the newest request came; undefined if it may have been a retry. */
  readonly at: number | undefined;
  /** How many requests had come on the line by that time. */
  readonly count: number;
  readonly intervals: Interval[];
}

/** Learns the interval of each of a client's polls, from the requests that no fault has disturbed. */
export class PollIntervals {
  readonly #polls = new Map<string, Poll>();
  /** The number of requests so far, by line. */
  readonly #counts = new Map<string, number>();
  #disturbances = 0;

  /**
   * Looks at the next request.
   * @param spoilt true if a fault acted on it: no interval spans it, and none begins with the first request
   * after
   *   it, which may be a retry
   */
  see(seen: Seen, spoilt: boolean): void {
    if (seen.reply !== undefined) return;
    if (spoilt) this.#disturbances++;
    const count = (this.#counts.get(seen.line) ?? 0) + 1;
    this.#counts.set(seen.line, count);
    const key = pollOf(seen);
    const known = this.#polls.get(key);
    const { intervals = [] } = known ?? {};
    const isUndisturbed = (known?.disturbances ?? 0) === this.#disturbances;
    if (isUndisturbed && known?.at !== undefined) {
      intervals.push({ ms: seen.at - known.at, isAlone: count === known.count + 1 });
    }
    if (intervals.length > MOST_INTERVALS) intervals.shift();
    const at = isUndisturbed ? seen.at : undefined;
    this.#polls.delete(key);
    this.#polls.set(key, { disturbances: spoilt ? -1 : this.#disturbances, at, count, intervals });
    const [oldest] = this.#polls.keys();
    if (this.#polls.size > MOST_QUESTIONS && oldest !== undefined) this.#polls.delete(oldest);
  }

  /** The longest interval between two requests of any poll, in ms; undefined if none is known. */
  get longest(): number | undefined {
    const all = Array.from(this.#polls.values(), ({ intervals }) => intervals.map(({ ms }) => ms)).flat();
    return all.length > 0 ? Math.max(...all) : undefined;
  }

  /** When the next poll after a request is due; undefined if too little is known. */
  after(seen: Seen): NextPoll | undefined {
    const { intervals = [] } = this.#polls.get(pollOf(seen)) ?? {};
    const sorted = intervals.map(({ ms }) => ms).sort((a, b) => a - b);
    const [shortest = 0, longest = 0] = [sorted[0], sorted.at(-1)];
    if (sorted.length < FEWEST_INTERVALS) return undefined;
    const usual = median(sorted);
    const margin = Math.max(LEAST_MARGIN_MS, shortest * MARGIN, 2 * (usual - shortest));
    const turnMargin = Math.max(LEAST_TURN_MARGIN_MS, shortest * TURN_MARGIN, 2 * (longest - shortest));
    const isInTurn = intervals.every(({ isAlone }) => !isAlone);
    const soonest = shortest - turnMargin;
    return { earliest: shortest - margin, latest: longest + margin, soonest, isInTurn, usual };
  }
}

/** The altered request, and the scenario's bounds for the request that repeats it. */
interface RepeatedRequest {
  readonly spoilt: Seen;
  readonly nextPoll: NextPoll | undefined;
  /** The bounds in ms, counted from `before`; infinite if there are none. */
  readonly after: number;
  readonly within: number;
  readonly before: Seen;
  /** True for the first request after the altered one. */
  readonly isFirst: boolean;
  /** True if another request has come since. */
  readonly isInterrupted: boolean;
}

/** Explains why a request that repeats an altered one may be the next poll; undefined if it is certainly a retry. */
export function whyMayBePoll(
  seen: Seen,
  { spoilt, nextPoll, after, within, before, isFirst, isInterrupted }: RepeatedRequest,
): string | undefined {
  const gap = seen.at - spoilt.at;
  const arrival = `frame ${seen.event.seq}, ${durationText(gap)} after the disturbed request (frame ${spoilt.event.seq})`;
  if (!nextPoll) {
    if (within !== Number.POSITIVE_INFINITY) return undefined;
    return `${arrival}, so it may be the next poll: the poll period is not known. Expect the poll five times in an earlier step, or give a bound, as in {retry: {within: 500ms}}`;
  }
  const { earliest, latest, soonest, isInTurn } = nextPoll;
  // A client that sends all its polls in turn would have sent another one before its next poll.
  const isOutOfTurn = isInTurn && !isInterrupted && gap < soonest;
  const isLeftOut = within + before.at - spoilt.at <= soonest;
  if (isOutOfTurn || isLeftOut || gap < earliest || (isFirst && after >= latest)) return undefined;
  return `${arrival}, so it may be the next poll, which comes every ${durationText(nextPoll.usual)}. ${shownBy(nextPoll)}`;
}

/** Says what would have shown a retry. */
function shownBy({ earliest }: NextPoll): string {
  const soon = earliest > 0 ? `A request within ${durationText(earliest)} is a retry; ` : '';
  return `${soon}${soon === '' ? 'A' : 'a'} bound that excludes the next poll would decide`;
}
