import { beforeEach, describe, expect, test } from 'vitest';
import { Rest } from '../../remote/api/rest.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

const SETUP = {
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: [1, 0, 1], write: true }],
        discrete: [{ address: 5, value: [0, 1] }],
        input: [
          { address: 0, type: 'int16', value: -5 },
          { address: 1, type: 'int32', value: -70000 },
          { address: 3, type: 'uint64', value: '18446744073709551615' },
          { address: 7, type: 'int64', value: -1 },
          { address: 11, type: 'float64', value: 0.1 },
          { address: 15, type: 'uint32', value: 70000, wordOrder: 'little' },
          { address: 17, type: 'bits', value: 0x8001 },
          { address: 18, type: 'string', length: 3, value: 'näh', padding: 'space' },
        ],
        holding: [
          { address: 0, value: [11, 12, 13, 14, 15], write: true },
          { address: 10, type: 'float32', value: 230.1 },
        ],
      },
    },
    other: { registers: { holding: [{ address: 0, value: 99 }] } },
  },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'other' } },
  },
};

let rest: Rest;

beforeEach(() => {
  rest = new Rest(nativeSetup(SETUP));
});

async function indices(request: object): Promise<unknown> {
  const { register_rows } = await rest.registers({ submit: 'Register', ...request });
  return register_rows.map(({ index }) => index);
}

describe('which registers a request reads', () => {
  test('range_end and range_stop both name the last register', async () => {
    expect(await indices({ range_start: 1, range_end: 3 })).toEqual(['1', '2', '3']);
    expect(await indices({ range_start: 1, range_stop: 3 })).toEqual(['1', '2', '3']);
    expect(await indices({ range_start: 1, range_end: 3, range_stop: 3 })).toEqual(['1', '2', '3']);
  });

  test('without a last register it is the first one, without a first one it is 0', async () => {
    expect(await indices({ range_start: 4 })).toEqual(['4']);
    expect(await indices({})).toEqual(['0']);
    expect(await indices({ range_end: 2 })).toEqual(['0', '1', '2']);
    expect(await indices({ range_start: null, range_end: null, range_stop: null })).toEqual(['0']);
  });

  test('numbers may be text, and an empty field is none', async () => {
    expect(await indices({ range_start: '1', range_stop: ' 2 ' })).toEqual(['1', '2']);
    expect(await indices({ range_start: '', range_end: '', range_stop: '' })).toEqual(['0']);
  });

  test('Registers is Register', async () => {
    expect((await rest.registers({ submit: 'Registers', range_start: 2 })).register_rows).toEqual(
      (await rest.registers({ submit: 'Register', range_start: 2 })).register_rows,
    );
  });

  test('a Set answers with its range, or with the register it set', async () => {
    const set = { submit: 'Set', register: 3, value: 1 };
    expect(await indices(set)).toEqual(['3']);
    expect(await indices({ ...set, range_start: 1 })).toEqual(['1']);
    expect(await indices({ ...set, range_start: 0, range_stop: 1 })).toEqual(['0', '1']);
    expect(await indices({ ...set, range_stop: 1 })).toEqual(['0', '1']);
    expect(await indices({ ...set, range_start: '', range_stop: '' })).toEqual(['3']);
  });

  test('the whole address space of a table can be read, 8192 registers at a time', async () => {
    const range = { range_start: 65536 - 8192, range_end: 65535 };
    const { register_rows } = await rest.registers({ submit: 'Register', ...range });
    expect(register_rows).toHaveLength(8192);
    expect(register_rows.at(-1)).toEqual({
      index: '65535',
      type: 'invalid',
      access: 'False',
      action: 'none',
      value: '0',
      count_read: '0',
      count_write: '0',
    });
  });

  test.each([
    [
      { range_end: 2, range_stop: 3 },
      'range_end 2 and range_stop 3 differ: expected only one of them, or the same value in both',
    ],
    [{ range_end: 8192 }, 'range_end: expected at most 8192 registers in one request, got 8193'],
    [{ range_stop: 65535 }, 'range_stop: expected at most 8192 registers in one request, got 65536'],
    [{ range_start: 3, range_end: 2 }, 'range_start: expected at most 2, the last register, got 3'],
    [{ range_start: 65536 }, 'range_start: expected 0 to 65535, got 65536'],
    [{ range_end: 65536 }, 'range_end: expected 0 to 65535, got 65536'],
    [{ range_stop: 1e15 }, 'range_stop: expected 0 to 65535, got 1000000000000000'],
    [{ range_start: -1 }, 'range_start: expected a whole number, 0 or more, got -1'],
    [{ range_start: 1.5 }, 'range_start: expected a whole number, 0 or more, got 1.5'],
    [{ range_start: '0x10' }, 'Invalid range parameters'],
    [{ range_end: '0x10' }, 'range_end: expected a whole number, 0 or more, got "0x10"'],
    [{ range_start: '-1' }, 'range_start: expected a whole number, 0 or more, got "-1"'],
    [{ range_start: true }, 'range_start: expected a whole number, 0 or more, got true'],
    [{ range_start: [1] }, 'range_start: expected a whole number, 0 or more, got a list'],
    [
      { range_start: -2, range_end: {} },
      'range_start: expected a whole number, 0 or more, got -2; range_end: expected a whole number, 0 or more, got a mapping',
    ],
  ])('%j is refused in words', async (range, error) => {
    expect(await rest.registers({ submit: 'Register', ...range })).toEqual({ result: 'error', error });
  });
});

describe('which device and table', () => {
  test('without a name it is the first device of the first line', async () => {
    expect(await rest.values(0)).toEqual(['11']);
    expect(await rest.values(0, 0, { device: 'meter' })).toEqual(['11']);
    expect(await rest.values(0, 0, { device: 'other' })).toEqual(['99']);
  });

  test('a device of the native file has four tables, holding when none is named', async () => {
    expect(await rest.values(0, 2, { table: 'coils' })).toEqual(['0x1', '0x0', '0x1']);
    expect(await rest.values(4, 6, { table: 'discrete' })).toEqual(['0', '0x0', '0x1']);
    expect(await rest.values(0, 0, { table: 'input' })).toEqual(['-5']);
    expect(await rest.values(0, 1, { table: 'holding' })).toEqual(['11', '12']);
  });

  test('types beyond the seven are shown as the nearest of them, with their own values', async () => {
    const { register_rows } = await rest.registers({ submit: 'Register', range_end: 20, table: 'input' });
    const values = register_rows.filter(({ type }) => type !== 'next');
    expect(values.map(({ index, type, value }) => [index, type, value])).toEqual([
      ['0', 'uint16', '-5'],
      ['1-2', 'uint32', '-70000'],
      ['3-6', 'uint32', '18446744073709551615'],
      ['7-10', 'uint32', '-1'],
      ['11-14', 'float32', '0.1'],
      ['15-16', 'uint32', '70000'],
      ['17', 'bits', '0x8001'],
      ['18-20', 'string', 'näh  '],
    ]);
  });

  test.each([
    [{ device: 'metr' }, 'device: unknown device "metr", did you mean "meter"? (known: meter, other)'],
    [{ device: '__proto__' }, 'device: unknown device "__proto__" (known: meter, other)'],
    [{ device: 3 }, 'device: expected the name of a device, got 3'],
    [{ device: null }, 'device: expected the name of a device, got nothing'],
    [
      { table: 'holdings' },
      'table: expected coils, discrete, input or holding, got "holdings", did you mean "holding"?',
    ],
    [{ table: ['coils'] }, 'table: expected coils, discrete, input or holding, got a list'],
  ])('%j is refused in words', async (where, error) => {
    expect(await rest.registers({ submit: 'Register', ...where })).toEqual({ result: 'error', error });
    expect(await rest.registers({ submit: 'Set', register: 0, value: 1, ...where })).toEqual({
      result: 'error',
      error,
    });
    expect(await rest.values(0)).toEqual(['11']);
  });
});

describe('counters', () => {
  stopAfterEach();

  test('count what clients read and write, not what REST does', async () => {
    const { rest, client } = await startSimulator(nativeSetup(SETUP));
    const master = client();
    master.send(Buffer.from('000100000006010300000002', 'hex'));
    master.send(Buffer.from('000200000006010300010001', 'hex'));
    master.send(Buffer.from('000300000006010600010007', 'hex'));
    await master.responsesOf(3);
    await rest.registers({ submit: 'Set', register: 0, value: 5 });
    const { register_rows } = await rest.registers({ submit: 'Register', range_end: 2 });
    expect(register_rows.map((row) => [row.value, row.count_read, row.count_write])).toEqual([
      ['5', '1', '0'],
      ['7', '2', '1'],
      ['13', '0', '0'],
    ]);
  });
});
