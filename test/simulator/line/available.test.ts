import modbusSerial from 'modbus-serial';
import { afterEach, describe, expect, it } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Values that are not available, seen by modbus-serial. */

type Client = InstanceType<typeof modbusSerial.default>;

stopAfterEach();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await new Promise<void>((resolve) => client.close(resolve));
});

async function start() {
  const running = await startSimulator(
    nativeSetup({
      devices: {
        inverter: {
          clock: { paused: true },
          registers: {
            holding: [{ address: 0, name: 'limit', type: 'int16', value: 50, write: true }],
            input: [
              { address: 0, name: 'power', type: 'float32', value: 1.5 },
              { address: 2, name: 'energy', type: 'uint32', signal: { counter: { perSecond: 1 } } },
              {
                address: 4,
                type: 'int32',
                value: 7,
                unavailable: [{ from: '22h', for: '8h', every: '24h' }],
              },
            ],
            coils: [{ address: 0, name: 'relay', write: true, notAvailable: 1 }],
          },
        },
      },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'inverter' } } },
    }),
  );
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port: running.port('lan') });
  client.setID(1);
  client.setTimeout(30_000);
  clients.push(client);
  const put = (name: string, available: boolean) =>
    running.rest.send('PUT', `/api/v1/devices/inverter/values/${name}`, { available });
  return { client, put, rest: running.rest };
}

describe('a value that is not available', () => {
  it('is NaN, 0xFFFFFFFF or what its entry says, until it is available again', async () => {
    const { client, put } = await start();
    const input = async () => (await client.readInputRegisters(0, 4)).buffer;
    expect((await input()).readFloatBE(0)).toBe(1.5);
    for (const name of ['power', 'energy', 'relay']) expect((await put(name, false)).status).toBe(200);
    expect((await input()).readFloatBE(0)).toBeNaN();
    expect((await input()).readUInt32BE(4)).toBe(0xffffffff);
    expect((await client.readCoils(0, 1)).data[0]).toBe(true);
    for (const name of ['power', 'energy', 'relay']) await put(name, true);
    expect((await input()).readFloatBE(0)).toBe(1.5);
    expect((await input()).readUInt32BE(4)).toBe(0);
    expect((await client.readCoils(0, 1)).data[0]).toBe(false);
  });

  it('takes what the client writes, and shows it when it is back', async () => {
    const { client, put } = await start();
    await put('limit', false);
    await client.writeRegister(0, 33);
    expect((await client.readHoldingRegisters(0, 1)).data).toEqual([0x8000]);
    await put('limit', true);
    expect((await client.readHoldingRegisters(0, 1)).data).toEqual([33]);
  });

  it('is away at night by the clock of the device', async () => {
    const { client, rest } = await start();
    const read = async () => (await client.readInputRegisters(4, 2)).buffer.readInt32BE(0);
    const step = (step: string) => rest.send('POST', '/api/v1/devices/inverter/clock', { step });
    expect(await read()).toBe(7);
    await step('22h');
    expect(await read()).toBe(-0x80000000);
    await step('8h');
    expect(await read()).toBe(7);
    await step('16h');
    expect(await read()).toBe(-0x80000000);
  });
});

describe('a value that is stale after a start', () => {
  it('is for a time what it was when the power was lost, and then what it is', async () => {
    const { rest, port } = await startSimulator(
      nativeSetup({
        devices: {
          meter: {
            clock: { paused: true },
            registers: {
              input: [
                {
                  address: 0,
                  type: 'uint32',
                  stale: '60s',
                  signal: { counter: { perSecond: 1, from: 0x10000 } },
                },
                { address: 2, value: 5, stale: '10s' },
              ],
            },
          },
        },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      }),
    );
    const client = new modbusSerial.default();
    await client.connectTCP('127.0.0.1', { port: port('lan') });
    client.setID(1);
    clients.push(client);
    const post = (what: string, body: object) => rest.send('POST', `/api/v1/devices/meter/${what}`, body);
    const read = async () => (await client.readInputRegisters(0, 3)).data;
    await post('clock', { step: '90s' });
    await rest.send('PATCH', '/api/v1/devices/meter/registers', {
      changes: [{ table: 'input', address: 2, value: 9 }],
    });
    expect(await read()).toEqual([1, 90, 9]);
    await post('power', { state: 'off' });
    await post('power', { state: 'on' });
    expect(await read()).toEqual([1, 90, 9]);
    // A second reset meanwhile begins the time again, with the same words.
    await post('clock', { step: '5s' });
    await post('reset', {});
    expect(await read()).toEqual([1, 90, 9]);
    await post('clock', { step: '30s' });
    expect(await read()).toEqual([1, 90, 5]);
    await post('clock', { step: '30s' });
    expect(await read()).toEqual([1, 60, 5]);
  });
});
