import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failure } from '../../../src/common/result.js';
import { SIGNAL_KINDS, signalSchema } from '../../../src/device/signals/kinds.js';
import { mistakesOf, started, trackInMemory } from './start.js';

/** An entry and what it is worth at times in ms. */
type Row = [entry: unknown, values: [time: number, value: number][]];

const wave = { period: '4s', amplitude: 2, offset: 10 };

const ROWS: Record<string, Row[]> = {
  sine: [
    [
      { sine: wave },
      [
        [0, 10],
        [1000, 12],
        [2000, 10],
        [3000, 8],
        [4000, 10],
        [4_000_001_000, 12],
      ],
    ],
    [
      { sine: { ...wave, phase: 90 } },
      [
        [0, 12],
        [1000, 10],
        [500, 10 + Math.SQRT2],
      ],
    ],
    [{ sine: { period: 4000, amplitude: 1 } }, [[1000, 1]]],
  ],
  triangle: [
    [
      { triangle: wave },
      [
        [0, 10],
        [500, 11],
        [1000, 12],
        [2000, 10],
        [2500, 9],
        [3000, 8],
        [3500, 9],
      ],
    ],
    [
      { triangle: { ...wave, phase: -90 } },
      [
        [0, 8],
        [2000, 12],
      ],
    ],
  ],
  sawtooth: [
    [
      { sawtooth: wave },
      [
        [0, 8],
        [1000, 9],
        [2000, 10],
        [3000, 11],
        [3999, 11.999],
        [4000, 8],
      ],
    ],
  ],
  square: [
    [
      { square: wave },
      [
        [0, 12],
        [1999, 12],
        [2000, 8],
        [3999, 8],
        [4000, 12],
      ],
    ],
    [
      { square: { ...wave, duty: 0.25 } },
      [
        [0, 12],
        [999, 12],
        [1000, 8],
      ],
    ],
    [{ square: { ...wave, duty: 0 } }, [[0, 8]]],
    [{ square: { ...wave, duty: 1 } }, [[3999, 12]]],
    [
      { square: { period: '1s', amplitude: 0.5, offset: 0.5 } },
      [
        [0, 1],
        [500, 0],
      ],
    ],
  ],
  ramp: [
    [
      { ramp: { from: 10, to: 20, over: '10s' } },
      [
        [0, 10],
        [5000, 15],
        [10_000, 20],
        [60_000, 20],
      ],
    ],
    [
      { ramp: { from: 20, to: 10, over: 10_000, then: 'repeat' } },
      [
        [0, 20],
        [9000, 11],
        [10_000, 20],
      ],
    ],
    [
      { ramp: { from: 0, to: 10, over: '10s', then: 'bounce' } },
      [
        [9000, 9],
        [10_000, 10],
        [14_000, 6],
        [23_000, 3],
      ],
    ],
  ],
  steps: [
    [
      {
        steps: [
          { value: 1, for: '20s' },
          { value: 5, for: '40s' },
        ],
      },
      [
        [0, 1],
        [19_999, 1],
        [20_000, 5],
        [60_000, 1],
        [90_000, 5],
      ],
    ],
    [
      { steps: [{ value: 1, for: '20s' }, { value: 5 }] },
      [
        [0, 1],
        [20_000, 5],
        [1e12, 5],
      ],
    ],
    [
      { steps: [{ value: 7 }] },
      [
        [0, 7],
        [1e12, 7],
      ],
    ],
  ],
  counter: [
    [
      { counter: { perSecond: 2.5 } },
      [
        [0, 0],
        [1000, 2.5],
        [3_600_000, 9000],
      ],
    ],
    [
      { counter: { perSecond: -1, from: 100 } },
      [
        [0, 100],
        [1000, 99],
      ],
    ],
    [
      { counter: { perSecond: 1, from: 95, rollover: 100 } },
      [
        [4000, 99],
        [5000, 0],
        [206_000, 1],
      ],
    ],
    [{ counter: { perSecond: -1, from: 1, rollover: 10 } }, [[2000, 9]]],
  ],
  expression: [
    [
      { expression: 't * 2 + 1' },
      [
        [0, 1],
        [1500, 4],
      ],
    ],
    [
      { expression: 'if(t >= 1, 10, 20)' },
      [
        [999, 20],
        [1000, 10],
      ],
    ],
  ],
};

describe('a signal', () => {
  it.each(
    Object.values(ROWS).flatMap((rows) =>
      rows.flatMap(([entry, values]) =>
        values.map(([time, value]) => [JSON.stringify(entry), time, value, entry] as const),
      ),
    ),
  )('%s at %d ms is %d', (_, time, value, entry) => {
    expect(started(entry).valueAt(time)).toBeCloseTo(value, 9);
  });
});

describe('a playback', () => {
  const track = trackInMemory(
    [
      [0, 5],
      [1000, 6],
      [3000, 7],
    ],
    5000,
  );
  const play = (more: object = {}) =>
    started({ playback: { file: 'a.csv', column: 'v', ...more } }, { track });

  it.each([
    [{}, 0, 5],
    [{}, 999, 5],
    [{}, 1000, 6],
    [{}, 3000, 7],
    [{}, 1e9, 7],
    [{ loop: true }, 4999, 7],
    [{ loop: true }, 5000, 5],
    [{ loop: true }, 5_001_000, 6],
    [{ speed: 10 }, 100, 6],
    [{ speed: 10, loop: true }, 600, 6],
    [{ speed: 0 }, 1e9, 5],
  ])('with %o at %d ms is %d', (more, time, value) => {
    expect(play(more).valueAt(time)).toBe(value);
  });

  it('holds its last value while the rows cannot be read, says so, and goes on when they can', () => {
    let isGone = false;
    const signal = started(
      { playback: { file: 'a.csv', column: 'v' } },
      {
        track: {
          length: track.length,
          rowsAt: (time) => (isGone ? failure('a.csv is gone') : track.rowsAt(time)),
        },
      },
    );
    expect(signal.valueAt(1000)).toBe(6);
    expect(signal.trouble?.()).toBeUndefined();
    isGone = true;
    expect(signal.valueAt(3000)).toBe(6);
    expect(signal.trouble?.()).toBe('a.csv is gone');
    isGone = false;
    expect(signal.valueAt(3000)).toBe(7);
    expect(signal.trouble?.()).toBeUndefined();
  });
});

describe('recorded', () => {
  const play = (values: string, more = {}) => started({ recorded: { values, ...more } });

  it.each([
    ['0 5, 1 6, 2.5 -7.5, 4', {}, 999, 5],
    ['0 5, 1 6, 2.5 -7.5, 4', {}, 1000, 6],
    ['0 5, 1 6, 2.5 -7.5, 4', {}, 1e9, -7.5],
    ['0 5, 1 6, 2.5 -7.5, 4', { loop: true }, 4000, 5],
    ['0 5, 1 6, 2.5 -7.5, 4', { loop: true, speed: 2 }, 2500, 6],
    ['0 5, 1 6', { loop: true }, 2000, 5],
    ['0 5', {}, 1e9, 5],
  ])('%s with %o at %d ms is %d', (values, more, time, value) => {
    expect(play(values, more).valueAt(time)).toBe(value);
  });

  it.each([
    ['', '"" is not a time with a value'],
    ['1 5', '"1 5" is not time 0 with a value'],
    ['0', '"0" is not time 0 with a value'],
    ['0 5, 0 6', '"0 6" is not later than the time before it'],
    ['0 5, 3, 4 6', '"4 6" is not a time with a value'],
    ['0 5, 1 x', '"1 x" is not a time with a value'],
    ['0 5, 1 1e999', '"1 1e999" is not a time with a value'],
    [`0 5, ${'9'.repeat(400)} 6`, '"9'],
  ])('%j is refused, with the place', (values, message) => {
    expect(mistakesOf({ recorded: { values } })).toEqual([
      expect.stringContaining(`recorded.values: ${message}`),
    ]);
  });
});

describe('a signal entry', () => {
  it.each([
    [
      { sine: { period: 0, amplitude: 1 } },
      /^sine\.period: expected a number of milliseconds, 1 or more.*got 0/,
    ],
    [{ sine: { period: '0s', amplitude: 1 } }, /^sine\.period: /],
    [{ sine: { period: '10 parsecs', amplitude: 1 } }, /^sine\.period: .*20s/],
    [{ sine: { period: Number.NaN, amplitude: 1 } }, /^sine\.period: /],
    [{ sine: { period: 1000, amplitude: Number.POSITIVE_INFINITY } }, /^sine\.amplitude: expected a number/],
    [{ sine: { period: 1000 } }, /^sine\.amplitude: missing, expected a number/],
    [{ sine: { period: 1000, amplitude: 1, phse: 3 } }, /^sine\.phse: .*did you mean "phase"/],
    [
      { square: { period: 1000, amplitude: 1, duty: 2 } },
      /^square\.duty: expected a share from 0 to 1, got 2/,
    ],
    [{ ramp: { from: 0, to: 1, over: '1s', then: 'stop' } }, /^ramp\.then: expected hold, repeat or bounce/],
    [{ walk: { step: 1, min: 5, max: 4 } }, /^walk\.max: expected max to be at least min/],
    [{ walk: { step: -1, min: 0, max: 4 } }, /^walk\.step: /],
    [{ steps: [] }, /^steps: expected at least one step/],
    [{ steps: 5 }, /^steps: expected a list of steps, as in \[{value: 1, for: 20s}/],
    [{ playback: { file: 5, column: 'v' } }, /^playback\.file: expected the path of a CSV file/],
    [{ playback: { file: 'a.csv', column: 5 } }, /^playback\.column: expected the name of a column/],
    [
      { playback: { file: 'a.csv', column: 'v', time: 5 } },
      /^playback\.time: expected the name of the column with/,
    ],
    [{ playback: { file: 'a.csv', column: 'v', speed: -1 } }, /^playback\.speed: expected a speed from 0/],
    [{ playback: { file: 'a.csv', column: 'v', speed: 1_000_001 } }, /^playback\.speed: /],
    [{ counter: { integral: 5 } }, /^counter\.integral: expected the name of the value to add up/],
    [{ counter: { perSecond: 1, per: 0 } }, /^counter\.per: /],
    [{ counter: { perSecond: 1, every: 0 } }, /^counter\.every: /],
    [{ expression: 'a b' }, /^expression: .*an operator is missing/],
    [{ steps: [{ value: 1 }, { value: 2 }] }, /^steps\.0\.for: missing, expected a time: only the last/],
    [{ counter: {} }, /^counter: expected either perSecond or integral/],
    [{ counter: { perSecond: 1, integral: 'power' } }, /^counter: expected either perSecond or integral/],
    [{ counter: { perSecond: 1, rollover: 0 } }, /^counter\.rollover: /],
    [{ expression: 5 }, /^expression: expected an expression, in quotes, got 5/],
    [{ sin: {} }, /^sin: unknown kind of signal "sin", did you mean "sine"/],
    [{ constructor: {} }, /^constructor: unknown kind of signal/],
    [{}, /^: expected one kind of signal, got 0 keys/],
    [{ sine: {}, noise: {} }, /^: expected one kind of signal, got 2 keys/],
    ['sine', /^: expected one kind of signal with its parameters/],
  ])('%o is refused', (entry, message) => {
    const mistakes = mistakesOf(entry);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatch(message);
  });
});

describe('a list of steps', () => {
  it('has at most 10,000', () => {
    const steps = (count: number) => mistakesOf({ steps: Array(count).fill({ value: 1, for: 1 }) });
    expect(steps(10_000)).toEqual([]);
    expect(steps(10_001)).toEqual([
      expect.stringMatching(
        /^steps: expected at most 10000 steps; put a longer list into a file and use playback/,
      ),
    ]);
  });

  it('names each step but the last that has no time', () => {
    const steps = [{ value: 1 }, { value: 2 }, { value: 3, for: 1 }, { value: 4 }];
    expect(mistakesOf({ steps })).toEqual(
      [0, 1].map((i) => `steps.${i}.for: missing, expected a time: only the last step may last forever`),
    );
  });
});

describe('a checked entry', () => {
  const noise = { noise: { around: 1, amplitude: 0 } };

  it('knows its kind, what was written, and what it needs', () => {
    const written = { expression: 'voltage * other.current' };
    expect(signalSchema.parse(written)).toMatchObject({
      kind: 'expression',
      written: 'voltage * other.current',
      needs: ['voltage', 'other.current'],
      plays: undefined,
      goesStale: false,
    });
    expect(signalSchema.parse(noise)).toMatchObject({ kind: 'noise', needs: [] });
  });

  it('knows the recording that it plays', () => {
    const plays = (more: object) =>
      signalSchema.parse({ playback: { file: 'a.csv', column: 'v', ...more } }).plays;
    expect(plays({})).toEqual({ file: 'a.csv', time: 'time', column: 'v' });
    expect(plays({ time: 't' })).toEqual({ file: 'a.csv', time: 't', column: 'v' });
  });

  it('fits bits where its values can be 0 and 1', () => {
    const fits = (entry: object) => signalSchema.parse(entry).fits;
    expect(fits(noise)).toBe('numbers');
    expect(fits({ steps: [{ value: 1 }] })).toBe('numbers and bits');
  });
});

describe('an exact integral', () => {
  const wave = { period: '4s', amplitude: 2, offset: 10 };

  it.each([
    [{ sine: wave }, 0, 2000, 20 + 8 / Math.PI],
    [{ sine: { ...wave, phase: 90 } }, 0, 3000, 30 - 4 / Math.PI],
    [{ triangle: wave }, 0, 1000, 11],
    [{ triangle: wave }, 500, 2000, 15 + 1.75],
    [{ triangle: wave }, 0, 3500, 35 + 0.25],
    [{ triangle: wave }, 0, 9000, 91],
    [{ sawtooth: wave }, 0, 1000, 8.5],
    [{ sawtooth: wave }, 1000, 6000, 49.5],
    [{ square: { ...wave, duty: 0.25 } }, 0, 1000, 12],
    [{ square: { ...wave, duty: 0.25 } }, 500, 2000, 6 + 8],
    [{ square: { ...wave, duty: 0.25 } }, 0, 8500, 2 * 36 + 6],
    [{ ramp: { from: 10, to: 20, over: '10s' } }, 0, 5000, 62.5],
    [{ ramp: { from: 10, to: 20, over: '10s' } }, 5000, 20_000, 87.5 + 200],
    [{ ramp: { from: 10, to: 20, over: '10s', then: 'repeat' } }, 5000, 25_000, 87.5 + 150 + 62.5],
    [{ ramp: { from: 10, to: 20, over: '10s', then: 'repeat' } }, 12_000, 15_000, 40.5],
    [{ ramp: { from: 10, to: 20, over: '10s', then: 'bounce' } }, 5000, 15_000, 87.5 + 87.5],
    [{ ramp: { from: 10, to: 20, over: '10s', then: 'bounce' } }, 12_000, 25_000, 0.8 * 140 + 62.5],
    [
      {
        steps: [
          { value: 1, for: '20s' },
          { value: 5, for: '40s' },
        ],
      },
      10_000,
      30_000,
      10 + 50,
    ],
    [
      {
        steps: [
          { value: 1, for: '20s' },
          { value: 5, for: '40s' },
        ],
      },
      50_000,
      130_000,
      50 + 220 + 10,
    ],
    [{ steps: [{ value: 1, for: '20s' }, { value: 5 }] }, 10_000, 100_000, 10 + 400],
  ])('of %o from %d to %d ms is %d', (entry, from, to, area) => {
    expect(started(entry).integral?.(from, to)).toBeCloseTo(area, 9);
  });

  it('is missing where values come by chance, from a file or from an expression', () => {
    const none = [
      { noise: { around: 0, amplitude: 1 } },
      { walk: { step: 1, min: 0, max: 1 } },
      { expression: 't' },
    ];
    for (const entry of none) expect(started(entry).integral).toBeUndefined();
  });
});

describe('a value by chance', () => {
  it('changes at each of its times and not between them', () => {
    const noise = started({ noise: { around: 5, amplitude: 3 } });
    const values = [0, 99, 100, 199, 200].map((time) => noise.valueAt(time));
    expect(values[1]).toBe(values[0]);
    expect(values[3]).toBe(values[2]);
    expect(new Set(values).size).toBe(3);
    const walk = started({ walk: { step: 1, min: 0, max: 10 } });
    expect(walk.valueAt(0)).toBe(5);
    expect(walk.valueAt(999)).toBe(5);
    expect(walk.valueAt(1000)).not.toBe(5);
  });

  it('turns back at the bounds of a walk, and takes no longer steps there', () => {
    const walk = started({ walk: { step: 1, min: 2, max: 5 } });
    const values = Array.from({ length: 2000 }, (_, second) => walk.valueAt(1000 * second));
    const steps = values.slice(1).map((value, i) => Math.abs(value - (values[i] as number)));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...values)).toBeLessThanOrEqual(5);
    expect(Math.max(...steps)).toBeLessThan(1 + 1e-9);
    expect(values.filter((value) => value === 2 || value === 5).length).toBeLessThan(20);
  });

  it('has room for no walk between equal bounds', () => {
    expect(started({ walk: { step: 1, min: 7, max: 7 } }).valueAt(123_456)).toBe(7);
  });
});

describe('docs/signals.md', () => {
  it('has the row of each kind, and no other', () => {
    const rows = readFileSync('docs/signals.md', 'utf8').match(/^\| `\w+: .*$/gm);
    expect(rows).toEqual(SIGNAL_KINDS.map(({ entry, value }) => `| ${entry} | ${value} |`));
  });
});
