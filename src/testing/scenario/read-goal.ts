import type { At } from '../../common/schema/at.js';
import type { Simulator } from '../../simulator/simulator.js';
import { oneOrMore } from './one-or-more.js';
import { toMatcher } from './read-matcher.js';
import type { Expected, Goal } from './scenario.js';
import { DEFAULT_WITHIN_MS, type ExpectedSource, expectedSchema } from './schema.js';

/**
 * The tolerance of a step that names none, as a fraction of `every`, and how many periods it watches when it
 * has no `for`.
 */
const USUAL_TOLERANCE = 0.1;
const USUAL_PERIODS = 10;

/** The parts of a step beside `expect` on which its goal depends. */
export interface GoalTimes {
  readonly within: number | undefined;
  readonly after: number | undefined;
  /** True when the step has a fault, to whose request `same` refers. */
  readonly hasFault: boolean;
}

/** Reads the goal that `expect` describes. Undefined after reporting the mistakes in it. */
export function readGoal(at: At, times: GoalTimes, simulator: Simulator): Goal | undefined {
  const items = oneOrMore(at);
  if (!items) return undefined;
  if (items.length === 0) return at.wrong('expected at least one');
  const { count } = at.findings;
  const sources = items.map((item) => item.check(expectedSchema) ?? item.fitting(expectedSchema));
  const goal = at.unlessWrong((): Goal | undefined => {
    const [first] = sources;
    if (first?.every !== undefined && items.length === 1)
      return rhythm(items[0] as At, first, times, simulator);
    const expected = items.flatMap((item, i) => {
      const source = sources[i];
      return (source && readExpected(item, source, i, times, simulator)) ?? [];
    });
    return { kind: 'order', items: expected, within: times.within ?? DEFAULT_WITHIN_MS };
  });
  return at.findings.count > count ? undefined : goal;
}

function readExpected(
  at: At,
  source: ExpectedSource,
  index: number,
  { hasFault, after }: GoalTimes,
  simulator: Simulator,
): Expected | undefined {
  const { retry, times } = source;
  const same = source.same === true || retry !== undefined;
  for (const key of ['every', 'tolerance', 'for'] as const) {
    if (source[key] !== undefined)
      at.key(key).wrong('belongs to an expectation that stands alone, with `every`');
  }
  if (retry && !hasFault)
    at.key('retry').wrong('expected a fault in this step, whose request is asked again');
  else if (same && index === 0 && !hasFault) {
    at.key('same').wrong('expected a fault in this step, or another expectation before this one');
  }
  if (retry && source.after !== undefined) at.key('after').wrong('belongs into `retry` here');
  const { after: soonest = 0, within = Number.POSITIVE_INFINITY } = retry ?? {};
  if (within <= soonest) at.key('retry').wrong('expected `within` to be more than `after`');
  const { min = 1, max = Number.POSITIVE_INFINITY } =
    typeof times === 'number' ? { min: times, max: times } : (times ?? {});
  if (max < min) at.key('times').wrong(`expected max to be at least min, which is ${min}`);
  const matcher = toMatcher(at, source, simulator);
  const earliest = source.after ?? (retry ? soonest : index === 0 ? (after ?? 0) : 0);
  return matcher && { matcher, same, min, max, after: earliest, within };
}

function rhythm(at: At, source: ExpectedSource, times: GoalTimes, simulator: Simulator): Goal | undefined {
  for (const key of ['same', 'retry', 'times', 'after'] as const) {
    if (source[key] !== undefined) at.key(key).wrong('can not stand beside `every`');
  }
  const { every = 0 } = source;
  const tolerance = source.tolerance ?? every * USUAL_TOLERANCE;
  if (tolerance >= every) at.key('tolerance').wrong(`expected less than \`every\`, which is ${every} ms`);
  const length = source.for ?? every * USUAL_PERIODS;
  if (length < every) at.key('for').wrong(`expected at least \`every\`, which is ${every} ms`);
  const matcher = toMatcher(at, source, simulator);
  const within = times.within ?? DEFAULT_WITHIN_MS;
  return matcher && { kind: 'rhythm', matcher, every, tolerance, for: length, within };
}
