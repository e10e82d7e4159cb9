import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { At } from '../../../src/common/schema/at.js';
import { Findings } from '../../../src/common/schema/findings.js';
import { readScenario } from '../../../src/testing/scenario/read-scenario.js';
import { TestRun } from '../../../src/testing/scenario/test-run.js';
import { Shake } from '../../../src/testing/shake/shake.js';
import type { ShakeOrder } from '../../../src/testing/shake/shake-order.js';
import type { Habits } from '../examine/habits.js';
import { WRITES_BACK } from '../examine/observers.js';
import { inVirtualTime, untilOver, virtualBench } from '../examine/virtual-bench.js';
import { shakeModel as shakeTrapped } from './shake-bench.js';
import type { Trap } from './trap.js';

/* Clients that fail at one thing, and one that does not, shaken in virtual time. */

inVirtualTime();

const LIMIT_MS = 100 * 3_600_000;

async function shakeModel(on: 'serial' | 'tcp', habits: Partial<Habits>, more: Partial<ShakeOrder> = {}) {
  const bench = await virtualBench(on);
  const line = bench.simulator.lines.get('bus');
  if (!line) throw new Error('no line');
  let client = bench.client(habits);
  const restart = async () => {
    client.stop();
    client = bench.client(habits);
    void client.poll();
    return undefined;
  };
  const order = { line, unitId: undefined, limitMs: LIMIT_MS, seed: 1, mostMoves: 500, restart, ...more };
  const shake = new Shake(bench.simulator, order, {}, bench.clock);
  void client.poll();
  const report = await untilOver(bench.clock, shake.run());
  client.stop();
  return report;
}

it.each([
  ['serial', 'crashes at a bad reply'],
  ['tcp', 'crashes at a bad reply'],
  ['serial', 'stops after an exception'],
  ['serial', 'repeats after exceptions without end'],
  ['tcp', 'never reconnects'],
] as const)('on %s finds a client that %s, and one move that shows it', async (on, mistake) => {
  const report = await shakeModel(on, { mistakes: [mistake] });
  expect(report.verdict, report.conclusions.join(' ')).toBe('fail');
  expect(report.shaken?.schedule, report.conclusions.join(' ')).toHaveLength(1);
});

it.each(['serial', 'tcp'] as const)(
  'on %s finds nothing wrong with a client that bears it all',
  async (on) => {
    const { verdict, conclusions } = await shakeModel(on, {}, { mostMoves: 100 });
    expect(verdict, conclusions.join(' ')).toBe('pass');
  },
);

it('plays the same moves again, and says the same', async () => {
  const mistakes = ['crashes at a bad reply'] as const;
  const { shaken } = await shakeModel('serial', { mistakes });
  const replay = (shaken?.schedule ?? []) as NonNullable<ShakeOrder['replay']>;
  expect((await shakeModel('serial', { mistakes }, { replay })).verdict).toBe('fail');
  expect((await shakeModel('serial', {}, { replay })).verdict).not.toBe('fail');
});

describe('the scenario that comes out', () => {
  const play = async (text: string, habits: Partial<Habits>) => {
    const { simulator, clock, client } = await virtualBench('serial');
    const findings = new Findings();
    const scenario = readScenario(new At(parse(text), findings), simulator);
    expect(findings.listed, text).toEqual([]);
    if (!scenario) throw new Error(text);
    const polling = client(habits);
    void polling.poll();
    const report = await untilOver(clock, new TestRun(simulator, scenario, () => {}, clock).run());
    polling.stop();
    return report.findings.map(({ verdict }) => verdict);
  };

  it.each([
    'crashes at a bad reply',
    'stops after an exception',
    'repeats after exceptions without end',
  ] as const)('fails on a client that %s, and passes on one that does not', async (mistake) => {
    const { shaken } = await shakeModel('serial', { mistakes: [mistake] });
    const text = shaken?.scenario ?? '';
    expect(await play(text, { mistakes: [mistake] }), text).toContain('fail');
    expect(new Set(await play(text, {})), text).toEqual(new Set(['pass']));
  });
});

it('finds a client that polls on and takes no reply any more', async () => {
  const trap =
    (): Trap =>
    ({ effect }) =>
      effect === 'none' ? 'freezes' : undefined;
  const frozen = { on: 'tcp', habits: WRITES_BACK, isObserved: true, trap } as const;
  const { verdict, conclusions } = await shakeTrapped(frozen, { mostMoves: 500 });
  expect(verdict, conclusions.join(' ')).toBe('fail');
  expect(conclusions.join(' ')).toContain('no longer shows the values of good replies');
});

it('does not blame the moves for what happens without any', async () => {
  let started = 0;
  const trap = (): Trap => {
    const lives = started++ === 0 ? 200 : 8;
    return ({ requests }) => (requests > lives ? 'ends' : undefined);
  };
  const { verdict, conclusions } = await shakeTrapped({ on: 'tcp', habits: {}, trap }, { mostMoves: 500 });
  expect(verdict, conclusions.join(' ')).toBe('inconclusive');
  expect(conclusions.join(' ')).toContain('without any move');
});
