import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ACTIONS,
  type Action,
  type ActionName,
  type ActionSource,
} from '../../../src/device/registers/actions.js';
import { CELLS_PER_VALUE, type ValueType } from '../../../src/device/registers/cell-type.js';
import type { Value } from '../../../src/device/registers/value.js';
import { tries } from '../../support/tries.js';
import { imageOf, run, tableOf, wordsOf } from './build.js';

type NumberType = Exclude<ValueType, 'string'>;

const FLOAT32_MAX = (2 - 2 ** -23) * 2 ** 127;

/** The values that a client finds in `count` reads of a register with this action. */
function reads(
  count: number,
  type: NumberType,
  value: Value,
  action: Action,
  source: Partial<ActionSource> = {},
): Value[] {
  const cells = CELLS_PER_VALUE[type];
  const image = imageOf(cells, [{ address: 0, type, value, action }], source);
  return Array.from({ length: count }, () => {
    image.touch(0, cells);
    return image.valueAt({ address: 0, cells, type });
  });
}

describe('the action replay', () => {
  it('gives certain reads other values, and leaves what was written between them', () => {
    const action: Action = {
      name: 'replay',
      reads: new Map<number, Value>([
        [2, 7],
        [5, 9],
      ]),
    };
    expect(reads(6, 'uint16', 1, action)).toEqual([1, 7, 7, 7, 9, 9]);
    const image = imageOf(1, [{ address: 0, type: 'uint16', value: 1, action }], {});
    const found = [0, 0, 3, 0, 0].map((written) => {
      if (written > 0) image.setWord(0, written);
      image.touch(0, 1);
      return image.wordAt(0);
    });
    expect(found).toEqual([1, 7, 3, 3, 9]);
    image.reset();
    image.touch(0, 1);
    expect(image.wordAt(0)).toBe(1);
  });
});

describe('the action increment', () => {
  const rows: [name: string, type: NumberType, value: Value, bounds: object, expected: Value[]][] = [
    ['counts before the value is taken', 'uint16', 5, {}, [6, 7, 8]],
    ['goes from its largest value to its smallest', 'uint16', 8, { minval: 3, maxval: 10 }, [9, 10, 3, 4]],
    ['goes to the smallest value of the type without minval', 'uint16', 9, { maxval: 10 }, [10, 0, 1]],
    ['takes maxval 0 for what it is', 'int16', -1, { minval: -2, maxval: 0 }, [0, -2, -1, 0]],
    ['comes up from below minval', 'uint16', 0, { minval: 100 }, [100, 101]],
    ['comes down from above maxval', 'uint16', 500, { minval: 1, maxval: 10 }, [1, 2]],
    ['holds one value when both ends are one', 'uint16', 4, { minval: 4, maxval: 4 }, [4, 4]],
    ['wraps a coil', 'bit', 0, {}, [1, 0, 1]],
    ['wraps bits', 'bits', 0xfffe, {}, [0xffff, 0]],
    ['wraps uint16', 'uint16', 65534, {}, [65535, 0, 1]],
    ['wraps int16', 'int16', 32766, {}, [32767, -32768, -32767]],
    ['wraps uint32', 'uint32', 4294967294, {}, [4294967295, 0]],
    ['wraps int32', 'int32', 2147483646, {}, [2147483647, -2147483648]],
    ['carries from one word to the other', 'uint32', 0xffff, {}, [0x10000]],
    ['counts int16 through 0', 'int16', -2, {}, [-1, 0, 1]],
    ['wraps uint64', 'uint64', 2n ** 64n - 2n, {}, [2n ** 64n - 1n, 0n]],
    ['wraps int64', 'int64', 2n ** 63n - 2n, {}, [2n ** 63n - 1n, -(2n ** 63n)]],
    ['counts uint64 above 2^53', 'uint64', 2n ** 53n - 1n, {}, [2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n]],
    ['counts int64 far below 0', 'int64', -(2n ** 60n), {}, [1n - 2n ** 60n, 2n - 2n ** 60n]],
    ['keeps uint64 within bounds', 'uint64', 9n, { minval: 8, maxval: 10 }, [10n, 8n]],
    [
      'takes a maxval beyond the type for the end of the type',
      'uint16',
      65534,
      { minval: 7, maxval: 1e9 },
      [65535, 7],
    ],
    ['counts floats by one', 'float64', 0.5, { minval: 0.5, maxval: 2.5 }, [1.5, 2.5, 0.5]],
    ['counts a float through 0', 'float64', -1.5, {}, [-0.5, 0.5]],
    ['counts a float below 0 under a maxval', 'float32', -20, { maxval: 5 }, [-19, -18]],
    ['holds a float at a maxval below 0', 'float64', -6.5, { maxval: -6 }, [-6, -6]],
    ['lets no float grow past its type', 'float32', 1, { minval: 1e300 }, [FLOAT32_MAX, FLOAT32_MAX]],
  ];
  it.each(rows)('%s (%s)', (_, type, value, bounds, expected) => {
    expect(reads(expected.length, type, value, { name: 'increment', ...bounds })).toEqual(expected);
  });
});

describe('the action random', () => {
  const low = { random: () => 0 };
  const high = { random: () => 1 - 2 ** -53 };
  const rows: [type: NumberType, bounds: object, smallest: Value, largest: Value][] = [
    ['uint16', {}, 1, 65535],
    ['int16', {}, 1, 32767],
    ['uint32', {}, 1, 65536],
    ['uint64', {}, 1n, 65536n],
    ['float64', { minval: -1.5, maxval: 2.5 }, -1.5, 2.5],
    ['uint16', { minval: 5, maxval: 9 }, 5, 9],
    ['int16', { minval: -9, maxval: -5 }, -9, -5],
    ['uint16', { minval: 3, maxval: 3 }, 3, 3],
    ['bit', { minval: 0, maxval: 1 }, 0, 1],
    ['uint16', { minval: 1.5, maxval: 3.5 }, 1, 3],
    ['uint16', { minval: -1.7e308, maxval: 1.7e308 }, 0, 65535],
    ['uint64', { minval: 0, maxval: 2 ** 53 - 1 }, 0n, 2n ** 53n - 1n],
    ['int16', { maxval: -5 }, -5, -5],
    ['float64', { maxval: 0.5 }, 0.5, 0.5],
    ['uint32', { minval: 100_000 }, 100_000, 100_000],
  ];
  it.each(rows)('of %s with %j goes from %s to %s', (type, bounds, smallest, largest) => {
    expect(reads(1, type, type.endsWith('int64') ? 0n : 0, { name: 'random', ...bounds }, low)).toEqual([
      smallest,
    ]);
    const [most] = reads(1, type, type.endsWith('int64') ? 0n : 0, { name: 'random', ...bounds }, high);
    expect(Number(most)).toBeCloseTo(Number(largest), 9);
  });

  it('reaches every value of its range about equally often', () => {
    const counts = new Map<Value, number>();
    for (let i = 0; i < 300; i++) {
      const value = reads(
        1,
        'uint16',
        0,
        { name: 'random', minval: 1, maxval: 3 },
        { random: () => i / 300 },
      )[0] as Value;
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    expect([...counts]).toEqual([
      [1, 100],
      [2, 100],
      [3, 100],
    ]);
  });
});

describe('the actions increment and random, whatever their bounds', () => {
  const SMALLEST: Readonly<Record<NumberType, number | bigint>> = {
    bit: 0n,
    bits: 0n,
    uint16: 0n,
    int16: -(2n ** 15n),
    uint32: 0n,
    int32: -(2n ** 31n),
    uint64: 0n,
    int64: -(2n ** 63n),
    float32: -FLOAT32_MAX,
    float64: -Number.MAX_VALUE,
  };
  const LARGEST: Readonly<Record<NumberType, number | bigint>> = {
    bit: 1n,
    bits: 2n ** 16n - 1n,
    uint16: 2n ** 16n - 1n,
    int16: 2n ** 15n - 1n,
    uint32: 2n ** 32n - 1n,
    int32: 2n ** 31n - 1n,
    uint64: 2n ** 64n - 1n,
    int64: 2n ** 63n - 1n,
    float32: FLOAT32_MAX,
    float64: Number.MAX_VALUE,
  };
  const type = fc.constantFrom(...(Object.keys(SMALLEST) as NumberType[]));
  const extremes = [...Object.values(SMALLEST), ...Object.values(LARGEST)];
  const number = fc.oneof(
    fc.integer({ min: -200_000, max: 200_000 }),
    fc.double({ min: -200_000, max: 200_000, noNaN: true }),
    fc.constantFrom(...extremes.flatMap((end) => [Number(end) - 1, Number(end), Number(end) + 1])),
    fc.double({ noNaN: true }),
  );
  const bound = fc.option(number, { nil: undefined });
  const name = fc.constantFrom('increment' as const, 'random' as const);
  const share = fc.oneof(
    fc.constantFrom(0, 1 - 2 ** -53),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  );

  /** The nearest number that the type can hold; integer types cut off what is behind the point. */
  function held(type: NumberType, number: number): number | bigint {
    if (number <= SMALLEST[type]) return SMALLEST[type];
    if (number >= LARGEST[type]) return LARGEST[type];
    if (type === 'float64') return number;
    return type === 'float32' ? Math.fround(number) : BigInt(Math.trunc(number));
  }

  function actionOf(name: 'increment' | 'random', minval?: number, maxval?: number): Action {
    return { name, ...(minval !== undefined && { minval }), ...(maxval !== undefined && { maxval }) };
  }

  it('stay between them, as near as their type can', () => {
    fc.assert(
      fc.property(type, name, bound, bound, number, share, (type, name, a, b, first, random) => {
        const [minval, maxval] = a !== undefined && b !== undefined && a > b ? [b, a] : [a, b];
        const value = held(type, first);
        const start = type.endsWith('int64') ? BigInt(value) : Number(value);
        const action = actionOf(name, minval, maxval);
        for (const read of reads(3, type, start, action, { random: () => random }) as (number | bigint)[]) {
          if (minval !== undefined) expect(read >= held(type, minval), `${read}, min ${minval}`).toBe(true);
          if (maxval !== undefined) expect(read <= held(type, maxval), `${read}, max ${maxval}`).toBe(true);
          expect(read >= SMALLEST[type] && read <= LARGEST[type], `${read} in ${type}`).toBe(true);
        }
      }),
      { numRuns: tries(5000) },
    );
  });

  it('never throw, the bounds in the wrong order or no numbers', () => {
    const any = fc.oneof(bound, fc.constantFrom(Number.NaN, Infinity, -Infinity));
    fc.assert(
      fc.property(type, name, any, any, any, share, (type, name, minval, maxval, first, random) => {
        const start = type.startsWith('float') ? (first ?? 0) : type.endsWith('int64') ? 0n : 0;
        reads(3, type, start, actionOf(name, minval, maxval), { random: () => random });
      }),
      { numRuns: tries(2000) },
    );
  });

  it('span all of a float', () => {
    const bounds = { minval: -Number.MAX_VALUE, maxval: Number.MAX_VALUE };
    const at = (random: number) =>
      reads(1, 'float64', 0, { name: 'random', ...bounds }, { random: () => random })[0];
    expect([at(0), at(0.5)]).toEqual([-Number.MAX_VALUE, 0]);
  });
});

describe('the action uptime', () => {
  it.each<[uptime: number, seconds: number]>([
    [0, 1],
    [999, 1],
    [1000, 2],
    [65_534_999, 65535],
    [90_000_000, 90001],
  ])('after %i ms is %i', (uptime, seconds) => {
    expect(reads(1, 'uint32', 77, { name: 'uptime' }, { uptime: () => uptime })).toEqual([seconds]);
    expect(reads(1, 'float32', 77, { name: 'uptime' }, { uptime: () => uptime })).toEqual([seconds]);
  });
});

describe('the action timestamp', () => {
  const at = (
    year: number,
    month: number,
    day: number,
    hour = 13,
    minute = 14,
    second = 15,
  ): Partial<ActionSource> => ({
    now: () => new Date(year, month, day, hour, minute, second, 999),
  });
  const timestamp = { name: 'timestamp' } as const;

  it('is year, month from 0, day, weekday from Monday 1, hour, minute, second', () => {
    const image = imageOf(
      8,
      [...run(0, 7, { action: timestamp }), { address: 7, value: 99 }],
      at(2024, 11, 31),
    );
    expect(tableOf(image).readWords(0, 8)).toEqual([2024, 11, 31, 2, 13, 14, 15, 99]);
  });

  it('calls Sunday 7, as pymodbus does', () => {
    const image = imageOf(7, run(0, 7, { action: timestamp }), at(2024, 1, 4));
    expect(tableOf(image).readWords(0, 7)).toEqual([2024, 1, 4, 7, 13, 14, 15]);
  });

  it('on one register fills the six after it', () => {
    const image = imageOf(9, [{ address: 1, action: timestamp }, ...run(2, 7, { value: 9 })], at(2024, 1, 4));
    expect(tableOf(image).readWords(1, 1)).toEqual([2024]);
    expect(wordsOf(image)).toEqual([0, 2024, 1, 4, 7, 13, 14, 15, 9]);
  });

  it('gives each register of a group its own field, whichever is read', () => {
    const image = imageOf(14, run(0, 14, { action: timestamp }), at(2024, 1, 4));
    expect(tableOf(image).readWords(9, 2)).toEqual([4, 7]);
    expect(tableOf(image).readWords(6, 2)).toEqual([15, 2024]);
  });

  it('leaves registers alone that have an action of their own, hold other types, or are undefined', () => {
    const entries = [
      { address: 0, action: timestamp },
      { address: 1, value: 70, action: { name: 'increment' as const } },
      { address: 2, type: 'uint32' as const, value: 0x00010002 },
      { address: 5, value: 9 },
    ];
    const image = imageOf(7, entries, at(2024, 1, 4));
    tableOf(image).readWords(0, 1);
    expect(wordsOf(image)).toEqual([2024, 70, 1, 2, 0, 14, 0]);
  });

  it('ends at the last register', () => {
    const image = imageOf(3, [...run(0, 1), ...run(1, 2, { action: timestamp })], at(2024, 1, 4));
    expect(tableOf(image).readWords(0, 3)).toEqual([0, 2024, 1]);
  });
});

describe('the action reset', () => {
  it('restores the configured values, access and counters before the read takes its words', () => {
    const image = imageOf(3, [
      { address: 0, value: 11 },
      { address: 1, value: 22, action: { name: 'reset' } },
      { address: 2, value: 33 },
    ]);
    const table = tableOf(image);
    table.writeWords(0, [1, 2, 3]);
    image.setWritable(2, false);
    expect(table.readWords(0, 1)).toEqual([1]);
    expect(table.readWords(0, 3)).toEqual([11, 22, 33]);
    expect(image.isWritable(2)).toBe(true);
    expect([0, 1, 2].map((cell) => image.writes.get(cell))).toEqual([0, 0, 0]);
  });

  it('does not happen when another register is read or this one is written', () => {
    const image = imageOf(2, [
      { address: 0, value: 11 },
      { address: 1, value: 22, action: { name: 'reset' } },
    ]);
    const table = tableOf(image);
    table.writeWords(0, [1, 2]);
    expect(table.readWords(0, 1)).toEqual([1]);
    expect(image.wordAt(1)).toBe(2);
  });
});

describe('actions', () => {
  it('run when any bit of their register is read, once per request', () => {
    const image = imageOf(2, [
      { address: 0, type: 'bits', value: 0, action: { name: 'increment' } },
      { address: 1 },
    ]);
    expect(tableOf(image).readBits(0, 16).slice(0, 2)).toEqual([true, false]);
    expect(tableOf(image).readBits(15, 2)).toEqual([false, false]);
    expect(image.wordAt(0)).toBe(2);
  });

  it('do not run for cells of a value behind its first one', () => {
    const image = imageOf(2, [{ address: 0, type: 'uint32', value: 5, action: { name: 'increment' } }]);
    expect(tableOf(image).readWords(1, 1)).toEqual([5]);
    expect(tableOf(image).readWords(0, 2)).toEqual([0, 6]);
  });

  it('leave text alone', () => {
    const image = imageOf(1, [{ address: 0, type: 'string', value: 'ab', action: { name: 'increment' } }]);
    expect(tableOf(image).readWords(0, 1)).toEqual([0x6162]);
  });
});

describe('a type that an action can not have', () => {
  const unfit = (action: ActionName, type: ValueType) => ACTIONS[action].whyUnfit(type);
  const types = [...(Object.keys(CELLS_PER_VALUE) as NumberType[]), 'string'] as const;

  it.each(['increment', 'random'] as const)('%s: text alone', (action) => {
    expect(types.filter((type) => unfit(action, type) !== undefined)).toEqual(['string']);
    expect(unfit(action, 'string')).toBe(`${action} needs a number; the only action for a string is reset`);
  });

  it('reset: none', () => {
    expect(types.filter((type) => unfit('reset', type) !== undefined)).toEqual([]);
  });

  it('timestamp: whatever is not one register', () => {
    expect(types.filter((type) => unfit('timestamp', type) === undefined).toSorted()).toEqual([
      'bits',
      'int16',
      'uint16',
    ]);
    expect(unfit('timestamp', 'uint32')).toBe(
      'timestamp fills seven registers, expected type bits, uint16, int16, got uint32',
    );
  });

  it('uptime: a bit, and text', () => {
    expect(types.filter((type) => unfit('uptime', type) !== undefined).toSorted()).toEqual(['bit', 'string']);
    expect(unfit('uptime', 'bit')).toBe('uptime counts seconds, which do not fit into one bit');
    expect(unfit('uptime', 'string')).toBe('uptime needs a number; the only action for a string is reset');
  });
});
