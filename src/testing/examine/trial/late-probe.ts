import { repliedFrom } from '../heard/exchange.js';
import { median } from '../heard/question.js';
import { isBroken, runChain, suppressReplies } from './chain.js';
import { learn } from './contrast.js';
import type { Exam } from './exam.js';
import { type Behaviour, behaviourAfter, LOST } from './observation.js';
import type { Evidence } from './verdict.js';

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
  readonly evidence: Evidence;
}

/** Times do not differ by less, in ms, besides what was measured. */
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
export async function paceOf(exam: Exam): Promise<Pace | string> {
  const began = exam.clock.now();
  let missing: Behaviour | undefined;
  for (let times = SILENCES; times <= MOST_SILENCES; times++) {
    const learned = await learn(exam, [LOST], { times });
    if (isBroken(learned)) return `${learned.why} after a poll without a reply`;
    if (learned.samples.length < times) break;
    missing = learned;
    const isLong = exam.clock.now() - began > LONGEST_SILENCES_MS;
    if (isLong || spreadOf(learned.frequent?.times ?? []) <= STEADY_MS) break;
  }
  const usual = behaviourAfter(exam, ['good']);
  const [next, silent] = [usual.frequent, missing?.frequent];
  if (!missing || !silent) return 'no request came that could be disturbed';
  if (!next) return 'what usually comes after a poll is not known';
  if (missing.samples.some((each) => each.next.question !== silent.question)) {
    return 'not the same question comes each time after a poll without a reply';
  }
  const closings = missing.samples.flatMap(({ closedAfterMs }) => closedAfterMs ?? []);
  const closes = closings.length === missing.samples.length;
  return {
    usual: next,
    silent,
    closedAfterMs: closes ? median(closings) : undefined,
    replyMs: usual.replyMs,
    jitter: Math.max(spanOf(next.times), spanOf(silent.times)) / 2,
    spread: spreadOf(closes ? closings : silent.times),
    atOnceMs: exam.line.t35 + AT_ONCE_MS,
    evidence: missing.samples.slice(-SILENCES).flatMap((each) => [each.of, each.next]),
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

/** Replies that came late by a known time, and what the client did. */
export interface Probe {
  /**
   * `taken`: the client went on as after a reply. `given up`: it went on as after none. `unclear`: this client would
   * have done the same in both cases, or did not do the same each time.
   */
  readonly answer: 'taken' | 'given up' | 'unclear';
  /**
   * From the request to the first byte of the reply, in ms, as it was or would have been: the median of several, because
   * a machine that stalls once makes one of them wrong.
   */
  readonly lateMs: number;
  /** After a request that was asked at no multiple of the poll period: the client keeps to no fixed grid. */
  readonly isOffGrid: boolean;
  readonly evidence: Evidence;
}

/** One late reply. Times in ms after the request. */
interface LateReply {
  readonly lateMs: number;
  /** The client had given up by then; undefined where only what came next decides. */
  readonly goneAfterMs: number | undefined;
  /** The client closes its connection when it gives up, and has not. */
  readonly isKept: boolean;
  readonly question: string;
  readonly afterMs: number;
  readonly evidence: Evidence;
}

/** What a client does is another thing than expected when it differs by so many tolerances. */
const FAR = 4;
/** Of several trials, so many must agree. */
const AGREEING = 2 / 3;

/**
 * Lets replies come late, and finds out whether the client still took them.
 * @param delayMs the replies are that much later than usual
 * @param times how often that is tried; where the client or the machine is unsteady, more often shows more
 */
export async function probe(
  exam: Exam,
  pace: Pace,
  { delayMs, times }: { readonly delayMs: number; readonly times: number },
): Promise<Probe | undefined> {
  const trials: LateReply[] = [];
  // Once so many agree on what the line shows at once, the others could not change the answer.
  const enough = AGREEING * times;
  for (let i = 0; i < times && !isShown(pace, trials, enough); i++) {
    const trial = await delayOne(exam, pace, Math.max(0, delayMs));
    if (trial) trials.push(trial);
  }
  if (trials.length === 0) return undefined;
  const certain = (answer: Probe['answer'], is: (trial: LateReply) => boolean) => {
    const agreeing = trials.filter(is);
    return agreeing.length >= AGREEING * trials.length ? made(exam, pace, answer, agreeing) : undefined;
  };
  return (
    certain('given up', ({ goneAfterMs }) => goneAfterMs !== undefined) ??
    certain('taken', ({ isKept }) => isKept) ??
    made(exam, pace, byNext(pace, trials), trials)
  );
}

function isShown({ usual, silent }: Pace, trials: readonly LateReply[], enough: number): boolean {
  const count = (is: (trial: LateReply) => boolean) => trials.filter(is).length;
  const asking = ({ question }: Next) => count((each) => each.question === question);
  const order = usual.question === silent.question ? [] : [asking(usual), asking(silent)];
  const gone = count(({ goneAfterMs }) => goneAfterMs !== undefined);
  return (
    gone >= enough ||
    (gone === 0 &&
      Math.max(
        count(({ isKept }) => isKept),
        ...order,
      ) >= enough)
  );
}

async function delayOne(exam: Exam, pace: Pace, delayMs: number): Promise<LateReply | undefined> {
  const chain = await runChain(exam, [[{ delay: delayMs }]], delayMs + pace.usual.afterMs);
  if (isBroken(chain)) return undefined;
  const { of, next, afterMs, closedAfterMs } = chain.continuation;
  const sentAt = repliedFrom(of);
  const lateMs = sentAt === undefined ? pace.replyMs + delayMs : sentAt - of.at;
  const gone = closedAfterMs ?? (afterMs < lateMs ? afterMs : undefined);
  // The reply came too late, and the client may have kept it for its next request.
  const isPending = sentAt !== undefined && closedAfterMs === undefined;
  const isLate = gone !== undefined || Math.abs(afterMs - pace.silent.afterMs) <= FAR * toleranceOf(pace);
  if (isPending && isLate) await suppressReplies(exam, 1);
  return {
    lateMs,
    goneAfterMs: gone && Math.min(gone, lateMs),
    isKept: pace.closedAfterMs !== undefined && gone === undefined,
    question: next.question,
    afterMs,
    evidence: [of, next],
  };
}

function made(exam: Exam, pace: Pace, answer: Probe['answer'], trials: readonly LateReply[]): Probe {
  const times = trials.map(({ lateMs, goneAfterMs = lateMs }) => goneAfterMs);
  const off = median(trials.map(({ afterMs }) => afterMs)) % exam.periodMs;
  return {
    answer,
    lateMs: median(times),
    isOffGrid: Math.min(off, exam.periodMs - off) > toleranceOf(pace),
    evidence: trials.flatMap(({ evidence }) => evidence),
  };
}

/** What the next request shows. */
function byNext(pace: Pace, trials: readonly LateReply[]): Probe['answer'] {
  const { usual, silent } = pace;
  const are = (question: string) =>
    trials.filter((each) => each.question === question).length >= AGREEING * trials.length;
  if (usual.question === silent.question) return byTime(pace, trials);
  if (are(usual.question)) return 'taken';
  return are(silent.question) ? 'given up' : 'unclear';
}

function byTime(pace: Pace, trials: readonly LateReply[]): Probe['answer'] {
  const { usual, silent, replyMs, atOnceMs } = pace;
  if (trials.some(({ question }) => question !== usual.question)) return 'unclear';
  const tolerance = toleranceOf(pace, trials.length);
  const of = (timeOf: (trial: LateReply) => number) => median(trials.map(timeOf));
  const fromSilent = Math.abs(of(({ afterMs }) => afterMs - silent.afterMs));
  // A client that rests after a reply asks later by as much as the reply was late.
  const fromTaken = Math.abs(of(({ afterMs, lateMs }) => afterMs - lateMs - usual.afterMs + replyMs));
  const isAsTaken =
    fromTaken <= tolerance || of(({ afterMs, lateMs }) => afterMs - lateMs) <= atOnceMs + tolerance;
  if (fromSilent <= tolerance) return isAsTaken ? 'unclear' : 'given up';
  return isAsTaken || fromSilent > FAR * tolerance ? 'taken' : 'unclear';
}
