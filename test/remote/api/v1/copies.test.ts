import dns from 'node:dns';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { serialMaster, tcpMaster } from '../masters.js';
import type { Rest } from '../rest.js';

let served: RunningSimulator;
let rest: Rest;

beforeEach(async () => {
  served = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2], write: true }] } } },
      lines: {
        lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
        bench: { serial: { path: 'virtual' }, units: { 1: 'meter', 200: { copyOf: 'meter' } } },
      },
    }),
  );
  rest = served.rest;
});
afterEach(() => vi.restoreAllMocks());
stopAfterEach();

const put = (line: string, change: object) => rest.send('PUT', `/api/v1/lines/${line}`, change);
const units = async (line: string, units: object) => (await put(line, { units })).status;
const devices = () => [...rest.simulator.devices.keys()];

async function lanMaster() {
  const { body } = await rest.send<{ place: string }>('GET', '/api/v1/lines/lan');
  return tcpMaster(Number(body.place.split(':')[1]));
}

it('copies of copies of copies do not pile up', async () => {
  let source = 'meter';
  for (let i = 0; i < 10; i++) {
    expect(await units('lan', { '1-247': { copyOf: source } })).toBe(200);
    source += '-1';
  }
  // And the one that the line names, which is a copy that an earlier setting of the line has made.
  expect(devices()).toHaveLength(2 + 247 + 1);
  const master = await lanMaster();
  expect((await master.readHoldingRegisters(0, 2)).data).toEqual([1, 2]);
  expect(await units('lan', { 1: 'meter' })).toBe(200);
  expect(devices()).toEqual(['meter', 'meter-200']);
});

it('a device of the configuration stays when no line uses it, a copy too', async () => {
  expect(await units('bench', { 7: { copyOf: 'meter' } })).toBe(200);
  expect(await units('lan', { 7: { copyOf: 'meter' } })).toBe(200);
  expect(devices()).toEqual(['meter', 'meter-200', 'meter-7']);
});

it('a copy has its registers as long as any line uses it, and new ones when it is made again', async () => {
  await units('lan', { 1: { copyOf: 'meter' } });
  const master = await lanMaster();
  await master.writeRegister(0, 4711);
  await units('bench', { 1: 'meter-1' });
  await units('lan', { 1: 'meter' });
  expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
  await units('lan', { 1: { copyOf: 'meter' } });
  expect((await master.readHoldingRegisters(0, 1)).data).toEqual([4711]);
  await units('bench', { 1: 'meter' });
  await units('lan', { 1: 'meter' });
  await units('lan', { 1: { copyOf: 'meter' } });
  expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);
});

it('a copy made while the simulator runs can be copied while it is in use, and its copy outlives it', async () => {
  await units('lan', { 5: { copyOf: 'meter' } });
  expect(await units('lan', { 5: 'meter-5', 1: { copyOf: 'meter-5' } })).toBe(200);
  expect(await units('lan', { 1: 'meter-5-1' })).toBe(200);
  expect(devices()).toEqual(['meter', 'meter-200', 'meter-5-1']);
  expect((await (await lanMaster()).readHoldingRegisters(0, 1)).data).toEqual([1]);
  expect(await put('lan', { units: { 2: { copyOf: 'meter-5' } } })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('unknown device "meter-5"') },
  });
});

it('a host name that takes long to look up holds up no other line, and takes no copies from its own', async () => {
  const waiting: (() => void)[] = [];
  vi.spyOn(dns, 'lookup').mockImplementation(((name: string, ...rest: unknown[]) => {
    const done = rest.at(-1) as (error: Error) => void;
    waiting.push(() => done(Object.assign(new Error(`no ${name}`), { code: 'ENOTFOUND' })));
  }) as typeof dns.lookup);
  const slow = put('lan', { tcp: { host: 'slow.invalid' }, units: { 5: { copyOf: 'meter' } } });
  await until(() => waiting.length > 0, 'the name is being looked up');
  const next = put('lan', { missingUnit: 'silence' });

  expect(await units('bench', { 1: 'meter', 6: { copyOf: 'meter' } })).toBe(200);
  expect(await units('bench', { 1: 'meter' })).toBe(200);
  expect(devices()).toEqual(['meter', 'meter-200', 'meter-5']);
  const master = await serialMaster(served.path('bench'));
  expect((await master.readHoldingRegisters(0, 1)).data).toEqual([1]);

  for (const answer of waiting) answer();
  expect(await slow).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('slow.invalid') },
  });
  expect(await next).toMatchObject({ status: 200, body: { settings: { tcp: { host: '127.0.0.1' } } } });
  expect(devices()).toEqual(['meter', 'meter-200']);
});

it('values of a copy are for files, and a device with the name of a copy takes its place', async () => {
  const refused = await put('lan', { units: { 5: { copyOf: 'meter', values: { level: 1 } } } });
  expect(refused).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('can be used in files only') },
  });
  expect(await units('lan', { 200: { copyOf: 'meter' } })).toBe(200);
  expect(devices()).toEqual(['meter', 'meter-200']);
});
