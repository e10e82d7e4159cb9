import { type Exchange, wentWell } from './exchange.js';
import type { ExchangeLog } from './exchange-log.js';
import type { Question } from './rhythm.js';

/** What is needed of an `Exam`. */
interface Asked {
  readonly log: ExchangeLog;
  readonly questions: readonly Question[];
  readonly target: Question;
  askedAfter(seq: number): readonly Exchange[];
}

/** Besides the longest interval that was seen: this many times as long, or so many ms more. */
const LONGER = 1.5;
const LATER_MS = 50;

/**
 * Whether the client polls as it did when it was watched: the disturbed question so many times in its usual rhythm, with
 * good replies, and each of the other regular questions at least once.
 * @param since only what came after this event
 */
export function pollsAsUsual(exam: Asked, since: number, polls: number): boolean {
  const { log, questions, target } = exam;
  const asked = exam.askedAfter(since).slice(-polls);
  const longest = Math.max(...target.intervals);
  const most = Math.max(longest * LONGER, longest + LATER_MS);
  if (asked.length < polls || !asked.every(wentWell)) return false;
  if (asked.some(({ at }, i) => i > 0 && at - (asked[i - 1] as Exchange).at > most)) return false;
  const heard = new Set(log.after(since).map(({ question }) => question));
  // Questions that are asked about as often as the disturbed one.
  const regular = questions.filter((each) => each.asked.length * 2 >= target.asked.length);
  return regular.every(({ key }) => heard.has(key));
}
