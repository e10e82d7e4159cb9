import { failure, type Result, success } from '../../../common/result.js';
import { lateText } from '../../lateness.js';
import { median, spanOf, usualTimes } from '../../times.js';
import { askedAfterReply, type Exchange, repliedFrom } from '../heard/exchange.js';
import { measuredText, numberText } from '../heard/found.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import { behaviourAfter } from '../trial/observation.js';
import { decide, isBroken, learn, runChain } from '../trial/trial.js';
import { type Judged, sure, type Trial } from '../trial/verdict.js';
import {
  FINEST_MS,
  goneAfter,
  LATE,
  Limits,
  MOST_UNCLEAR,
  type Pace,
  type Probe,
  promised,
} from './time-out-limits.js';

/** The number of silent trials, and the maximum if the client's times are not steady. */
const SILENCES = 5;
const MOST_SILENCES = 15;
/** Times are steady if they differ by at most this, in ms: the machine's spread and the client's jitter. */
const STEADY_MS = { spread: 0.5, jitter: 2 } as const;
/** After this much time in silent trials, in ms, no further one begins. */
const LONGEST_SILENCES_MS = 60_000;

/**
 * Measures the pace of a client.
 * @returns the pace, or why it can't be measured, as a sentence
 */
async function paceOf(exam: Exam): Promise<Result<Pace>> {
  const began = exam.clock.now();
  for (let times = SILENCES; ; times++) {
    const missing = await learn(exam, [LOST], { times });
    if (isBroken(missing)) return failure(`${missing.why} after a poll without a reply`);
    const usual = behaviourAfter(exam, ['good']);
    const [next, silent] = [usual.frequent, missing.frequent];
    if (!silent || missing.samples.length < times)
      return failure('no request arrived for the check to disturb');
    const closings = missing.samples.flatMap(({ closedAfterMs }) => closedAfterMs ?? []);
    const closes = closings.length === missing.samples.length && usual.closing === undefined;
    const spread = spanOf(usualTimes(closes ? closings : silent.times));
    const isLong = times >= MOST_SILENCES || exam.clock.now() - began > LONGEST_SILENCES_MS;
    if (spread > STEADY_MS.spread && !isLong) continue;
    if (!next) return failure('the request that usually follows a poll is not known');
    if (missing.samples.some((each) => each.next.poll !== silent.poll)) {
      return failure('the request after a poll without a reply differs from time to time');
    }
    const jitter = Math.max(spanOf(next.expected), spanOf(silent.expected)) / 2;
    return success({
      usual: next,
      silent,
      closedAfterMs: closes ? median(closings) : undefined,
      replyMs: usual.replyMs,
      tolerance: FINEST_MS + 2 * jitter,
      spread,
      isSteady: spread <= STEADY_MS.spread && jitter <= STEADY_MS.jitter,
      evidence: missing.samples.slice(-SILENCES).flatMap((each) => [each.of, each.next]),
    });
  }
}

/**
 * A client that sends its next request within t3.5 plus this many ms of a reply does not rest, because it is
 * behind schedule.
 */
const AT_ONCE_MS = 1;
/** Beyond this many tolerances the behaviour counts as different. */
const FAR = 4;

/**
 * Delays one reply, and finds out whether the client still accepted it.
 * @returns undefined if no reply could be delayed
 */
async function probe(exam: Exam, pace: Pace, wantedMs: number): Promise<Probe | undefined> {
  // A client that continues before the reply can't know that it would have come, and a reply at that point
  // can't confuse it.
  if (goneAfter(pace) + pace.tolerance < wantedMs) {
    const without = await runChain(exam, [LOST]);
    if (isBroken(without)) return undefined;
    const { of, next, afterMs, closedAfterMs = afterMs } = without.continuation;
    const goneMs = pace.closedAfterMs === undefined ? afterMs : closedAfterMs;
    if (goneMs < wantedMs)
      return { answer: 'given up', lateMs: goneMs, isOffGrid: false, evidence: [of, next] };
  }
  const delay = Math.max(0, wantedMs - pace.replyMs);
  const chain = await runChain(exam, [[{ delay }]], delay + pace.usual.afterMs);
  if (isBroken(chain)) return undefined;
  const { of, next, afterMs, closedAfterMs } = chain.continuation;
  const sentAt = repliedFrom(of);
  const lateMs = sentAt === undefined ? pace.replyMs + delay : sentAt - of.at;
  const closed = pace.closedAfterMs === undefined ? undefined : closedAfterMs;
  const goneMs = closed ?? (afterMs < lateMs ? afterMs : undefined);
  const answer =
    goneMs !== undefined ? 'given up' : answerOf(exam, pace, { poll: next.poll, afterMs, lateMs });
  // The reply came too late, and the client may have kept it for its next request.
  if (answer !== 'taken' && sentAt !== undefined && closedAfterMs === undefined)
    await exam.suppressReplies(1);
  const off = afterMs % exam.periodMs;
  return {
    answer,
    lateMs: Math.min(goneMs ?? lateMs, lateMs),
    isOffGrid: Math.min(off, exam.periodMs - off) > pace.tolerance,
    evidence: [of, next],
  };
}

function answerOf(
  { client: { line } }: Exam,
  { usual, silent, closedAfterMs, replyMs, tolerance }: Pace,
  { poll, afterMs, lateMs }: { poll: string; afterMs: number; lateMs: number },
): Probe['answer'] {
  if (closedAfterMs !== undefined) return 'taken';
  // A client that is behind schedule sends its next request at once.
  const isAtOnce = afterMs - lateMs <= line.t35 + AT_ONCE_MS + tolerance;
  if (usual.poll !== silent.poll) {
    // A client with a queue sends the next request in it at once, which is sooner than giving up.
    const isSooner = isAtOnce && afterMs < silent.afterMs - tolerance;
    if (poll === usual.poll || isSooner) return 'taken';
    return poll === silent.poll ? 'given up' : 'unclear';
  }
  if (poll !== usual.poll) return 'unclear';
  const fromSilent = Math.abs(afterMs - silent.afterMs);
  // If a client rests after a reply, its next request is delayed by as much as the reply was.
  const isAsTaken = isAtOnce || Math.abs(afterMs - lateMs - usual.afterMs + replyMs) <= tolerance;
  // A client that has given up also waits t3.5 after the reply before it sends its next request.
  const isAsSilent = fromSilent <= tolerance || (isAtOnce && afterMs > silent.afterMs);
  // A client with a queue continues at once, but each of its timers may be late.
  const isSoon = afterMs - lateMs <= line.t35 + AT_ONCE_MS + 2 * tolerance;
  if (isAsSilent) return isAsTaken || isSoon ? 'unclear' : 'given up';
  return isAsTaken || fromSilent > FAR * tolerance ? 'taken' : 'unclear';
}

/** Target precision, as a fraction of the promised one; tighter for jittery clients. */
const AIM = { steady: 0.5, unsteady: 0.25 } as const;
/** How many replies must support a bound. */
const AGREEING = { steady: 3, unsteady: 6 } as const;
const MOST_PROBES = 60;
/**
 * How long to search for the time-out, in ms and in polls without a reply, whichever is longer. If a client's
 * times vary too much, more trials show nothing more.
 */
const LONGEST_SEARCH_MS = 90_000;
const LONGEST_SEARCH_POLLS = 40;
/** A client that takes longer than this to continue without a reply, in ms, gets as many trials as a steady one. */
const SLOW_MS = 3_000;
/** A delay is shortened by these fractions of a poll period, so that it ends between the points of a grid. */
const OFF_GRID = [0.37, 0.21];
/** A client that waits longer than this for a reply keeps its user waiting. */
const KEPT_WAITING_MS = 30_000;

/**
 * Lengthens and shortens the delay of replies until the time-out lies between two delays that are close to
 * each other.
 */
async function searchTimeOut(exam: Exam, pace: Pace): Promise<Limits> {
  const { silent, usual, replyMs, isSteady, tolerance, spread } = pace;
  const gone = goneAfter(pace);
  // If the times vary too much for the promised precision, a finer search is useless.
  const isHopeless = FINEST_MS + (LATE * spread) / 2 > promised(gone);
  const kind = isSteady || isHopeless || silent.afterMs > SLOW_MS ? 'steady' : 'unsteady';
  const limits = new Limits(pace, AGREEING[kind]);
  const longest = LONGEST_SEARCH_POLLS * (exam.periodMs + gone);
  const end = exam.clock.now() + Math.max(LONGEST_SEARCH_MS, longest);
  // Most clients repeat the request or send the next one as soon as they give up. Others rest as long as they
  // do after a reply.
  const guesses = [gone, silent.afterMs - usual.afterMs + replyMs].flatMap((guess) =>
    [0, 2 * tolerance].flatMap((more) => {
      const margin = AIM.steady * promised(guess) + more;
      return [guess - margin, guess + margin];
    }),
  );
  const offGrid = isOnGrid(exam, pace) ? OFF_GRID.map((part) => part * exam.periodMs) : [];
  let aim: number = AIM[kind];
  let unclear = 0;
  for (let tries = 0; tries < MOST_PROBES && exam.clock.now() < end; tries++) {
    if (unclear === MOST_UNCLEAR) {
      if (aim === Number.POSITIVE_INFINITY) break;
      // The limits come no closer, so the remaining trials test whether they hold.
      [aim, unclear] = [Number.POSITIVE_INFINITY, 0];
    }
    const guess = guesses.shift();
    if (guess !== undefined && (guess <= limits.low() || guess >= limits.high())) continue;
    let lateMs = guess ?? limits.next(aim, unclear);
    if (lateMs === undefined) {
      const earlier = limits.isOffGrid ? undefined : offGrid.shift();
      if (earlier === undefined) break;
      lateMs = limits.low() - earlier;
    }
    if (lateMs < replyMs) continue;
    const seen = await probe(exam, pace, lateMs);
    if (seen) limits.add(seen);
    if (guess === undefined) unclear = seen && seen.answer !== 'unclear' ? 0 : unclear + 1;
  }
  return limits;
}

/**
 * True if the client, after giving up, waits for the next point of its own time grid, and so does not show
 * when it gave up.
 */
function isOnGrid({ periodMs }: Exam, { usual, silent, closedAfterMs, tolerance }: Pace): boolean {
  if (closedAfterMs !== undefined || usual.poll !== silent.poll) return false;
  const off = silent.afterMs % periodMs;
  return Math.min(off, periodMs - off) <= tolerance;
}

const timeOut: Check = {
  id: 'time-out',
  group: 'time',
  title: 'Gives up on a missing reply',
  isFirst: true,
  what: 'a missing or late reply',
  does: 'Omits some replies and delays others, and narrows the delay down by bisection between one that the client accepts and one that it does not.',
  matters: 'The time-out decides which devices can be used, and how long a dead one delays all others.',
  fix: 'Set a time-out of one to a few seconds, longer than the slowest device takes.',
  expected: 'a time-out of at most 30 s, then the next poll',
  rule: 'Passes when the time-out is found to within 3 ms or 2 %; fails when it is over 30 s, when the client sends nothing for 30 s after a missing reply, or never polls again; inconclusive when its requests do not show when it gives up.',
  source: 'Modbus over Serial Line V1.02, 2.4.1: 1 s to several s at 9600 baud',
  async run(exam) {
    const first = await learn(exam, [LOST]);
    if (isBroken(first)) {
      if (first.kind !== 'gone' && first.kind !== 'waits') return sure('unclear', first.why, first.asked);
      const blame =
        first.kind === 'waits'
          ? 'waits forever for a reply'
          : 'sends nothing for half a minute or longer after a request without a reply';
      return sure('wrong', first.why, first.asked, blame);
    }
    if (first.shortest > KEPT_WAITING_MS + exam.periodMs && first.samples[0]) {
      const { of, next } = first.samples[0];
      const text = `continues ${numberText(first.shortest / 1000)} s after a request without a reply`;
      return sure('wrong', text, [of, next], 'sends nothing for more than 30 s when a reply is lost');
    }
    const learned = await paceOf(exam);
    if (!learned.ok) return sure('unclear', learned.error);
    const pace = learned.value;
    const { usual, silent, closedAfterMs, tolerance } = pace;
    const isOtherwise = closedAfterMs !== undefined || usual.poll !== silent.poll;
    if (!isOtherwise && Math.abs(usual.afterMs - silent.afterMs) <= tolerance) {
      const text =
        'the client keeps the same rhythm when there is no reply, so the line does not show when it gives up';
      return sure('unclear', text, pace.evidence);
    }
    const limits = await searchTimeOut(exam, pace);
    const { measured, evidence, probes } = limits;
    const { value, plusMinus } = measured;
    const isSeen = limits.isOffGrid || !isOnGrid(exam, pace);
    if (!isSeen || !limits.isSure || plusMinus > promised(value)) {
      const between = `between ${numberText(Math.max(0, value - plusMinus))} and ${numberText(value + plusMinus)} ms`;
      return sure('unclear', `the time-out is ${between}; ${whyNotBetter(pace)}`, evidence);
    }
    exam.client.learn({ timeoutMs: measured });
    const text = `waits ${measuredText(measured)} for a reply (measured with ${probes} delays)`;
    if (value > KEPT_WAITING_MS) return sure('wrong', text, evidence, 'waits more than 30 s for a reply');
    return sure('right', text, evidence);
  },
};

function whyNotBetter({ tolerance, spread }: Pace): string {
  const most = Math.max(tolerance / 2, spread);
  return most <= STEADY_MS.jitter
    ? 'its requests do not show it more precisely'
    : `this client's timing varies by up to ${numberText(most)} ms, either by itself or because this machine is busy`;
}

/**
 * How far before and after the time-out the test replies come, as a fraction of it, and the expected result
 * of each.
 */
const MARGIN = 0.1;
const MARGINS = [
  [-1, 'taken'],
  [1, 'given up'],
] as const;
/** A client that continues sooner than this after a reply, in ms, may have accepted it. */
const AFTER_REPLY_MS = 10;

/** The minimum margin, in multiples of the error of the time-out. */
const ERRORS = 2;

const timeOutMargins: Check = {
  id: 'time-out-margins',
  group: 'time',
  title: 'Keeps to its time-out',
  what: 'a reply close to its time-out',
  does: 'Delays replies to 90 % and 110 % of the measured time-out (or by twice its error, if that is more), three times each. If the client continues before a reply at 110 % would be due, that reply is not sent.',
  matters: 'A time-out that varies at random causes errors that are hard to reproduce.',
  fix: 'Measure the time-out from the end of the request, with a timer that no other work delays.',
  expected: 'replies at 90 % of the time-out accepted, and none at 110 %',
  rule: 'Passes when the client accepts replies at 90 % and none at 110 %, in three trials of each that agree; fails when three show otherwise; inconclusive if the time-out is not known or the requests do not show it.',
  source: 'Common practice',
  needs: ['time-out'],
  async run(exam) {
    const { timeoutMs } = exam.client.facts;
    if (!timeoutMs) return sure('unclear', 'the time-out is not known');
    const learned = await paceOf(exam);
    if (!learned.ok) return sure('unclear', learned.error);
    const pace = learned.value;
    const { value, plusMinus } = timeoutMs;
    const judged: Judged[] = [];
    const parts: string[] = [];
    for (const [sign, wanted] of MARGINS) {
      const lateMs = value + sign * Math.max(MARGIN * value, ERRORS * plusMinus);
      const part = `${Math.round((100 * lateMs) / value)} %`;
      const text = `a reply after ${numberText(lateMs)} ms (${part} of the time-out)`;
      const next = await decide(exam, this, async (): Promise<Trial> => {
        const begun = exam.clock.now();
        const seen = await probe(exam, pace, lateMs);
        if (!seen || seen.answer === 'unclear') {
          const evidence = seen?.evidence ?? [];
          return {
            shows: 'unclear',
            text: `the requests do not show whether the client accepted ${text}`,
            evidence,
          };
        }
        const { answer, evidence } = seen;
        const shows = answer === wanted ? 'right' : 'wrong';
        const [of, next] = evidence as readonly Exchange[];
        const rest = of && next && askedAfterReply(of, next);
        if (shows === 'wrong' && answer === 'given up' && rest !== undefined && rest < AFTER_REPLY_MS)
          return { shows: 'unclear', text: `it continued at once after ${text}`, evidence };
        const stallMs = exam.client.lateness.between(begun);
        if (shows === 'wrong' && stallMs > MARGIN * value)
          return { shows: 'unclear', text: lateText(stallMs), evidence };
        const was = answer === 'taken' ? 'was accepted' : 'was not accepted';
        return { shows, text: `${text} ${was}`, evidence, conclusion: 'does not keep to one time-out' };
      });
      if (next.verdict !== 'pass') return next;
      judged.push(next);
      const { agreeing, trials } = next.confidence;
      parts.push(
        `${wanted === 'taken' ? 'accepted' : 'gave up on'} ${agreeing} of ${trials} replies at ${part}`,
      );
    }
    const evidence = judged.flatMap((each) => each.evidence);
    const sum = (key: keyof Judged['confidence']) =>
      judged.reduce((all, each) => all + each.confidence[key], 0);
    const confidence = { agreeing: sum('agreeing'), trials: sum('trials') };
    return {
      ...(judged.at(-1) as Judged),
      confidence,
      evidence,
      summary: `${parts.join(', ')} of the time-out`,
    };
  },
};

export const timeOuts: readonly Check[] = [timeOut, timeOutMargins];
