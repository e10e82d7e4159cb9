import { lateText } from '../../lateness.js';
import { durationText, timesText } from '../../report/words.js';
import { expectedTimes, spanOf } from '../../times.js';
import { type Exchange, isReading, type Poll, timesBetween, transactionOf } from '../heard/exchange.js';
import { numberText, type UnansweredRun } from '../heard/found.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import { type Behaviour, behaviourAfter } from '../trial/observation.js';
import { recovers } from '../trial/trial.js';
import { sure, type Trial, verdictOf } from '../trial/verdict.js';

/** Consecutive requests without a reply, and what they show. */
interface SilentRun extends UnansweredRun {
  /** The number of requests per poll, including retries; undefined if retries and polls look alike. */
  readonly tries: number | undefined;
  /**
   * Why a retry that came no sooner than the next poll may be that poll: it came over another connection, or
   * this client's order of polls varies.
   */
  readonly doubt: 'another connection' | 'like a poll' | undefined;
  /** True if each request came over its own connection and no sooner than a poll, so that it may have been one. */
  readonly isEachAnew: boolean;
  /** True if some of the requests may be polls that became due in the meantime. */
  readonly mayBePolls: boolean;
  /**
   * True if the client continued before its time-out; if the time-out is unknown, if it continued as early as
   * after a good reply.
   */
  readonly isTooSoon: boolean;
}

/** This many requests with no other request and no poll-length pause between them count as endless. */
const WITHOUT_END = 16;
/** The maximum number of requests per poll of any client that does not repeat endlessly. */
const MOST_TRIES = 7;
/** After this many requests that all look like polls over new connections, another would show nothing more. */
const ENOUGH_ANEW = 4;
const LONGEST_MS = 300_000;
/** Two times are equal if they differ by at most this fraction plus this many ms. */
const SAME_PART = 0.002;
const SAME_MS = 3;
/** Two times are also equal if they differ by at most this many times the range of the usual times. */
const SAME_SPANS = 2;
/** This many poll-length intervals show that they are intervals between polls. */
const FEWEST_LIKE_POLLS = 3;
/** Pauses count as growing if each is at least this many times as long as the previous one. */
const GROWTH = 1.3;
const NO_PAUSE_MS = 3;
/** A poll comes no sooner than this fraction of its period. */
const PART_OF_PERIOD = 0.75;
/** The number of trials that one run counts as, unless it is doubtful. */
const RUN = 2;

/**
 * What is known about a client before its silent run. It is determined once, because it needs a pass over all
 * exchanges.
 */
interface Habit {
  /** The time from a poll with a reply to the next request, in ms. */
  readonly usualMs: number | undefined;
  /**
   * `always`: between two requests of the poll, the client always sends every other poll that is at least as
   * frequent. `alone`: no other poll is as frequent, so only the time distinguishes a retry from the next
   * poll.
   */
  readonly order: 'always' | 'not always' | 'alone';
  readonly isSame: (one: number, other: number) => boolean;
}

/** Suppresses the replies to one poll until it is known how many times the client repeats its request. */
async function silentRun(exam: Exam): Promise<SilentRun> {
  const usual = behaviourAfter(exam, ['good']);
  const habit = {
    usualMs: usual.frequent?.afterMs,
    order: orderOf(exam),
    isSame: sameness(exam, usual),
  };
  await exam.recover(1);
  const { spoilt } = await exam.disturb(
    { faults: LOST },
    ({ spoilt }) => {
      const run = runOf(exam, spoilt, habit);
      const isEnough = run.isEachAnew || spoilt.length > WITHOUT_END || isEvenForGood(exam, run, habit);
      return run.after || run.tries !== undefined || isEnough ? run : undefined;
    },
    LONGEST_MS,
  );
  return runOf(exam, spoilt, habit);
}

/**
 * True if the only poll of the client came at equal intervals for longer than any pattern of retries lasts,
 * so that further requests would show no other interval.
 */
function isEvenForGood({ client, target }: Exam, { intervals }: SilentRun, { isSame }: Habit): boolean {
  const isOnly = client.polls.every((each) => each.key === target.key || !isReading(each));
  return isOnly && intervals.length > MOST_TRIES && intervals.every((ms) => isSame(ms, intervals[0] ?? ms));
}

/** A poll that is at least this many times as frequent as the target must come between two requests of the target. */
const AS_OFTEN = 0.7;

function orderOf({ log, target, client: { polls } }: Exam): Habit['order'] {
  const heard = log.newest();
  const times = (key: string) => heard.filter(({ poll }) => poll === key).length;
  const others = polls.filter(
    (each) => each.key !== target.key && isReading(each) && times(each.key) >= AS_OFTEN * times(target.key),
  );
  // Retries are among the newest requests, so only earlier ones show whether another poll is as frequent.
  const isOften = ({ key, asked }: Poll) =>
    key !== target.key && asked.length >= AS_OFTEN * target.asked.length;
  if (!polls.some((each) => isReading(each) && isOften(each))) return 'alone';
  let between: Set<string> | undefined;
  for (const each of heard) {
    if (each.rule) between = undefined;
    else if (each.poll !== target.key) between?.add(each.poll);
    else {
      if (between && others.some(({ key }) => !between?.has(key))) return 'not always';
      between = new Set();
    }
  }
  return 'always';
}

function runOf(exam: Exam, spoilt: readonly Exchange[], habit: Habit): SilentRun {
  const asked: Exchange[] = [];
  let after: Exchange | undefined;
  for (const each of spoilt) {
    asked.push(each);
    const next = each.next;
    if (next && next.poll !== each.poll) {
      after = next;
      break;
    }
  }
  const intervals = timesBetween(asked);
  const late = asked.slice(1).filter((_, i) => (intervals[i] ?? 0) >= PART_OF_PERIOD * exam.periodMs);
  const anew = late.filter((each) => each.request.clientId !== each.before?.request.clientId);
  const sure = triesByTransaction(exam, asked, after);
  const isDue = (ms = 0) => ms >= PART_OF_PERIOD * exam.periodMs;
  const isAlone = after !== undefined && habit.order === 'alone' && sure === undefined;
  const mayBePolls = isAlone && isDue(intervals.reduce((sum, ms) => sum + ms, 0));
  const isLike =
    (after !== undefined && habit.order === 'not always' && late.length > 0) ||
    (isAlone && isDue(intervals[0]));
  const doubt = isLike ? 'like a poll' : anew.length > 0 ? 'another connection' : undefined;
  const tries = sure ?? (after ? asked.length : triesIn(exam, intervals, habit));
  const isTooSoon = after !== undefined && comesTooSoon(exam, after.at - (asked.at(-1)?.at ?? 0), habit);
  const isEachAnew = !after && anew.length >= Math.max(ENOUGH_ANEW, asked.length - 1);
  const isKnown = doubt !== 'like a poll' && !isEachAnew;
  return {
    asked,
    after,
    intervals,
    tries: isKnown ? tries : undefined,
    doubt,
    isEachAnew,
    mayBePolls,
    isTooSoon,
  };
}

/** True if a client without a reply continues as if it had one: its own time-out would end later. */
function comesTooSoon({ client: { facts, line } }: Exam, ms: number, { usualMs, isSame }: Habit): boolean {
  const { timeoutMs } = facts;
  if (timeoutMs) return ms < timeoutMs.value - timeoutMs.plusMinus - SAME_MS;
  // A TCP reply has its transaction identifier, so hardly any client accepts an earlier reply.
  return line.framing !== 'socket' && usualMs !== undefined && isSame(ms, usualMs);
}

/**
 * The number of requests per poll of a client that repeats its transaction identifier in retries, and changes
 * it for the next poll; undefined for other clients.
 */
function triesByTransaction(
  { client: { line } }: Exam,
  asked: readonly Exchange[],
  after: Exchange | undefined,
): number | undefined {
  const [first, second] = asked.map(transactionOf);
  if (line.framing !== 'socket' || second === undefined || second !== first) return undefined;
  const other = asked.findIndex((each) => transactionOf(each) !== first);
  return other >= 0 ? other : after && asked.length;
}

/**
 * The number of requests per poll of a client that has no other poll. Its intervals repeat in a pattern: the
 * intervals before the retries, followed by the one until the next poll.
 */
function triesIn(exam: Exam, intervals: readonly number[], habit: Habit): number | undefined {
  const { isSame } = habit;
  const [first] = intervals;
  if (first === undefined) return undefined;
  if (intervals.every((ms) => isSame(ms, first))) {
    return isOnlyPolls(exam, first, intervals.length, habit) ? 1 : undefined;
  }
  for (let size = 2; size <= MOST_TRIES && 2 * size <= intervals.length; size++) {
    const comesAgain = intervals.every((ms, i) => i < size || isSame(ms, intervals[i - size] as number));
    if (comesAgain && isDistinct(intervals, size, isSame)) return size;
  }
  return undefined;
}

/**
 * True if no two positions in a pattern have the same interval. A pattern that is uneven by chance has no
 * such positions.
 */
function isDistinct(intervals: readonly number[], size: number, isSame: Habit['isSame']): boolean {
  const places = Array.from({ length: size }, (_, place) => intervals.filter((_, i) => i % size === place));
  return places.some((one) =>
    places.some((other) => one.every((ms) => other.every((next) => !isSame(ms, next)))),
  );
}

/** True if equal intervals are those between polls without a reply, and none of them precedes a retry. */
function isOnlyPolls(
  { client: { facts } }: Exam,
  ms: number,
  count: number,
  { usualMs, isSame }: Habit,
): boolean {
  const { value: timeout = 0, plusMinus = 0 } = facts.timeoutMs ?? {};
  if (usualMs === undefined || Math.abs(ms - timeout) <= plusMinus + SAME_MS) return false;
  // Without a time-out, these may equally be retries spaced like the client's polls.
  if (isSame(ms, usualMs)) return timeout > 0 && count >= FEWEST_LIKE_POLLS;
  // After any number of retries, an interval of a different length would have come by now.
  const isRested = Math.abs(ms - timeout - usualMs) <= plusMinus + SAME_MS;
  return timeout > 0 && isRested && count > MOST_TRIES;
}

/**
 * Makes a function that reports whether two intervals of the client are equal, given the jitter of its
 * requests and polls.
 */
function sameness({ target }: Exam, usual: Behaviour): (one: number, other: number) => boolean {
  const span = spanOf(expectedTimes(target.intervals));
  const most = Math.max(SAME_MS, span, SAME_SPANS * spanOf(usual.frequent?.expected));
  return (one, other) => Math.abs(one - other) <= most + SAME_PART * Math.max(one, other);
}

const LOOK_ALIKE =
  'its retries look like its polls; a different poll period or time-out of the client would tell them apart';

const retries: Check = {
  id: 'retries',
  group: 'time',
  title: 'Retries when no reply comes',
  what: 'requests without a reply',
  does: 'Leaves one poll unanswered until the client moves on to another poll or to the next round.',
  matters:
    'Single frames get lost on a serial line. A client that does not retry loses a value each time; one that retries forever never polls the other devices.',
  fix: 'Repeat the request once or twice if no reply comes, then continue with the next poll.',
  expected: 'at least one retry, then the next poll',
  rule: 'Passes with at least one retry; fails with none or endless ones, in two runs that agree; inconclusive if a retry looks like the next poll, or if the client continues before its time-out.',
  source: 'Modbus over Serial Line V1.02, 2.4.1 leaves the number of retries to the client',
  needs: ['time-out'],
  async run(exam) {
    if (exam.client.facts.neverGivesUp) return sure('unclear', 'it waits forever for its reply');
    const trials: Trial[] = [];
    let first: number | undefined;
    for (;;) {
      const run = await silentRun(exam);
      if (run.asked.length === 0) return sure('unclear', 'no request arrived for the check to disturb');
      const trial = retriesTrial(exam, run);
      const { tries: count } = run;
      first ??= count;
      if (count !== undefined && count !== first) {
        const text = `sent the request ${timesText(first ?? 0)} at first and ${timesText(count)} later: ${LOOK_ALIKE}`;
        return sure('unclear', text, trial.evidence);
      }
      trials.push(trial);
      const judged = verdictOf(trials);
      if (judged?.verdict === 'inconclusive' || count === undefined) {
        return judged ?? sure(trial.shows, trial.text, trial.evidence, trial.conclusion);
      }
      if (!judged) continue;
      exam.client.learn({ retries: count - 1, run, mayBePolls: run.mayBePolls && count > 1 });
      return recovers(exam, judged, () => judged);
    }
  },
};

function retriesTrial(exam: Exam, { asked, after, tries: count, doubt, isTooSoon }: SilentRun): Trial {
  const evidence = after ? [...asked, after] : asked;
  if (count === undefined) {
    const text = `sent the request ${timesText(asked.length)} in ${durationText(exam.clock.now() - (asked[0]?.at ?? 0))}`;
    // The client may write what it has read, so without a reply it has nothing to write. An infrequent poll
    // may not be due.
    const { target } = exam;
    const isAlone = exam.client.polls.every(
      (each) => each.key === target.key || !isReading(each) || each.asked.length * 2 < target.asked.length,
    );
    const isEndless = !isAlone && asked.length > WITHOUT_END;
    if (!isEndless) return { shows: 'unclear', text: `${text}; ${LOOK_ALIKE}`, evidence };
    const conclusion = 'retries forever when there is no reply';
    return { shows: 'wrong', text: `${text} and nothing else`, evidence, conclusion };
  }
  const weight = doubt ? 1 : RUN;
  const lateMs = exam.client.lateness.between((asked[0]?.at ?? 0) - exam.periodMs);
  if (count === 1 && lateMs > SAME_MS) {
    const text = `${lateText(lateMs)}, so this may have been its last try`;
    return { shows: 'unclear', text, evidence };
  }
  if (count === 1 && isTooSoon) {
    const text =
      'continued before its time-out, or as after a good reply: it may have accepted an earlier reply';
    return { shows: 'unclear', text, evidence };
  }
  if (count > 1) return { shows: 'right', text: `sent the request ${timesText(count)}`, evidence, weight };
  const conclusion = 'does not retry when a reply is lost';
  return { shows: 'wrong', text: 'sent the request once and gave up', evidence, weight, conclusion };
}

const pauses: Check = {
  id: 'pauses',
  group: 'time',
  title: 'Pause before a retry',
  what: 'requests without a reply',
  does: 'Measures the time before each retry of a poll that gets no reply.',
  matters:
    'The intervals show how long a poll delays the others, and whether a starting device gets enough time.',
  fix: 'Pause before each retry, longer each time.',
  expected: 'a measurable pause before each retry',
  rule: 'Passes when the pauses are measured, even if they are zero; inconclusive when the client does not retry, or when its time-out or retries are not known.',
  source: 'Modbus over Serial Line V1.02, 2.4.1; common practice is a fixed or a growing pause',
  needs: ['time-out', 'retries'],
  async run(exam) {
    const { run, retries: count, timeoutMs } = exam.client.facts;
    if (!run || count === undefined) return sure('unclear', 'the retries of one poll are not known');
    const { asked, after, intervals } = run;
    const evidence = after ? [...asked, after] : asked;
    if (count === 0) return sure('unclear', 'the client does not retry', evidence);
    const between = intervals.slice(0, count);
    const times = `its requests arrived ${between.map(numberText).join(', ')} ms apart`;
    if (!timeoutMs)
      return sure('unclear', `${times}; the pauses are not known without the time-out`, evidence);
    // A retry comes no sooner than the time-out after the previous request, so the error of the time-out is
    // in the pause.
    const pausesMs = between
      .map((ms) => Math.max(0, ms - timeoutMs.value))
      .map((ms) => (ms <= timeoutMs.plusMinus + NO_PAUSE_MS ? 0 : ms));
    exam.client.learn({ pausesMs });
    const isSame = sameness(exam, behaviourAfter(exam, ['good']));
    return sure('right', `${times}: ${kindOf(pausesMs, isSame)}`, evidence);
  },
};

function kindOf(pausesMs: readonly number[], isSame: ReturnType<typeof sameness>): string {
  const [first = 0] = pausesMs;
  if (pausesMs.every((ms) => ms === 0)) return 'no pause after the time-out';
  if (pausesMs.every((ms) => isSame(ms, first)))
    return `a pause of ${numberText(first)} ms after each time-out`;
  const grows = pausesMs.every((ms, i) => i === 0 || ms >= GROWTH * (pausesMs[i - 1] as number));
  return `${grows ? 'growing pauses' : 'pauses'} of ${pausesMs.map(numberText).join(', ')} ms after the time-outs`;
}

export const silentRuns: readonly Check[] = [retries, pauses];
