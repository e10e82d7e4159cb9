import modbusSerial from 'modbus-serial';
import { afterEach, describe, expect, it } from 'vitest';
import { THEN } from '../../../src/device/faults/then.js';

import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Manners of devices, seen by modbus-serial. */

type Client = InstanceType<typeof modbusSerial.default>;

stopAfterEach();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await new Promise<void>((resolve) => client.close(resolve));
});

/** How long a client waits for a reply that does not come, and for one that comes, in ms. */
const HASTE = 200;
const PATIENCE = 30_000;

const registers = {
  holding: [{ address: 0, value: [10, 11, 12, 13], write: true }],
  input: [{ address: 0, value: 99 }],
};

const start = (manners: object) =>
  startSimulator(
    nativeSetup({
      devices: { meter: { registers, manners } },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    }),
  );

async function connect(running: RunningSimulator, timeout = HASTE): Promise<Client> {
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port: running.port('lan') });
  client.setID(1);
  client.setTimeout(timeout);
  clients.push(client);
  return client;
}

const first = async (client: Client) => (await client.readHoldingRegisters(0, 1)).data[0];
/** Why a promise was rejected, in the client's words. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    (error: Error) => error.message,
  );

describe('a device with manners', () => {
  it('answers nothing in the first second of a connection: a client that waits passes, one that does not fails', async () => {
    const running = await start({ connectPause: '1s' });
    const hasty = await connect(running);
    expect(await failure(first(hasty))).toBe('Timed out');
    const patient = await connect(running, PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await first(patient)).toBe(10);
    hasty.setTimeout(PATIENCE);
    expect(await first(hasty)).toBe(10);
  });

  it('is deaf on a connection whose first request came too soon, until the client connects anew', async () => {
    const running = await start({ connectPause: { for: '1s', otherwise: 'deaf' } });
    const client = await connect(running);
    expect(await failure(first(client))).toBe('Timed out');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await failure(first(client))).toBe('Timed out');
    const anew = await connect(running, PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await first(anew)).toBe(10);
  });

  it('refuses part of what clients may ask, and shows why in the traffic', async () => {
    const running = await start({ most: { registers: 2 }, writes: 'multiple', addresses: { first: 1 } });
    const client = await connect(running, PATIENCE);
    expect((await client.readHoldingRegisters(0, 2)).data).toEqual([11, 12]);
    expect(await failure(client.readHoldingRegisters(0, 3))).toContain('Illegal data value');
    expect(await failure(client.writeRegister(0, 1))).toContain('Illegal function');
    await client.writeRegisters(0, [7]);
    expect((await client.readHoldingRegisters(0, 1)).data).toEqual([7]);
    expect(await failure(client.readHoldingRegisters(3, 1))).toContain('Illegal data address');
  });

  it('locks up after a bad read, and answers again when its power was switched', async () => {
    const running = await start({ locksUp: { on: ['address'], for: 'power' } });
    const client = await connect(running, PATIENCE);
    expect(await first(client)).toBe(10);
    expect(await failure(client.readHoldingRegisters(100, 1))).toContain('Illegal data address');
    client.setTimeout(HASTE);
    expect(await failure(first(client))).toBe('Timed out');
    await running.rest.send('POST', '/api/v1/devices/meter/power', { state: 'cycle', forMs: 0 });
    client.setTimeout(PATIENCE);
    expect(await first(client)).toBe(10);
  });

  it('is changed while it serves, and has its own manners again without any', async () => {
    const running = await start({});
    const client = await connect(running, PATIENCE);
    const manners = { sharedMemory: [['holding', 'input']], holes: { fill: 5 } };
    const put = await running.rest.send('PUT', '/api/v1/devices/meter/manners', manners);
    expect(put).toMatchObject({ status: 200, body: { manners } });
    expect((await client.readInputRegisters(2, 3)).data).toEqual([12, 13, 5]);
    await running.rest.send('PUT', '/api/v1/devices/meter/manners', {});
    expect(await failure(client.readInputRegisters(2, 3))).toContain('Illegal data address');
    expect((await running.rest.send('GET', '/api/v1/devices/meter')).body).toMatchObject({ manners: {} });
  });

  it('swallows requests in the first second of a connection, and locks up, by rules', async () => {
    const running = await start({});
    running.addRule({ name: 'early', when: { connected: { below: '1s' } }, do: { silence: true } });
    running.addRule({ name: 'bad', when: { quantity: '4-125' }, [THEN]: { state: 'locked' } });
    running.addRule({ name: 'locked', when: { state: 'locked' }, do: { silence: true } });
    const client = await connect(running);
    expect(await failure(first(client))).toBe('Timed out');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    client.setTimeout(PATIENCE);
    expect(await first(client)).toBe(10);
    expect((await client.readHoldingRegisters(0, 4)).data).toEqual([10, 11, 12, 13]);
    client.setTimeout(HASTE);
    expect(await failure(first(client))).toBe('Timed out');
    await running.rest.send('POST', '/api/v1/devices/meter/reset');
    client.setTimeout(PATIENCE);
    expect(await first(client)).toBe(10);
  });

  it('has its values under their names where clients find them: in the traffic, and for fault rules', async () => {
    const running = await startSimulator(
      nativeSetup({
        devices: {
          meter: {
            registers: {
              holding: [
                { address: 5, name: 'voltage', value: 230 },
                { address: 6, name: 'current', value: 7 },
              ],
            },
            manners: { addresses: { first: 5 }, sharedMemory: [['holding', 'input']] },
          },
        },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
        faults: [{ name: 'named', when: { name: 'meter.current' }, do: { exception: 6 } }],
      }),
    );
    const client = await connect(running, PATIENCE);
    expect(await first(client)).toBe(230);
    expect(await failure(client.readInputRegisters(1, 1))).toContain('busy');
    const { body } = await running.rest.send<{ events: { names?: string[] }[] }>(
      'GET',
      '/api/v1/traffic?kind=request',
    );
    expect(body.events.map(({ names }) => names)).toEqual([['meter.voltage'], ['meter.current']]);
    await running.rest.send('PUT', '/api/v1/devices/meter/manners', {});
    expect(await failure(client.readHoldingRegisters(6, 1))).toContain('busy');
  });

  it('is refused where its lines have no connections', async () => {
    const running = await startSimulator(
      nativeSetup({
        devices: { meter: { registers } },
        lines: { bus: { serial: { path: 'virtual' }, units: { 1: 'meter' } } },
      }),
    );
    const put = await running.rest.send('PUT', '/api/v1/devices/meter/manners', { connectPause: '1s' });
    expect(put).toMatchObject({
      status: 400,
      body: { problems: [{ path: 'connectPause', code: 'manners.no_connection' }] },
    });
  });
});
