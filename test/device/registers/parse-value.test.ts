import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CELLS_PER_VALUE, type ValueType } from '../../../src/device/registers/cell-type.js';
import { integerRange, parseValue, type Value } from '../../../src/device/registers/value.js';

const cellsOf = (type: ValueType): number => (type === 'string' ? 2 : CELLS_PER_VALUE[type]);

describe('a value from a file or a request', () => {
  const accepted: [type: ValueType, input: unknown, value: Value][] = [
    ['uint16', 0, 0],
    ['uint16', '0', 0],
    ['uint16', ' 12 ', 12],
    ['uint16', '+12', 12],
    ['uint16', '007', 7],
    ['uint16', 1.0, 1],
    ['uint16', -0, 0],
    ['uint16', '0x1f', 31],
    ['uint16', '7'.padStart(40, '0'), 7],
    ['uint16', '0XFFFF', 65535],
    ['uint16', 65535, 65535],
    ['uint16', 5n, 5],
    ['bits', '0xabcd', 0xabcd],
    ['bits', 43981, 0xabcd],
    ['bit', true, 1],
    ['bit', false, 0],
    ['bit', '1', 1],
    ['int16', -32768, -32768],
    ['int16', '-32768', -32768],
    ['uint32', 4294967295, 4294967295],
    ['uint32', '0xFFFFFFFF', 4294967295],
    ['int32', '-2147483648', -2147483648],
    ['uint64', 0, 0n],
    ['uint64', 2 ** 53 - 1, 2n ** 53n - 1n],
    ['uint64', '9007199254740993', 2n ** 53n + 1n],
    ['uint64', '18446744073709551615', 2n ** 64n - 1n],
    ['uint64', '0xffffffffffffffff', 2n ** 64n - 1n],
    ['int64', '-9223372036854775808', -(2n ** 63n)],
    ['int64', '9223372036854775807', 2n ** 63n - 1n],
    ['float32', 0, 0],
    ['float32', '0', 0],
    ['float32', '230.1', Math.fround(230.1)],
    ['float32', 230.1, Math.fround(230.1)],
    ['float32', '.5', 0.5],
    ['float32', ' 12.5 ', 12.5],
    ['float32', '5.', 5],
    ['float32', '-1e-3', Math.fround(-0.001)],
    ['float32', 1e-60, 0],
    ['float32', 'NaN', Number.NaN],
    ['float32', '.nan', Number.NaN],
    ['float32', Number.NaN, Number.NaN],
    ['float32', '-.inf', Number.NEGATIVE_INFINITY],
    ['float32', 'Inf', Number.POSITIVE_INFINITY],
    ['float32', 'Infinity', Number.POSITIVE_INFINITY],
    ['float32', '-infinity', Number.NEGATIVE_INFINITY],
    ['float32', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    ['float64', '230.1', 230.1],
    ['float64', '1E308', 1e308],
    ['float64', 2n ** 60n, 2 ** 60],
    ['string', '', ''],
    ['string', 'ABCD', 'ABCD'],
    ['string', 'ü', 'ü'],
    ['string', '€', '€'],
  ];
  it.each(accepted)('as %s may be given as %s', (type, input, value) => {
    expect(parseValue(type, input, cellsOf(type))).toEqual({ ok: true, value });
  });

  const outOfRange: [type: ValueType, input: unknown][] = [
    ['bit', 2],
    ['bit', -1],
    ['bits', 0x10000],
    ['bits', '0x10000'],
    ['uint16', 65536],
    ['uint16', -1],
    ['uint16', '-1'],
    ['int16', 32768],
    ['int16', -32769],
    ['uint32', 4294967296],
    ['uint32', 2 ** 53],
    // A number of JSON or YAML has lost its last digits there: only text is exact.
    ['uint64', 2 ** 53],
    ['int32', 2147483648],
    ['uint64', '18446744073709551616'],
    ['uint64', 2 ** 64],
    ['uint64', -1],
    ['int64', '9223372036854775808'],
    ['uint16', '9'.repeat(300_000)],
    ['uint16', '7'.padStart(41, '0')],
    ['uint64', `0x${'f'.repeat(300_000)}`],
  ];
  const noInteger: unknown[] = [
    ...[
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '1.0',
      '1e3',
      '',
      ' ',
      '0x',
      '-0x1',
      '0x1g',
      '1 2',
      '1_000',
    ],
    ...[
      'abc',
      'NaN',
      'true',
      '١',
      '0b1',
      'constructor',
      '__proto__',
      null,
      undefined,
      {},
      [],
      [1],
      { valueOf: () => 1 },
    ],
    ...[() => 1, Symbol('1')],
  ];
  const noFloat: unknown[] = [
    ...['', ' ', 'abc', '1,5', '0x1f', '1e', 'e5', '.', '+', '--1', '1.2.3', true, false, null, undefined],
    ...[{}, [], [1], { valueOf: () => 1 }, () => 1, Symbol('1')],
    // names that every JavaScript object has
    ...['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'],
    // finite numbers too large for a double are no infinities
    ...['1e309', '-1e400', `1${'0'.repeat(400)}`, 10n ** 400n],
  ];
  const rejected: [type: ValueType, input: unknown][] = [
    ...outOfRange,
    ...(['bit', 'uint16', 'int32', 'uint64', 'int64'] as const).flatMap((type) =>
      noInteger.map((input): [ValueType, unknown] => [type, input]),
    ),
    ...(['float32', 'float64'] as const).flatMap((type) =>
      noFloat.map((input): [ValueType, unknown] => [type, input]),
    ),
    ['float32', 3.5e38],
    ['float32', '-3.5e38'],
    ['float64', '9'.repeat(300_000)],
    ['string', 'ABCDE'],
    ['string', 'üüü'],
    ['string', '€€'],
    ['string', 'A'.repeat(300_000)],
    ['string', 0],
    ['string', null],
    ['string', undefined],
    ['string', ['A']],
    ['string', true],
  ];
  it('is refused with the name of the type when the type cannot hold it', () => {
    for (const [type, input] of rejected) {
      const name = `${type} from ${inspect(input).slice(0, 60)}`;
      const parsed = parseValue(type, input, cellsOf(type));
      expect(parsed.ok, name).toBe(false);
      if (!parsed.ok) {
        expect(parsed.error, name).toContain(type === 'string' ? 'text' : type);
        expect(parsed.error.length, name).toBeLessThan(120);
      }
    }
  });

  it.each<[type: ValueType, input: unknown, expected: string]>([
    ['uint16', -1, 'a whole number from 0 to 65535 (uint16)'],
    [
      'int64',
      1.5,
      'a whole number from -9223372036854775808 to 9223372036854775807 (int64, as text beyond 2^53)',
    ],
    ['float32', 'x', 'a number (float32)'],
    ['string', 'ABCDE', 'text of at most 4 bytes (two per register), got 5'],
    ['string', 5, 'text'],
  ])('that %s can not hold is answered with what was expected: %j', (type, input, expected) => {
    expect(parseValue(type, input, cellsOf(type))).toEqual({ ok: false, error: expected });
  });

  it('that is a long text of digits and no number is refused in no time', () => {
    const started = performance.now();
    for (const text of [
      `${'1'.repeat(250_000)}x`,
      `${'1'.repeat(125_000)}.${'1'.repeat(125_000)}x`,
      ' '.repeat(250_000),
    ]) {
      for (const type of ['float32', 'float64', 'uint16', 'uint64'] as const) {
        expect(parseValue(type, text, cellsOf(type)).ok).toBe(false);
      }
    }
    // takes 20 s and more when a pattern backtracks, and milliseconds when none does
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it('is, whatever it is, refused or of the kind that the type stores', () => {
    const types = [...(Object.keys(CELLS_PER_VALUE) as ValueType[]), 'string' as const];
    const input = fc.oneof(
      fc.anything(),
      fc.string(),
      fc.double().map(String),
      fc.bigInt().map(String),
      fc.double(),
    );
    fc.assert(
      fc.property(fc.constantFrom(...types), input, (type, value) => {
        const parsed = parseValue(type, value, cellsOf(type));
        if (!parsed.ok) return;
        const kind = type === 'string' ? 'string' : type.endsWith('int64') ? 'bigint' : 'number';
        expect(typeof parsed.value).toBe(kind);
        if (integerRange(type)) expect(() => BigInt(parsed.value)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});
