import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Inlets } from '../../../src/remote/mqtt/values.js';
import { deskOf } from './desk-of.js';

function fileWith(...signals: readonly object[]) {
  const holding = signals.map((mqtt, address) => ({ address, name: `v${address}`, signal: { mqtt } }));
  return {
    devices: { meter: { registers: { holding } } },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  };
}

async function inletsOf(...signals: readonly object[]) {
  const { rpc, simulator } = await deskOf(fileWith(...signals));
  const inlets = new Inlets(rpc);
  await inlets.refresh();
  const values = async () => {
    const came = await rpc.list('value.named', { device: 'meter' });
    const all = [];
    if (came.ok) for await (const parts of came.value) all.push(...parts);
    return all.map(({ value }) => value);
  };
  const arrived = (topic: string, payload: string) => inlets.arrived(topic, Buffer.from(payload));
  return { inlets, values, arrived, rpc, simulator };
}

describe('values that follow a topic', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['42', undefined, 42],
    [' 42.4 ', undefined, 42],
    ['"17"', undefined, 17],
    ['true', undefined, 1],
    ['OFF', undefined, 0],
    ['{"a": {"b": [1, 5]}}', '$.a.b[1]', 5],
    ['{"a b": 3}', "$['a b']", 3],
    ['{"a": "8"}', '$.a', 8],
  ])('read %s at %s', async (payload, json, expected) => {
    const { arrived, values } = await inletsOf({ topic: 't', start: 9, ...(json && { json }) });
    expect(await values()).toEqual([9]);
    await arrived('t', payload);
    expect(await values()).toEqual([expected]);
  });

  it.each([
    '',
    'abc',
    'null',
    '{}',
    '[1]',
    '{"x": 1}',
    '1e999',
    'NaN',
    '{"value": null}',
    'x'.repeat(100_000),
  ])('stay as they are after %j, which is counted', async (payload) => {
    const { arrived, values, inlets } = await inletsOf({ topic: 't', start: 9, json: '$.value' });
    await arrived('t', payload);
    expect(await values()).toEqual([9]);
    expect(inlets.unreadable).toBe(1);
  });

  it('are scaled, each by its own scale, and do not follow another topic', async () => {
    const { arrived, values } = await inletsOf(
      { topic: 't', scale: 1000 },
      { topic: 't', scale: 2 },
      { topic: 'u' },
    );
    await arrived('t', '1.5');
    await arrived('x', '1');
    expect(await values()).toEqual([1500, 3, 0]);
  });

  it('are not available when nothing came for too long', async () => {
    const { arrived, values } = await inletsOf({ topic: 't', stale: 150 });
    expect(await values()).toEqual([null]);
    await arrived('t', '5');
    expect(await values()).toEqual([5]);
    vi.advanceTimersByTime(149);
    expect(await values()).toEqual([5]);
    vi.advanceTimersByTime(1);
    expect(await values()).toEqual([null]);
    await arrived('t', '6');
    expect(await values()).toEqual([6]);
  });

  it('have the last one again after the device has restarted, with its age', async () => {
    const { arrived, values, inlets, rpc } = await inletsOf({ topic: 't' }, { topic: 't', stale: 100 });
    await arrived('t', '5');
    expect(await values()).toEqual([5, 5]);
    vi.advanceTimersByTime(120);
    await rpc.call('device.reset', { device: 'meter' });
    expect(await values()).toEqual([0, null]);
    await inlets.refresh();
    expect(await values()).toEqual([5, null]);
  });

  it('come and go with their signals', async () => {
    const { inlets, rpc } = await inletsOf({ topic: 't' });
    await rpc.call('signal.set', { device: 'meter', value: 'v0', signal: { mqtt: { topic: 'u' } } });
    expect(await inlets.refresh()).toEqual({ gone: ['t'], added: ['u'] });
    expect(inlets.topics).toEqual(['u']);
  });

  it('are added up from the moment on at which they change', async () => {
    const file = fileWith({ topic: 't' });
    const counter = { address: 1, name: 'sum', type: 'float32', signal: { counter: { integral: 'v0' } } };
    file.devices.meter.registers.holding.push(counter as never);
    const { rpc } = await deskOf({
      ...file,
      devices: { meter: { ...file.devices.meter, clock: { paused: true } } },
    });
    const inlets = new Inlets(rpc);
    await inlets.refresh();
    const sum = async () => {
      const came = await rpc.call('value.get', { device: 'meter', value: 'sum' });
      return came.ok ? came.value.value : came;
    };
    const goOn = (step: number) => rpc.call('device.clock', { device: 'meter', step });
    await inlets.arrived('t', Buffer.from('2'));
    await goOn(3000);
    expect(await sum()).toBe(6);
    await inlets.arrived('t', Buffer.from('10'));
    await goOn(1000);
    expect(await sum()).toBe(16);
  });
});
