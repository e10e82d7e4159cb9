import { pino } from 'pino';
import { expect, it } from 'vitest';
import { At } from '../../../src/common/schema/at.js';
import { fileFindings } from '../../../src/common/schema/findings.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { Runs } from '../../../src/testing/runs.js';
import { readingScenario } from '../../../src/testing/scenario/read-scenario.js';
import { startingTest } from '../../../src/testing/scenario/start-test.js';
import { nativeSetup } from '../../support/configuration.js';
import { BENCH, read } from './read.js';

const newLocalSimulator = () => new Simulator(nativeSetup(BENCH), pino({ level: 'silent' }));

function pausesOf(steps: unknown): number {
  const reading = readingScenario(new At({ name: 'long', steps }, fileFindings()), newLocalSimulator());
  let pauses = 0;
  while (!reading.next().done) pauses++;
  return pauses;
}

it('the lines are served between any two steps of a scenario that is read', () => {
  const step = { fault: { when: { unit: 1 }, do: [{ delay: 1 }] }, wait: '1s' };
  expect(pausesOf(Array.from({ length: 500 }, () => step))).toBeGreaterThan(500);
  expect(pausesOf([{ ...step, repeat: 900 }])).toBeGreaterThan(900);
  expect(pausesOf([{ repeat: 30, steps: [{ repeat: 30, steps: [step] }] }])).toBeGreaterThan(900);
  expect(pausesOf(Array.from({ length: 1000 }, () => 1))).toBeGreaterThan(1000);
});

it('more steps than a scenario may have are not looked at', () => {
  expect(read({ steps: Array.from({ length: 1001 }, () => 1) })).toEqual([
    'steps: expected at most 1000 steps, repetitions included',
  ]);
});

it('lists within a step have a limit', () => {
  const many = (item: unknown) => Array.from({ length: 257 }, () => item);
  const named = Object.fromEntries(many('on').map((value, i) => [`d${i}`, value]));
  const tooMany = 'expected at most 256 in one list, got 257';
  expect(read({ steps: [{ expect: many({ unit: 1 }) }] })).toEqual([`steps[0].expect: ${tooMany}`]);
  expect(read({ steps: [{ never: many({ unit: 1 }) }] })).toEqual([`steps[0].never: ${tooMany}`]);
  expect(read({ steps: [{ power: named }] })).toEqual([`steps[0].power: ${tooMany}`]);
  expect(read({ steps: [{ set: named }] })).toEqual([`steps[0].set: ${tooMany}`]);
  expect(read({ steps: [{ fault: many({ do: { delay: 1 } }), wait: 1 }] })).toEqual([
    `steps[0].fault: ${tooMany}`,
  ]);
  expect(read({ always: many({ never: { unit: 1 } }), steps: [{ wait: 1 }] })).toEqual([
    `always: ${tooMany}`,
  ]);
});

it('does not start when a device has come while the scenario was read', async () => {
  const bench = newLocalSimulator();
  const starting = startingTest(new Runs(bench), {
    name: 'a',
    steps: [{ wait: '1s' }],
  });
  starting.next();
  expect(await bench.changes.createDevice('new', BENCH.devices.meter)).toMatchObject({ ok: true });
  let next = starting.next();
  while (!next.done) next = starting.next();
  expect(next.value).toMatchObject({
    code: 'device.changed',
    problems: [{ path: '', message: expect.stringContaining('a device was added') }],
  });
});
