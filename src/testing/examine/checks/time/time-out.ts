import { type Check, fail, inconclusive, pass } from '../../check.js';
import type { Exam } from '../../exam.js';
import type { Exchange } from '../../exchange.js';
import { type Measured, measuredText, numberText } from '../../found.js';
import { learnPace, type Pace, toleranceOf } from '../../pace.js';
import { type Probe, probe } from '../../probe.js';

/** The promise: this many ms, or this part, whichever is more. */
const PROMISED_MS = 3;
const PROMISED_PART = 0.02;
/** What is aimed at is better than that, because clocks and clients are not exact. */
const AIM = 0.6;
/** How late the machine reads a request is not known, so no smaller part of the promise is claimed. */
const LEAST_ERROR = 0.5;
/** A time-out and the times it is measured by may each be late. */
const LATE = 2;
const MOST_PROBES = 40;
/** Each delay is tried so often, by how unsteady the client and the machine are. */
const TRIALS = { steady: 1, unsteady: 5, last: 3 } as const;
/** Times that differ by less are steady, in ms. */
const STEADY_MS = 2;
/** Parts of a poll period by which a delay is shortened, so that it ends between the moments of a grid. */
const OFF_GRID = [0.37, 0.21];
/** A client that waits longer than this for a reply keeps its user waiting. */
const LONGEST_MS = 30_000;

/** The response time-out. */
export const timeOut: Check = {
  id: 'time-out',
  group: 'time',
  title: 'Gives up waiting for a reply',
  does: 'Leaves out replies and delays others, by a delay that is halved again and again between one that is taken and one that is not.',
  matters: 'The time-out decides which devices can be used, and how long a dead one holds up all others.',
  rule: 'Passes when the time-out is found to 3 ms or 2 %, fails when it is over 30 s or the client never asks again; inconclusive when its requests do not show when it gives up.',
  source: 'Modbus over Serial Line V1.02, 2.4.1: 1 s to several s at 9600 baud',
  async run(exam) {
    const pace = await learnPace(exam);
    if (typeof pace === 'string') return inconclusive(pace);
    if (looksAlike(pace)) {
      const summary =
        'the client polls on in the same rhythm when there is no reply, so the line does not show when it gives up';
      return inconclusive(summary, pace.evidence);
    }
    const search = await searchTimeOut(exam, pace);
    const { value, plusMinus } = search.found;
    const told = `waits ${measuredText(search.found)} for a reply (${search.probes} delays tried)`;
    if (!search.isSure || plusMinus > promised(value)) {
      const between = `between ${numberText(Math.max(0, value - plusMinus))} and ${numberText(value + plusMinus)} ms`;
      return inconclusive(`the time-out is ${between}; ${whyNotBetter(pace)}`, search.evidence);
    }
    exam.found.timeoutMs = search.found;
    if (value > LONGEST_MS) return fail(told, search.evidence, 'waits more than 30 s for a reply');
    return pass(told, search.evidence);
  },
};

function looksAlike(pace: Pace): boolean {
  const { usual, silent, closedAfterMs } = pace;
  if (closedAfterMs !== undefined || usual.question !== silent.question) return false;
  return Math.abs(usual.afterMs - silent.afterMs) <= toleranceOf(pace);
}

function whyNotBetter({ jitter, uncertainty }: Pace): string {
  const spread = Math.max(jitter, uncertainty);
  return spread <= STEADY_MS
    ? 'the rhythm of this client does not show it better'
    : `times of this client differ by up to ${numberText(spread)} ms here, by its own rhythm or because the machine is busy`;
}

interface Search {
  readonly found: Measured;
  /** What was seen can't be had with another time-out. */
  readonly isSure: boolean;
  readonly probes: number;
  readonly evidence: readonly Exchange[];
}

/** Everything that is known of the time-out; it lies between `low` and `high`, in ms. */
class Bounds {
  low: number;
  high: number;
  lowest: readonly Exchange[] = [];
  highest: readonly Exchange[];
  /** A poll came at no multiple of the poll period. */
  isOffGrid = false;

  constructor({ replyMs, soonestMs, closedAfterMs, evidence }: Pace) {
    this.low = replyMs;
    this.high = closedAfterMs ?? soonestMs;
    this.highest = evidence;
  }

  take({ answer, lateMs, isOffGrid, evidence }: Probe): void {
    if (answer === 'taken') this.isOffGrid ||= isOffGrid;
    if (answer === 'taken' && lateMs > this.low) {
      this.low = lateMs;
      this.lowest = evidence;
    }
    if (answer === 'given up' && lateMs < this.high) {
      this.high = lateMs;
      this.highest = evidence;
    }
  }

  get isNarrow(): boolean {
    return (this.high - this.low) / 2 <= AIM * promised(this.high);
  }
}

async function searchTimeOut(exam: Exam, pace: Pace): Promise<Search> {
  const bounds = new Bounds(pace);
  const usualTimes = pace.jitter > STEADY_MS ? TRIALS.unsteady : TRIALS.steady;
  let probes = 0;
  const look = async (lateMs: number, times: number = usualTimes): Promise<Probe['answer']> => {
    probes++;
    const seen = await probe(exam, pace, { delayMs: Math.max(0, lateMs - pace.replyMs), times });
    if (seen) bounds.take(seen);
    return seen?.answer ?? 'unclear';
  };
  const tolerance = toleranceOf(pace, usualTimes);
  // Most clients ask again, or ask the next question, as soon as they give up; or rest as long as after a reply.
  const rests = pace.silent.afterMs - pace.usual.afterMs + pace.replyMs;
  for (const guess of [bounds.high, rests]) {
    for (const margin of [AIM * promised(guess), AIM * promised(guess) + 2 * tolerance]) {
      if (guess - margin > bounds.low && guess <= bounds.high) await look(guess - margin);
      if (guess + margin > bounds.low && guess + margin < bounds.high) await look(guess + margin);
    }
  }
  // Where both cases look the same, a little more or less shows which it is.
  const nudge = Math.max(tolerance * 2, 1);
  while (!bounds.isNarrow && bounds.low < bounds.high && probes < MOST_PROBES) {
    const middle = (bounds.low + bounds.high) / 2;
    if ((await look(middle)) !== 'unclear') continue;
    const before = bounds.high - bounds.low;
    await look(middle - nudge);
    if (middle + nudge < bounds.high) await look(middle + nudge);
    if (bounds.high - bounds.low >= before) break;
  }
  for (const part of OFF_GRID) {
    const lateMs = bounds.low - part * exam.periodMs;
    if (isOnGrid(exam, pace) && !bounds.isOffGrid && lateMs > pace.replyMs) await look(lateMs);
  }
  // On a busy machine a reply may be late, or read late. What then contradicts itself makes the error larger.
  const { low: taken, high: refused } = bounds;
  const times = Math.max(TRIALS.last, usualTimes);
  if (taken > pace.replyMs) await look(taken, times);
  await look(refused, times);
  // The request was read later than it left, the reply came later than it left here, and the client's timer may be late.
  const low = Math.min(bounds.low, bounds.high) - LATE * pace.uncertainty;
  const high = Math.max(bounds.low, bounds.high) + LATE * pace.uncertainty;
  return {
    found: {
      value: (low + high) / 2,
      plusMinus: Math.max((high - low) / 2, LEAST_ERROR * promised(high)),
    },
    isSure: bounds.isOffGrid || !isOnGrid(exam, pace),
    probes,
    evidence: [...bounds.lowest, ...bounds.highest],
  };
}

/** A client that waits for the next moment of a grid of its own after it gives up does not show when that was. */
function isOnGrid({ periodMs }: Exam, pace: Pace): boolean {
  const { usual, silent, closedAfterMs } = pace;
  if (closedAfterMs !== undefined || usual.question !== silent.question) return false;
  const off = silent.afterMs % periodMs;
  return Math.min(off, periodMs - off) <= toleranceOf(pace);
}

function promised(ms: number): number {
  return Math.max(PROMISED_MS, PROMISED_PART * ms);
}
