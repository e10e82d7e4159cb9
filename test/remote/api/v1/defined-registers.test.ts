import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ErrorBody } from '../../../../src/remote/api/error-answer.js';
import type { DeviceView } from '../../../../src/simulator/commands/schemas/device.js';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../../support/simulator.js';

stopAfterEach();

const SETUP = nativeSetup({
  devices: {
    meter: { registers: { holding: [{ address: 0, value: [1, 2], write: true }] } },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: { copyOf: 'meter' } } } },
});

async function start() {
  const running = await startSimulator(SETUP);
  const define = (body: object, name = 'meter') =>
    running.rest.send<ErrorBody & { registers: { address: number; value: number }[] }>(
      'POST',
      `/api/v1/devices/${name}/registers`,
      body,
    );
  const client = running.client('lan');
  const ask = async (request: string) => {
    client.received = Buffer.alloc(0);
    client.send(bytesOf(request));
    await until(() => client.received.length > 0, 'a reply');
    return client.received.subarray(6).toString('hex');
  };
  return { ...running, define, ask };
}

it('defines what a client asked for in vain, and the client reads and writes it', async () => {
  const { define, ask, rest } = await start();
  expect(await ask('0001 0000 0006 01 03 0001 0003')).toBe('018302');
  const { status, body } = await define({ table: 'holding', address: 1, quantity: 3 });
  expect([status, body.registers.map(({ address, value }) => [address, value])]).toEqual([
    201,
    [
      [2, 0],
      [3, 0],
    ],
  ]);
  expect(await ask('0002 0000 0006 01 03 0001 0003')).toBe('010306000200000000');
  expect(await ask('0003 0000 0006 01 06 0003 0007')).toBe('010600030007');
  const meter = await rest.send<DeviceView>('GET', '/api/v1/devices/meter');
  expect(meter.body.defined?.holding).toEqual({ registers: 4, ranges: [[0, 3]] });
  expect(await ask('0004 0000 0006 02 03 0001 0003')).toBe('028302');
});

it('defines coils, far beyond the table, that clients may only read', async () => {
  const { define, ask } = await start();
  expect((await define({ table: 'coils', address: 65_535, write: false })).status).toBe(201);
  expect(await ask('0001 0000 0006 01 01 FFFF 0001')).toBe('01010100');
  expect(await ask('0002 0000 0006 01 05 FFFF FF00')).toBe('018502');
});

it('is in the configuration that is written, and stays after a reset of the device', async () => {
  const { define, ask, rest } = await start();
  await define({ table: 'holding', address: 2 });
  await define({ table: 'input', address: 9, write: false });
  await ask('0001 0000 0006 01 06 0002 0007');
  const headers = { host: 'localhost' };
  const answer = await rest.app.inject({ method: 'GET', url: '/api/v1/configuration', headers });
  const written = parse(answer.body) as { devices: Record<string, { registers: object }> };
  expect(nativeSetup(written).devices).toBeDefined();
  expect(written.devices.meter?.registers).toMatchObject({
    holding: [
      { address: 0, value: [1, 2] },
      { address: 2, value: 7, write: true },
    ],
    input: [{ address: 9, value: 0 }],
  });
  await rest.send('POST', '/api/v1/devices/meter/reset');
  expect(await ask('0002 0000 0006 01 03 0002 0001')).toBe('0103020000');
});

it.each([
  [{ table: 'holding', address: 0, quantity: 2 }, 409, 'register.defined'],
  [{ table: 'holding', address: 65_535, quantity: 2 }, 400, 'request.invalid'],
  [{ table: 'holding', address: 5, quantity: 2001 }, 400, 'request.invalid'],
  [{ table: 'nowhere', address: 5 }, 400, 'request.invalid'],
])('refuses %j', async (body, status, code) => {
  const { define } = await start();
  const refused = await define(body);
  expect([refused.status, refused.body.code]).toEqual([status, code]);
});

it('refuses a device that there is not', async () => {
  const { define } = await start();
  expect((await define({ table: 'holding', address: 0 }, 'nobody')).status).toBe(404);
});
