import modbusSerial from 'modbus-serial';
import { describe, expect, it } from 'vitest';
import { loadNativeFile } from '../../../src/document/load.js';
import { Rest } from '../../remote/api/rest.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator } from '../../support/simulator.js';

const DAY_MS = 86_400_000;

/** A load that follows the day, and the energy that comes of it. */
const SETUP = {
  devices: {
    meter: {
      clock: { paused: true },
      registers: {
        input: [
          {
            address: 0,
            type: 'float32',
            name: 'power',
            signal: { sine: { period: '24h', amplitude: 4, offset: 6, phase: -90 } },
          },
          {
            address: 2,
            type: 'float64',
            name: 'energy',
            signal: { counter: { integral: 'power', per: '1h' } },
          },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

describe('a day of load', () => {
  it('is read step by step by modbus-serial as the formula has it', async () => {
    const { rest, port } = await startSimulator(nativeSetup(SETUP));
    const client = new modbusSerial.default();
    await client.connectTCP('127.0.0.1', { port: port('lan') });
    for (let hour = 0; hour <= 24; hour++) {
      const { buffer } = await client.readInputRegisters(0, 6);
      const angle = (2 * Math.PI * hour) / 24;
      expect(buffer.readFloatBE(0)).toBeCloseTo(6 - 4 * Math.cos(angle), 5);
      expect(buffer.readDoubleBE(4)).toBeCloseTo(6 * hour - ((4 * 24) / (2 * Math.PI)) * Math.sin(angle), 6);
      await rest.send('POST', '/api/v1/devices/meter/clock', { step: '1h' });
    }
    await new Promise<void>((resolve) => client.close(() => resolve()));
  });
});

describe('examples/power-meter.yaml', () => {
  it('has power and energy that fit voltages and currents, and a relay that cuts them off', async () => {
    const loaded = loadNativeFile('examples/power-meter.yaml');
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const rest = new Rest(loaded.configuration);
    const send = (method: 'POST' | 'PUT', url: string, body: object) =>
      rest.send(method, `/api/v1/devices/meter/${url}`, body);
    const values = async () => {
      const { body } = await rest.send<{ registers: { name: string | null; value: number }[] }>(
        'GET',
        '/api/v1/devices/meter/registers',
      );
      return Object.fromEntries(body.registers.map(({ name, value }) => [name, value])) as Record<
        string,
        number
      >;
    };
    await send('POST', 'clock', { pause: true, step: DAY_MS });
    const { voltage1, voltage2, voltage3, current1, current2, current3, power, energy } = await values();
    const expected = [
      [voltage1, current1],
      [voltage2, current2],
      [voltage3, current3],
    ];
    expect(power).toBeCloseTo(
      expected.reduce((sum, [v = 0, a = 0]) => sum + v * a, 0),
      0,
    );
    // A mean of 5 A on each of three phases of some 230 V.
    expect((energy ?? 0) - 123456).toBeGreaterThan(24 * 3 * 5 * 226);
    expect((energy ?? 0) - 123456).toBeLessThan(24 * 3 * 5 * 234);
    await send('PUT', 'values/relay', { value: 'open' });
    expect(await values()).toMatchObject({ feedback: 0, current1: 0, power: 0 });
  });
});
