import modbusSerial from 'modbus-serial';
import { describe, expect, it } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator } from '../../support/simulator.js';

/** A valve with a command, a feedback and a position, behind a password. */
const SETUP = {
  devices: {
    valve: {
      clock: { paused: true },
      registers: {
        coils: [
          { address: 0, name: 'open', write: true },
          { address: 1, name: 'bell', write: true, pulse: '2s' },
        ],
        discrete: [{ address: 0, follows: { name: 'open', after: '250ms' } }],
        holding: [
          {
            address: 0,
            name: 'setpoint',
            write: true,
            limits: { max: 100 },
            password: { register: 'lock', value: 42 },
            onWrite: [{ set: { writes: 'writes + 1' } }],
          },
          { address: 1, name: 'lock', write: true },
          { address: 2, name: 'writes' },
          { address: 3, name: 'mode', write: true, busyFor: '1s' },
        ],
        input: [{ address: 0, name: 'position', follows: { name: 'setpoint', slew: 10 } }],
      },
      queues: { 500: { signal: { expression: 'position' }, every: '1s' } },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'valve' } } },
};

/** The exception code that a request is refused with. */
async function refused(request: Promise<unknown>): Promise<number | undefined> {
  const error = (await request.catch((reason: unknown) => reason)) as { modbusCode?: number };
  return error.modbusCode;
}

describe('a valve', () => {
  it('is refused, opens, and reports where it is, as modbus-serial sees it', async () => {
    const { rest, port } = await startSimulator(nativeSetup(SETUP));
    const client = new modbusSerial.default();
    await client.connectTCP('127.0.0.1', { port: port('lan') });
    client.setID(1);
    const step = (time: string) => rest.send('POST', '/api/v1/devices/valve/clock', { step: time });

    expect(await refused(client.writeRegister(0, 50))).toBe(2);
    await client.writeRegister(1, 42);
    expect(await refused(client.writeRegister(0, 101))).toBe(3);
    await client.writeRegister(0, 50);
    await step('3s');
    expect((await client.readInputRegisters(0, 1)).data).toEqual([30]);
    await client.writeCoils(0, [true, true]);
    await step('249ms');
    expect((await client.readDiscreteInputs(0, 1)).data[0]).toBe(false);
    await step('1ms');
    expect((await client.readDiscreteInputs(0, 1)).data[0]).toBe(true);
    await step('1749ms');
    expect((await client.readCoils(0, 2)).data.slice(0, 2)).toEqual([true, true]);
    await step('1ms');
    expect((await client.readCoils(0, 2)).data.slice(0, 2)).toEqual([true, false]);
    await client.writeRegister(3, 1);
    expect(await refused(client.writeRegister(3, 1))).toBe(6);
    await step('1s');
    await client.writeRegister(3, 1);
    expect((await client.readHoldingRegisters(0, 4)).data).toEqual([50, 42, 1, 1]);
    expect((await client.readInputRegisters(0, 1)).data).toEqual([50]);
    await new Promise<void>((resolve) => client.close(() => resolve()));
  });

  it('takes what an operator writes whatever its limits and its password, and reacts', async () => {
    const { rest } = await startSimulator(nativeSetup(SETUP));
    const value = async (name: string) =>
      (await rest.send<{ value: number }>('GET', `/api/v1/devices/valve/values/${name}`)).body.value;
    const step = (time: string) => rest.send('POST', '/api/v1/devices/valve/clock', { step: time });

    await rest.send('PUT', '/api/v1/devices/valve/values/setpoint', { value: 300 });
    await rest.send('PATCH', '/api/v1/devices/valve/registers', { changes: [{ name: 'bell', value: 1 }] });
    await rest.send('POST', '/restapi/registers', {
      submit: 'Set',
      device: 'valve',
      table: 'holding',
      register: 0,
      value: '200',
    });
    expect(await value('writes')).toBe(2);
    expect(await value('bell')).toBe(1);
    await step('2s');
    expect(await value('bell')).toBe(0);
    expect(await value('position')).toBe(20);
    await rest.send('PUT', '/api/v1/devices/valve/signals/mode', {
      follows: { name: 'setpoint', after: '1s' },
    });
    expect(await value('mode')).toBe(0);
    await step('1s');
    expect(await value('mode')).toBe(200);
  });

  it('takes no more from an operator while a thousand changes are to come', async () => {
    const { rest } = await startSimulator(nativeSetup(SETUP));
    const patch = async (length: number) => {
      const changes = Array.from({ length }, (_, i) => ({ name: 'bell', value: i % 2 }));
      return (await rest.send('PATCH', '/api/v1/devices/valve/registers', { changes })).status;
    };
    let value = 0;
    const set = (name: string) => {
      value = 1 - value;
      return rest.send('PUT', `/api/v1/devices/valve/values/${name}`, { value });
    };
    await rest.send('PUT', '/api/v1/devices/valve/signals/mode', {
      follows: { name: 'bell', after: '1h' },
    });
    expect(await patch(800)).toBe(400);
    expect(await patch(300)).toBe(200);
    while ((await patch(20)) === 200);
    while ((await set('bell')).status === 200);
    expect(await set('bell')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('value: too many changes are pending') },
    });
    const register = { submit: 'Set', device: 'valve', table: 'coils', register: 1, value: '1' };
    const refused = await rest.send<{ result: string }>('POST', '/restapi/registers', register);
    expect(JSON.stringify(refused.body)).toContain('too many changes');
    await rest.send('POST', '/api/v1/devices/valve/clock', { step: '2h' });
    expect((await set('bell')).status).toBe(200);
  });
});
