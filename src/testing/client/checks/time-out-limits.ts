import type { Measured } from '../../report/report.js';
import type { Frequent } from '../trial/observation.js';
import type { Evidence } from '../trial/verdict.js';

/** How a client continues after a poll with a reply, and after one without. Times are in ms. */
export interface Pace {
  readonly usual: Frequent;
  readonly silent: Frequent;
  /** How long after a request without a reply the client closes its connection; undefined if it does not. */
  readonly closedAfterMs: number | undefined;
  readonly replyMs: number;
  /**
   * Two times are equal if they differ by no more than this. It includes the client's jitter and the delays
   * of this machine.
   */
  readonly tolerance: number;
  /**
   * The range of the times from a request without a reply to the next event. It shows how late requests are
   * read and timers fire.
   */
  readonly spread: number;
  readonly isSteady: boolean;
  readonly evidence: Evidence;
}

/** A reply delayed by a known time, and what the client did. */
export interface Probe {
  /**
   * `taken`: the client continued as it does after a reply. `given up`: as it does without one. `unclear`: it
   * would have done the same in both cases.
   */
  readonly answer: 'taken' | 'given up' | 'unclear';
  /**
   * The time from the request to the first byte of the reply, in ms; or to the client's next action, if that
   * came first.
   */
  readonly lateMs: number;
  /**
   * True if the next request did not come at a multiple of the poll period, so that the client follows no
   * fixed grid.
   */
  readonly isOffGrid: boolean;
  readonly evidence: Evidence;
}

/** The promised precision of the time-out: this many ms or this fraction of it, whichever is greater. */
const PROMISED_MS = 3;
const PROMISED_PART = 0.02;
/** The minimum uncertainty of a time, in ms, in addition to the measured one. */
export const FINEST_MS = 0.5;
/** Replies support a bound if they are no further from it than this fraction of the promised precision. */
const NEAR = 0.3;
/** Offsets from the middle to try if the middle shows nothing, as fractions of the distance between the limits. */
const ASIDE = [0, -0.25, 0.25, -0.4] as const;
/** After this many consecutive replies that show nothing, the search there ends. */
export const MOST_UNCLEAR = ASIDE.length;
/** How much further off to retry a reply that showed nothing, as a fraction of the promised precision. */
const FURTHER = 0.1;
/**
 * The smallest error that is reported, as a fraction of the promised precision: it is unknown how late the
 * machine reads a request.
 */
const LEAST_ERROR = 0.5;
/**
 * How much later bytes may arrive than measured, in multiples of the spread: in each direction about as much
 * as the client's times vary, and somewhat more by chance.
 */
export const LATE = 2.5;
/** The fraction of replies near the time-out that may contradict it. */
const AGAINST = 0.25;
/** How many accepted replies must be followed by a request off the grid. */
const ENOUGH_OFF_GRID = 2;

/**
 * The promised precision of a time-out, in ms.
 * @param ms the time-out
 */
export function promised(ms: number): number {
  return Math.max(PROMISED_MS, PROMISED_PART * ms);
}

/** The range in which late replies show the time-out to be, chosen so that the fewest replies contradict it. */
export class Limits {
  readonly #pace: Pace;
  readonly #agreeing: number;
  /** The late replies, sorted by delay. */
  #probes: readonly Probe[] = [];
  /** How many of the probes were delayed by less than the time-out. */
  #below = 0;
  #against = 0;

  /** @param agreeing how many replies must support a bound */
  constructor(pace: Pace, agreeing: number) {
    this.#pace = pace;
    this.#agreeing = agreeing;
  }

  add(seen: Probe): void {
    if (seen.answer === 'unclear') return;
    const probes = [...this.#probes, seen].sort((a, b) => a.lateMs - b.lateMs);
    const against = [...probes, undefined].map(
      (_, i) => count(probes.slice(0, i), 'given up') + count(probes.slice(i), 'taken'),
    );
    this.#against = Math.min(...against);
    this.#below = against.indexOf(this.#against);
    this.#probes = probes;
  }

  get probes(): number {
    return this.#probes.length;
  }

  /**
   * The longest delay of an accepted reply, in ms.
   * @param agreeing how many replies with this delay or a longer one must have been accepted
   */
  low(agreeing = 1): number {
    const taken = this.#probes.slice(0, this.#below).filter(({ answer }) => answer === 'taken');
    return taken.at(-agreeing)?.lateMs ?? this.#pace.replyMs;
  }

  /**
   * The shortest delay of a reply that was not accepted, in ms; if there is none, the time after which the
   * client continues without a reply, which has been seen often enough.
   * @param agreeing how many replies with this delay or a shorter one must have been rejected
   */
  high(agreeing = 1): number {
    const missed = this.#probes.slice(this.#below).filter(({ answer }) => answer === 'given up');
    return Math.max(this.low(), missed[agreeing - 1]?.lateMs ?? goneAfter(this.#pace));
  }

  /**
   * Next delay to try, in ms; undefined if no delay would show more.
   * @param aim target precision, as a fraction of the promised one
   * @param unclear how many consecutive replies have shown nothing
   */
  next(aim: number, unclear: number): number | undefined {
    const [low, high] = [this.low(), this.high()];
    const promise = promised(high);
    if ((high - low) / 2 > aim * promise) {
      return (low + high) / 2 + (high - low) * (ASIDE[unclear] ?? 0);
    }
    const further = unclear * FURTHER * promise;
    if (low - this.low(this.#agreeing) > NEAR * promise) return low - further;
    return this.high(this.#agreeing) - high > NEAR * promise ? high + further : undefined;
  }

  /** True if a late reply was accepted, and few enough of the replies near the time-out contradict it. */
  get isSure(): boolean {
    const [low, high] = [this.low(this.#agreeing), this.high(this.#agreeing)];
    const reach = 3 * promised(high);
    const near = this.#probes.filter(({ lateMs }) => lateMs >= low - reach && lateMs <= high + reach);
    return low > this.#pace.replyMs + this.#pace.tolerance && this.#against <= AGAINST * near.length;
  }

  get isOffGrid(): boolean {
    const off = this.#probes.filter(({ answer, isOffGrid }) => answer === 'taken' && isOffGrid);
    return off.length >= ENOUGH_OFF_GRID;
  }

  get evidence(): Evidence {
    const shown = this.#probes.slice(Math.max(0, this.#below - 1), this.#below + 1);
    return [...shown.flatMap(({ evidence }) => evidence), ...this.#pace.evidence];
  }

  /**
   * The time-out, computed from the limits and the delays that the machine adds. An accepted reply arrived
   * later than measured, so the lower limit can be too high only because of a late timer in the client. A
   * rejected reply may have been read, and have arrived, later than measured.
   */
  get measured(): Measured {
    const { spread } = this.#pace;
    const low = this.low(this.#agreeing) - FINEST_MS - spread / 4;
    const high = this.high(this.#agreeing) + FINEST_MS + LATE * spread;
    return { value: (low + high) / 2, plusMinus: Math.max((high - low) / 2, LEAST_ERROR * promised(high)) };
  }
}

/** The latest time at which a client without a reply has given up, in ms. */
export function goneAfter({ closedAfterMs, silent }: Pace): number {
  return closedAfterMs ?? silent.afterMs;
}

function count(probes: readonly Probe[], wanted: Probe['answer']): number {
  return probes.filter(({ answer }) => answer === wanted).length;
}
