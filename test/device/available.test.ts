import { describe, expect, it } from 'vitest';
import type { Point } from '../../src/device/point.js';
import { nativeSetup } from '../support/configuration.js';
import { startSimulator, stopAfterEach } from '../support/simulator.js';
import { liveDevices } from './live.js';

/* Values that are not available, by a clock that the test moves. What clients see is tested with modbus-serial in test/simulator/line. */

stopAfterEach();

const NIGHT = [{ from: '22h', for: '8h', every: '24h' }];
const HOUR = 3_600_000;

describe('a value that is not available', () => {
  it.each([
    { type: 'int16', words: [0x8000] },
    { type: 'uint16', words: [0xffff] },
    { type: 'int32', words: [0x8000, 0] },
    { type: 'uint32', words: [0xffff, 0xffff] },
    { type: 'int64', words: [0x8000, 0, 0, 0] },
    { type: 'int64', words: [0, 0, 0, 0x8000], wordOrder: 'little' },
    { type: 'int32', words: [0x0080, 0], byteOrder: 'little' },
    { type: 'uint64', words: [0xffff, 0xffff, 0xffff, 0xffff] },
    { type: 'float32', words: [0x7fc0, 0] },
    { type: 'float64', words: [0x7ff8, 0, 0, 0] },
    { type: 'uint16', words: [999], scale: 0.1, notAvailable: 999 },
    { type: 'bits', words: [0x8001], value: 1, notAvailable: '0x8001' },
    { type: 'string', words: [0x2d2d, 0], value: 'ab', length: 2, notAvailable: '--' },
  ])('is read as %j, and a neighbour as it is', ({ words, ...entry }) => {
    const { read } = liveDevices({
      meter: {
        holding: [
          { address: 0, value: 11 },
          { address: 1, value: 7, available: false, ...entry },
          { address: 1 + words.length, value: 12 },
        ],
      },
    });
    expect(read('holding', 0, words.length + 2)).toEqual([11, ...words, 12]);
    expect(read('holding', words.length, 1)).toEqual(words.slice(-1));
  });

  it('is read so as a bit, too, also in the exception status', () => {
    const { respond } = liveDevices({
      meter: {
        coils: [
          { address: 0, value: [1, 0] },
          { address: 2, quantity: 2, value: 0, available: false, notAvailable: 1 },
          { address: 4, value: 0 },
        ],
        exceptionStatus: [2, 4],
      },
    });
    expect(respond([1, 0, 0, 0, 5])).toEqual([1, 1, 0b01101]);
    expect(respond([7])).toEqual([7, 1]);
  });

  it('comes and goes by the clock of its device', () => {
    const { read, meter } = liveDevices({
      meter: {
        clock: { paused: true },
        holding: [
          { address: 0, quantity: 2, value: 5, unavailable: NIGHT },
          { address: 2, value: 5, unavailable: [{ from: 1000, for: 1 }, { from: '47h' }] },
        ],
      },
    });
    const readAt = (time: number) => {
      meter.setClock({}, time - meter.clock.time);
      return read('holding', 0, 3);
    };
    expect(readAt(0)).toEqual([5, 5, 5]);
    expect(readAt(1000)).toEqual([5, 5, 0xffff]);
    expect(readAt(1001)).toEqual([5, 5, 5]);
    expect(readAt(22 * HOUR - 1)).toEqual([5, 5, 5]);
    expect(readAt(22 * HOUR)).toEqual([0xffff, 0xffff, 5]);
    expect(readAt(30 * HOUR - 1)).toEqual([0xffff, 0xffff, 5]);
    expect(readAt(30 * HOUR)).toEqual([5, 5, 5]);
    expect(readAt(46 * HOUR)).toEqual([0xffff, 0xffff, 5]);
    expect(readAt(54 * HOUR)).toEqual([5, 5, 0xffff]);
  });

  it('takes writes and goes on moving, and shows both when it is back', () => {
    const { read, write, respond, wait, meter } = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'limit', value: 5, write: true, available: false },
          { address: 1, name: 'sum', available: false, signal: { counter: { perSecond: 10 } } },
          { address: 2, name: 'twice', signal: { expression: 'limit * 2' } },
          { address: 3, name: 'after', value: 0, write: true, onWrite: [{ set: { limit: 'after' } }] },
        ],
      },
    });
    write(0, 7);
    wait(1000);
    expect(read('holding', 0, 3)).toEqual([0xffff, 0xffff, 14]);
    // Function 22 sets bit 3 of what lies underneath, and not of what clients read.
    respond([22, 0, 0, 0xff, 0xf7, 0, 8]);
    expect(read('holding', 0, 3)).toEqual([0xffff, 0xffff, 30]);
    write(3, 9);
    for (const point of meter.points.all) meter.points.setAvailable(point, true);
    expect(read('holding', 0, 3)).toEqual([9, 10, 18]);
  });

  it('is there from the first write on, where it waits for one', () => {
    const { read, write, respond, meter } = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'limit', value: 5, write: true, available: 'whenWritten' },
          {
            address: 1,
            type: 'float32',
            name: 'other',
            write: true,
            available: 'whenWritten',
          },
        ],
      },
    });
    expect(read('holding', 0, 3)).toEqual([0xffff, 0x7fc0, 0]);
    respond([16, 0, 1, 0, 2, 4, 0x3f, 0x80, 0, 0]);
    expect(read('holding', 0, 3)).toEqual([0xffff, 0x3f80, 0]);
    write(0, 3);
    expect(read('holding', 0, 1)).toEqual([3]);
    // Who makes it not available means it, until the next write.
    meter.points.setAvailable(meter.points.named.get('limit') as Point, false);
    expect(read('holding', 0, 1)).toEqual([0xffff]);
    write(0, 7);
    expect(read('holding', 0, 1)).toEqual([7]);
    meter.restart();
    expect(read('holding', 0, 3)).toEqual([0xffff, 0x7fc0, 0]);
  });

  it('is as the file has it after a restart', () => {
    const { read, meter } = liveDevices({
      meter: {
        holding: [
          { address: 0, name: 'a', value: 5, available: false },
          { address: 1, name: 'b', value: 6, retain: true },
        ],
      },
    });
    const { changes } = meter;
    const [a, b] = meter.points.all;
    if (!a || !b) throw new Error('no values');
    meter.points.setAvailable(a, true);
    meter.points.setAvailable(b, false);
    expect(meter.changes).toBeGreaterThan(changes);
    expect(read('holding', 0, 2)).toEqual([5, 0xffff]);
    meter.restart();
    expect(read('holding', 0, 2)).toEqual([0xffff, 6]);
  });

  it('is found where the manners of the device have moved it', () => {
    const { read } = liveDevices({
      meter: {
        holding: [{ address: 9, value: 5, available: false }],
        manners: { addresses: { first: 9 }, sharedMemory: [['holding', 'input']], holes: { fill: 1 } },
      },
    });
    expect(read('input', 0, 2)).toEqual([0xffff, 1]);
  });

  it('leaves a table without such values as it is, and again when the last of them is back', () => {
    const { meter } = liveDevices({ meter: { holding: [{ address: 0, name: 'a' }] } });
    const { image } = meter.tables.holding.window;
    const [a] = meter.points.all;
    if (!a) throw new Error('no value');
    expect(image.cover).toBeUndefined();
    meter.points.setAvailable(a, false);
    expect(image.cover).toBeDefined();
    meter.points.setAvailable(a, true);
    expect(image.cover).toBeUndefined();
  });
});

describe('PUT /api/v1/devices/NAME/values/NAME with available', () => {
  const PATH = '/api/v1/devices/meter/values';
  const start = () =>
    startSimulator(
      nativeSetup({
        devices: {
          meter: {
            registers: {
              holding: [
                {
                  address: 0,
                  name: 'voltage',
                  value: 2301,
                  scale: 0.1,
                  unit: 'V',
                  labels: { 2301: 'usual' },
                },
                { address: 1, name: 'power', signal: { steps: [{ value: 60 }] }, unavailable: NIGHT },
                { address: 2, name: 'model', type: 'string', value: 'ab' },
              ],
              coils: [{ address: 0, name: 'relay', notAvailable: 1 }],
            },
          },
        },
        lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
      }),
    );

  it('shows null as the value, what lies underneath as raw, and the sentinel as words', async () => {
    const { rest } = await start();
    const put = (body: object) => rest.send('PUT', `${PATH}/voltage`, body);
    const away = { name: 'voltage', value: null, raw: 2301, unit: 'V', type: 'uint16', available: false };
    expect(await put({ available: false })).toEqual({ status: 200, body: away });
    expect(await rest.send('GET', `${PATH}/voltage`)).toEqual({ status: 200, body: away });
    const listed = await rest.send('GET', '/api/v1/devices/meter/registers?names=voltage,power');
    expect(listed.body).toMatchObject({
      registers: [
        { ...away, label: null },
        { value: 60, available: true },
      ],
    });
    const words = await rest.send('GET', '/api/v1/devices/meter/words?from=0&to=1');
    expect(words.body).toMatchObject({ words: [0xffff, 60], values: [away, { available: true }] });
    expect((await put({ value: 231.5 })).body).toMatchObject({ value: null, raw: 2315, available: false });
    expect((await put({ available: true })).body).toMatchObject({ value: 231.5, raw: 2315, available: true });
  });

  it('takes both at once, or neither when one has a mistake', async () => {
    const { rest } = await start();
    const put = (body: object) => rest.send('PUT', `${PATH}/voltage`, body);
    expect((await put({ available: false, value: 'x' })).status).toBe(400);
    expect((await put({ available: false, expected: 5 })).status).toBe(409);
    expect((await rest.send('GET', `${PATH}/voltage`)).body).toMatchObject({ available: true });
    const both = await put({ available: false, value: 1, expected: 230.1 });
    expect(both).toMatchObject({ status: 200, body: { value: null, raw: 10 } });
    expect((await put({ available: 1 })).body).toMatchObject({
      problems: [{ path: 'available', message: 'expected true or false, got 1' }],
    });
  });

  it('writes what clients see in place of registers, as words that are expected', async () => {
    const { rest } = await start();
    await rest.send('PUT', `${PATH}/voltage`, { available: false });
    const patch = (expected: number) =>
      rest.send('PATCH', '/api/v1/devices/meter/registers', {
        changes: [{ table: 'holding', address: 0, words: [7], expected: [expected] }],
      });
    expect((await patch(2301)).status).toBe(409);
    expect(await patch(0xffff)).toMatchObject({ status: 200, body: { registers: [{ raw: 7 }] } });
  });

  it('refuses a type without a value that says so, unless the entry has one', async () => {
    const { rest } = await start();
    expect(await rest.send('PUT', `${PATH}/model`, { available: false })).toMatchObject({
      status: 400,
      body: {
        code: 'value.no_sentinel',
        problems: [
          {
            path: 'available',
            message: 'string has no value that means "not available", expected notAvailable in the entry',
          },
        ],
      },
    });
    expect((await rest.send('PUT', `${PATH}/model`, { available: true })).status).toBe(200);
    expect((await rest.send('PUT', `${PATH}/relay`, { available: false })).status).toBe(200);
  });

  it('moves by a signal and may still be taken away; its schedule goes on', async () => {
    const { rest, simulator } = await start();
    const put = async (available: boolean) => (await rest.send('PUT', `${PATH}/power`, { available })).body;
    expect(await put(false)).toMatchObject({ value: null, raw: 60 });
    expect(await put(true)).toMatchObject({ value: 60 });
    await rest.send('POST', '/api/v1/devices/meter/clock', { step: '23h' });
    expect((await rest.send('GET', `${PATH}/power`)).body).toMatchObject({ value: null, available: false });
    expect(await put(true)).toMatchObject({ value: null, available: false });
    expect(simulator.devices.get('meter')?.tables.holding.readWords(1, 1)).toEqual([0xffff]);
  });
});
