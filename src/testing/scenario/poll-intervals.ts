import { median } from '../times.js';
import { questionOf, type Seen } from './seen.js';

/** When a client will send the same poll again if nothing disturbs it, in ms after a request. */
export interface NextPoll {
  readonly earliest: number;
  readonly latest: number;
  /**
   * A request that comes sooner than this, with nothing else asked before it, is out of turn: a client that
   * gives up its round asks at its usual time. Undefined unless something else was asked in each interval
   * that was seen.
   */
  readonly outOfTurn: number | undefined;
  /** The median of the intervals that were seen. */
  readonly usual: number;
}

/** How many intervals of a question are kept (the newest ones), and how many have to be known. */
const MOST_INTERVALS = 16;
const FEWEST_INTERVALS = 3;
/** How many questions are remembered, because a client may ask something else each time. */
const MOST_QUESTIONS = 512;
/** How far a busy client on a busy machine strays from its interval, in ms and as a fraction of it. */
const LEAST_MARGIN_MS = 50;
const MARGIN = 0.25;
/** How far it strays when the request is out of turn as well. */
const LEAST_TURN_MARGIN_MS = 25;
const TURN_MARGIN = 0.1;

interface Interval {
  readonly ms: number;
  /** True when nothing else was asked on the line during the interval. */
  readonly isAlone: boolean;
}

interface Question {
  /** How often the line was disturbed before the newest asking; -1 when that asking was disturbed itself. */
  readonly disturbances: number;
  /** When the newest asking came; undefined when it may have been a retry. */
  readonly at: number | undefined;
  /** How many requests had come on the line by then. */
  readonly count: number;
  readonly intervals: Interval[];
}

/** Learns how often a client polls each question, from the requests that no fault has disturbed. */
export class PollIntervals {
  readonly #questions = new Map<string, Question>();
  /** How many requests have come, by line. */
  readonly #counts = new Map<string, number>();
  #disturbances = 0;

  /**
   * Takes the next request.
   * @param spoilt true when a fault acted on it: no interval reaches across it, and none begins with the
   *   first asking after it, which may be a retry
   */
  see(seen: Seen, spoilt: boolean): void {
    if (seen.reply !== undefined) return;
    if (spoilt) this.#disturbances++;
    const count = (this.#counts.get(seen.line) ?? 0) + 1;
    this.#counts.set(seen.line, count);
    const key = questionOf(seen);
    const known = this.#questions.get(key);
    const { intervals = [] } = known ?? {};
    const isUndisturbed = (known?.disturbances ?? 0) === this.#disturbances;
    if (isUndisturbed && known?.at !== undefined) {
      intervals.push({ ms: seen.at - known.at, isAlone: count === known.count + 1 });
    }
    if (intervals.length > MOST_INTERVALS) intervals.shift();
    const at = isUndisturbed ? seen.at : undefined;
    this.#questions.delete(key);
    this.#questions.set(key, { disturbances: spoilt ? -1 : this.#disturbances, at, count, intervals });
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > MOST_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest);
  }

  /** The longest interval between two polls of any question, in ms; undefined while none is known. */
  get longest(): number | undefined {
    const all = Array.from(this.#questions.values(), ({ intervals }) => intervals.map(({ ms }) => ms)).flat();
    return all.length > 0 ? Math.max(...all) : undefined;
  }

  /** Says when the next poll after a request is due; undefined while too little is known. */
  after(seen: Seen): NextPoll | undefined {
    const { intervals = [] } = this.#questions.get(questionOf(seen)) ?? {};
    const sorted = intervals.map(({ ms }) => ms).sort((a, b) => a - b);
    const [shortest = 0, longest = 0] = [sorted[0], sorted.at(-1)];
    if (sorted.length < FEWEST_INTERVALS) return undefined;
    const usual = median(sorted);
    const margin = Math.max(LEAST_MARGIN_MS, shortest * MARGIN, 2 * (usual - shortest));
    const turnMargin = Math.max(LEAST_TURN_MARGIN_MS, shortest * TURN_MARGIN, 2 * (longest - shortest));
    const isInTurn = intervals.every(({ isAlone }) => !isAlone);
    const outOfTurn = isInTurn ? shortest - turnMargin : undefined;
    return { earliest: shortest - margin, latest: longest + margin, outOfTurn, usual };
  }
}
