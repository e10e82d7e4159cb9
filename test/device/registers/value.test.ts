import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CELLS_PER_VALUE,
  type Order,
  type ValueOrder,
  type ValueType,
} from '../../../src/device/registers/cell-type.js';
import {
  integerRange,
  nearestValue,
  usualSentinel,
  type Value,
  valueOfWords,
  wordsOfValue,
} from '../../../src/device/registers/value.js';

const ORDERS: readonly ValueOrder[] = [
  { wordOrder: 'big', byteOrder: 'big' },
  { wordOrder: 'big', byteOrder: 'little' },
  { wordOrder: 'little', byteOrder: 'big' },
  { wordOrder: 'little', byteOrder: 'little' },
];
const orderOf = (name: string): ValueOrder => {
  const [wordOrder, byteOrder] = name.split('/') as [Order, Order];
  return { wordOrder, byteOrder };
};
const hexWords = (words: readonly number[]): string =>
  words.map((word) => word.toString(16).padStart(4, '0')).join(' ');

describe('the value of a type that is nearest to a number', () => {
  it.each<[type: ValueType, number: number, value: Value, fits: boolean]>([
    ['uint16', 7.4, 7, true],
    ['uint16', 65_535.4, 65_535, true],
    ['uint16', 65_536, 65_535, false],
    ['uint16', -0.4, 0, true],
    ['uint16', -1, 0, false],
    ['uint16', Number.NaN, 0, false],
    ['uint16', Number.POSITIVE_INFINITY, 65_535, false],
    ['int16', Number.NEGATIVE_INFINITY, -32_768, false],
    ['int64', -7, -7n, true],
    ['uint64', 1e30, 0xffff_ffff_ffff_ffffn, false],
    ['uint64', Number.NaN, 0n, false],
    ['float32', 1.5, 1.5, true],
    ['float32', 1e300, 3.4028234663852886e38, false],
    ['float32', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, true],
    ['float32', Number.NaN, Number.NaN, true],
    ['float64', 1e300, 1e300, true],
  ])('%s, %d: %s, %s', (type, number, value, fits) => {
    expect(nearestValue(type, number)).toEqual({ value, fits });
  });
});

it.each<[type: ValueType, value: Value | undefined]>([
  ['bit', undefined],
  ['bits', undefined],
  ['string', undefined],
  ['uint16', 65_535],
  ['int16', -32_768],
  ['uint32', 0xffff_ffff],
  ['int64', -(2n ** 63n)],
  ['uint64', 2n ** 64n - 1n],
  ['float32', Number.NaN],
])('%s: what is not available shows %s', (type, value) => {
  expect(usualSentinel(type)).toBe(value);
});

describe('values in registers', () => {
  const table: [type: ValueType, value: Value, order: string, words: string][] = [
    ['bit', 1, 'big/big', '0001'],
    ['bits', 0xabcd, 'big/big', 'abcd'],
    ['uint16', 0x1234, 'big/big', '1234'],
    ['uint16', 0x1234, 'little/big', '1234'],
    ['uint16', 0x1234, 'big/little', '3412'],
    ['int16', -2, 'big/big', 'fffe'],
    ['int16', -32768, 'big/little', '0080'],
    ['uint32', 0x12345678, 'big/big', '1234 5678'],
    ['uint32', 0x12345678, 'big/little', '3412 7856'],
    ['uint32', 0x12345678, 'little/big', '5678 1234'],
    ['uint32', 0x12345678, 'little/little', '7856 3412'],
    ['uint32', 0xffffffff, 'big/big', 'ffff ffff'],
    ['int32', -2, 'big/big', 'ffff fffe'],
    ['int32', -2147483648, 'little/big', '0000 8000'],
    // IEEE 754: 230.1 is nearest to 0x4366199A and 0x406CC33333333333
    ['float32', 230.1, 'big/big', '4366 199a'],
    ['float32', 230.1, 'big/little', '6643 9a19'],
    ['float32', 230.1, 'little/big', '199a 4366'],
    ['float32', 230.1, 'little/little', '9a19 6643'],
    ['float32', Number.NEGATIVE_INFINITY, 'big/big', 'ff80 0000'],
    ['float32', Number.NaN, 'big/big', '7fc0 0000'],
    ['float32', -0, 'big/big', '8000 0000'],
    ['float64', 230.1, 'big/big', '406c c333 3333 3333'],
    ['float64', 230.1, 'little/big', '3333 3333 c333 406c'],
    ['float64', 230.1, 'little/little', '3333 3333 33c3 6c40'],
    ['uint64', 0x0123456789abcdefn, 'big/big', '0123 4567 89ab cdef'],
    ['uint64', 0x0123456789abcdefn, 'little/big', 'cdef 89ab 4567 0123'],
    ['uint64', 0x0123456789abcdefn, 'big/little', '2301 6745 ab89 efcd'],
    ['uint64', 2n ** 64n - 1n, 'big/big', 'ffff ffff ffff ffff'],
    ['int64', -2n, 'big/big', 'ffff ffff ffff fffe'],
    ['int64', -(2n ** 63n), 'little/big', '0000 0000 0000 8000'],
  ];
  it.each(table)('%s %s in order %s is %s', (type, value, order, words) => {
    const cells = words.split(' ').length;
    const stored = wordsOfValue(type, value, cells, orderOf(order));
    expect(hexWords(stored)).toBe(words);
    const expected = type === 'float32' ? Math.fround(Number(value)) : value;
    expect(valueOfWords(type, stored, orderOf(order))).toBe(expected);
  });

  const texts: [text: string, cells: number, order: string, words: string][] = [
    ['', 2, 'big/big', '0000 0000'],
    ['ABC', 2, 'big/big', '4142 4300'],
    ['ABC', 2, 'big/little', '4241 0043'],
    ['A  ', 2, 'big/big', '4120 2000'],
    ['ABCDEF', 3, 'little/big', '4546 4344 4142'],
    ['ü€', 3, 'big/big', 'c3bc e282 ac00'],
    ['Example Co', 6, 'big/big', '4578 616d 706c 6520 436f 0000'],
    ['A\0B', 2, 'big/big', '4100 4200'],
  ];
  it.each(texts)('text %j in %i cells in order %s is %s, padded with NUL', (text, cells, order, words) => {
    const stored = wordsOfValue('string', text, cells, orderOf(order));
    expect(hexWords(stored)).toBe(words);
    expect(valueOfWords('string', stored, orderOf(order))).toBe(text);
  });

  it('text may be padded with spaces, which belong to it when it is read', () => {
    const order = { ...orderOf('big/little'), padding: 'space' } as const;
    const stored = wordsOfValue('string', 'ABC', 3, order);
    expect(hexWords(stored)).toBe('4241 2043 2020');
    expect(valueOfWords('string', stored, order)).toBe('ABC   ');
    expect(valueOfWords('string', [0x4100], { ...order, byteOrder: 'big' })).toBe('A\0');
  });

  it('reads 0 for what is cut off at the end of a value, whatever is behind it', () => {
    expect(valueOfWords('uint32', [1, 7, 9], orderOf('big/big'), 0, 1)).toBe(0x0001_0000);
    expect(valueOfWords('float64', [0x4000, 7], orderOf('big/big'), 0, 1)).toBe(2);
  });

  it('reads back every value that it stores, in every order', () => {
    const types = Object.keys(CELLS_PER_VALUE) as (keyof typeof CELLS_PER_VALUE)[];
    for (const type of types) {
      const range = integerRange(type);
      const float = type === 'float32' ? fc.float() : fc.double();
      const values: fc.Arbitrary<Value> = range
        ? fc.bigInt(...range).map((value) => (type.endsWith('64') ? value : Number(value)))
        : float;
      fc.assert(
        fc.property(values, fc.constantFrom(...ORDERS), (value, order) => {
          const words = wordsOfValue(type, value, CELLS_PER_VALUE[type], order);
          expect(words).toHaveLength(CELLS_PER_VALUE[type]);
          expect(valueOfWords(type, words, order)).toBe(value);
        }),
      );
    }
  });
});
