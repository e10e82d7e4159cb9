import { MAX_SEED } from '../../common/random.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import type { Simulator } from '../../simulator/simulator.js';
import { type DutDefinition, reportUnknownEndpoints } from './dut.js';
import { oneOrMore } from './read-actions.js';
import { readForbidden, readingSteps } from './read-step.js';
import type { Forbidden, Scenario } from './scenario.js';
import { alwaysSchema, dutSchema, scenarioSchema } from './schema.js';

/**
 * Reads a scenario whose parameters and files are put in, and checks its lines, devices and values against
 * the simulator. Undefined after reporting every mistake.
 */
export function readScenario(at: At, simulator: Simulator): Scenario | undefined {
  const reading = readingScenario(at, simulator);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

/**
 * Does the work of `readScenario` in small pieces. Yields where the lines of a running simulator can be
 * served.
 */
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
      ? (never.expected('what must not come') ?? [])
      : readForbidden(never, simulator);
  });
}
