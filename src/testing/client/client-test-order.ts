import { seededRandom } from '../../common/random.js';
import { isReading, type Poll } from './heard/exchange.js';
import type { Check } from './trial/exam.js';
import type { ClientOrder, WatchedClient } from './watched-client.js';

/** The default time limit of a client test, in ms. */
export const DEFAULT_LIMIT_MS = 600_000;

/**
 * The order for a client test: the client to test, and the checks. Checks that it does not reach in time are
 * not run.
 */
export interface ClientTestOrder extends ClientOrder {
  readonly checks: readonly Check[];
}

/** The checks in an order that can run; some need an observer. */
export function runnable({ checks, observer }: ClientTestOrder): readonly Check[] {
  return observer || checks.length === 1 ? checks : checks.filter(({ needsObserver }) => !needsObserver);
}

/** The order of the groups: the most important checks first, and those that some clients do not survive last. */
const GROUPS: readonly Check['group'][] = [
  'watching',
  'damaged',
  'time',
  'exceptions',
  'connections',
  'real-world',
];

/**
 * Arranges checks in turns. Checks with the longest disturbances come last. Before them, the most important
 * groups come first; within a group, the seed decides. A check comes after the checks that it needs, or that
 * save it trials. Checks that disturb only one poll share a turn.
 * @param most maximum number of checks in a turn
 */
export function inTurns(checks: readonly Check[], seed: number, most: number): Check[][] {
  const random = seededRandom(seed, 0);
  const waiting = checks
    .map((check) => ({
      check,
      lastsMs: check.isFirst ? -1 : (check.lastsMs ?? 0),
      group: GROUPS.indexOf(check.group),
      by: random.next(),
    }))
    .sort((a, b) => a.lastsMs - b.lastsMs || a.group - b.group || a.by - b.by)
    .map(({ check }) => check);
  const ids = new Set(waiting.map(({ id }) => id));
  const turns: Check[][] = [];
  const done = new Set<string>();
  while (waiting.length > 0) {
    const isReady = ({ needs = [], after = [] }: Check) =>
      [...needs, ...after].every((id) => done.has(id) || !ids.has(id));
    // Checks that need each other would never be ready, so the first one runs without the others.
    const [next] = waiting.splice(Math.max(0, waiting.findIndex(isReady)), 1);
    if (!next) break;
    done.add(next.id);
    const turn = turns.at(-1);
    const isShared = next.beside === 'one poll' && turn?.[0]?.beside === next.beside;
    if (turn && isShared && turn.length < most) turn.push(next);
    else turns.push([next]);
  }
  return turns;
}

/** The groups of checks that begin with the reply to one poll. */
const OF_REPLIES: readonly Check['group'][] = ['damaged', 'time', 'exceptions'];

/**
 * True if the turn disturbs nothing before the target's next poll, so that it may begin during the wait for
 * that poll.
 */
export function leavesPolls(turn: readonly Check[]): boolean {
  const [{ group, lastsMs, isFirst } = {} as Partial<Check>, ...others] = turn;
  return others.length === 0 && group !== undefined && OF_REPLIES.includes(group) && !lastsMs && !isFirst;
}

/**
 * The polls that can be disturbed at the same time: the target, and answered reading polls that are at least
 * half as frequent.
 */
export function sideBySide({ polls, order: { unitId } }: WatchedClient, target: Poll): Poll[] {
  const others = polls.filter(
    (each) =>
      each.key !== target.key &&
      each.isAnswered &&
      isReading(each) &&
      each.asked.length * 2 >= target.asked.length &&
      (unitId === undefined || each.unitId === unitId),
  );
  return [target, ...others];
}
