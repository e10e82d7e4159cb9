import type { Exam } from './exam.js';
import { type Exchange, wentWell } from './exchange.js';
import { median } from './rhythm.js';

/** How the client goes on after a poll that was answered as usual. */
export interface UsualNext {
  /** The question that mostly comes next. */
  readonly question: string;
  /** When it comes after the request of the poll, in ms. */
  readonly afterMs: number;
  /** Differences up to this are no difference, in ms. */
  readonly tolerance: number;
}

/** Two times are told apart when they differ by more than this, in ms, whatever the client's jitter is. */
const FINEST_MS = 5;
const SAME_PART = 0.1;

/** What usually comes after the disturbed question, from everything that was heard without a fault. */
export function usualNext(exam: Exam): UsualNext | undefined {
  const followers = usualFollowers(exam).map(({ poll, next }) => {
    return { question: next.question, afterMs: next.at - poll.at };
  });
  const most = mostFrequent(followers.map(({ question }) => question));
  if (most === undefined) return undefined;
  const times = followers.filter(({ question }) => question === most).map(({ afterMs }) => afterMs);
  const afterMs = median(times);
  const jitter = median(times.map((time) => Math.abs(time - afterMs)));
  return { question: most, afterMs, tolerance: Math.max(FINEST_MS, 4 * jitter, afterMs * SAME_PART) };
}

/** Polls that went well at the first attempt, each with the request that the same client sent next. */
export function usualFollowers(exam: Exam): { readonly poll: Exchange; readonly next: Exchange }[] {
  const followers: { poll: Exchange; next: Exchange }[] = [];
  const before = new Map<number, { readonly poll: Exchange; readonly isRepetition: boolean }>();
  for (const next of exam.log.newest()) {
    const { clientId } = next.request;
    const { poll, isRepetition } = before.get(clientId) ?? {};
    const isUsual = poll?.question === exam.target.key && wentWell(poll) && !isRepetition;
    if (isUsual && !next.isSpoilt) followers.push({ poll, next });
    // A client that has just connected, perhaps after a time-out, may have polls to catch up with.
    const isFirst = poll === undefined && clientId !== 0;
    before.set(clientId, { poll: next, isRepetition: isFirst || (poll !== undefined && !wentWell(poll)) });
  }
  return followers;
}

function mostFrequent(names: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

/**
 * What a client did about a spoilt reply. `again`: it asked the same question before its time. `as usual`: it went on as
 * after a good reply. `later`: it went on as usual, but later. `otherwise`: another question came than usual. `nothing`:
 * it asked nothing more.
 */
export type Reaction = 'again' | 'as usual' | 'later' | 'otherwise' | 'nothing';

/**
 * @param next the first request of the client after the spoilt one
 * @param laterMs the reply ended so much later than usual; a client that took it may ask later by as much
 */
export function reactionOf(exam: Exam, spoilt: Exchange, next: Exchange | undefined, laterMs = 0): Reaction {
  if (!next) return 'nothing';
  const usual = usualNext(exam);
  const afterMs = next.at - spoilt.at;
  const isSame = next.question === spoilt.question;
  if (!usual || next.question !== usual.question) return isSame ? 'again' : 'otherwise';
  if (afterMs > usual.afterMs + laterMs + usual.tolerance) return 'later';
  return isSame && afterMs < usual.afterMs - usual.tolerance ? 'again' : 'as usual';
}
