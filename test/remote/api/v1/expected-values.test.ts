import { expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: [1, 0, 1], write: true }],
        holding: [
          { address: 0, type: 'float32', name: 'voltage', value: 230.1, write: true },
          { address: 2, type: 'float32', name: 'power', scale: 0.1, value: 1234.5, write: true },
          { address: 4, type: 'string', name: 'label', length: 4, value: 'abc', write: true },
          { address: 8, type: 'float64', name: 'energy', value: 0.1, write: true },
          { address: 12, type: 'int64', name: 'count', value: '-9007199254740993', write: true },
          { address: 16, name: 'first', value: 1, write: true },
          { address: 17, name: 'second', value: 2, write: true },
          { address: 18, type: 'int16', name: 'cold', scale: 0.1, value: -7, write: true },
          { address: 19, type: 'float32', wordOrder: 'little', name: 'swapped', value: 1.5, write: true },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

interface Body {
  readonly error: string;
  readonly registers: readonly {
    readonly name: string | null;
    readonly value: unknown;
    readonly raw: unknown;
  }[];
}

const PATH = '/api/v1/devices/meter/registers';

it('what a client was shown is what it may expect, whatever the type', async () => {
  const rest = new Rest(SETUP);
  const { registers } = (await rest.send<Body>('GET', PATH)).body;
  const named = registers.filter(({ name }) => name !== null);
  expect(named).toHaveLength(9);
  for (const { name, value, raw } of named) {
    const changes = [
      { name, value, expected: value },
      { name, value: raw, raw: true, expected: raw },
    ];
    for (const change of changes) {
      const { status, body } = await rest.send<Body>('PATCH', PATH, { changes: [change] });
      expect([name, status, body.error]).toEqual([name, 200, undefined]);
    }
  }
});

it.each([
  { name: 'label', value: 'def', expected: 'ab' },
  { name: 'label', value: 'def', expected: '' },
  { name: 'voltage', value: 1, expected: 230.2 },
  { name: 'count', value: '1', expected: '-9007199254740992' },
  { table: 'coils', address: 0, value: 0, expected: 0 },
])('anything else is refused: %j', async (change) => {
  const rest = new Rest(SETUP);
  const before = (await rest.send<Body>('GET', PATH)).body;
  expect((await rest.send<Body>('PATCH', PATH, { changes: [change] })).status).toBe(409);
  expect((await rest.send<Body>('GET', PATH)).body).toEqual(before);
});

it('all changes of a request expect what stands there before the first of them', async () => {
  const rest = new Rest(SETUP);
  const send = (changes: object[]) => rest.send<Body>('PATCH', PATH, { changes });
  const swap = [
    { name: 'first', value: 2, expected: 1 },
    { name: 'second', value: 1, expected: 2 },
  ];
  expect((await send(swap)).status).toBe(200);
  const again = await send([
    { name: 'first', value: 9, expected: 2 },
    { name: 'first', value: 10, expected: 9 },
  ]);
  expect(again.status).toBe(409);
  expect(again.body.registers.map(({ value }) => value)).toEqual([2, 2]);
});

it('of two requests that expect the same, one writes', async () => {
  const rest = new Rest(SETUP);
  const send = (value: number) =>
    rest.send<Body>('PATCH', PATH, { changes: [{ name: 'first', value, expected: 1 }] });
  const statuses = (await Promise.all([send(5), send(6), send(7)])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 409, 409]);
});

const MANY = {
  devices: {
    meter: { registers: { holding: [{ address: 0, value: 1, quantity: 1000, write: true }] } },
    wide: { registers: { holding: [{ address: 0, type: 'int64', value: 1, quantity: 1000, write: true }] } },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'wide' } } },
};

it.each([
  ['meter', 1, 1],
  ['wide', 4, [0, 0, 0, 1]],
] as const)('1,000 changes with all their keys are written: %s', async (device, size, expected) => {
  const rest = new Rest(nativeSetup(MANY));
  const path = `/api/v1/devices/${device}/registers`;
  const changes = Array.from({ length: 1000 }, (_, i) => ({
    table: 'holding',
    address: i * size,
    value: 2,
    raw: true,
    expected,
  }));
  const { status, body } = await rest.send<Body>('PATCH', path, { changes });
  expect([status, body.error]).toEqual([200, undefined]);
  const { registers } = (await rest.send<Body>('GET', path)).body;
  expect(registers.map(({ value }) => Number(value))).toEqual(new Array(1000).fill(2));
  const tooMany = await rest.send<Body>('PATCH', path, { changes: [...changes, changes[0]] });
  expect([tooMany.status, tooMany.body.error]).toEqual([
    400,
    'changes: expected at most 1000 changes, got a list',
  ]);
});
