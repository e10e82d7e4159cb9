import { expectedTimes, median, spanOf, type Times } from '../../times.js';
import { type Exchange, type Poll, repliedFrom, transactionOf, wentWell } from '../heard/exchange.js';
import type { ExchangeLog } from '../heard/log.js';

/** How the reply to a request is treated: it is sent as it should be, or faults act on it. */
export type Treatment = 'good' | readonly object[];

export interface Heard {
  readonly log: ExchangeLog;
  readonly target: Poll;
}

/** How a client continued after a request. */
export interface Continuation {
  readonly of: Exchange;
  readonly next: Exchange;
  readonly afterMs: number;
  /** True if the next request came over another connection. */
  readonly isAnew: boolean;
  /** How long after the request the client closed its connection; undefined if it did not. */
  readonly closedAfterMs: number | undefined;
}

/** How the client continued after this request; undefined if nothing has come yet. */
export function continuationOf(of: Exchange): Continuation | undefined {
  const next = of.next;
  if (!next) return undefined;
  const isAnew = next.request.clientId !== of.request.clientId;
  const closedAfterMs = isAnew && of.closedAt !== undefined ? of.closedAt - of.at : undefined;
  return { of, next, afterMs: next.at - of.at, isAnew, closedAfterMs };
}

/** Names what came next, without its time. */
function orderOf({ next, isAnew }: Continuation): string {
  return isAnew ? `anew ${next.poll}` : next.poll;
}

/** The request that comes next most often, and when. */
export interface Frequent {
  readonly poll: string;
  /** The median of `times`, in ms. */
  readonly afterMs: number;
  readonly times: readonly number[];
  readonly expected: Times;
}

/** How a client continues after certain treatments, from all traffic so far. */
export class Behaviour {
  readonly samples: readonly Continuation[];
  readonly #times = new Map<string, Times>();

  constructor(samples: readonly Continuation[]) {
    this.samples = samples;
    for (const order of new Set(samples.map(orderOf))) {
      const alike = samples.filter((each) => orderOf(each) === order);
      this.#times.set(order, expectedTimes(alike.map(({ afterMs }) => afterMs)));
    }
  }

  /** The times at which the client continues this way; undefined if it never did. */
  timesLike(continuation: Continuation): Times | undefined {
    return this.#times.get(orderOf(continuation));
  }

  /** The longest time that the client takes to continue, in ms. */
  get longest(): number {
    return Math.max(0, ...Array.from(this.#times.values(), ({ high }) => high));
  }

  /** The shortest time that the client takes to continue, in ms; infinite without samples. */
  get shortest(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...Array.from(this.#times.values(), ({ low }) => low));
  }

  /** When the client closes its connection after the request; undefined unless it does so every time. */
  get closing(): Times | undefined {
    const times = this.samples.flatMap(({ closedAfterMs }) => closedAfterMs ?? []);
    return times.length > 0 && times.length === this.samples.length ? expectedTimes(times) : undefined;
  }

  /** The request that comes next most often, and when; undefined without samples. */
  get frequent(): Frequent | undefined {
    const polls = this.samples.map(({ next }) => next.poll);
    const count = (poll: string) => polls.filter((each) => each === poll).length;
    const [poll] = [...new Set(polls)].sort((a, b) => count(b) - count(a));
    if (poll === undefined) return undefined;
    const times = this.samples.flatMap(({ next, afterMs }) => (next.poll === poll ? afterMs : []));
    return { poll, afterMs: median(times), times, expected: expectedTimes(times) };
  }

  /** The median time from the requests to their replies, in ms. */
  get replyMs(): number {
    return median(this.samples.map(({ of }) => (repliedFrom(of) ?? of.at) - of.at));
  }
}

/**
 * Finds how the client continued each time its requests were treated this way, beginning with a poll of the
 * target after a good reply.
 * @param polls what the requests must have been; absent: anything
 */
export function behaviourAfter(
  { log, target }: Heard,
  treatments: readonly Treatment[],
  polls?: readonly string[],
): Behaviour {
  const spoilt = treatments.findIndex((each) => each !== 'good');
  const isUndisturbed = spoilt < 0;
  const firsts = isUndisturbed ? log.newest() : log.spoilt.map((each) => backFrom(each, spoilt));
  const samples = firsts.flatMap((first): Continuation[] => {
    if (!first) return [];
    const { before, request } = first;
    // Some clients have a poll that the device rejects, and send another after it.
    if (first.poll !== target.key || !before || before.rule || repliedFrom(before) === undefined) return [];
    // A client that has just connected, perhaps after a time-out, may have polls to catch up with.
    if (before.request.clientId !== request.clientId && !log.isAnewEachTime) return [];
    // Later behaviour may result from a fault that the client has not recovered from.
    if (first.isStuck || (isUndisturbed && first.seq > log.usualUntil)) return [];
    const last = lastOf(first, treatments, polls);
    const continuation = last?.next && continuationOf(last);
    return continuation ? [continuation] : [];
  });
  return new Behaviour(samples);
}

/** A request that comes within this fraction of the poll period before or after the due time may be a poll. */
const LIKE_A_POLL = 0.25;
/** This many of the newest requests show whether the client still sends its other polls. */
const FEW_REQUESTS = 10;

/**
 * The requests that the client repeated although they were answered, which it never did before: it accepts no
 * reply. Empty for a client with one poll, which always sends the same request next.
 */
export function askedInVain(heard: Heard, asked: readonly Exchange[]): readonly Exchange[] {
  const { log, target } = heard;
  // A client that has dropped its other polls also sends the same request next, and in its rhythm.
  if (
    log
      .newest()
      .slice(-FEW_REQUESTS)
      .every(({ poll }) => poll === target.key)
  )
    return [];
  const period = target.periodMs ?? 0;
  const again = asked.filter(
    (each) =>
      wentWell(each) &&
      each.next?.poll === each.poll &&
      Math.abs(each.next.at - each.at - period) > LIKE_A_POLL * period,
  );
  if (again.length === 0) return again;
  const { samples } = behaviourAfter(heard, ['good']);
  return samples.some(({ of, next }) => next.poll === of.poll) ? [] : again;
}

function backFrom(exchange: Exchange, steps: number): Exchange | undefined {
  let first: Exchange | undefined = exchange;
  for (let i = 0; i < steps; i++) first = first?.before;
  return first;
}

function lastOf(
  first: Exchange,
  treatments: readonly Treatment[],
  polls: readonly string[] | undefined,
): Exchange | undefined {
  let exchange: Exchange | undefined = first;
  for (const [i, treatment] of treatments.entries()) {
    if (i > 0) exchange = exchange?.next;
    if (!exchange || (polls && exchange.poll !== polls[i])) return undefined;
    if (!wasTreated(exchange, treatment)) return undefined;
  }
  return exchange;
}

function wasTreated(exchange: Exchange, treatment: Treatment): boolean {
  if (treatment === 'good') return wentWell(exchange);
  const { rule } = exchange;
  return (
    rule !== undefined &&
    (rule.faults === treatment || JSON.stringify(rule.faults) === JSON.stringify(treatment))
  );
}

/**
 * What a client did about a reply, compared with its behaviour after a good reply and without one. `usual`:
 * it continued as it does after a good reply. `missing`: it continued as it does only without a reply.
 * `again`: it repeated the request early. `unclear`: none of these, or the two behaviours look alike.
 */
export interface Reaction {
  readonly kind: 'usual' | 'missing' | 'again' | 'unclear';
  readonly text: string;
  /** True if the client came back late, or with other transaction identifiers, like a program that was restarted. */
  readonly wasAway?: boolean;
  /** True if the two behaviours are too similar, so that further trials would show nothing more. */
  readonly isAlike?: boolean;
}

/** A client's behaviour after a good reply, and without one. */
export interface Compared {
  readonly usual: Behaviour;
  readonly missing: Behaviour;
  /** How much later than usual the reply ended, in ms. A client that accepted it may continue later by as much. */
  readonly laterMs: number;
  /** The longest time that the client takes to continue without a reply, whatever came before, in ms. */
  readonly waitMs: number;
  /** How late this machine was during the trial, in ms. Times that differ by less count as equal. */
  readonly lateMs: number;
}

/** Two behaviours differ in their times only if these are at least this far apart, in ms. */
const LEAST_APART_MS = 25;
/** A client that continues after more than this many times its wait for a reply, plus this many ms, was away. */
const AWAY = 1.5;
const AWAY_MS = 250;
/** A repetition comes sooner than this fraction of the time until the next poll. */
export const BEFORE_ITS_TIME = 0.75;

/** Explains why a reaction is unclear if the two behaviours look alike. */
export const ALIKE =
  'this client behaves the same with and without a reply, so the line does not show whether it accepted one';

/** Decides what a client did about a reply. */
export function reactionTo(continuation: Continuation, compared: Compared): Reaction {
  const { of, next, afterMs, isAnew } = continuation;
  const { usual, missing, laterMs, waitMs, lateMs } = compared;
  const [good, lost] = [usual.timesLike(continuation), missing.timesLike(continuation)];
  const apart = Math.max(LEAST_APART_MS, spanOf(good), spanOf(lost), lateMs);
  const isInTime = good !== undefined && afterMs <= good.high + laterMs + apart;
  const longest = Math.max(waitMs, missing.longest);
  // If the client's wait for a reply is unknown, it may have been waiting for one.
  const late = isInTime || longest === 0 ? undefined : awayLongerThan(longest + lateMs, continuation);
  if (late) return late;
  if (isAnew && good === undefined) {
    const reconnected = reconnection(continuation, compared, apart);
    if (reconnected) return reconnected;
  }
  const isSame = next.poll === of.poll && !isAnew;
  const isEarly = good !== undefined && afterMs < Math.min(good.low - apart, BEFORE_ITS_TIME * good.low);
  if (isEarly && isSame && !(lost && lost.low < good.low)) return again(afterMs);
  if (good && lost) return byTime(continuation, { good, lost, laterMs, apart });
  if (lost) return asMissing(continuation, lost, apart);
  if (isInTime && good && afterMs >= good.low - apart && afterMs < missing.shortest) return AS_USUAL;
  if (good)
    return unclear(
      `continued after ${Math.round(afterMs)} ms, neither as after a good reply nor as without one`,
    );
  return isSame ? again(afterMs) : unclear('continued with a different request than usual');
}

const AS_USUAL: Reaction = { kind: 'usual', text: 'continued as after a good reply' };

/**
 * Describes a client that continued with a request that it sends only without a reply, and whether the time
 * fits too.
 */
function asMissing({ of, next, afterMs }: Continuation, lost: Times, apart: number): Reaction {
  const what = next.poll === of.poll ? 'retried' : 'continued';
  const isSooner = afterMs < lost.low - apart;
  const than = isSooner ? 'sooner than' : 'later than';
  const isInTime = !isSooner && afterMs <= lost.high + apart;
  const as = isInTime
    ? 'as without a reply'
    : `${than} without a reply (${Math.round(isSooner ? lost.low : lost.high)} ms)`;
  return { kind: 'missing', text: `${what} after ${Math.round(afterMs)} ms, ${as}` };
}

function again(afterMs: number): Reaction {
  return { kind: 'again', text: `retried after ${Math.round(afterMs)} ms` };
}

function unclear(text: string): Reaction {
  return { kind: 'unclear', text };
}

function away(text: string): Reaction {
  return { kind: 'unclear', text, wasAway: true };
}

/** Decides from the times if both behaviours continue with the same request. */
function byTime(
  continuation: Continuation,
  { good, lost, laterMs, apart }: { good: Times; lost: Times; laterMs: number; apart: number },
): Reaction {
  const { afterMs } = continuation;
  const isLater = lost.low > good.high;
  const between = isLater ? lost.low - good.high : good.low - lost.high;
  const gap = isLater ? between - laterMs : between;
  // The spans only grow with more trials; late timers and a late reply concern this trial alone.
  const isAlike = between < Math.max(LEAST_APART_MS, spanOf(good), spanOf(lost));
  if (gap < apart) return { ...unclear(ALIKE), isAlike };
  const third = gap / 3;
  if (isLater ? afterMs >= lost.low - third : afterMs <= lost.high + third)
    return asMissing(continuation, lost, apart);
  if (isLater ? afterMs <= good.high + laterMs + third : afterMs >= good.low - third) return AS_USUAL;
  return unclear(`continued after ${Math.round(afterMs)} ms, between its times with and without a reply`);
}

/**
 * Judges a client that came back over another connection, which it does not do after a good reply. Undefined
 * if its times decide.
 */
function reconnection(
  continuation: Continuation,
  { usual, missing }: Compared,
  apart: number,
): Reaction | undefined {
  const { of, next, afterMs, closedAfterMs } = continuation;
  const { closing } = missing;
  if (missing.samples.length === 0 || usual.samples.length === 0)
    return unclear('used another connection, and how it usually behaves on a new one is not known');
  const isAsMissing =
    closing &&
    closedAfterMs !== undefined &&
    closedAfterMs >= closing.low - apart &&
    closedAfterMs <= closing.high + apart;
  const counts = isCounting(usual);
  const goesOn = counts && stepOf(continuation) <= FEW;
  if (isAsMissing && (goesOn || !counts || missing.samples.some((each) => stepOf(each) > FEW)))
    return undefined;
  const ms = `${Math.round(afterMs)} ms`;
  if (!goesOn) return away(`came back on another connection after ${ms}${counts ? WITH_OTHERS : ''}`);
  const what = next.poll === of.poll ? 'retried' : 'continued';
  return { kind: 'again', text: `closed its connection, and ${what} on another after ${ms}` };
}

/** The reaction of a client that came back later than it takes to continue without a reply; undefined if it did not. */
export function awayLongerThan(waitMs: number, { afterMs }: Continuation): Reaction | undefined {
  return afterMs > AWAY * waitMs + AWAY_MS
    ? away(`came back only after ${Math.round(afterMs)} ms`)
    : undefined;
}

/**
 * The reaction of a client that came back over another connection on which its transaction identifiers did
 * not continue; undefined if it did not.
 */
export function startedAgain(continuation: Continuation, usual: Behaviour): Reaction | undefined {
  const { isAnew, afterMs } = continuation;
  if (!isAnew || !isCounting(usual) || stepOf(continuation) <= FEW) return undefined;
  return away(`came back on another connection after ${Math.round(afterMs)} ms${WITH_OTHERS}`);
}

/** Either the program was restarted, or it counts transactions from the beginning on each connection. */
const WITH_OTHERS = ', and its transaction identifiers started over';

/** True if transaction identifiers increase by one each time. */
function isCounting({ samples }: Behaviour): boolean {
  return samples.length > 0 && samples.every((each) => stepOf(each) === 1);
}

/** The largest step between transaction identifiers of one program: one, or a few if it gave up requests. */
const FEW = 8;

function stepOf({ of, next }: Continuation): number {
  return (transactionOf(next) - transactionOf(of)) & 0xffff;
}
