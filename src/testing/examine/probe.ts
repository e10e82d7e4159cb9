import type { Exam } from './exam.js';
import { type Exchange, repliedFrom } from './exchange.js';
import { type Pace, spoilAndWait, toleranceOf } from './pace.js';
import { quiet } from './quiet.js';
import { median } from './rhythm.js';

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
  readonly evidence: readonly Exchange[];
}

/** One late reply. Times in ms after the request. */
interface Trial {
  readonly lateMs: number;
  /** The client had given up by then; undefined where only what came next can tell. */
  readonly goneAfterMs: number | undefined;
  /** The client closes its connection when it gives up, and has not. */
  readonly isKept: boolean;
  readonly question: string | undefined;
  readonly afterMs: number;
  readonly evidence: readonly Exchange[];
}

/** What a client does is another thing than expected when it differs by so many tolerances. */
const FAR = 4;
/** Of several trials, so many must agree. */
const AGREEING = 2 / 3;

/**
 * Lets replies come late, and finds out whether the client still took them.
 * @param times how often that is tried; where the client or the machine is unsteady, more often tells more
 */
export async function probe(
  exam: Exam,
  pace: Pace,
  { delayMs, times }: { readonly delayMs: number; readonly times: number },
): Promise<Probe | undefined> {
  const trials: Trial[] = [];
  for (let i = 0; i < times; i++) {
    const trial = await tryOnce(exam, pace, delayMs);
    if (trial) trials.push(trial);
  }
  if (trials.length === 0) return undefined;
  const certain = (answer: Probe['answer'], is: (trial: Trial) => boolean) => {
    const agreeing = trials.filter(is);
    return agreeing.length >= AGREEING * trials.length ? made(exam, pace, answer, agreeing) : undefined;
  };
  return (
    certain('given up', ({ goneAfterMs }) => goneAfterMs !== undefined) ??
    certain('taken', ({ isKept }) => isKept) ??
    byNext(exam, pace, trials)
  );
}

async function tryOnce(exam: Exam, pace: Pace, delayMs: number): Promise<Trial | undefined> {
  await exam.recover(1);
  const seen = await spoilAndWait(exam, [{ delay: delayMs }], delayMs + pace.usual.afterMs);
  if (!seen) return undefined;
  const { spoilt, next, closedAfterMs } = seen;
  const sentAt = repliedFrom(spoilt);
  const lateMs = sentAt === undefined ? pace.replyMs + delayMs : sentAt - spoilt.at;
  const afterMs = next ? next.at - spoilt.at : Number.POSITIVE_INFINITY;
  const gone = closedAfterMs ?? (afterMs < lateMs ? afterMs : undefined);
  // The reply came too late, and the client may have kept it for its next request.
  const isPending = sentAt !== undefined && closedAfterMs === undefined;
  const isLate = gone !== undefined || Math.abs(afterMs - pace.silent.afterMs) <= FAR * toleranceOf(pace);
  if (isPending && isLate) await quiet(exam, 1);
  return {
    lateMs,
    goneAfterMs: gone && Math.min(gone, lateMs),
    isKept: pace.closedAfterMs !== undefined && gone === undefined,
    question: next?.question,
    afterMs,
    evidence: next ? [spoilt, next] : [spoilt],
  };
}

function made(exam: Exam, pace: Pace, answer: Probe['answer'], trials: readonly Trial[]): Probe {
  const times = trials.map(({ lateMs, goneAfterMs = lateMs }) => goneAfterMs);
  const off = median(trials.map(({ afterMs }) => afterMs)) % exam.periodMs;
  return {
    answer,
    lateMs: median(times),
    isOffGrid: Math.min(off, exam.periodMs - off) > toleranceOf(pace),
    evidence: trials.flatMap(({ evidence }) => evidence),
  };
}

/** What the next request tells. */
function byNext(exam: Exam, pace: Pace, trials: readonly Trial[]): Probe {
  const { usual, silent } = pace;
  const are = (question: string) =>
    trials.filter((each) => each.question === question).length >= AGREEING * trials.length;
  const answer =
    usual.question === silent.question
      ? byTime(pace, trials)
      : are(usual.question)
        ? 'taken'
        : are(silent.question)
          ? 'given up'
          : 'unclear';
  return made(exam, pace, answer, trials);
}

function byTime(pace: Pace, trials: readonly Trial[]): Probe['answer'] {
  const { usual, silent, replyMs, atOnceMs } = pace;
  if (trials.some(({ question }) => question !== usual.question)) return 'unclear';
  const tolerance = toleranceOf(pace, trials.length);
  const of = (timeOf: (trial: Trial) => number) => median(trials.map(timeOf));
  const fromSilent = Math.abs(of(({ afterMs }) => afterMs - silent.afterMs));
  // A client that rests after a reply asks later by as much as the reply was late.
  const fromTaken = Math.abs(of(({ afterMs, lateMs }) => afterMs - lateMs - usual.afterMs + replyMs));
  const isAsTaken =
    fromTaken <= tolerance || of(({ afterMs, lateMs }) => afterMs - lateMs) <= atOnceMs + tolerance;
  if (fromSilent <= tolerance) return isAsTaken ? 'unclear' : 'given up';
  return isAsTaken || fromSilent > FAR * tolerance ? 'taken' : 'unclear';
}
