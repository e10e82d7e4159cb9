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
  /** The shortest time after which a client without a reply was seen to go on. */
  readonly soonestMs: number;
  /** The client closed its connection so long after a request without a reply; undefined where it did not. */
  readonly closedAfterMs: number | undefined;
  /** The usual time from a request to its reply. */
  readonly replyMs: number;
  /** Times that differ by no more are the same. */
  readonly tolerance: number;
  /** A client that is behind its rhythm asks again within this time after a reply. */
  readonly atOnceMs: number;
  /** The polls without replies, and what came next. */
  readonly evidence: readonly Exchange[];
}

/** A reply that came late by a known time, and what the client did. */
export interface Probe {
  /**
   * `taken`: the client went on as after a reply. `given up`: it went on as after none. `unclear`: this client would
   * have done the same in both cases.
   */
  readonly answer: 'taken' | 'given up' | 'unclear';
  /** From the request to the first byte of the reply, in ms, as it was or would have been. */
  readonly lateMs: number;
  /** The client had given up at this time, in ms after the request; undefined where only `lateMs` is known. */
  readonly goneAfterMs: number | undefined;
  /** After a request that was asked at no multiple of the poll period: the client keeps to no fixed grid. */
  readonly isOffGrid: boolean;
  readonly evidence: readonly Exchange[];
}

/** No client waits longer for a reply, in ms. */
const LONGEST_WAIT_MS = 70_000;
/** Besides what was measured, for the clock and the way of the bytes. */
const FINEST_MS = 0.5;
/** Besides t3.5, from a reply to the next request of a client that does not rest. */
const AT_ONCE_MS = 1;
/** The silence is tried so often. */
const SILENCES = 2;

/** Learns the pace of a client. @returns why that is not possible, as a sentence */
export async function learnPace(exam: Exam): Promise<Pace | string> {
  const next = usualNext(exam);
  if (!next) return 'what usually comes after a poll is not known';
  const evidence: Exchange[] = [];
  const silent: Next[] = [];
  const closings: number[] = [];
  for (let i = 0; i < SILENCES; i++) {
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
  const waits = silent.map(({ afterMs }) => afterMs);
  const closedAfterMs = closings.length === SILENCES ? Math.min(...closings) : undefined;
  return {
    usual: { question: next.question, afterMs: next.afterMs },
    silent: { question: first.question, afterMs: median(waits) },
    soonestMs: Math.min(...waits),
    closedAfterMs,
    replyMs: median(usualFollowers(exam).flatMap(({ poll }) => (repliedFrom(poll) ?? poll.at) - poll.at)),
    tolerance: FINEST_MS + jitterOf(exam) + Math.max(...waits) - Math.min(...waits),
    atOnceMs: exam.line.t35 + AT_ONCE_MS,
    evidence,
  };
}

/** Lets one reply come late, and finds out whether the client still took it. */
export async function probe(exam: Exam, pace: Pace, delayMs: number): Promise<Probe | undefined> {
  await exam.recover(1);
  const seen = await spoilAndWait(exam, [{ delay: delayMs }], delayMs + pace.usual.afterMs);
  if (!seen) return undefined;
  const { spoilt, next, closedAfterMs } = seen;
  const sentAt = repliedFrom(spoilt);
  const lateMs = sentAt === undefined ? pace.replyMs + delayMs : sentAt - spoilt.at;
  const evidence = next ? [spoilt, next] : [spoilt];
  const known = {
    lateMs,
    evidence,
    isOffGrid: next !== undefined && isOffGrid(exam, pace, next.at - spoilt.at),
  };
  if (closedAfterMs !== undefined && closedAfterMs < lateMs) {
    return { ...known, answer: 'given up', goneAfterMs: closedAfterMs };
  }
  if (!next) return { ...known, answer: 'unclear', goneAfterMs: undefined };
  const afterMs = next.at - spoilt.at;
  if (afterMs < lateMs) return { ...known, answer: 'given up', goneAfterMs: afterMs };
  return { ...known, answer: answerOf(pace, lateMs, next.question, afterMs), goneAfterMs: undefined };
}

/** Whether polls are asked at other times than multiples of the period. */
function isOffGrid({ periodMs }: Exam, { tolerance }: Pace, afterMs: number): boolean {
  const off = afterMs % periodMs;
  return Math.min(off, periodMs - off) > tolerance;
}

function answerOf(
  { usual, silent, replyMs, tolerance, atOnceMs }: Pace,
  lateMs: number,
  question: string,
  afterMs: number,
): Probe['answer'] {
  if (usual.question !== silent.question) {
    if (question === usual.question) return 'taken';
    return question === silent.question ? 'given up' : 'unclear';
  }
  const isAsSilent = question === silent.question && Math.abs(afterMs - silent.afterMs) <= tolerance;
  // A client that rests after a reply asks later by as much as the reply was late.
  const ifTaken = lateMs + usual.afterMs - replyMs;
  if (!isAsSilent) return 'taken';
  const isAsTaken = Math.abs(afterMs - ifTaken) <= tolerance || afterMs - lateMs <= atOnceMs;
  return isAsTaken ? 'unclear' : 'given up';
}

async function spoilAndWait(exam: Exam, faults: readonly object[], usualMs: number) {
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
  const gone = exam.log
    .othersAfter(first.seq)
    .find((event) => event.kind === 'client gone' && event.clientId === clientId);
  const closedAfterMs = clientId !== 0 && gone ? gone.at - first.at : undefined;
  return { spoilt: first, next: nextOf(exam, first), closedAfterMs };
}

/** How much the times to the usual next question differ: half of the span that nine of ten are in, in ms. */
export function jitterOf(exam: Exam): number {
  const usual = usualNext(exam)?.question;
  const times = usualFollowers(exam).flatMap(({ poll, next }) =>
    next.question === usual ? [next.at - poll.at] : [],
  );
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)] ?? 0;
  return (at(0.95) - at(0.05)) / 2;
}
