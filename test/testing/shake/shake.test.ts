import { expect, it } from 'vitest';
import { Shake } from '../../../src/testing/shake/shake.js';
import type { ShakeOrder } from '../../../src/testing/shake/shake-order.js';
import type { Habits } from '../examine/habits.js';
import { inVirtualTime, untilOver, virtualBench } from '../examine/virtual-bench.js';

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
