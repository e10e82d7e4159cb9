import { median } from '../times.js';
import { questionOf, type Seen } from './seen.js';

/** When a client will poll the same again if nothing disturbs it: ms after a request. */
export interface NextPoll {
  readonly earliest: number;
  readonly latest: number;
  /** The median of the intervals that were seen. */
  readonly usual: number;
}

/** The newest intervals that are kept of a question, and how many have to be known. */
const MOST_INTERVALS = 16;
const FEWEST_INTERVALS = 3;
/** A client may ask without end something else each time. */
const MOST_QUESTIONS = 512;
/** Polls of a busy client on a busy machine stray from their interval by as much, in ms and as a part of it. */
const LEAST_MARGIN_MS = 50;
const MARGIN = 0.25;

interface Question {
  /** How often the line was disturbed before the newest asking; -1 when that one was disturbed itself. */
  readonly disturbances: number;
  /** The newest asking; undefined where it may have been a retry. */
  readonly at: number | undefined;
  readonly intervals: number[];
}

/** Learns how often a client polls what, from the requests that no fault has disturbed. */
export class PollIntervals {
  readonly #questions = new Map<string, Question>();
  #disturbances = 0;

  /**
   * Takes the next request.
   * @param spoilt a fault acted on it: no interval reaches across it, and none begins with the first asking after it,
   *   which may be a retry
   */
  see(seen: Seen, spoilt: boolean): void {
    if (seen.reply !== undefined) return;
    if (spoilt) this.#disturbances++;
    const key = questionOf(seen);
    const known = this.#questions.get(key);
    const { intervals = [] } = known ?? {};
    const isUndisturbed = (known?.disturbances ?? 0) === this.#disturbances;
    if (isUndisturbed && known?.at !== undefined) intervals.push(seen.at - known.at);
    if (intervals.length > MOST_INTERVALS) intervals.shift();
    const at = isUndisturbed ? seen.at : undefined;
    this.#questions.delete(key);
    this.#questions.set(key, { disturbances: spoilt ? -1 : this.#disturbances, at, intervals });
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > MOST_QUESTIONS && oldest !== undefined) this.#questions.delete(oldest);
  }

  /** When the next poll after a request is due; undefined while too little is known. */
  after(seen: Seen): NextPoll | undefined {
    const sorted = this.#questions.get(questionOf(seen))?.intervals.toSorted((a, b) => a - b) ?? [];
    const [shortest = 0, longest = 0] = [sorted[0], sorted.at(-1)];
    if (sorted.length < FEWEST_INTERVALS) return undefined;
    const usual = median(sorted);
    const margin = Math.max(LEAST_MARGIN_MS, shortest * MARGIN, 2 * (usual - shortest));
    return { earliest: shortest - margin, latest: longest + margin, usual };
  }
}
