import { afterEach, describe, expect, it, vi } from 'vitest';
import { deviceForMap, mapOf } from '../../../src/testing/server/device-map.js';
import { nativeSetup } from '../../support/configuration.js';
import { testModelServer } from './virtual-server.js';

afterEach(() => {
  vi.unstubAllGlobals();
});

const holding = [
  { address: 10, name: 'power', type: 'float32', value: 1.5 },
  { address: 12, name: 'limit', type: 'uint16', value: 7 },
  { address: 15, name: 'state', type: 'uint16', value: 1, write: true },
  { address: 16, name: 'setpoint', type: 'int16', value: 20, write: true, limits: { min: -5, max: 40 } },
] as const;
const METER = { registers: { holding, coils: [{ address: 3, value: [true, false] }] } };

function mapFrom(device: object, manners: object = {}) {
  const configuration = nativeSetup({
    devices: { meter: { ...device, manners } },
    lines: { bus: { tcp: { port: 502 }, units: { 1: 'meter' } } },
  });
  const found = deviceForMap(configuration, 1);
  if (!found) throw new Error('no device');
  return mapOf(found);
}

/** Tests a device with the map of another one. */
async function verdicts(device: object, map = mapFrom(METER), manners: object = {}) {
  const { serverTest } = await testModelServer({
    ...{ device, manners },
    order: { map, checks: ['map'], scratch: { holding: { first: 12, last: 16 } } },
  });
  return Object.fromEntries(
    serverTest.findings.flatMap(({ check, verdict }) => (check.group === 'map' ? [[check.id, verdict]] : [])),
  );
}

describe('a server is tested with its map', () => {
  it('has the values of the file with names, sizes and access', () => {
    const { values } = mapFrom(METER);
    expect(
      values.map(({ code, address, cells, isWritable, name }) => [code, address, cells, isWritable, name]),
    ).toEqual([
      [3, 10, 2, false, 'power'],
      [3, 12, 1, false, 'limit'],
      [3, 15, 1, true, 'state'],
      [3, 16, 1, true, 'setpoint'],
      [1, 3, 1, false, undefined],
      [1, 4, 1, false, undefined],
    ]);
  });

  it('conforms when it is as the map says', async () => {
    expect(await verdicts(METER)).toEqual({
      'map-values': 'conforms',
      'half-values': 'conforms',
      holes: 'conforms',
      'map-read-only': 'conforms',
      'map-limits': 'conforms',
    });
  });

  it('violates what it has not, fills or takes', async () => {
    const other = holding.map((each) => ({ ...each, write: true })).slice(0, 2);
    expect(await verdicts({ registers: { holding: other } })).toMatchObject({
      'map-values': 'violates',
      'map-read-only': 'violates',
    });
    expect(await verdicts(METER, mapFrom(METER), { holes: { unless: 'all' } })).toMatchObject({
      holes: 'violates',
    });
    expect(await verdicts(METER, mapFrom(METER, { wholeValues: true }))).toMatchObject({
      'half-values': 'violates',
    });
  });

  it('takes values beyond the limits of its map, which is a violation', async () => {
    const verdictOf = async (limits: object) => {
      const other = holding.map((each) => ('limits' in each ? { ...each, limits } : each));
      const all = await verdicts({ registers: { ...METER.registers, holding: other } }, mapFrom(METER));
      return all['map-limits'];
    };
    expect(await verdictOf({ min: -100, max: 40 })).toBe('violates');
    expect(await verdictOf({ min: -5, max: 100 })).toBe('violates');
    expect(await verdictOf({ min: 0, max: 30 })).toBe('conforms');
  });

  it('is not judged by a map that nobody gave', async () => {
    const { verdict } = await testModelServer({ order: { checks: ['map'] } });
    expect(verdict('map-values')).toBe('not-run');
  });
});
