import { expect, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: {
    drive: {
      registers: {
        holding: [
          { address: 0, name: 'status', bits: { 0: 'running', 3: 'alarm' }, value: 0x81, write: true },
          { address: 1, type: 'int32', name: 'wide', bits: { 31: 'last' }, value: 5, write: true },
          { address: 3, name: 'speed', limits: { max: 10 }, scale: 0.1, value: 50, write: true },
          { address: 4, name: 'mode', allowed: [1, 2], value: 1, write: true },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'drive' } } },
});

interface Register {
  readonly name: string;
  readonly raw: number;
  readonly label: string | null;
  readonly bits: Readonly<Record<string, string>> | null;
  readonly violates: string | null;
}

const PATH = '/api/v1/devices/drive/registers';

test('sets the bits that a text names, as they are shown, and leaves those without a name', async () => {
  const rest = new Rest(SETUP);
  const set = (name: string, value: unknown) =>
    rest.send<{ error: string; registers: Register[] }>('PATCH', PATH, { changes: [{ name, value }] });
  for (const [text, raw] of [
    ['alarm', 0x88],
    ['alarm, running', 0x89],
    ['none', 0x80],
  ] as const) {
    const [status] = (await set('status', text)).body.registers;
    expect(status).toMatchObject({ raw, bits: { 0: 'running', 3: 'alarm' } });
  }
  const [shown] = (await set('status', 9)).body.registers;
  expect(shown?.label).toBe('running, alarm');
  expect((await set('wide', 'last')).body.registers[0]?.raw).toBe(-0x80000000 + 5);
  const refused = await set('status', 'alarm, runing');
  expect([refused.status, refused.body.error]).toEqual([
    400,
    expect.stringContaining('or bit names: running, alarm'),
  ]);
});

test('tells which reaction would refuse a value to clients that REST has set', async () => {
  const rest = new Rest(SETUP);
  const changes = [
    { name: 'speed', value: 10.1 },
    { name: 'mode', value: 3 },
  ];
  const { registers } = (await rest.send<{ registers: Register[] }>('PATCH', PATH, { changes })).body;
  expect(registers.map(({ violates }) => violates)).toEqual(['limits', 'allowed']);
  const within = (await rest.send<{ registers: Register[] }>('GET', `${PATH}?names=status`)).body.registers;
  expect(within.map(({ violates }) => violates)).toEqual([null]);
});
