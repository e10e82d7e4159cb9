import type { z } from 'zod';
import { MAX_SEED } from '../../common/random.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import { durationText } from '../report/words.js';
import { type DutDefinition, reportUnknownEndpoints } from './dut.js';
import { toMatcher } from './matcher.js';
import {
  type FaultNumbers,
  oneOrMore,
  readChanges,
  readClocks,
  readClosed,
  readFaults,
  readManners,
  readPower,
  readUnsolicited,
} from './read-actions.js';
import type { Expected, Forbidden, Goal, Scenario, ScenarioStep } from './scenario.js';
import {
  alwaysSchema,
  DEFAULT_WITHIN_MS,
  dutSchema,
  type ExpectedSource,
  expectedSchema,
  groupSchema,
  MOST_STEPS,
  neverSchema,
  scenarioSchema,
  stepSchema,
} from './schema.js';

/**
 * Reads a scenario whose parameters and files have been filled in, and checks its lines, devices and values
 * against the simulator. Undefined after reporting every mistake.
 */
export function readScenario(at: At, simulator: Simulator): Scenario | undefined {
  const reading = readingScenario(at, simulator);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

/** Does the work of `readScenario` in small pieces. Yields wherever the lines of a running simulator can be served. */
export function* readingScenario(at: At, simulator: Simulator): Generator<void, Scenario | undefined> {
  const { count } = at.findings;
  const source = at.check(scenarioSchema);
  const seed = source?.seed ?? Math.floor(Math.random() * (MAX_SEED + 1));
  const dut = at.key('dut').value === undefined ? undefined : readDut(at.key('dut'), simulator);
  const always = at.key('always').value === undefined ? [] : readAlways(at.key('always'), simulator);
  yield;
  const steps = yield* readingSteps(at.key('steps'), simulator, {
    seed,
    next: 1,
    line: source?.line,
    hasDut: at.key('dut').value !== undefined,
  });
  const lines = source?.line === undefined ? [...simulator.lines.keys()] : [source.line].flat();
  for (const line of lines) {
    if (!simulator.lines.has(line))
      at.key('line').wrong(unknownName('line', line, [...simulator.lines.keys()]));
  }
  if (at.findings.count > count) return undefined;
  const { name = '', capture } = source ?? {};
  return { name, seed, lines, ...(dut && { dut }), ...(capture && { capture }), always, steps };
}

function readDut(at: At, simulator: Simulator): DutDefinition | undefined {
  const dut = at.check(dutSchema);
  if (!dut) return undefined;
  reportUnknownEndpoints(dut.command, simulator, at.key('command'));
  return { ready: undefined, ...dut };
}

function readAlways(at: At, simulator: Simulator): Forbidden[] {
  if (!Array.isArray(at.value)) return at.expected('a list, as in [{never: {function: 5}}]') ?? [];
  return (oneOrMore(at) ?? []).flatMap((item) => {
    if (!item.check(alwaysSchema)) return [];
    const never = item.key('never');
    return never.value === undefined
      ? (never.expected('requests that must not arrive') ?? [])
      : readForbidden(never, simulator);
  });
}

/**
 * The default tolerance of a step, as a fraction of `every`, and the default number of periods that it
 * watches without `for`.
 */
const USUAL_TOLERANCE = 0.1;
const USUAL_PERIODS = 10;

/** The parts of a step, other than `expect`, that affect its goal. */
interface GoalTimes {
  readonly within: number | undefined;
  readonly after: number | undefined;
  /** True if the step has a fault, to whose request `same` refers. */
  readonly hasFault: boolean;
}

/** A text in place of a mapping is its `filter`. */
function withFilter(at: At): At {
  return typeof at.value === 'string' ? at.with({ filter: at.value }) : at;
}

/** Reads the goal that `expect` describes. Undefined after reporting the mistakes in it. */
function readGoal(at: At, times: GoalTimes, simulator: Simulator): Goal | undefined {
  const items = oneOrMore(at)?.map(withFilter);
  if (!items) return undefined;
  if (items.length === 0) return at.wrong('expected at least one');
  const { count } = at.findings;
  const sources = items.map((item) => item.parts(expectedSchema));
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
    if (source[key] !== undefined) at.key(key).wrong('belongs to a single expectation with `every`');
  }
  if (retry && !hasFault)
    at.key('retry').wrong('expected a fault in this step: `retry` is about the request that it disturbs');
  else if (same && index === 0 && !hasFault) {
    at.key('same').wrong('expected a fault in this step, or an expectation before this one');
  }
  if (retry && source.after !== undefined) at.key('after').wrong('belongs in `retry` here');
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
    if (source[key] !== undefined) at.key(key).wrong("can't be combined with `every`");
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

type StepSource = z.output<typeof stepSchema>;

/** Reads a list of steps, with groups and repetitions expanded. Yields after each step. */
export function* readingSteps(
  at: At,
  simulator: Simulator,
  numbers: FaultNumbers,
): Generator<void, ScenarioStep[]> {
  const tooMany = `expected at most ${MOST_STEPS} steps, repetitions included`;
  const { length } = Array.isArray(at.value) ? at.value : [undefined];
  if (length === 0) at.wrong('expected at least one step');
  if (length > MOST_STEPS) return at.wrong(tooMany) ?? [];
  const steps: ScenarioStep[] = [];
  for (const item of at.items('a list of steps') ?? []) {
    steps.push(...(yield* readingEntry(item, simulator, numbers)));
    if (steps.length > MOST_STEPS) {
      at.wrong(tooMany);
      break;
    }
  }
  return steps;
}

function* readingEntry(at: At, simulator: Simulator, numbers: FaultNumbers): Generator<void, ScenarioStep[]> {
  const isGroup = isMapping(at.value) && 'steps' in at.value;
  const checked = isGroup ? at.check(groupSchema) : at.check(stepSchema);
  yield;
  const source: Partial<StepSource> = checked ?? (isGroup ? at.fitting(groupSchema) : at.fitting(stepSchema));
  const { repeat = 1 } = checked ?? {};
  const steps: ScenarioStep[] = [];
  // Each repetition is read separately, because its faults have their own names. Its mistakes are reported
  // once.
  for (let turn = 1; turn <= repeat && steps.length <= MOST_STEPS; turn++) {
    const { count } = at.findings;
    const read = isGroup
      ? yield* readingSteps(at.key('steps'), simulator, numbers)
      : [readStep(at, source, checked !== undefined, { simulator, numbers })].flatMap((step) => step ?? []);
    yield;
    for (const step of read) {
      const prefix = isGroup && source.name !== undefined ? `${source.name}: ` : '';
      const suffix = repeat > 1 ? ` (${turn} of ${repeat})` : '';
      steps.push({ ...step, name: `${prefix}${step.name}${suffix}` });
    }
    if (at.findings.count > count) break;
  }
  return steps;
}

/**
 * Reads one step.
 * @param source the parts of the step that match the schema
 * @param isWhole true if these are all parts; otherwise mistakes in the others have been reported
 */
function readStep(
  at: At,
  source: Partial<StepSource>,
  isWhole: boolean,
  { simulator, numbers }: { readonly simulator: Simulator; readonly numbers: FaultNumbers },
): ScenarioStep | undefined {
  return at.unlessWrong(() => {
    const has = (key: string) => at.key(key).value !== undefined;
    const faults = has('fault') ? readFaults(at.key('fault'), simulator, numbers) : [];
    const changes = has('set') ? readChanges(at.key('set'), simulator) : [];
    const manners = has('manners') ? readManners(at.key('manners'), simulator) : [];
    const closed = has('closed') ? readClosed(at.key('closed'), simulator, numbers.line) : [];
    const power = has('power') ? readPower(at.key('power'), simulator) : [];
    const clocks = has('clock') ? readClocks(at.key('clock'), simulator) : [];
    const unsolicited = has('unsolicited') ? readUnsolicited(at.key('unsolicited'), simulator) : [];
    if (has('dut') && !numbers.hasDut) {
      at.key('dut').wrong('expected `dut` in the scenario, with the command of the program under test');
    }
    const never = has('never') ? readForbidden(at.key('never'), simulator) : [];
    // If a step has mistakes, it may lack a goal because of them, so this is not reported.
    const goal = isWhole || has('expect') ? goalOf(at, source, has('fault'), simulator) : undefined;
    if (!goal) return undefined;
    const { name = describe(source), capture, dut } = source;
    return {
      name,
      faults,
      changes,
      manners,
      closed,
      power,
      clocks,
      unsolicited,
      dut,
      never,
      goal,
      ...(capture && { capture }),
    };
  });
}

function goalOf(
  at: At,
  source: Partial<StepSource>,
  hasFault: boolean,
  simulator: Simulator,
): Goal | undefined {
  const { wait, within, after, expect, never } = source;
  if (expect !== undefined) {
    if (wait !== undefined)
      at.key('wait').wrong("can't be combined with `expect`; use a separate step to wait");
    return readGoal(at.key('expect'), { within, after, hasFault }, simulator);
  }
  if (after !== undefined) at.key('after').wrong('belongs to `expect`');
  if (typeof wait === 'object')
    return { kind: 'wait', ms: within ?? DEFAULT_WITHIN_MS, requests: wait.requests };
  if (wait !== undefined) {
    if (within !== undefined) at.key('within').wrong('belongs to `expect`, `never` or `wait: {requests: 3}`');
    return { kind: 'wait', ms: wait };
  }
  if (never !== undefined) return { kind: 'wait', ms: within ?? DEFAULT_WITHIN_MS };
  if (within !== undefined) at.key('within').wrong('belongs to `expect`, `never` or `wait: {requests: 3}`');
  const lasting = LASTING.find((key) => source[key] !== undefined);
  if (lasting !== undefined)
    at.wrong(`\`${lasting}\` ends with its step, so the step needs \`expect\`, \`never\` or \`wait\``);
  else if (ACTIONS.every((key) => source[key] === undefined)) {
    at.wrong(`expected one of ${[...LASTING, ...ACTIONS].join(', ')}, wait, expect, never, use or steps`);
  }
  return { kind: 'wait', ms: 0 };
}

/** Actions that a step can take without watching for anything. */
const ACTIONS = ['set', 'power', 'clock', 'unsolicited', 'dut'] as const;

/** Actions that last as long as the step. */
const LASTING = ['fault', 'manners', 'closed'] as const;

function describe(source: Partial<StepSource>): string {
  const { fault, set, manners, closed, power, clock, unsolicited, dut, wait, expect, never } = source;
  const parts = [
    fault !== undefined && 'a fault',
    set !== undefined && `set ${compactText(set)}`,
    manners !== undefined && `manners ${compactText(manners)}`,
    closed !== undefined && `closed ${[closed].flat().join(', ')}`,
    power !== undefined && `power ${compactText(power)}`,
    clock !== undefined && `clock ${compactText(clock)}`,
    unsolicited !== undefined && `unsolicited ${compactText(unsolicited)}`,
    dut !== undefined && `${dut} the device under test`,
    wait !== undefined && `wait ${typeof wait === 'object' ? compactText(wait) : durationText(wait)}`,
    expect !== undefined && `expect ${compactText(expect)}`,
    never !== undefined && `never ${compactText(never)}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/**
 * Formats a value as it could be written in the file: `{unit: 1, function: 3}`. YAML integers that a double
 * can't hold are bigints.
 */
function compactText(value: unknown): string {
  const written = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
  return (written ?? '').replaceAll('"', '').replaceAll(':', ': ').replaceAll(',', ', ');
}

/** Reads `never`: one matcher or a list, each with the number of times that is one too many. */
function readForbidden(at: At, simulator: Simulator): Forbidden[] {
  const items = oneOrMore(at)?.map(withFilter);
  if (items?.length === 0) at.wrong('expected at least one');
  return (items ?? []).flatMap((each) => {
    const source = each.parts(neverSchema);
    const matcher = toMatcher(each, source, simulator);
    return matcher ? { matcher, times: source.times ?? 1 } : [];
  });
}
