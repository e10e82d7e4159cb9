import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { startSimulator } from '../../../support/simulator.js';
import { Rest } from '../rest.js';

interface ErrorBody {
  readonly error: string;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

const SETUP = {
  devices: {
    meter: {
      clock: { paused: true },
      registers: {
        coils: [{ address: 0, name: 'relay', labels: { 0: 'off', 1: 'on' }, write: true }],
        holding: [
          { address: 0, name: 'voltage', unit: 'V', scale: 0.1, value: 2301, description: 'phase 1' },
          { address: 1, name: 'limit', type: 'float32', value: 5, write: true },
          { address: 3, type: 'uint64', name: 'serial', value: '18446744073709551615' },
          { address: 7, value: 42 },
          { address: 8, name: 'kept', value: 1, write: true, retain: true },
        ],
        input: [
          { address: 0, name: 'level', type: 'int16', signal: { ramp: { from: 0, to: 100, over: '10s' } } },
          { address: 1, name: 'total', type: 'uint32', signal: { counter: { integral: 'limit' } } },
        ],
      },
    },
    other: { registers: { holding: [{ address: 0, value: 7, write: true }] } },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', '2-3': 'other' } } },
};

let rest: Rest;
beforeEach(() => {
  rest = new Rest(nativeSetup(SETUP));
});

const get = async <Body>(url: string) => (await rest.send<Body>('GET', `/api/v1${url}`)).body;
const value = async (name: string) => (await get<{ value: unknown }>(`/devices/meter/values/${name}`)).value;

describe('GET /api/v1/devices', () => {
  it('lists the devices with their lines, clock, power and names', async () => {
    const { devices } = await get<{ devices: unknown[] }>('/devices');
    expect(devices).toMatchObject([
      {
        name: 'meter',
        power: 'on',
        clock: { time: 0, speed: 1, paused: true },
        lines: { lan: ['1'] },
        tables: { coils: 1, discrete: 0, holding: 9, input: 3 },
        names: ['relay', 'level', 'total', 'voltage', 'limit', 'serial', 'kept'],
      },
      { name: 'other', lines: { lan: ['2', '3'] }, names: [] },
    ]);
    expect(await get('/devices/other')).toMatchObject({ name: 'other' });
  });

  it('says of one device which addresses are defined', async () => {
    const { defined } = await get<{ defined: unknown }>('/devices/meter');
    expect(defined).toEqual({
      coils: { registers: 1, ranges: [[0, 0]] },
      discrete: { registers: 0, ranges: [] },
      input: { registers: 3, ranges: [[0, 2]] },
      holding: {
        registers: 9,
        ranges: [[0, 8]],
      },
    });
    const scattered = Array.from({ length: 300 }, (_, i) => ({ address: 2 * i }));
    rest = new Rest(
      nativeSetup({ ...SETUP, devices: { ...SETUP.devices, other: { registers: { holding: scattered } } } }),
    );
    const { defined: other } = await get<{ defined: { holding: { registers: number; ranges: unknown[] } } }>(
      '/devices/other',
    );
    expect(other.holding.registers).toBe(300);
    expect(other.holding.ranges).toHaveLength(256);
    expect(other.holding.ranges.at(-1)).toEqual([510, 598]);
  });

  it('knows no other device', async () => {
    const { status, body } = await rest.send<ErrorBody>('GET', '/api/v1/devices/metre');
    expect(status).toBe(404);
    expect(body.error).toMatch(/unknown device "metre", did you mean "meter"/);
  });
});

describe('GET .../registers', () => {
  it('shows values typed and raw, with what is known of them', async () => {
    const { registers } = await get<{ registers: unknown[] }>('/devices/meter/registers?table=holding');
    expect(registers).toHaveLength(5);
    expect(registers[0]).toEqual({
      table: 'holding',
      address: 0,
      registers: 1,
      name: 'voltage',
      value: 230.1,
      raw: 2301,
      unit: 'V',
      type: 'uint16',
      available: true,
      writable: false,
      description: 'phase 1',
      label: null,
      bits: null,
      violates: null,
      signal: null,
      trouble: null,
      saturated: 0,
      action: null,
      reads: 0,
      writes: 0,
      lastWriter: null,
    });
    expect(registers).toMatchObject([
      {},
      { value: 5 },
      { raw: '18446744073709551615' },
      { name: null, value: 42 },
      {},
    ]);
  });

  it('takes a range or names', async () => {
    const range = await get<{ registers: unknown[] }>('/devices/meter/registers?table=holding&from=2&to=7');
    expect(range.registers).toMatchObject([{ address: 1 }, { address: 3 }, { address: 7 }]);
    const names = await get<{ registers: unknown[] }>('/devices/meter/registers?names=level,relay');
    expect(names.registers).toMatchObject([
      { name: 'level', signal: { ramp: { from: 0, to: 100, over: '10s' } } },
      { name: 'relay', type: 'bit', raw: 0, label: 'off' },
    ]);
  });

  it.each([
    ['names=level,nobody', /names: unknown name "nobody"/],
    ['from=-1', /from: expected an address/],
    ['table=coil', /table: expected coils, discrete, input or holding/],
  ])('refuses %s', async (query, message) => {
    const { status, body } = await rest.send<ErrorBody>('GET', `/api/v1/devices/meter/registers?${query}`);
    expect(status).toBe(400);
    expect(body.error).toMatch(message);
  });
});

describe('PATCH .../registers', () => {
  const patch = (changes: unknown) =>
    rest.send<ErrorBody & { registers: unknown[] }>('PATCH', '/api/v1/devices/meter/registers', { changes });

  it('changes many values, by name or by table and address, in their unit or raw', async () => {
    const { status, body } = await patch([
      { name: 'voltage', value: 231.5 },
      { name: 'limit', value: 7.5 },
      { table: 'holding', address: 7, value: 3, raw: true },
      { name: 'relay', value: 'on' },
    ]);
    expect(status).toBe(200);
    expect(body.registers).toMatchObject([
      { raw: 2315 },
      { value: 7.5 },
      { raw: 3 },
      { raw: 1, label: 'on' },
    ]);
    expect(await value('voltage')).toBe(231.5);
    await patch([{ name: 'voltage', value: 2200, raw: true }]);
    expect(await value('voltage')).toBe(220);
  });

  it('changes nothing when one of a hundred is wrong', async () => {
    const good = Array.from({ length: 99 }, () => ({ name: 'voltage', value: 100 }));
    const { status, body } = await patch([...good, { name: 'limit', value: 'high' }]);
    expect(status).toBe(400);
    expect(body.problems).toMatchObject([
      { path: 'changes[99].value', message: expect.stringMatching(/a number/) },
    ]);
    expect(await value('voltage')).toBe(230.1);
  });

  it.each([
    [{ name: 'nobody', value: 1 }, /changes\[0\]\.name: unknown name/],
    [
      { table: 'holding', address: 4, value: 1 },
      /changes\[0\]\.address: expected 3, where this uint64 begins, got 4/,
    ],
    [{ table: 'holding', address: 100, value: 1 }, /holding 100 is not defined/],
    [{ value: 1 }, /expected a name, or a table and an address/],
    [
      { name: 'voltage', table: 'holding', address: 0, value: 1 },
      /expected a name, or a table and an address/,
    ],
    [{ name: 'voltage', value: 1e9 }, /expected a number that uint16 can hold with a scale of 0.1/],
    [{ name: 'voltage', value: 'high' }, /expected a number, got "high"/],
    [{ name: 'voltage' }, /value: missing, expected a number/],
    [{ name: 'level', value: 1 }, /value: is computed by its signal/],
    [{ name: 'relay', value: 2 }, /expected a whole number from 0 to 1 \(bit\), or "off", or "on", got 2/],
    [{ name: 'relay', value: 'closed' }, /, or "off", or "on", got "closed"/],
  ])('refuses %j', async (change, message) => {
    const { status, body } = await patch([change]);
    expect(status).toBe(400);
    expect(body.error).toMatch(message);
  });

  it('writes nothing when something else stands there than was expected, and tells what', async () => {
    const good = { name: 'limit', value: 9, expected: 5 };
    const { status, body } = await patch([good, { table: 'holding', address: 7, value: 3, expected: 41 }]);
    expect(status).toBe(409);
    expect(body.problems).toMatchObject([{ path: 'changes[1].expected', message: 'expected 41, found 42' }]);
    expect(body.registers).toMatchObject([{ value: 5 }, { value: 42 }]);
    expect(await value('limit')).toBe(5);
    const words = { table: 'holding', address: 7, words: [1, 2], expected: [42, 2] };
    expect((await patch([words])).body.error).toBe('changes[0].expected: expected 42 2, found 42 1');
    const scaled = { name: 'voltage', value: 231, expected: 230.2 };
    expect((await patch([scaled])).body.error).toMatch(/expected 230.2, found 230.1/);
    expect(
      (await rest.send('PUT', '/api/v1/devices/meter/values/limit', { value: 1, expected: 4 })).status,
    ).toBe(409);
    expect(await value('limit')).toBe(5);
  });

  it.each([
    { name: 'voltage', value: 231, expected: 230.1 },
    { name: 'voltage', value: 231, expected: [2301] },
    { name: 'voltage', value: 2310, raw: true, expected: 2301 },
    { name: 'relay', value: 'on', expected: 'off' },
    { name: 'serial', value: '1', expected: '18446744073709551615' },
    { table: 'holding', address: 3, words: [1], expected: [65535, 65535] },
    { table: 'holding', address: 1, words: [1, 2], expected: 5 },
  ])('writes when what was expected stands there: %j', async (change) => {
    expect(await patch([change])).toMatchObject({ status: 200 });
    expect(await patch([change])).toMatchObject({ status: 409 });
  });

  it('NaN and the infinities are expected by the texts that show them', async () => {
    for (const [written, shown] of [
      ['NaN', 'NaN'],
      ['inf', 'Infinity'],
      ['-inf', '-Infinity'],
    ]) {
      const { body } = await patch([{ name: 'limit', value: written }]);
      expect(body.registers).toMatchObject([{ raw: shown }]);
      expect(await patch([{ name: 'limit', value: shown, expected: shown }])).toMatchObject({ status: 200 });
    }
  });

  it.each([
    [{ name: 'limit', value: 1, expected: 'high' }, /changes\[0\]\.expected: expected a number/],
    [{ name: 'limit', value: 1, expected: [] }, /expected: expected a value, or a list of registers/],
    [{ name: 'limit', value: 1, expected: [70000] }, /expected: expected a value, or a list of registers/],
    [{ table: 'holding', address: 8, words: [1], expected: [1, 1] }, /expected: holding 9 is not defined/],
    [{ table: 'holding', address: 2, words: [1], expected: 1 }, /expected: no value begins at holding 2/],
  ])('refuses what can not be expected: %j', async (change, message) => {
    const { status, body } = await patch([change]);
    expect(status).toBe(400);
    expect(body.error).toMatch(message);
  });

  it.each([undefined, {}, [], { changes: 5 }, { changes: [5] }])('refuses %j as a body', async (body) => {
    expect((await rest.send('PATCH', '/api/v1/devices/meter/registers', body)).status).toBe(400);
  });
});

describe('.../values/NAME', () => {
  it('reads and sets one value', async () => {
    expect(await get('/devices/meter/values/voltage')).toEqual({
      name: 'voltage',
      value: 230.1,
      raw: 2301,
      unit: 'V',
      type: 'uint16',
      available: true,
    });
    const put = await rest.send('PUT', '/api/v1/devices/meter/values/voltage', { value: 231.5 });
    expect(put).toMatchObject({ status: 200, body: { value: 231.5, raw: 2315 } });
  });

  it('presets a counter', async () => {
    await rest.send('PUT', '/api/v1/devices/meter/values/total', { value: 1000 });
    await rest.send('POST', '/api/v1/devices/meter/clock', { step: '10s' });
    expect(await value('total')).toBe(1050);
  });

  it('knows no other name', async () => {
    expect((await rest.send('GET', '/api/v1/devices/meter/values/x')).status).toBe(404);
    expect((await rest.send('PUT', '/api/v1/devices/meter/values/x', { value: 1 })).status).toBe(404);
    expect((await rest.send('PUT', '/api/v1/devices/x/values/x', { value: 1 })).status).toBe(404);
    expect((await rest.send('PUT', '/api/v1/devices/meter/values/voltage', { value: null })).status).toBe(
      400,
    );
  });
});

describe('.../clock', () => {
  it('steps, pauses and changes the speed', async () => {
    const clock = (body: object) => rest.send('POST', '/api/v1/devices/meter/clock', body);
    expect(await clock({ step: '5s' })).toMatchObject({
      status: 200,
      body: { clock: { time: 5, paused: true } },
    });
    expect(await value('level')).toBe(50);
    expect(await value('total')).toBe(25);
    await rest.send('PUT', '/api/v1/devices/meter/values/limit', { value: 10 });
    await clock({ step: 1000 });
    expect(await value('total')).toBe(35);
    expect(await clock({ speed: 60 })).toMatchObject({ body: { clock: { speed: 60, paused: true } } });
    expect(await clock({ pause: false })).toMatchObject({ body: { clock: { speed: 60, paused: false } } });
  });

  it('shows its time to the ms', async () => {
    const stepped = await rest.send('POST', '/api/v1/devices/meter/clock', { step: 1234.56789 });
    expect(stepped).toMatchObject({ status: 200, body: { clock: { time: 1.235 } } });
  });

  it.each([{ speed: -1 }, { step: '1 day' }, { step: -1 }, { pause: 'yes' }, { sped: 1 }, [], undefined])(
    'refuses %j',
    async (body) => {
      expect((await rest.send('POST', '/api/v1/devices/meter/clock', body)).status).toBe(400);
    },
  );
});

describe('.../signals/NAME', () => {
  const put = (name: string, signal: object) =>
    rest.send<ErrorBody>('PUT', `/api/v1/devices/meter/signals/${name}`, signal);

  it('moves a value that stayed, and another signal moves it from then on', async () => {
    expect((await put('voltage', { steps: [{ value: 240 }] })).body).toMatchObject({ value: 240, raw: 2400 });
    expect((await put('voltage', { expression: 'limit * 10' })).body).toMatchObject({ value: 50 });
  });

  it('keeps what a counter has added up when the value that it adds up gets a signal', async () => {
    await rest.send('POST', '/api/v1/devices/meter/clock', { step: '10s' });
    await put('limit', { steps: [{ value: 100 }] });
    await rest.send('POST', '/api/v1/devices/meter/clock', { step: '1s' });
    expect(await value('total')).toBe(150);
  });

  it('freezes the value when it is deleted', async () => {
    await rest.send('POST', '/api/v1/devices/meter/clock', { step: '5s' });
    const frozen = await rest.send('DELETE', '/api/v1/devices/meter/signals/level');
    expect(frozen).toMatchObject({ status: 200, body: { value: 50, signal: null } });
    await rest.send('POST', '/api/v1/devices/meter/clock', { step: '5s' });
    expect(await value('level')).toBe(50);
    expect(await rest.send('PUT', '/api/v1/devices/meter/values/level', { value: 3 })).toMatchObject({
      status: 200,
    });
  });

  it('is again as configured after a reset of the device', async () => {
    await put('voltage', { steps: [{ value: 240 }] });
    await rest.send('PUT', '/api/v1/devices/meter/values/kept', { value: 9 });
    await rest.send('PUT', '/api/v1/devices/meter/values/limit', { value: 9 });
    expect((await rest.send('POST', '/api/v1/devices/meter/reset')).status).toBe(200);
    expect([await value('voltage'), await value('limit'), await value('kept')]).toEqual([230.1, 5, 9]);
  });

  it.each([
    [{ expression: 'nobody' }, /expression: unknown name "nobody"/],
    [{ expression: 'total' }, undefined],
    [{ expression: 'voltage + 1' }, /expression: depends on itself: meter.voltage -> meter.voltage/],
    [{ sine: { period: 0, amplitude: 1 } }, /sine\.period: /],
    [{ playback: { file: 'none.csv', column: 'v' } }, /playback: .*none\.csv/],
    [{}, /expected one kind of signal/],
  ])('%j', async (signal, message) => {
    const { status, body } = await put('voltage', signal);
    expect(status).toBe(message ? 400 : 200);
    if (message) expect(body.error).toMatch(message);
    else expect((await put('limit', { expression: 'voltage' })).body.error).toMatch(/depends on itself/);
  });

  it('knows no other name', async () => {
    expect((await put('nobody', { steps: [{ value: 1 }] })).status).toBe(404);
    expect((await rest.send('DELETE', '/api/v1/devices/meter/signals/nobody')).status).toBe(404);
  });

  it('tells that a recording has vanished, and holds its last value', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signals-'));
    rest = new Rest(nativeSetup(SETUP, folder));
    const file = join(folder, 'a.csv');
    writeFileSync(file, 'time,v\n0,5\n1,6\n');
    expect((await put('limit', { playback: { file, column: 'v' } })).body).toMatchObject({
      value: 5,
      trouble: null,
    });
    rmSync(folder, { recursive: true });
    await rest.send('POST', '/api/v1/devices/meter/clock', { pause: false });
    await expect
      .poll(() => get<{ registers: unknown[] }>('/devices/meter/registers?names=limit'))
      .toMatchObject({ registers: [{ trouble: expect.stringMatching(/can't be read/) }] });
    expect([5, 6]).toContain(await value('limit'));
  });
});

describe('.../power', () => {
  it('silences the device on every line, and restarts it', async () => {
    const served = await startSimulator(nativeSetup(SETUP));
    rest = served.rest;
    const client = served.client('lan');
    const readOf = (unit: number) => Buffer.from([0, unit, 0, 0, 0, 6, unit, 3, 0, 0, 0, 1]);
    const power = (body: object) => rest.send('POST', '/api/v1/devices/other/power', body);
    client.send(readOf(2));
    await client.responsesOf(1);
    expect(await power({ state: 'off' })).toMatchObject({ status: 200, body: { power: 'off' } });
    client.send(readOf(2));
    client.send(readOf(1));
    await client.responsesOf(2);
    expect(await power({ state: 'on', bootMs: '10m' })).toMatchObject({ body: { power: 'booting' } });
    client.send(readOf(3));
    client.send(readOf(1));
    await client.responsesOf(3);
    expect(await power({ state: 'cycle', forMs: 0, bootMs: 0 })).toMatchObject({ body: { power: 'on' } });
    client.send(readOf(2));
    expect((await client.responsesOf(4)).map(({ unitId }) => unitId)).toEqual([2, 1, 1, 2]);
  });

  it.each([{}, { state: 'maybe' }, { state: 'off', forMs: -1 }, { state: 'cycle', bootMs: 'soon' }])(
    'refuses %j',
    async (body) => {
      expect((await rest.send('POST', '/api/v1/devices/meter/power', body)).status).toBe(400);
    },
  );
});
