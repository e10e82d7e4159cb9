import { seededRandom } from '../../common/random.js';
import type { Line } from '../../simulator/line.js';
import type { Observer } from './observer/observer.js';
import type { Check } from './trial/exam.js';

/** What is to be examined. */
export interface ExaminationOrder {
  readonly line: Line;
  /** Only questions to this unit are disturbed; any unit when undefined. */
  readonly unitId: number | undefined;
  readonly checks: readonly Check[];
  /** In ms; what is not reached by then is not run. */
  readonly limitMs: number;
  readonly seed: number;
  /** Shows the values that the client has read; undefined where nothing does. */
  readonly observer?: Observer | undefined;
  /** Starts a client again that has ended; undefined where nobody can. @returns why that was not possible */
  readonly restart?: (() => Promise<string | undefined>) | undefined;
}

/** The most decisive checks come first, and last those that some clients do not survive. */
const GROUPS: readonly Check['group'][] = [
  'watching',
  'damaged',
  'time',
  'exceptions',
  'connections',
  'real-world',
];

/**
 * The order in which checks are run: the most decisive ones first, in the order of the seed, each after those that it
 * needs, and the longest disturbances last. Checks of one question share a turn.
 * @param most so many checks share a turn at most
 */
export function inTurns(checks: readonly Check[], seed: number, most: number): Check[][] {
  const random = seededRandom(seed, 0);
  const waiting = checks
    .map((check) => ({
      check,
      lastsMs: check.lastsMs ?? 0,
      group: GROUPS.indexOf(check.group),
      by: random.next(),
    }))
    .sort((a, b) => a.lastsMs - b.lastsMs || a.group - b.group || a.by - b.by)
    .map(({ check }) => check);
  const ids = new Set(waiting.map(({ id }) => id));
  const turns: Check[][] = [];
  const done = new Set<string>();
  while (waiting.length > 0) {
    const isReady = ({ needs = [] }: Check) => needs.every((id) => done.has(id) || !ids.has(id));
    // Checks that need each other would never be ready; the first one then goes on without.
    const [next] = waiting.splice(Math.max(0, waiting.findIndex(isReady)), 1);
    if (!next) break;
    done.add(next.id);
    const turn = turns.at(-1);
    const isShared = next.beside === 'one question' && turn?.[0]?.beside === next.beside;
    if (turn && isShared && turn.length < most) turn.push(next);
    else turns.push([next]);
  }
  return turns;
}
