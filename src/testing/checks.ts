import { failure, type Result, success } from '../common/result.js';
import { unknownName } from '../common/schema/nearest.js';
import { type Ability, lackOf } from '../device/faults/kind.js';
import type { Line } from '../simulator/line.js';
import { connections } from './client/checks/connections.js';
import { damaged } from './client/checks/damaged.js';
import { exceptions } from './client/checks/exceptions.js';
import { lateReply } from './client/checks/late-reply.js';
import { oneAtATime } from './client/checks/one-at-a-time.js';
import { REAL_WORLD, realWorldChecks } from './client/checks/real-world.js';
import { silentRuns } from './client/checks/retries.js';
import { shownValue } from './client/checks/shown-value.js';
import { outages, slowness } from './client/checks/time.js';
import { timeOuts } from './client/checks/time-out.js';
import { watched } from './client/checks/watching.js';
import type { Check } from './client/trial/exam.js';

/** The default checks, in the order they are shown. Catalogue entries run only when named. */
export const CHECKS: readonly Check[] = [
  ...watched,
  oneAtATime,
  shownValue,
  ...timeOuts,
  ...outages,
  ...silentRuns,
  ...slowness,
  ...damaged,
  lateReply,
  ...exceptions,
  ...connections,
];

/** The requirements of abilities that do not follow from a line's transport. */
const FRAMES: Readonly<Partial<Record<Ability, string>>> = {
  crc: 'RTU or ASCII frames',
  transaction: 'MBAP frames',
};

/** Describes the lines on which a check can run: `any`, `serial`, `RTU or ASCII frames`. */
export function linesFor({ transports = [], abilities = [] }: Check): string {
  const needs = [...transports, ...abilities.flatMap((ability) => FRAMES[ability] ?? [])];
  return needs.length === 0 ? 'any' : needs.join(', ');
}

/** Returns the checks that can run on a line. */
export function checksFor(line: Line, checks = CHECKS): Check[] {
  return checks.filter((check) => whyNotOn(line, check) === undefined);
}

/** Explains why a check can't run on a line, as part of a sentence; undefined if it can. */
function whyNotOn({ definition, bus }: Line, { transports, abilities = [] }: Check): string | undefined {
  const { kind } = definition;
  if (transports && !transports.includes(kind)) {
    return `it is for ${transports.join(' and ')} lines, but line ${bus.line.name} is ${kind}`;
  }
  return abilities.map((ability) => lackOf(bus.line, ability)).find((lack) => lack !== undefined);
}

/**
 * Chooses the checks to run on a line: the named ones and those that they need; without names, every check in
 * `usual` that can run on the line. Catalogue checks are chosen only by name.
 * @param names check identifiers or group names
 * @returns the checks, or an error message about the names
 */
export function chosenChecks(names: readonly string[], line: Line, usual = CHECKS): Result<Check[]> {
  const isOfCatalogue = names.some((name) => name.startsWith(REAL_WORLD));
  const checks = isOfCatalogue ? [...usual, ...realWorldChecks()] : usual;
  const fitting = checksFor(line, checks);
  if (names.length === 0) return success(fitting);
  const chosen = new Set<Check>();
  const add = (check: Check) => {
    chosen.add(check);
    for (const each of fitting) if (check.needs?.includes(each.id) && !chosen.has(each)) add(each);
  };
  for (const name of names) {
    const named = ({ id, group }: Check) => id === name || group === name;
    const known = checks.filter(named);
    if (name === 'attempts') return failure('check attempts is called retries');
    if (known.length === 0) {
      const ids = checks.flatMap(({ id, group }) => [id, group]);
      return failure(unknownName('check', name, [...new Set([...ids, REAL_WORLD])]));
    }
    const found = fitting.filter(named);
    if (found.length === 0) return failure(refusalOf(name, known[0] as Check, line, fitting));
    for (const check of found) add(check);
  }
  return success(fitting.filter((check) => chosen.has(check)));
}

function refusalOf(name: string, check: Check, line: Line, fitting: readonly Check[]): string {
  const others = fitting.filter(({ group }) => group === check.group).map(({ id }) => id);
  const instead =
    others.length === 0
      ? ''
      : `; checks in group ${check.group} that can run on this line: ${others.join(', ')}`;
  return `check ${name} can't be run on line ${line.name}: ${whyNotOn(line, check)}${instead}`;
}
