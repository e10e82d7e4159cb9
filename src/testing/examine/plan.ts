import { lackOf } from '../../faults/ability.js';
import { seededRandom } from '../../random.js';
import { unknownName } from '../../schema/nearest.js';
import type { Line } from '../../simulator/line.js';
import type { Check } from './check.js';
import { CHECKS } from './checks.js';

/** The checks that a line can carry. */
export function checksFor({ definition, bus }: Line, checks = CHECKS): Check[] {
  return checks.filter(
    ({ transports, abilities = [] }) =>
      (transports === undefined || transports.includes(definition.kind)) &&
      abilities.every((ability) => lackOf(bus.line, ability) === undefined),
  );
}

/**
 * The checks that are to be run on a line: the named ones with those that they need, all that fit without names.
 * @param names identifiers of checks or names of groups
 * @returns what is wrong with the names, as a sentence
 */
export function chosenChecks(names: readonly string[], line: Line, checks = CHECKS): Check[] | string {
  const fitting = checksFor(line, checks);
  if (names.length === 0) return fitting;
  const chosen = new Set<Check>();
  const add = (check: Check) => {
    chosen.add(check);
    for (const each of fitting) if (check.needs?.includes(each.id) && !chosen.has(each)) add(each);
  };
  for (const name of names) {
    const named = ({ id, group }: Check) => id === name || group === name;
    const known = checks.filter(named);
    if (known.length === 0) {
      return unknownName('check', name, [...new Set(checks.flatMap(({ id, group }) => [id, group]))]);
    }
    const found = fitting.filter(named);
    if (found.length === 0) return `check ${name} can't be run on line ${line.name}`;
    for (const check of found) add(check);
  }
  return fitting.filter((check) => chosen.has(check));
}

/**
 * The order in which checks are run: those that watch, those that others need, and the rest as the seed says. Each
 * comes after those that it needs.
 */
export function inOrder(checks: readonly Check[], seed: number): Check[] {
  const random = seededRandom(seed, 0);
  const isNeeded = ({ id }: Check) => checks.some(({ needs }) => needs?.includes(id));
  const rankOf = (check: Check) => (check.group === 'watching' ? 0 : isNeeded(check) ? 1 : 2);
  const waiting = checks
    .map((check) => ({ check, rank: rankOf(check), place: rankOf(check) < 2 ? 0 : random.next() }))
    .sort((a, b) => a.rank - b.rank || a.place - b.place)
    .map(({ check }) => check);
  const order: Check[] = [];
  const ids = new Set(waiting.map(({ id }) => id));
  while (waiting.length > 0) {
    const done = new Set(order.map(({ id }) => id));
    const isReady = ({ needs = [] }: Check) => needs.every((id) => done.has(id) || !ids.has(id));
    // Checks that need each other would never be ready; the first one then goes on without.
    const [next] = waiting.splice(Math.max(0, waiting.findIndex(isReady)), 1);
    if (next) order.push(next);
  }
  return order;
}
