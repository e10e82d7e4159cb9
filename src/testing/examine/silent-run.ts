import type { Exam } from './exam.js';
import { type Exchange, transactionOf } from './exchange.js';
import { jitterOf } from './pace.js';
import { usualNext } from './reaction.js';
import { nextOf } from './spoil.js';

/** How a client asks one question while it gets no reply to it. Times in ms. */
export interface SilentRun {
  /** The askings without a reply, from a poll on. */
  readonly asked: readonly Exchange[];
  /** What came after them: another question; undefined where only this one came. */
  readonly after: Exchange | undefined;
  /** From each asking to the next one of the run. */
  readonly intervals: readonly number[];
  /** The attempts of one poll; undefined where repetitions and polls look alike. */
  readonly attempts: number | undefined;
}

/** So many askings without another question, or a pause as between polls, are without end. */
export const WITHOUT_END = 16;
/** No client repeats a question more often, apart from those that do so without end. */
const MOST_ATTEMPTS = 7;
const LONGEST_MS = 300_000;
/** Two times are the same when they differ by no more than this part and so many ms. */
const SAME_PART = 0.002;
const SAME_MS = 3;
/** So many intervals as between polls are polls. */
const FEWEST_POLLS = 3;

/** What is known of a client before its silent run. It is found out once, because it takes a look at all exchanges. */
interface Habit {
  /** From a poll with a reply to the next request, in ms. */
  readonly usualMs: number | undefined;
  readonly isSame: (one: number, other: number) => boolean;
}

/** Leaves one question without replies until it is known how often the client asks it for one poll. */
export async function silentRun(exam: Exam): Promise<SilentRun> {
  const habit = { usualMs: usualNext(exam)?.afterMs, isSame: sameness(exam) };
  const { spoilt } = await exam.disturb(
    { faults: [{ silence: true }] },
    ({ spoilt }) => {
      const run = runOf(exam, spoilt, habit);
      return run.after || run.attempts !== undefined || spoilt.length > WITHOUT_END ? run : undefined;
    },
    LONGEST_MS,
  );
  return runOf(exam, spoilt, habit);
}

function runOf(exam: Exam, spoilt: readonly Exchange[], habit: Habit): SilentRun {
  const asked: Exchange[] = [];
  let after: Exchange | undefined;
  for (const each of spoilt) {
    asked.push(each);
    const next = nextOf(exam, each);
    if (next && next.question !== each.question) {
      after = next;
      break;
    }
  }
  const intervals = asked.slice(1).map(({ at }, i) => at - (asked[i] as Exchange).at);
  const attempts = after
    ? asked.length
    : (attemptsByTransaction(exam, asked) ?? attemptsIn(exam, intervals, habit));
  return { asked, after, intervals, attempts };
}

/** Some clients repeat a request with its transaction identifier, and use another one for the next poll. */
function attemptsByTransaction({ line }: Exam, asked: readonly Exchange[]): number | undefined {
  const [first, second] = asked.map(transactionOf);
  if (line.framing !== 'socket' || second === undefined || second !== first) return undefined;
  const other = asked.findIndex((each) => transactionOf(each) !== first);
  return other < 0 ? undefined : other;
}

/**
 * The attempts of a client that asks one question only. Its intervals come again and again: those between the attempts
 * of one poll, and then the one until the next poll.
 */
function attemptsIn(exam: Exam, intervals: readonly number[], habit: Habit): number | undefined {
  const { isSame } = habit;
  const [first] = intervals;
  if (first === undefined) return undefined;
  if (intervals.every((ms) => isSame(ms, first))) {
    return isOnlyPolls(exam, first, intervals.length, habit) ? 1 : undefined;
  }
  for (let size = 2; size <= MOST_ATTEMPTS && 2 * size <= intervals.length; size++) {
    const comesAgain = intervals.every((ms, i) => i < size || isSame(ms, intervals[i - size] as number));
    if (comesAgain) return size;
  }
  return undefined;
}

/** Whether equal intervals are those between polls without a reply, and none is one between attempts. */
function isOnlyPolls({ found }: Exam, ms: number, count: number, { usualMs, isSame }: Habit): boolean {
  const { value: timeout = 0, plusMinus = 0 } = found.timeoutMs ?? {};
  if (usualMs === undefined || Math.abs(ms - timeout) <= plusMinus + SAME_MS) return false;
  if (isSame(ms, usualMs)) return count >= FEWEST_POLLS;
  // After any number of attempts there would have been another interval by now.
  const isRested = Math.abs(ms - timeout - usualMs) <= plusMinus + SAME_MS;
  return timeout > 0 && isRested && count > MOST_ATTEMPTS;
}

/** Tells whether two intervals of the client are the same, as far as its jitter shows. */
export function sameness(exam: Exam): (one: number, other: number) => boolean {
  const jitter = jitterOf(exam);
  return (one, other) =>
    Math.abs(one - other) <= Math.max(SAME_MS, 4 * jitter) + SAME_PART * Math.max(one, other);
}
