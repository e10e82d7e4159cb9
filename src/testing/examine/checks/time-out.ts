import { type Measured, measuredText, numberText } from '../heard/found.js';
import type { Check } from '../trial/check.js';
import { decide } from '../trial/contrast.js';
import type { Exam } from '../trial/exam.js';
import { type Pace, type Probe, paceOf, probe, toleranceOf } from '../trial/late-probe.js';
import { type Evidence, type Judged, sure, type Trial } from '../trial/verdict.js';

/** The promise: this many ms, or this part, whichever is more. */
const PROMISED_MS = 3;
const PROMISED_PART = 0.02;
/** What is aimed at is better than that, because clocks and clients are not exact. */
const AIM = 0.6;
/** How late the machine reads a request is not known, so no smaller part of the promise is claimed. */
const LEAST_ERROR = 0.5;
/** For the clock and the way of the bytes, in ms. */
const FINEST_MS = 0.5;
const MOST_PROBES = 40;
/** A client whose times differ too much shows no more by being tried longer than this, in ms and in polls without a reply. */
const LONGEST_SEARCH_MS = 90_000;
const LONGEST_SEARCH_POLLS = 40;
/** Each delay is tried so often, by how unsteady the client and the machine are. */
const TRIALS = { steady: 1, unsteady: 7, last: 3 } as const;
/** A client that takes longer than this to go on without a reply, in ms, is tried as often as the last ones. */
const SLOW_MS = 3_000;
/** Times that differ by less are steady, in ms: of the machine, and of the client's own rhythm. */
const STEADY_MS = { spread: 0.5, jitter: 2 } as const;
/** Answers that contradict each other are found by trying again; then the search begins anew, so often. */
const RESTARTS = 2;
/** Parts of a poll period by which a delay is shortened, so that it ends between the moments of a grid. */
const OFF_GRID = [0.37, 0.21];
/** A client that waits longer than this for a reply keeps its user waiting. */
const LONGEST_MS = 30_000;

/** The response time-out. */
const timeOut: Check = {
  id: 'time-out',
  group: 'time',
  title: 'Gives up waiting for a reply',
  what: 'a reply that is missing or late',
  does: 'Leaves out replies and delays others, by a delay that is halved again and again between one that is taken and one that is not.',
  matters: 'The time-out decides which devices can be used, and how long a dead one holds up all others.',
  fix: 'Set a time-out of one to a few seconds, longer than the slowest device takes.',
  rule: 'Passes when the time-out is found to 3 ms or 2 %, fails when it is over 30 s or the client never asks again; inconclusive when its requests do not show when it gives up.',
  source: 'Modbus over Serial Line V1.02, 2.4.1: 1 s to several s at 9600 baud',
  async run(exam) {
    const pace = await paceOf(exam);
    if (typeof pace === 'string') return sure('unclear', pace);
    if (looksAlike(pace)) {
      const text =
        'the client polls on in the same rhythm when there is no reply, so the line does not show when it gives up';
      return sure('unclear', text, pace.evidence);
    }
    const search = await searchTimeOut(exam, pace);
    const { value, plusMinus } = search.found;
    const text = `waits ${measuredText(search.found)} for a reply (${search.probes} delays tried)`;
    if (!search.isSure || plusMinus > promised(value)) {
      const between = `between ${numberText(Math.max(0, value - plusMinus))} and ${numberText(value + plusMinus)} ms`;
      return sure('unclear', `the time-out is ${between}; ${whyNotBetter(pace)}`, search.evidence);
    }
    exam.found.timeoutMs = search.found;
    if (value > LONGEST_MS) return sure('wrong', text, search.evidence, 'waits more than 30 s for a reply');
    return sure('right', text, search.evidence);
  },
};

function looksAlike(pace: Pace): boolean {
  const { usual, silent, closedAfterMs } = pace;
  if (closedAfterMs !== undefined || usual.question !== silent.question) return false;
  return Math.abs(usual.afterMs - silent.afterMs) <= toleranceOf(pace);
}

function whyNotBetter({ jitter, spread: waits }: Pace): string {
  const spread = Math.max(jitter, waits);
  return spread <= STEADY_MS.jitter
    ? 'the rhythm of this client does not show it better'
    : `times of this client differ by up to ${numberText(spread)} ms here, by its own rhythm or because the machine is busy`;
}

/** The time-out, as far as it could be found. */
interface Search {
  readonly found: Measured;
  /** What was seen can't be had with another time-out. */
  readonly isSure: boolean;
  readonly probes: number;
  readonly evidence: Evidence;
}

/** How exactly a time-out of so many ms is to be known, in ms. */
function promised(ms: number): number {
  return Math.max(PROMISED_MS, PROMISED_PART * ms);
}

/** Everything that is known of the time-out; it lies between `low` and `high`, in ms. */
class Limits {
  low: number;
  high: number;
  lowest: Evidence = [];
  highest: Evidence;
  /** A poll came at no multiple of the poll period. */
  isOffGrid = false;

  constructor({ replyMs, silent, closedAfterMs, evidence }: Pace) {
    this.low = replyMs;
    this.high = closedAfterMs ?? silent.afterMs;
    this.highest = evidence;
  }

  take({ answer, lateMs, isOffGrid, evidence }: Probe): void {
    if (answer === 'taken') this.isOffGrid ||= isOffGrid;
    if (answer === 'taken' && lateMs > this.low) [this.low, this.lowest] = [lateMs, evidence];
    if (answer === 'given up' && lateMs < this.high) [this.high, this.highest] = [lateMs, evidence];
  }

  get isNarrow(): boolean {
    return (this.high - this.low) / 2 <= AIM * promised(this.high);
  }
}

/** Delays replies by more and by less, until the time-out is between two delays that are close to each other. */
async function searchTimeOut(exam: Exam, pace: Pace): Promise<Search> {
  const { silent } = pace;
  const unsteady = silent.afterMs > SLOW_MS ? TRIALS.last : TRIALS.unsteady;
  const isSteady = pace.spread <= STEADY_MS.spread && pace.jitter <= STEADY_MS.jitter;
  let times: number = isSteady ? TRIALS.steady : unsteady;
  let probes = 0;
  const until =
    exam.clock.now() +
    Math.max(
      LONGEST_SEARCH_MS,
      LONGEST_SEARCH_POLLS * (exam.periodMs + (pace.closedAfterMs ?? silent.afterMs)),
    );
  const isLate = () => exam.clock.now() > until;
  for (let restarts = 0; ; restarts++) {
    const limits = new Limits(pace);
    const look = async (lateMs: number, often = times): Promise<Probe['answer']> => {
      probes++;
      const seen = await probe(exam, pace, { delayMs: lateMs - pace.replyMs, times: often });
      if (seen) limits.take(seen);
      return seen?.answer ?? 'unclear';
    };
    await narrow(pace, limits, { look, times, isLate });
    for (const part of OFF_GRID) {
      const lateMs = limits.low - part * exam.periodMs;
      if (isOnGrid(exam, pace) && !limits.isOffGrid && lateMs > pace.replyMs) await look(lateMs);
    }
    const { low, high } = limits;
    const often = Math.max(TRIALS.last, times);
    const lower = low > pace.replyMs ? await look(low, often) : 'taken';
    const upper = await look(high, often);
    // A machine that stalls makes a client seem to go on earlier or later than it does. Only when it goes on after no reply
    // may be the time-out itself, and a reply at that time may be taken or not.
    const wasTried = high < new Limits(pace).high;
    const contradicts =
      lower !== 'taken' ||
      (wasTried && upper !== 'given up') ||
      limits.low - limits.high > 2 * slack(pace).above;
    if (contradicts && restarts < RESTARTS && !isLate()) {
      times = unsteady;
      continue;
    }
    const isSure = !contradicts && (limits.isOffGrid || !isOnGrid(exam, pace));
    return { found: measured(pace, limits), isSure, probes, evidence: [...limits.lowest, ...limits.highest] };
  }
}

interface Looking {
  readonly look: (lateMs: number) => Promise<Probe['answer']>;
  /** How often each delay is tried. */
  readonly times: number;
  readonly isLate: () => boolean;
}

/** Brings the limits together, from what most clients do to halving. */
async function narrow(pace: Pace, limits: Limits, { look, times, isLate }: Looking): Promise<void> {
  const tolerance = toleranceOf(pace, times);
  // Most clients ask again, or ask the next question, as soon as they give up; or rest as long as after a reply.
  const rests = pace.silent.afterMs - pace.usual.afterMs + pace.replyMs;
  for (const guess of [limits.high, rests]) {
    for (const margin of [AIM * promised(guess), AIM * promised(guess) + 2 * tolerance]) {
      if (guess - margin > limits.low && guess <= limits.high) await look(guess - margin);
      if (guess + margin > limits.low && guess + margin < limits.high) await look(guess + margin);
    }
  }
  // Where both cases look the same, a little more or less shows which it is.
  const nudge = Math.max(tolerance * 2, 1);
  for (
    let tries = 0;
    !limits.isNarrow && limits.low < limits.high && tries < MOST_PROBES && !isLate();
    tries++
  ) {
    const middle = (limits.low + limits.high) / 2;
    if ((await look(middle)) !== 'unclear') continue;
    const before = limits.high - limits.low;
    await look(middle - nudge);
    if (middle + nudge < limits.high) await look(middle + nudge);
    if (limits.high - limits.low >= before) break;
  }
}

/** The limits with what the machine adds to them. */
function measured(pace: Pace, limits: Limits): Measured {
  const { below, above } = slack(pace);
  const low = Math.min(limits.low, limits.high) - below;
  const high = Math.max(limits.low, limits.high) + above;
  return {
    value: (low + high) / 2,
    plusMinus: Math.max((high - low) / 2, LEAST_ERROR * promised(high)),
  };
}

/**
 * How far the time-out may be outside its limits. A reply that was taken came later than we know, so only a late timer
 * of the client can make the limit too high. One that was not taken may have been read, and have come, later than we know.
 */
function slack({ spread }: Pace): { readonly below: number; readonly above: number } {
  return { below: FINEST_MS + spread / 2, above: FINEST_MS + 2.5 * spread };
}

/** A client that waits for the next moment of a grid of its own after it gives up does not show when that was. */
function isOnGrid({ periodMs }: Exam, pace: Pace): boolean {
  const { usual, silent, closedAfterMs } = pace;
  if (closedAfterMs !== undefined || usual.question !== silent.question) return false;
  const off = silent.afterMs % periodMs;
  return Math.min(off, periodMs - off) <= toleranceOf(pace);
}

/** Parts of the time-out, and what becomes of replies that come then. */
const MARGINS = [
  [0.9, 'taken'],
  [1.1, 'given up'],
] as const;

/** What happens at 90 % and 110 % of the time-out. */
const timeOutMargins: Check = {
  id: 'time-out-margins',
  group: 'time',
  title: 'Keeps to its time-out',
  what: 'a reply close to its time-out',
  does: 'Delays replies to 90 % and to 110 % of the time-out that was found, three times each.',
  matters: 'A time-out that depends on chance makes errors that nobody can find.',
  fix: 'Measure the time-out from the end of the request, by a clock that nothing else holds up.',
  rule: 'Passes when replies at 90 % are taken and those at 110 % are not, in three trials of each that agree, fails when three show otherwise; inconclusive without a time-out, or when the requests do not show it.',
  source: 'Common practice',
  needs: ['time-out'],
  async run(exam) {
    const { timeoutMs } = exam.found;
    if (!timeoutMs) return sure('unclear', 'the time-out is not known');
    const pace = await paceOf(exam);
    if (typeof pace === 'string') return sure('unclear', pace);
    const judged: Judged[] = [];
    for (const [part, wanted] of MARGINS) {
      const lateMs = part * timeoutMs.value;
      const text = `a reply after ${numberText(lateMs)} ms, ${Math.round(part * 100)} % of the time-out,`;
      const next = await decide(exam, this, async (): Promise<Trial> => {
        const seen = await probe(exam, pace, { delayMs: lateMs - pace.replyMs, times: 1 });
        if (!seen || seen.answer === 'unclear') {
          const evidence = seen?.evidence ?? [];
          return { shows: 'unclear', text: `the requests do not show whether ${text} was taken`, evidence };
        }
        const { answer, evidence } = seen;
        const shows = answer === wanted ? 'right' : 'wrong';
        const was = answer === 'taken' ? 'was taken' : 'was not taken';
        return { shows, text: `${text} ${was}`, evidence, conclusion: 'does not keep to one time-out' };
      });
      if (next.verdict !== 'pass') return next;
      judged.push(next);
    }
    const evidence = judged.flatMap((each) => each.evidence);
    const summary = 'took replies at 90 % of the time-out, and none at 110 %';
    return { ...(judged[0] as Judged), evidence, summary };
  },
};

export const timeOuts: readonly Check[] = [timeOut, timeOutMargins];
