import { pino } from 'pino';
import { describe, expect, it, test } from 'vitest';
import type { Device } from '../../../src/device/device.js';
import { LineMap } from '../../../src/remote/api/line-map.js';
import { LocalRpc } from '../../../src/remote/rpc/local-rpc.js';
import { knownValues } from '../../../src/simulator/commands/shown-values.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { newTestContext } from '../../../src/testing/commands.js';
import { frameEvent, replyEvent } from '../../simulator/traffic/events.js';
import { nativeSetup } from '../../support/configuration.js';
import { deskOf } from '../mqtt/desk-of.js';

const meter = {
  registers: {
    coils: [{ address: 3, value: 1, name: 'valve' }],
    input: [{ address: 7, value: 1, name: 'speed' }],
    holding: [
      { address: 10, type: 'float32', value: 230.1, name: 'voltage' },
      { address: 12, value: 1 },
      { address: 13, value: 5, name: 'current' },
    ],
  },
};

const log = pino({ level: 'silent' });
const simulator = new Simulator(
  nativeSetup({
    devices: { meter, plain: { registers: { holding: [{ address: 0 }] } } },
    lines: {
      bench: { serial: { path: 'virtual' }, units: { 1: 'meter', 2: 'plain' } },
      lan: { tcp: { port: 0 }, units: { '*': 'meter' } },
    },
  }),
  log,
);

const map = new LineMap(new LocalRpc(newTestContext(simulator, log)), simulator.traffic);

test.each([
  ['bench', 1, '03 000a 0004', ['meter.voltage', 'meter.current']],
  ['bench', 1, '03 000b 0001', ['meter.voltage']],
  ['bench', 1, '03 000c 0001', []],
  ['bench', 1, '04 0007 0001', ['meter.speed']],
  ['bench', 1, '05 0003 ff00', ['meter.valve']],
  ['bench', 1, '18 000a', []],
  ['bench', 2, '03 0000 000a', []],
  ['bench', 9, '03 000a 0004', []],
  ['lan', 9, '10 000d 0001 02 0005', ['meter.current']],
  ['lan', 9, '03 ffff 007d', []],
  ['gone', 1, '03 000a 0004', []],
])('a request on line %s to unit %i, %s, is about %j', async (line, unitId, pdu, names) => {
  const [view] = await map.views([frameEvent(pdu, { line, unitId })]);
  expect(view?.names ?? []).toEqual(names);
});

const typed = {
  registers: {
    holding: [
      { address: 0, type: 'float32', value: [230.1, 229.8, 231], write: true },
      { address: 6, value: [7, 8] },
      { address: 8, type: 'int32', value: -5, name: 'power', unit: 'W' },
      { address: 10, type: 'int32', value: [-1, 2], wordOrder: 'little' },
      { address: 14, type: 'string', length: 2, value: 'A17' },
      { address: 16, type: 'float32', value: 50.02, name: 'frequency', unit: 'Hz' },
      { address: 18, value: 9, name: 'status', bits: { 0: 'running', 3: 'overload', 4: 'fault' } },
      { address: 19, name: 'alarms', bits: { 0: 'hot' } },
    ],
  },
};

describe('the text of an event', () => {
  /** How the reply to a read of holding registers is told, or a write by function 16. */
  async function textOf(address: number, quantity: number, manners = {}) {
    const lines = { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } };
    const { desk, simulator: running } = await deskOf({ devices: { meter: { ...typed, manners } }, lines });
    const { image } = running.devices.get('meter')?.tables.holding.window ?? {};
    const first = 'addresses' in manners ? address + 1 : address;
    const words = Array.from({ length: quantity }, (_, i) => image?.wordAt(first + i) ?? 0);
    const hex = [address, quantity, ...words].map((word) => word.toString(16).padStart(4, '0'));
    const [from, count, ...data] = hex;
    const bytes = (2 * quantity).toString(16).padStart(2, '0');
    const request = { line: 'lan', unitId: 1 };
    const [read, write] = await desk.map.views([
      replyEvent(`03 ${from} ${count}`, `03 ${bytes} ${data.join(' ')}`, request),
      frameEvent(`10 ${from} ${count} ${bytes} ${data.join(' ')}`, request),
    ]);
    expect(write?.text.split(': ')[1]).toBe(read?.text.split(': ')[1]);
    return read?.text.split(': ')[1];
  }

  it.each([
    [0, 2, 'float32 230.1'],
    [0, 6, 'float32 230.1 229.8 231'],
    [0, 8, '0–5 float32 230.1 229.8 231, 7, 8'],
    [1, 5, '6554, 2–5 float32 229.8 231'],
    [3, 2, '52429 17255'],
    [4, 1, '17255'],
    [6, 2, '7 8'],
    [6, 4, '7, 8, power -5 W'],
    [8, 8, 'power -5 W, 10–13 int32 -1 2, 14–15 string "A17"'],
    [16, 2, 'frequency 50.02 Hz'],
    [18, 2, 'status 9 (running, overload), alarms 0 (none)'],
  ])('of the registers from %i on, %i of them, has %s', async (address, quantity, text) => {
    expect(await textOf(address, quantity)).toBe(text);
  });

  it('has the addresses that clients see where a map is written from 1', async () => {
    expect(await textOf(1, 6, { addresses: { first: 1 } })).toBe('1–4 float32 229.8 231, 7, 8');
  });
});

const scaled = {
  registers: {
    coils: [{ address: 3, value: 0, name: 'valve', write: true }],
    holding: [
      { address: 0, type: 'int16', scale: 0.1, name: 'setpoint', write: true },
      { address: 1, type: 'float32', wordOrder: 'little', name: 'voltage', write: true },
      { address: 3, type: 'uint64', name: 'energy', write: true },
    ],
  },
};

describe('what a client has written', () => {
  /** What each of the requests has written, when nobody looks before they all are answered. */
  async function writtenBy(...requests: readonly string[]) {
    const line = { tcp: { port: 0 }, units: { 1: 'meter' } };
    const { desk } = await deskOf({ devices: { meter: scaled }, lines: { lan: line } });
    const replies = requests.map((pdu, i) =>
      replyEvent(pdu, `${pdu.slice(0, 12)}`, { line: 'lan', unitId: 1, seq: i + 1 }),
    );
    const views = await desk.map.views(replies);
    return views.map((view) =>
      desk.map.writtenIn(view)?.values.map(({ name, asWritten }) => ({ name, ...asWritten })),
    );
  }

  it('is told of each of two writes, though the second came before anybody looked', async () => {
    expect(await writtenBy('06 0000 0001', '06 0000 fffe')).toEqual([
      [{ name: 'setpoint', value: 0.1, raw: 1 }],
      [{ name: 'setpoint', value: -0.2, raw: -2 }],
    ]);
  });

  it.each<[string, object[]]>([
    ['05 0003 ff00', [{ name: 'valve', value: 1, raw: 1 }]],
    ['10 0001 0002 04 0000 4366', [{ name: 'voltage', value: 230, raw: 230 }]],
    [
      '10 0003 0004 08 ffff ffff ffff ffff',
      [{ name: 'energy', value: '18446744073709551615', raw: '18446744073709551615' }],
    ],
    // A part of a value, and some bits of a register: what the value is now has to be asked for.
    ['06 0002 4367', [{ name: 'voltage' }]],
    ['16 0000 00f2 0025', [{ name: 'setpoint' }]],
    ['10 0000 0002 04 0007 0000', [{ name: 'setpoint', value: 0.7, raw: 7 }, { name: 'voltage' }]],
  ])('by %s is %j', async (pdu, values) => {
    expect(await writtenBy(pdu)).toEqual([values]);
  });
});

test('what is known of a large device comes in pieces, between which lines can be served', () => {
  const holding = Array.from({ length: 4_000 }, (_, i) => ({
    address: 2 * i,
    type: 'float32' as const,
    value: 1,
  }));
  const input = holding.map((each, i) => ({ ...each, name: `n${i}` }));
  const lines = { lan: { tcp: { port: 0 }, units: { 1: 'large' } } };
  const { devices } = new Simulator(
    nativeSetup({ devices: { large: { registers: { holding, input } } }, lines }),
    log,
  );
  const pieces = [...knownValues(devices.get('large') as Device)];
  const known = pieces.filter((each) => each !== undefined);
  // Those with names one by one; all of one type side by side together, those with names too.
  expect(known).toHaveLength(4_002);
  expect(pieces.length - known.length).toBeGreaterThan(40);
});
