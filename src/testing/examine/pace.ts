import type { Exam } from './exam.js';
import { type Exchange, repliedFrom } from './exchange.js';
import { usualFollowers, usualNext } from './reaction.js';
import { median } from './rhythm.js';
import { nextOf } from './spoil.js';

/** What comes after a poll: a question, and when it comes after the request of the poll, in ms. */
interface Next {
  readonly question: string;
  readonly afterMs: number;
}

/** How a client goes on after a poll with a reply, and after one without. Times in ms. */
export interface Pace {
  readonly usual: Next;
  readonly silent: Next;
  /** The client closed its connection so long after a request without a reply; undefined where it did not. */
  readonly closedAfterMs: number | undefined;
  /** The usual time from a request to its reply. */
  readonly replyMs: number;
  /** How far single times are from where they should be: the rhythm of the client, and what the machine adds. */
  readonly jitter: number;
  /**
   * How far the times from a request without a reply to what comes next are apart, without the extreme ones. How late a
   * request is read, and how late the client's timer is, differs as much on this machine.
   */
  readonly spread: number;
  /** A client that is behind its rhythm asks again within this time after a reply, besides the jitter. */
  readonly atOnceMs: number;
  /** The polls without replies, and what came next. */
  readonly evidence: readonly Exchange[];
}

/** No client waits longer for a reply, in ms. */
const LONGEST_WAIT_MS = 70_000;
/** Times are not told apart by less, in ms, besides what was measured. */
const FINEST_MS = 0.5;
/** Besides t3.5, from a reply to the next request of a client that does not rest. */
const AT_ONCE_MS = 1;
/** The silence is tried so often, and up to so often where its times differ by more than this, in ms. */
const SILENCES = 7;
const MOST_SILENCES = 15;
const STEADY_MS = 0.5;
/** Unless the client takes longer for them, in ms. */
const LONGEST_SILENCES_MS = 60_000;
/** The part of the times that is left out at each end, because a busy machine stalls now and then. */
const EXTREME_PART = 0.1;
/** See `spanOf`. */
const WIDENING = 4;

/** Learns the pace of a client. @returns why that is not possible, as a sentence */
export async function learnPace(exam: Exam): Promise<Pace | string> {
  const next = usualNext(exam);
  if (!next) return 'what usually comes after a poll is not known';
  const evidence: Exchange[] = [];
  const silent: Next[] = [];
  const closings: number[] = [];
  const waits = () => silent.map(({ afterMs }) => afterMs);
  const began = exam.clock.now();
  const isEnough = () =>
    silent.length >= SILENCES &&
    (silent.length >= MOST_SILENCES ||
      spreadOf(waits()) <= STEADY_MS ||
      exam.clock.now() - began > LONGEST_SILENCES_MS);
  while (!isEnough()) {
    const seen = await spoilAndWait(exam, [{ silence: true }], next.afterMs);
    if (!seen) return 'no request came that could be disturbed';
    evidence.push(seen.spoilt);
    if (!seen.next)
      return `nothing was asked any more for ${LONGEST_WAIT_MS / 1000} s after a poll without a reply`;
    evidence.push(seen.next);
    silent.push({ question: seen.next.question, afterMs: seen.next.at - seen.spoilt.at });
    if (seen.closedAfterMs !== undefined) closings.push(seen.closedAfterMs);
    await exam.recover(1);
  }
  const [first] = silent;
  if (!first || silent.some(({ question }) => question !== first.question)) {
    return 'not the same question comes each time after a poll without a reply';
  }
  const closes = closings.length === silent.length;
  return {
    usual: { question: next.question, afterMs: next.afterMs },
    silent: { question: first.question, afterMs: median(waits()) },
    closedAfterMs: closes ? median(closings) : undefined,
    replyMs: median(usualFollowers(exam).flatMap(({ poll }) => (repliedFrom(poll) ?? poll.at) - poll.at)),
    jitter: Math.max(spanOf(usualTimes(exam)), spanOf(waits())) / 2,
    spread: spreadOf(closes ? closings : waits()),
    atOnceMs: exam.line.t35 + AT_ONCE_MS,
    evidence,
  };
}

/**
 * The span of times, without the latest tenth, and at least one: when the machine stalls once, one time is far off, and
 * the median of several trials is not. Of a few random times it is made larger, because many would span more.
 */
function spanOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const kept = Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.9));
  const span = (sorted[kept - 1] ?? 0) - (sorted[0] ?? 0);
  return span * (1 + WIDENING / Math.max(1, kept));
}

/** How far times are apart without the extreme ones. */
function spreadOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  const left = Math.round(EXTREME_PART * sorted.length);
  return (sorted.at(-1 - left) ?? 0) - (sorted[left] ?? 0);
}

/** The median of so many times is the same as another one when it differs by no more, in ms. */
export function toleranceOf({ jitter }: Pace, times = 1): number {
  return FINEST_MS + jitter * (1 + 1 / Math.sqrt(times));
}

/** How much the times to the usual next question differ: half of the span that nine of ten are in, in ms. */
export function jitterOf(exam: Exam): number {
  const sorted = usualTimes(exam).sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)] ?? 0;
  return (at(0.95) - at(0.05)) / 2;
}

/** From polls with a reply to the usual next question, in ms. */
function usualTimes(exam: Exam): number[] {
  const usual = usualNext(exam)?.question;
  return usualFollowers(exam).flatMap(({ poll, next }) =>
    next.question === usual ? [next.at - poll.at] : [],
  );
}

/** Spoils one poll, and waits for what comes next. Undefined when nothing could be spoilt. */
export async function spoilAndWait(exam: Exam, faults: readonly object[], usualMs: number) {
  const limit = LONGEST_WAIT_MS + usualMs + 2 * exam.periodMs;
  const { spoilt } = await exam.disturb(
    { faults, count: 1 },
    ({ spoilt: [first] }) => {
      // The reply must be over, too: it shows when it was sent.
      return first?.reply && nextOf(exam, first);
    },
    limit,
  );
  const [first] = spoilt;
  if (!first) return undefined;
  const { clientId } = first.request;
  const next = nextOf(exam, first);
  const gone = exam.log
    .othersAfter(first.seq)
    .find(
      (event) =>
        event.kind === 'client gone' && event.clientId === clientId && (!next || event.seq < next.seq),
    );
  const closedAfterMs = clientId !== 0 && gone ? gone.at - first.at : undefined;
  return { spoilt: first, next, closedAfterMs };
}
