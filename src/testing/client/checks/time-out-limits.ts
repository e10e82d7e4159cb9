import type { Measured } from '../../report/report.js';
import type { Frequent } from '../trial/observation.js';
import type { Evidence } from '../trial/verdict.js';

/** How a client goes on after a poll with a reply, and after one without. Times in ms. */
export interface Pace {
  readonly usual: Frequent;
  readonly silent: Frequent;
  /**
   * How long after a request without a reply the client closes its connection; undefined when it does not.
   */
  readonly closedAfterMs: number | undefined;
  readonly replyMs: number;
  /**
   * Two times are the same when they differ by no more than this: by the rhythm of the client, and by what
   * the machine adds.
   */
  readonly tolerance: number;
  /**
   * The range of the times from a request without a reply to what comes next: how late requests are read and
   * timers are.
   */
  readonly spread: number;
  readonly isSteady: boolean;
  readonly evidence: Evidence;
}

/** A reply that came late by a known time, and what the client did. */
export interface Probe {
  /**
   * `taken`: the client went on as after a reply. `given up`: it went on as after none. `unclear`: it would
   * have done the same in both cases.
   */
  readonly answer: 'taken' | 'given up' | 'unclear';
  /**
   * The time from the request to the first byte of the reply, in ms; to what the client did, when that came
   * before.
   */
  readonly lateMs: number;
  /**
   * True when the next request came at no multiple of the poll period, so that the client keeps to no fixed
   * grid.
   */
  readonly isOffGrid: boolean;
  readonly evidence: Evidence;
}

/** The promised precision of the time-out: this many ms, or this fraction of it, whichever is more. */
const PROMISED_MS = 3;
const PROMISED_PART = 0.02;
/** Times differ by at least this, in ms, besides what was measured. */
export const FINEST_MS = 0.5;
/** Replies agree on a bound that come no further from it than this fraction of the promised precision. */
const NEAR = 0.3;
/**
 * Where to try when the middle shows nothing: beside it, by these fractions of the distance between the
 * limits.
 */
const ASIDE = [0, -0.25, 0.25, -0.4] as const;
/** After this many replies on end that show nothing, nothing more is looked for there. */
export const MOST_UNCLEAR = ASIDE.length;
/**
 * How much further off a reply is tried again that showed nothing, as a fraction of the promised precision.
 */
const FURTHER = 0.1;
/**
 * The least error that is claimed, as a fraction of the promised precision: it is not known how late the
 * machine reads a request.
 */
const LEAST_ERROR = 0.5;
/**
 * How much later than known bytes may be, in units of the spread: on each of two ways by about as much as the
 * times of a client differ, and some more by chance.
 */
export const LATE = 2.5;
/** The fraction of the replies near the time-out that may contradict. */
const AGAINST = 0.25;
/** How many replies that were taken have to be followed by a request beside the grid. */
const ENOUGH_OFF_GRID = 2;

/**
 * How exactly a time-out has to be known, in ms.
 * @param ms the time-out
 */
export function promised(ms: number): number {
  return Math.max(PROMISED_MS, PROMISED_PART * ms);
}

/**
 * What late replies have shown of the time-out: between which delays it lies, with the fewest replies against
 * that.
 */
export class Limits {
  readonly #pace: Pace;
  readonly #agreeing: number;
  /** The late replies, sorted by their delays. */
  #probes: readonly Probe[] = [];
  /** How many of the probes were late by less than the time-out. */
  #below = 0;
  #against = 0;

  /** @param agreeing how many replies have to agree on a bound */
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
   * The latest reply that was taken, in ms.
   * @param agreeing how many replies were taken that came as late or later
   */
  low(agreeing = 1): number {
    const taken = this.#probes.slice(0, this.#below).filter(({ answer }) => answer === 'taken');
    return taken.at(-agreeing)?.lateMs ?? this.#pace.replyMs;
  }

  /**
   * The first reply that was not taken, in ms; without one, the time after which the client goes on without a
   * reply, which was seen often enough.
   * @param agreeing how many replies were not taken that came as soon or sooner
   */
  high(agreeing = 1): number {
    const missed = this.#probes.slice(this.#below).filter(({ answer }) => answer === 'given up');
    return Math.max(this.low(), missed[agreeing - 1]?.lateMs ?? goneAfter(this.#pace));
  }

  /**
   * Next delay to try, in ms; undefined when no delay tells more.
   * @param aim target precision, as a fraction of the promised one
   * @param unclear how many replies on end have shown nothing
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

  /** True when a late reply was taken, and few enough of the replies near the time-out contradict. */
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
   * The time-out, from the limits and what the machine adds to them. A reply that was taken came later than
   * we know, so only a late timer of the client can make the lower limit too high. A reply that was not taken
   * may have been read, and have come, later than we know.
   */
  get measured(): Measured {
    const { spread } = this.#pace;
    const low = this.low(this.#agreeing) - FINEST_MS - spread / 4;
    const high = this.high(this.#agreeing) + FINEST_MS + LATE * spread;
    return { value: (low + high) / 2, plusMinus: Math.max((high - low) / 2, LEAST_ERROR * promised(high)) };
  }
}

/** When a client that gets no reply has given up at the latest, in ms. */
export function goneAfter({ closedAfterMs, silent }: Pace): number {
  return closedAfterMs ?? silent.afterMs;
}

function count(probes: readonly Probe[], wanted: Probe['answer']): number {
  return probes.filter(({ answer }) => answer === wanted).length;
}
