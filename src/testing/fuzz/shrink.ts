import { isMapping } from '../../common/schema/parts.js';
import type { Move, Schedule, WrittenActions } from './move.js';

/** How many times a schedule was played, and in how many of these plays the client failed. */
export interface Plays {
  readonly failed: number;
  readonly played: number;
}

/** A failure counts if it is seen in two of three plays. */
export const NEEDED = 2;
const MOST_PLAYS = 3;

/** Plays a schedule until it is known whether the client fails in two of three plays. */
export async function playsOf(
  fails: () => Promise<boolean>,
  before: Plays = { failed: 0, played: 0 },
): Promise<Plays> {
  let { failed, played } = before;
  while (failed < NEEDED && played - failed <= MOST_PLAYS - NEEDED) {
    if (await fails()) failed++;
    played++;
  }
  return { failed, played };
}

/**
 * Finds a smaller schedule on which the client still fails: first fewer moves, then shorter ones, then
 * simpler ones. Each candidate that fails is shrunk further.
 * @param simplest actions that may replace others, simplest first
 * @param fails plays a candidate: whether the client fails in two of three plays
 * @param isOver true if the time is up; the best schedule so far is returned
 */
export async function shrunk(
  schedule: Schedule,
  simplest: readonly WrittenActions[],
  fails: (candidate: Schedule) => Promise<boolean>,
  isOver: () => boolean,
): Promise<Schedule> {
  const tried = new Set([JSON.stringify(schedule)]);
  for (let best = schedule; ; ) {
    let smaller: Schedule | undefined;
    for (const candidate of smallerThan(best, simplest)) {
      const text = JSON.stringify(candidate);
      if (candidate.length === 0 || tried.has(text)) continue;
      if (isOver()) return best;
      tried.add(text);
      if (!(await fails(candidate))) continue;
      smaller = candidate;
      break;
    }
    if (!smaller) return best;
    best = smaller;
  }
}

/** How many of the last moves are tried on their own, because they are the most likely cause. */
const LAST = 3;

/** Slightly smaller schedules, and before them much smaller ones. */
function* smallerThan(schedule: Schedule, simplest: readonly WrittenActions[]): Generator<Schedule> {
  for (let last = 1; last <= LAST && last < schedule.length; last++) yield schedule.slice(-last);
  for (let size = Math.ceil(schedule.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0)
    for (let from = 0; from < schedule.length; from += size)
      yield schedule.filter((_, i) => i < from || i >= from + size);
  // A move may have been no more than a rest for the client.
  for (const [i, { after, requests }] of schedule.slice(0, -1).entries()) {
    const next = schedule[i + 1] as Move;
    yield schedule.with(i + 1, { ...next, after: after + requests + next.after }).toSpliced(i, 1);
  }
  for (const change of [shorter, (move: Move) => simpler(move, simplest)])
    for (const [i, move] of schedule.entries())
      for (const other of change(move)) yield schedule.with(i, other);
}

function* shorter(move: Move): Generator<Move> {
  for (const requests of smallerNumbers(move.requests, 1)) yield { ...move, requests };
  for (const after of smallerNumbers(move.after, 0)) yield { ...move, after };
}

function* smallerNumbers(number: number, least: number): Generator<number> {
  for (const smaller of new Set([least, number >> 1, number - 1]))
    if (smaller >= least && smaller < number) yield smaller;
}

function* simpler(move: Move, simplest: readonly WrittenActions[]): Generator<Move> {
  const rank = simplest.findIndex((each) => JSON.stringify(each) === JSON.stringify(move.does));
  for (const does of rank < 0 ? simplest : simplest.slice(0, rank)) yield { ...move, does };
  if (rank < 0) for (const does of smallerParts(move.does)) yield { ...move, does: does as WrittenActions };
}

/** Keys that a fault keeps: without its line it would act on all of them. */
const NEEDED_KEYS: ReadonlySet<string> = new Set(['do', 'when', 'line']);

/** Smaller variants of a part: hexadecimal texts and lists get shorter, numbers smaller, mappings lose keys. */
function* smallerParts(part: unknown): Generator<unknown> {
  if (typeof part === 'number') {
    const half = Number.isInteger(part) ? Math.trunc(part / 2) : part / 2;
    for (const smaller of new Set([0, half])) if (Math.abs(smaller) < Math.abs(part)) yield smaller;
  } else if (typeof part === 'string') {
    const bytes = /^(?:[0-9a-f]{2} ?){2,}$/.test(part) ? (part.match(/\w\w/g) ?? []) : [];
    if (bytes.length > 1) yield bytes.slice(0, bytes.length >> 1).join(' ');
  } else if (Array.isArray(part)) {
    if (part.length > 1) for (const i of part.keys()) yield part.toSpliced(i, 1);
    for (const [i, item] of part.entries()) for (const other of smallerParts(item)) yield part.with(i, other);
  } else if (isMapping(part)) {
    for (const [key, inner] of Object.entries(part)) {
      const { [key]: _, ...rest } = part;
      // A seed, or a condition, is seldom needed.
      if (!NEEDED_KEYS.has(key) && Object.keys(rest).length > 0) yield rest;
      if (key === 'when') yield { ...part, when: { line: (inner as { line?: string }).line } };
      else if (key !== 'seed') for (const other of smallerParts(inner)) yield { ...part, [key]: other };
    }
  }
}
