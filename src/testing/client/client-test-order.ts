import { seededRandom } from '../../common/random.js';
import { isReading, type Poll } from './heard/exchange.js';
import type { Check } from './trial/exam.js';
import type { ClientOrder, WatchedClient } from './watched-client.js';

/** How long a client test may take, in ms, unless somebody says otherwise. */
export const DEFAULT_LIMIT_MS = 600_000;

/** What a client test tests, and how. Checks that it does not reach within its time are not run. */
export interface ClientTestOrder extends ClientOrder {
  readonly checks: readonly Check[];
}

/** The checks of an order that can be run: some need an observer. */
export function runnable({ checks, observer }: ClientTestOrder): readonly Check[] {
  return observer || checks.length === 1 ? checks : checks.filter(({ needsObserver }) => !needsObserver);
}

/**
 * The order of the groups: the most decisive checks come first, and last those that some clients do not
 * survive.
 */
const GROUPS: readonly Check['group'][] = [
  'watching',
  'damaged',
  'time',
  'exceptions',
  'connections',
  'real-world',
];

/**
 * Orders checks in turns. Checks with the longest disturbances come last; before that, the most decisive
 * groups come first, and the seed decides within a group. A check comes after those that it needs, or that spare it trials. Checks
 * that disturb only one poll share a turn.
 * @param most how many checks share a turn at most
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
    // Checks that need each other would never be ready. Then the first one goes on without the others.
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
 * True for a turn that spoils nothing before the next poll of the target comes, so that it may begin while that is waited
 * for.
 */
export function leavesPolls(turn: readonly Check[]): boolean {
  const [{ group, lastsMs, isFirst } = {} as Partial<Check>, ...others] = turn;
  return others.length === 0 && group !== undefined && OF_REPLIES.includes(group) && !lastsMs && !isFirst;
}

/**
 * The polls that can be disturbed beside each other: the target, and reading polls that are answered
 * and asked at least half as often.
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
