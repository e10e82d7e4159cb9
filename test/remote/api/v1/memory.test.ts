import { expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';

stopAfterEach();

/** A body of 11 KB that takes 1.3 MB of memory. */
const greedy = (name: string) => ({
  name,
  registers: {
    holding: Array.from({ length: 40 }, (_, i) => ({
      address: i,
      name: `n${i}`,
      signal: { expression: `1${'+t'.repeat(110)}` },
    })),
  },
});

const REFUSED = {
  status: 409,
  body: {
    code: 'memory.spent',
    detail: expect.stringMatching(
      /^additions over REST may use [\d.]+ MiB of memory; they use [\d.]+ MiB, and this would use [\d.]+ MiB more; remove/,
    ),
  },
};

async function start() {
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, quantity: 65_536 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    }),
  );
  const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object) =>
    rest.send(method, `/api/v1/${path}`, body);
  const metrics = async () => {
    const { payload } = await rest.app.inject('/metrics');
    const of = (name: string) =>
      Number(new RegExp(`^modbus_sim_added_memory_${name} (.*)$`, 'm').exec(payload)?.[1]);
    return { used: of('bytes'), limit: of('limit_bytes') };
  };
  return { send, metrics };
}

it('devices that REST adds take as much memory as they may and no more, and those that are removed give it back', async () => {
  const { send, metrics } = await start();
  expect((await metrics()).used).toBe(0);
  let added = 0;
  let answer = await send('POST', 'devices', greedy('d0'));
  for (; answer.status === 201 && added < 1000; answer = await send('POST', 'devices', greedy(`d${added}`)))
    added++;
  expect(answer).toMatchObject(REFUSED);
  expect(added).toBeGreaterThan(20);
  const { used, limit } = await metrics();
  expect(used).toBeLessThanOrEqual(limit);
  expect(used).toBeGreaterThan(limit * 0.9);
  expect((await send('DELETE', 'devices/d0')).status).toBe(204);
  expect((await metrics()).used).toBeCloseTo((used * (added - 1)) / added, -3);
  expect((await send('POST', 'devices', greedy('again'))).status).toBe(201);
  // Nothing else is added then either.
  const rule = { do: Array.from({ length: 64 }, () => ({ delay: 1 })) };
  const faults = await Promise.all(
    Array.from({ length: 100 }, (_, i) => send('POST', 'faults', { ...rule, name: `long-${i}` })),
  );
  expect(faults.at(-1)).toMatchObject(REFUSED);
  expect(await send('PUT', 'lines/lan', { units: { '1-200': { copyOf: 'meter' } } })).toMatchObject({
    status: 400,
    body: { problems: [{ path: 'units', code: 'memory.spent' }] },
  });
});

it('an expression counts under any name', async () => {
  const { send, metrics } = await start();
  const set = { unit: `1${'+other'.repeat(200)}` };
  const names = [{ name: 'unit' }, { name: 'other' }, { name: 'go', onWrite: [{ set }] }];
  const holding = names.map((entry, address) => ({ ...entry, address, write: true }));
  expect((await send('POST', 'devices', { name: 'pump', registers: { holding } })).status).toBe(201);
  // 401 numbers, operators and names.
  expect((await metrics()).used).toBeGreaterThan(401 * 100);
});

it('a signal that replaces another one counts once', async () => {
  const { send, metrics } = await start();
  await send('POST', 'devices', { name: 'pump', registers: { holding: [{ address: 0, name: 'flow' }] } });
  const set = (expression: string) => send('PUT', 'devices/pump/signals/flow', { expression });
  expect((await set('1+t')).status).toBe(200);
  const { used } = await metrics();
  expect((await set('2+t')).status).toBe(200);
  expect((await metrics()).used).toBe(used);
  expect((await set(`1${'+t'.repeat(200)}`)).status).toBe(200);
  expect((await metrics()).used).toBeGreaterThan(used + 20_000);
  expect((await send('DELETE', 'devices/pump/signals/flow')).status).toBe(200);
  expect((await metrics()).used).toBeLessThan(used);
  await send('DELETE', 'devices/pump');
  expect((await metrics()).used).toBe(0);
});
