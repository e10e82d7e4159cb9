import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Rest } from '../../remote/api/rest.js';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';

const SETUP = {
  devices: {
    meter: {
      registers: {
        coils: [{ address: 0, value: [0, 1] }],
        holding: [
          { address: 0, type: 'uint16', value: 1 },
          { address: 1, type: 'int16', value: 1 },
          { address: 2, type: 'bits', value: 1 },
          { address: 4, type: 'uint32', value: 1 },
          { address: 6, type: 'int32', value: 1, wordOrder: 'little' },
          { address: 8, type: 'float32', value: 1 },
          { address: 12, type: 'uint64', value: 1 },
          { address: 16, type: 'int64', value: 1 },
          { address: 20, type: 'float64', value: 1 },
          { address: 24, type: 'string', length: 4, value: 'one', padding: 'space' },
          { address: 30, type: 'uint16', value: 1, action: 'increment', min: 1, max: 9 },
        ],
      },
    },
  },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

let rest: Rest;

function anew(): void {
  rest = new Rest(nativeSetup(SETUP));
}

/** The value after a Set, or what the answer said instead. */
async function set(register: number, value: unknown, more: object = {}): Promise<string | undefined> {
  const answer = await rest.registers({ submit: 'Set', register, value, ...more });
  return answer.result === 'ok' ? answer.register_rows[0]?.value : answer.error;
}

describe('Set writes the typed value', () => {
  beforeAll(anew);

  test.each([
    ['uint16', 0, 65535, '65535'],
    ['uint16', 0, '40000', '40000'],
    ['uint16', 0, 0, '0'],
    ['uint16', 0, '0', '0'],
    ['uint16', 0, '0xff', '255'],
    ['uint16', 0, ' 7 ', '7'],
    ['int16', 1, -32768, '-32768'],
    ['int16', 1, '-1', '-1'],
    ['int16', 1, '0', '0'],
    ['bits', 2, 0xabcd, '0xabcd'],
    ['bits', 2, '0xABCD', '0xabcd'],
    ['bits', 2, '16', '0x10'],
    ['bits', 2, 0, '0x0'],
    ['bits', 2, '0', '0x0'],
    ['uint32', 4, 4294967295, '4294967295'],
    ['uint32', 4, '70000', '70000'],
    ['uint32', 4, 0, '0'],
    ['int32', 6, -70000, '-70000'],
    ['int32', 6, '2147483647', '2147483647'],
    ['float32', 8, 1.5, '1.5'],
    ['float32', 8, '-2.5e3', '-2500.0'],
    ['float32', 8, 0, '0.0'],
    ['float32', 8, '0', '0.0'],
    ['uint64', 12, '18446744073709551615', '18446744073709551615'],
    ['uint64', 12, 9007199254740991, '9007199254740991'],
    ['int64', 16, '-9223372036854775808', '-9223372036854775808'],
    ['float64', 20, 0.1, '0.1'],
    ['float64', 20, '1e300', '1e+300'],
    ['string', 24, 'METER 7', 'METER 7 '],
    ['string', 24, '', '        '],
    ['string', 24, '0', '0       '],
  ])('%s at %i: %j is then shown as %s', async (_, register, value, shown) => {
    expect(await set(register, value)).toBe(shown);
    expect(await rest.values(register)).toEqual([shown]);
  });

  test.each([
    [1, '0x1'],
    ['0', '0x0'],
    [true, '0x1'],
    [false, '0x0'],
  ])('a coil is set with %j', async (value, shown) => {
    expect(await set(0, value, { table: 'coils' })).toBe(shown);
  });

  test('the further cells of a value show their words', async () => {
    await set(4, 70000);
    await set(6, 70000);
    expect(await rest.values(4, 7)).toEqual(['70000', '4464', '70000', '1']);
  });

  test('a cell with an action is set too', async () => {
    expect(await set(30, 4)).toBe('4');
  });
});

/** Expected texts are those that Python's repr() gives for the same doubles. */
describe('floats are shown as Python shows them', () => {
  beforeAll(anew);

  test.each([
    [8, 1, '1.0'],
    [8, 230.1, '230.10000610351562'],
    [8, -0.5, '-0.5'],
    [8, '-0.0', '-0.0'],
    [8, 16777216, '16777216.0'],
    [8, 0.0001, '9.999999747378752e-05'],
    [8, 'nan', 'nan'],
    [8, 'inf', 'inf'],
    [8, '-inf', '-inf'],
    [8, 3.4028234663852886e38, '3.4028234663852886e+38'],
    [8, 1e-45, '1.401298464324817e-45'],
    [20, 1e15, '1000000000000000.0'],
    [20, 9999999999999998, '9999999999999998.0'],
    [20, 1e16, '1e+16'],
    [20, 123456789012345680000, '1.2345678901234568e+20'],
    [20, 1e22, '1e+22'],
    [20, 1e100, '1e+100'],
    [20, 0.0001, '0.0001'],
    [20, 0.00001, '1e-05'],
    [20, -0.000012345, '-1.2345e-05'],
    [20, 5e-324, '5e-324'],
    [20, 1.7976931348623157e308, '1.7976931348623157e+308'],
  ])('at %i: %j as %s', async (register, value, shown) => {
    expect(await set(register, value)).toBe(shown);
  });
});

describe('the access flag', () => {
  beforeEach(anew);

  stopAfterEach();

  async function access(register: number, last = register): Promise<unknown> {
    const { register_rows } = await rest.registers({
      submit: 'Register',
      range_start: register,
      range_end: last,
    });
    return register_rows.map((row) => row.access);
  }

  test('a Set alone does not need it and leaves it off', async () => {
    expect(await set(0, 2)).toBe('2');
    expect(await access(0)).toEqual(['False']);
  });

  test('writeable turns it on for all cells of the value, with or without a new value', async () => {
    expect(await set(4, 2, { writeable: true })).toBe('2');
    expect(await access(4, 5)).toEqual(['True', 'True']);
    expect(await set(12, undefined, { writeable: true })).toBe('1');
    expect(await access(12, 16)).toEqual(['True', 'True', 'True', 'True', 'False']);
  });

  test('the flag may be text, and an empty value beside it is none', async () => {
    expect(await set(0, '', { writeable: 'true' })).toBe('1');
    expect(await set(4, 2, { writeable: 'False' })).toBe('2');
    expect(await set(4, 3, { writeable: '' })).toBe('3');
  });

  test('writeable false leaves it as it is', async () => {
    await set(0, 2, { writeable: true });
    expect(await set(0, 3, { writeable: false })).toBe('3');
    expect(await access(0)).toEqual(['True']);
  });

  test('a client may write once it is on', async () => {
    const served = await startSimulator(nativeSetup(SETUP));
    const master = served.client();
    master.send(Buffer.from('000100000006010600000009', 'hex'));
    await master.responsesOf(1);
    await served.rest.registers({ submit: 'Set', register: 0, writeable: true });
    master.send(Buffer.from('000200000006010600000009', 'hex'));
    const [refused, done] = await master.responsesOf(2);
    expect(Buffer.from(refused?.pdu ?? []).toString('hex')).toBe('8602');
    expect(Buffer.from(done?.pdu ?? []).toString('hex')).toBe('0600000009');
    expect(await served.rest.values(0)).toEqual(['9']);
  });
});

const RANGE = 'a whole number from 0 to 65535 (uint16)';

describe('a Set that can not be done says why and changes nothing', () => {
  beforeAll(anew);

  const WRONG = [
    [{ register: 5, value: 1 }, 'register: 5 is a part of the uint32 at 4, expected 4'],
    [{ register: 3, value: 1 }, 'register: 3 is not defined'],
    [{ register: 40000, value: 1 }, 'register: 40000 is not defined'],
    [{ register: 65536, value: 1 }, 'register: expected 0 to 65535, got 65536'],
    [{ register: -1, value: 1 }, 'register: expected a whole number, 0 or more, got -1'],
    [{ register: null, value: 1 }, 'register: expected a whole number, 0 or more, got nothing'],
    [{ register: '', value: 1 }, 'register: expected a whole number, 0 or more, got ""'],
    [{ value: 1 }, 'register: missing, expected a whole number, 0 or more'],
    [{ register: 0 }, 'value: missing, expected a value to set (or writeable: true)'],
    [{ register: 0, value: null }, 'value: missing, expected a value to set (or writeable: true)'],
    [{ register: 0, writeable: false }, 'value: missing, expected a value to set (or writeable: true)'],
    [{ register: 0, value: 65536 }, `value: expected ${RANGE}, got 65536`],
    [{ register: 0, value: -1 }, `value: expected ${RANGE}, got -1`],
    [{ register: 0, value: 1.5 }, `value: expected ${RANGE}, got 1.5`],
    [{ register: 0, value: 1e300 }, `value: expected ${RANGE}, got 1e+300`],
    [{ register: 0, value: 'NaN' }, `value: expected ${RANGE}, got "NaN"`],
    [{ register: 0, value: '' }, `value: expected ${RANGE}, got ""`],
    [{ register: 0, value: '0x' }, `value: expected ${RANGE}, got "0x"`],
    [{ register: 0, value: '9'.repeat(100_000) }, `value: expected ${RANGE}, got "${'9'.repeat(60)}…"`],
    [{ register: 0, value: [2] }, 'value: expected a number or text, got a list'],
    [{ register: 0, value: { a: { b: 2 } } }, 'value: expected a number or text, got a mapping'],
    [{ register: 0, value: 2, writeable: 'maybe' }, 'writeable: expected true or false, got "maybe"'],
    [
      { register: 2, value: '0x10000' },
      'value: expected a whole number from 0 to 65535 (bits), got "0x10000"',
    ],
    [
      { register: 4, value: 4294967296 },
      'value: expected a whole number from 0 to 4294967295 (uint32), got 4294967296',
    ],
    [{ register: 8, value: '1,5' }, 'value: expected a number with a decimal point (float32), got "1,5"'],
    [
      { register: 8, value: 1e39 },
      'value: expected a number from -3.4028235e38 to 3.4028235e38 (float32), got 1e+39',
    ],
    [{ register: 8, value: true }, 'value: expected a number (float32), got true'],
    [{ register: 24, value: 5 }, 'value: expected text, got 5'],
    [
      { register: 0, value: 2, range_start: 0, range_stop: 65536 },
      'range_stop: expected 0 to 65535, got 65536',
    ],
    [
      { register: 0, value: 2, range_start: 1, range_end: 0 },
      'range_start: expected at most 0, the last register, got 1',
    ],
    [
      { register: 0, value: 2, writeable: true, range_end: 1, range_stop: 2 },
      'range_end 1 and range_stop 2 differ: expected only one of them, or the same value in both',
    ],
    [{ register: 0, value: 70000, writeable: true }, `value: expected ${RANGE}, got 70000`],
  ] as const;

  test.each(
    WRONG.map(([request, error]) => [JSON.stringify(request).slice(0, 100), request, error] as const),
  )('%s', async (_, request, error) => {
    const before = await rest.registers({ submit: 'Register', range_end: 40 });
    expect(await rest.registers({ submit: 'Set', ...request })).toEqual({ result: 'error', error });
    expect(await rest.registers({ submit: 'Register', range_end: 40 })).toEqual(before);
  });

  test('text that needs more cells than the register has', async () => {
    expect(await set(24, 'METER 7b')).toBe('METER 7b');
    expect(await set(24, 'METER 7bc')).toContain('value: expected text of at most 8 bytes');
    expect(await set(24, 'ÄÖÜÄÖ')).toContain('value: expected text of at most 8 bytes');
    expect(await rest.values(24)).toEqual(['METER 7b']);
  });
});
