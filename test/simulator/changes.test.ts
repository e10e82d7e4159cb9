import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { nativeSetup } from '../support/configuration.js';
import { startSimulator } from '../support/simulator.js';

const PLANT = {
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

test('a new line that can not be opened does not take another of its name with it', async () => {
  const { simulator } = await startSimulator(nativeSetup(PLANT));
  const { changes } = simulator;
  const other = createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  const first = changes.createLine('new', { tcp: { host: '127.0.0.1', port }, units: { 1: 'meter' } });
  const removed = changes.removeLine('new');
  const second = changes.createLine('new', { tcp: { port: 0 }, units: { 1: 'meter' } });
  expect(await Promise.all([first, removed, second])).toMatchObject([
    { ok: false },
    { ok: true },
    { ok: true },
  ]);
  expect(simulator.lines.get('new')?.state.kind).toBe('open');
  other.close();
});
