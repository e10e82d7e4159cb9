import type { Exam } from '../../exam.js';
import type { Exchange } from '../../exchange.js';
import type { Measured } from '../../found.js';
import { type Pace, toleranceOf } from '../../pace.js';
import { type Probe, probe } from '../../probe.js';

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
/** Each delay is tried so often, by how unsteady the client and the machine are. */
const TRIALS = { steady: 1, unsteady: 7, last: 3 } as const;
/** Times that differ by less are steady, in ms: of the machine, and of the client's own rhythm. */
const STEADY_MS = { spread: 0.5, jitter: 2 } as const;
/** Answers that contradict each other are found by trying again; then the search begins anew, so often. */
const RESTARTS = 2;
/** Parts of a poll period by which a delay is shortened, so that it ends between the moments of a grid. */
const OFF_GRID = [0.37, 0.21];

/** The time-out, as far as it could be found. */
interface Search {
  readonly found: Measured;
  /** What was seen can't be had with another time-out. */
  readonly isSure: boolean;
  readonly probes: number;
  readonly evidence: readonly Exchange[];
}

/** How exactly a time-out of so many ms is to be known, in ms. */
export function promised(ms: number): number {
  return Math.max(PROMISED_MS, PROMISED_PART * ms);
}

/** Everything that is known of the time-out; it lies between `low` and `high`, in ms. */
class Bounds {
  low: number;
  high: number;
  lowest: readonly Exchange[] = [];
  highest: readonly Exchange[];
  /** A poll came at no multiple of the poll period. */
  isOffGrid = false;

  constructor({ replyMs, silent, closedAfterMs, evidence }: Pace) {
    this.low = replyMs;
    this.high = closedAfterMs ?? silent.afterMs;
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

/** Delays replies by more and by less, until the time-out is between two delays that are close to each other. */
export async function searchTimeOut(exam: Exam, pace: Pace): Promise<Search> {
  const isSteady = pace.spread <= STEADY_MS.spread && pace.jitter <= STEADY_MS.jitter;
  let times: number = isSteady ? TRIALS.steady : TRIALS.unsteady;
  let probes = 0;
  for (let restarts = 0; ; restarts++) {
    const bounds = new Bounds(pace);
    const look = async (lateMs: number, often = times): Promise<Probe['answer']> => {
      probes++;
      const seen = await probe(exam, pace, { delayMs: Math.max(0, lateMs - pace.replyMs), times: often });
      if (seen) bounds.take(seen);
      return seen?.answer ?? 'unclear';
    };
    await narrow(pace, bounds, { look, times });
    for (const part of OFF_GRID) {
      const lateMs = bounds.low - part * exam.periodMs;
      if (isOnGrid(exam, pace) && !bounds.isOffGrid && lateMs > pace.replyMs) await look(lateMs);
    }
    const { low, high } = bounds;
    const often = Math.max(TRIALS.last, times);
    const lower = low > pace.replyMs ? await look(low, often) : 'taken';
    const upper = await look(high, often);
    // A machine that stalls makes a client seem to go on earlier or later than it does. Only when it goes on after no reply
    // may be the time-out itself, and a reply at that time may be taken or not.
    const wasTried = high < new Bounds(pace).high;
    const contradicts =
      lower !== 'taken' ||
      (wasTried && upper !== 'given up') ||
      bounds.low - bounds.high > 2 * slack(pace).above;
    if (contradicts && restarts < RESTARTS) {
      times = TRIALS.unsteady;
      continue;
    }
    const isSure = !contradicts && (bounds.isOffGrid || !isOnGrid(exam, pace));
    return { found: measured(pace, bounds), isSure, probes, evidence: [...bounds.lowest, ...bounds.highest] };
  }
}

interface Looking {
  readonly look: (lateMs: number) => Promise<Probe['answer']>;
  /** How often each delay is tried. */
  readonly times: number;
}

/** Brings the bounds together, from what most clients do to halving. */
async function narrow(pace: Pace, bounds: Bounds, { look, times }: Looking): Promise<void> {
  const tolerance = toleranceOf(pace, times);
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
  for (let tries = 0; !bounds.isNarrow && bounds.low < bounds.high && tries < MOST_PROBES; tries++) {
    const middle = (bounds.low + bounds.high) / 2;
    if ((await look(middle)) !== 'unclear') continue;
    const before = bounds.high - bounds.low;
    await look(middle - nudge);
    if (middle + nudge < bounds.high) await look(middle + nudge);
    if (bounds.high - bounds.low >= before) break;
  }
}

/** The bounds with what the machine adds to them. */
function measured(pace: Pace, bounds: Bounds): Measured {
  const { below, above } = slack(pace);
  const low = Math.min(bounds.low, bounds.high) - below;
  const high = Math.max(bounds.low, bounds.high) + above;
  return {
    value: (low + high) / 2,
    plusMinus: Math.max((high - low) / 2, LEAST_ERROR * promised(high)),
  };
}

/**
 * How far the time-out may be outside its bounds. A reply that was taken came later than we know, so only a late timer
 * of the client can make the bound too high. One that was not taken may have been read, and have come, later than we know.
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
