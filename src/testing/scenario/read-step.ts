import type { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import { isMapping } from '../../common/schema/parts.js';
import type { Simulator } from '../../simulator/simulator.js';
import {
  type FaultNumbers,
  readChanges,
  readClocks,
  readClosed,
  readFaults,
  readManners,
  readPower,
  readUnasked,
} from './read-actions.js';
import { readGoal } from './read-goal.js';
import { readForbidden } from './read-matcher.js';
import type { Goal, ScenarioStep } from './scenario.js';
import { DEFAULT_WITHIN_MS, groupSchema, MOST_STEPS, stepSchema } from './schema.js';
import { durationText } from './words.js';

type StepSource = z.output<typeof stepSchema>;

/** Reads a list of steps, with groups and repetitions written out. Yields after each step. */
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
  // Each repetition is read anew, because its faults have names of their own. Its mistakes are reported once.
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
 * @param source the parts of the step that fit the schema
 * @param isWhole true when these are all parts; otherwise mistakes in the others were reported
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
    const unasked = has('unasked') ? readUnasked(at.key('unasked'), simulator) : [];
    if (has('dut') && !numbers.hasDut) {
      at.key('dut').wrong('expected `dut` of the scenario, with the command of the program under test');
    }
    const never = has('never') ? readForbidden(at.key('never'), simulator) : [];
    // A step with mistakes may lack a goal because of them, so nothing is reported about that.
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
      unasked,
      dut,
      never,
      goal,
      ...(capture && { capture }),
    };
  });
}

/** The goal that ends the step: an expectation, or a time. */
function goalOf(
  at: At,
  source: Partial<StepSource>,
  hasFault: boolean,
  simulator: Simulator,
): Goal | undefined {
  const { wait, within, after, expect, never } = source;
  if (expect !== undefined) {
    if (wait !== undefined) at.key('wait').wrong('can not stand beside `expect`; a step of its own can wait');
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

/** What a step can do without watching for anything. */
const ACTIONS = ['set', 'power', 'clock', 'unasked', 'dut'] as const;

/** What a step does for as long as it lasts. */
const LASTING = ['fault', 'manners', 'closed'] as const;

/** Makes a name for a step that has none. */
function describe(source: Partial<StepSource>): string {
  const { fault, set, manners, closed, power, clock, unasked, dut, wait, expect, never } = source;
  const parts = [
    fault !== undefined && 'a fault',
    set !== undefined && `set ${compactText(set)}`,
    manners !== undefined && `manners ${compactText(manners)}`,
    closed !== undefined && `closed ${[closed].flat().join(', ')}`,
    power !== undefined && `power ${compactText(power)}`,
    clock !== undefined && `clock ${compactText(clock)}`,
    unasked !== undefined && `unasked ${compactText(unasked)}`,
    dut !== undefined && `${dut} the device under test`,
    wait !== undefined && `wait ${typeof wait === 'object' ? compactText(wait) : durationText(wait)}`,
    expect !== undefined && `expect ${compactText(expect)}`,
    never !== undefined && `never ${compactText(never)}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/**
 * Writes a value as it may stand in the file: `{unit: 1, function: 3}`. Integers of YAML that no double holds
 * are bigints.
 */
function compactText(value: unknown): string {
  const written = JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
  return (written ?? '').replaceAll('"', '').replaceAll(':', ': ').replaceAll(',', ', ');
}
