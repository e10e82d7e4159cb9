import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SIGNAL_KINDS } from '../../src/signals/kinds.js';
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
      { track: { length: track.length, rowsAt: (time) => (isGone ? 'a.csv is gone' : track.rowsAt(time)) } },
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

describe('docs/signals.md', () => {
  it('has the row of each kind, and no other', () => {
    const rows = readFileSync('docs/signals.md', 'utf8').match(/^\| `\w+: .*$/gm);
    expect(rows).toEqual(SIGNAL_KINDS.map(({ entry, value }) => `| ${entry} | ${value} |`));
  });
});
