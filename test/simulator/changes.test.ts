import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { At } from '../../src/common/schema/at.js';
import { Findings } from '../../src/common/schema/findings.js';
import type { Device } from '../../src/device/device.js';
import type { Point } from '../../src/device/point.js';
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
  while (!simulator.lines.has('new')) await Promise.resolve();
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

test('a device that comes, changes and goes lets the values of other devices be', async () => {
  const named = { address: 0, value: 1, name: 'voltage' };
  const { simulator } = await startSimulator(
    nativeSetup({ ...PLANT, devices: { meter: { registers: { holding: [named] } } } }),
  );
  const { changes, devices } = simulator;
  const meter = devices.get('meter') as Device;
  Object.defineProperty(meter.points, 'all', { get: () => expect.fail('all values were looked at') });
  const follows = (expression: string) => ({ ...named, signal: { expression } });
  const added = await changes.createDevice('new', { registers: { holding: [follows('meter.voltage * 2')] } });
  expect(added).toMatchObject({ ok: true });
  const { points, tables } = devices.get('new') as Device;
  expect(tables.holding.readWords(0, 1)).toEqual([2]);
  const change = (expression: string) => {
    const findings = new Findings();
    const at = new At({ expression }, findings);
    changes.signals.change(devices.get('new') as Device, points.named.get('voltage') as Point, at);
    return findings.listed.map(({ message }) => message);
  };
  expect(change('meter.voltage * 3')).toEqual([]);
  expect(tables.holding.readWords(0, 1)).toEqual([3]);
  expect(change('new.voltage')).toEqual(['depends on itself: new.voltage -> new.voltage']);
  expect(await changes.removeDevice('meter', { force: true })).toMatchObject({
    error: 'a signal of device new needs a value of the device',
  });
  expect(await changes.removeDevice('new')).toEqual({ ok: true });
});

test('a device that was removed over REST, and signals that its values were given, take no memory any more', async () => {
  const { simulator } = await startSimulator(nativeSetup(PLANT));
  const { changes, devices } = simulator;
  const cameAndWent = async () => {
    const level = { address: 0, value: 1, name: 'level', write: true };
    expect(await changes.createDevice('guest', { registers: { holding: [level] } })).toMatchObject({
      ok: true,
    });
    const guest = devices.get('guest') as Device;
    const at = new At({ sine: { amplitude: 9, period: '1s' } }, new Findings());
    expect(changes.signals.change(guest, guest.points.named.get('level') as Point, at)).toBe(true);
    expect(changes.budget.used).toBeGreaterThan(changes.budget.ofDevice(guest));
    expect(await changes.removeDevice('guest')).toEqual({ ok: true });
    return new WeakRef(guest);
  };
  const guest = await cameAndWent();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A WeakRef holds its target until the turn is over.
  await new Promise((resolve) => setTimeout(resolve));
  collect();
  expect(guest.deref()).toBeUndefined();
  expect(changes.budget.used).toBe(0);
});
