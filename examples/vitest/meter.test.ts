// A driver that reads a meter is tested against a simulator of its own, which each test can break as it likes.
import { type RunningSimulator, startSimulator } from 'modbus-sim';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readVoltage } from './driver.js';

const METER = `
devices:
  meter:
    registers:
      holding: [{address: 0, value: 2301, name: voltage, unit: V, scale: 0.1, write: true}]
lines:
  lan: {tcp: {port: 502}, units: {1: meter}}
`;

let simulator: RunningSimulator;
beforeEach(async () => {
  simulator = await startSimulator(METER);
});
afterEach(() => simulator.stop());

test('reads the voltage', async () => {
  await simulator.device('meter').write('voltage', 231.5);
  expect(await readVoltage(simulator.line('lan').port)).toBe(231.5);
});

test('asks again when the meter is busy', async () => {
  await simulator.faults.set({ name: 'busy', when: { count: 1 }, do: { exception: 6 } });
  expect(await readVoltage(simulator.line('lan').port)).toBe(230.1);
  expect((await simulator.faults.get('busy')).hits).toBe(1);
  const second = await simulator.traffic.waitFor(({ faults }) => faults.length === 0);
  expect(second.ended).toBe('complete');
});
