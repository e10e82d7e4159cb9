import modbusSerial from 'modbus-serial';
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/document/load.js';
import { findSunspecModel, type SunspecGroup, sunspecIds } from '../../../src/document/sunspec/place.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, startSimulator, stopAfterEach } from '../../support/simulator.js';

/* Devices by their SunSpec models, walked as a client does that knows the specification alone. */

stopAfterEach();

const bench = (sunspec: unknown, more: object = {}) => ({
  devices: { inverter: { sunspec, ...more } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'inverter' } } },
});

const problems = (sunspec: unknown) => {
  const loaded = loadNative(bench(sunspec), '.');
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
};

/** Looks for the marker, then goes from model to model (SunSpec Device Information Model Specification V1.2, 6). */
async function walk(port: number): Promise<{ base: number; models: [id: number, length: number][] }> {
  const client = new modbusSerial.default();
  await client.connectTCP('127.0.0.1', { port });
  client.setID(1);
  const read = async (address: number, count: number) =>
    (await client.readHoldingRegisters(address, count)).data;
  try {
    for (const base of [0, 40_000, 50_000]) {
      const marker = await read(base, 2).catch(() => []);
      if (marker[0] !== 0x5375 || marker[1] !== 0x6e53) continue;
      const models: [number, number][] = [];
      for (let address = base + 2; ; ) {
        const [id = 0, length = 0] = await read(address, 2);
        if (id === 0xffff) {
          expect(length).toBe(0);
          return { base, models };
        }
        models.push([id, length]);
        // Every register of the model can be read.
        for (let done = 0; done < length; done += 100)
          await read(address + 2 + done, Math.min(100, length - done));
        address += 2 + length;
      }
    }
    throw new Error('no marker');
  } finally {
    await new Promise<void>((resolve) => client.close(() => resolve()));
  }
}

function lengthOf({ points, groups = [] }: SunspecGroup): number {
  const own = points.reduce((sum, { size }) => sum + size, 0);
  const times = ({ count }: SunspecGroup) => (typeof count === 'number' && count > 0 ? count : 1);
  return groups.reduce((sum, group) => sum + times(group) * lengthOf(group), own);
}

describe.each([0, 40_000, 50_000])('a device with models from address %i on', (base) => {
  it('is walked to its end', async () => {
    const { port } = await startSimulator(
      nativeSetup(bench({ base, models: [1, 103, { model: 160, repeat: { module: 3 } }, 120] })),
    );
    expect(await walk(port('lan'))).toEqual({
      base,
      models: [
        [1, 66],
        [103, 50],
        [160, 8 + 3 * 20],
        [120, 26],
      ],
    });
  });
});

it('has every model there is, each of its length', async () => {
  const ids = sunspecIds();
  expect(ids).toHaveLength(112);
  // Those of 64 at most in a device.
  for (let from = 0; from < ids.length; from += 32) {
    const some = ids.slice(from, from + 32);
    const { port, stop } = await startSimulator(nativeSetup(bench(some)));
    const { models } = await walk(port('lan'));
    expect(models).toEqual(
      some.map((id) => {
        const model = findSunspecModel(id);
        return [id, !model.ok ? model.error : lengthOf(model.value.group) - 2];
      }),
    );
    await stop();
  }
});

it('stores values by their scale factors, and says what is not available', async () => {
  const values = { A: 12.5, PhVphA: 230.4, W: 2870, W_SF: 1, St: 'MPPT', WH: 123456 };
  const running = await startSimulator(nativeSetup(bench([1, { model: 103, values }])));
  const at = (offset: number, quantity = 1) => holding(running, 'inverter', 40_070 + offset, quantity);
  expect(at(0, 2)).toEqual([103, 50]);
  // A with A_SF -2, AphA not available, and the scale factor behind the phases.
  expect(at(2, 5)).toEqual([1250, 0xffff, 0xffff, 0xffff, 0x10000 - 2]);
  expect(at(14, 2)).toEqual([287, 1]);
  expect(at(24, 2)).toEqual([1, 57920]);
  expect(at(38)).toEqual([4]);
  const { points } = running.simulator.devices.get('inverter') ?? {};
  expect(points?.named.get('m103_A')?.definition).toMatchObject({ unit: 'A', scale: 0.01, table: 'holding' });
  expect(running.simulator.devices.get('inverter')?.points.named.has('m1_SN')).toBe(true);
});

it('counts repeated groups by the point that says how many there are', async () => {
  const running = await startSimulator(
    nativeSetup(bench([1, { model: 705, values: { NCrv: 2, NPt: 3, Crv1_Pt2_V: 95 } }])),
  );
  const { named } = running.simulator.devices.get('inverter')?.points ?? { named: new Map() };
  expect(named.has('m705_Crv2_Pt3_V')).toBe(true);
  expect(named.has('m705_Crv3_Pt1_V')).toBe(false);
  const { points } = running.simulator.devices.get('inverter') ?? {};
  expect(points?.named.get('m705_NCrv')?.raw).toBe(2);
});

it('may be added over REST, where it is not so large that the lines would wait for it', async () => {
  const { rest } = await startSimulator(nativeSetup(bench([1])));
  const add = (name: string, sunspec: unknown) => rest.send('POST', '/api/v1/devices', { name, sunspec });
  expect(await add('meter', [1, 203])).toMatchObject({
    status: 201,
    body: { names: expect.arrayContaining(['m203_A']) },
  });
  expect(await add('huge', [1, { model: 160, repeat: { module: 120 } }])).toMatchObject({
    status: 400,
    body: { problems: [{ path: 'sunspec' }] },
  });
});

it('stands beside registers of its own', () => {
  const loaded = loadNative(
    bench([1], { registers: { holding: [{ address: 7, name: 'own', value: 1 }] } }),
    '.',
  );
  expect(loaded.ok).toBe(true);
});

it.each<[string, unknown, string[]]>([
  ['an unknown model', [1, 9999], ['devices.inverter.sunspec[1]: unknown SunSpec model "9999"']],
  ['an unknown point', [{ model: 1, values: { Mnn: 'x' } }], ['devices.inverter.sunspec[0].values.Mnn: ']],
  [
    'a value of another type',
    [{ model: 1, values: { Mn: 5 } }],
    ['devices.inverter.sunspec[0].values.Mn: expected text'],
  ],
  [
    'a number beyond its type',
    [{ model: 103, values: { A: 100_000 } }],
    ['devices.inverter.sunspec[0].values.A: expected a whole number from 0 to 65535'],
  ],
  ['nothing', [], ['devices.inverter.sunspec: expected 1 to 64 models, got 0']],
  [
    'groups in groups without end',
    [{ model: 705, repeat: { Crv: 4096, Pt: 4096 } }],
    ['devices.inverter.sunspec[0]: does not fit: it has too many points'],
  ],
  ['too much', [{ model: 160, repeat: { module: 4000 } }], ['devices.inverter.sunspec[0]: does not fit']],
])('refuses %s', (_, sunspec, expected) => {
  const found = problems(sunspec);
  expect(found).toHaveLength(expected.length);
  for (const [i, text] of expected.entries()) expect(found[i]).toContain(text);
});
