import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_SEED } from '../../../src/common/random.js';
import type { Signal } from '../../../src/device/signals/signal.js';
import { started, trackInMemory } from './start.js';

const track = trackInMemory(
  [
    [0, 5],
    [1000, -6],
    [3000, 7],
  ],
  5000,
);

const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
const ms = fc.integer({ min: 1, max: 100_000 });
const wave = fc.record({ period: ms, amplitude: value, offset: value, phase: value });

/** An entry of any kind. A counter adds up whatever `power` is. */
const entries = {
  sine: fc.record({ sine: wave }),
  triangle: fc.record({ triangle: wave }),
  sawtooth: fc.record({ sawtooth: wave }),
  square: fc.record({ square: wave }),
  ramp: fc.record({
    ramp: fc.record({ from: value, to: value, over: ms, then: fc.constantFrom('hold', 'repeat', 'bounce') }),
  }),
  walk: fc.record({
    walk: fc.record({
      step: fc.double({ min: 0, max: 10, noNaN: true }),
      min: fc.constant(-20),
      max: fc.constant(30),
      every: ms,
    }),
  }),
  noise: fc.record({ noise: fc.record({ around: value, amplitude: value, every: ms }) }),
  steps: fc.record({ steps: fc.array(fc.record({ value, for: ms }), { minLength: 1, maxLength: 5 }) }),
  playback: fc.record({
    playback: fc.record({ file: fc.constant('a.csv'), column: fc.constant('v'), loop: fc.boolean() }),
  }),
  expression: fc.constant({ expression: 'if(t % 2 < 1, sin(t), t / 3)' }),
};
const anyEntry = fc.oneof(...Object.values(entries));
const anyCounter = fc.record({
  counter: fc.record({ integral: fc.constant('power'), every: fc.integer({ min: 100, max: 5000 }) }),
});
const seeds = fc.integer({ min: 0, max: MAX_SEED });
const times = fc.array(fc.integer({ min: 0, max: 1_500_000 }), { minLength: 1, maxLength: 8 });

function build(entry: unknown, counter: unknown, seed: number): Signal[] {
  const power = started(entry, { seed, track });
  return [power, started(counter, { seed, named: { power } })];
}

describe('a signal', () => {
  it('has the same value at a time whatever was read before, to the last bit', () => {
    fc.assert(
      fc.property(anyEntry, anyCounter, seeds, times, (entry, counter, seed, asked) => {
        const read = build(entry, counter, seed);
        const inOrder = asked.map((time) => read.map((signal) => signal.valueAt(time)));
        const alone = asked.map((time) => build(entry, counter, seed).map((signal) => signal.valueAt(time)));
        expect(inOrder).toEqual(alone);
      }),
      { numRuns: 200 },
    );
  });

  it('has an integral that a fine sum of its values comes close to', () => {
    const exact = fc.oneof(
      entries.sine,
      entries.triangle,
      entries.sawtooth,
      entries.square,
      entries.ramp,
      entries.steps,
    );
    const span = fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 1, max: 20_000 }));
    fc.assert(
      fc.property(exact, span, (entry, [from, length]) => {
        const { valueAt, integral } = started(entry);
        const pieces = 20_000;
        const middle = (i: number) => from + ((i + 0.5) * length) / pieces;
        let sum = 0;
        for (let i = 0; i < pieces; i++) sum += valueAt(middle(i));
        const numeric = (sum * length) / pieces / 1000;
        // Periods may be as short as the pieces; then a sum of values says nothing.
        fc.pre(shortest(entry) > 100);
        expect(Math.abs((integral?.(from, from + length) ?? 0) - numeric)).toBeLessThan(
          1e-3 * 4e6 * (length / 1000) + 1,
        );
      }),
      { numRuns: 100 },
    );
  });
});

/** The shortest time in an entry, in ms. */
function shortest(entry: unknown): number {
  const found = [...JSON.stringify(entry).matchAll(/"(?:period|over|for)":(\d+)/g)].map(([, digits]) =>
    Number(digits),
  );
  return Math.min(...found);
}

describe('a walk', () => {
  it('stays within its bounds, and never moves by more than a step', () => {
    const ranges = fc.record({
      step: fc.double({ min: 0, max: 100, noNaN: true }),
      min: fc.double({ min: -100, max: 0, noNaN: true }),
      max: fc.double({ min: 0, max: 100, noNaN: true }),
    });
    fc.assert(
      fc.property(ranges, seeds, fc.nat({ max: 2 ** 31 }), (walk, seed, n) => {
        const signal = started({ walk: { ...walk, every: 1000 } }, { seed });
        const here = signal.valueAt(n * 1000);
        const next = signal.valueAt((n + 1) * 1000);
        expect(here).toBeGreaterThanOrEqual(walk.min);
        expect(here).toBeLessThanOrEqual(walk.max);
        expect(signal.valueAt(n * 1000 + 999)).toBe(here);
        expect(Math.abs(next - here)).toBeLessThanOrEqual(walk.step + 1e-6);
      }),
      { numRuns: 1000 },
    );
  });

  it('wanders as independent steps would: its spread grows with the root of the time', () => {
    const spreadAfter = (steps: number) => {
      let sum = 0;
      for (let seed = 0; seed < 2000; seed++) {
        const wide = { walk: { step: 1, min: -1e9, max: 1e9, every: 1 } };
        sum += started(wide, { seed }).valueAt(steps) ** 2;
      }
      return Math.sqrt(sum / 2000);
    };
    // Steps spread evenly from -1 to 1 have a spread of 0.577.
    for (const steps of [1, 10, 100, 1000, 5000]) {
      const share = spreadAfter(steps) / Math.sqrt(steps);
      expect(share).toBeGreaterThan(0.35);
      expect(share).toBeLessThan(0.7);
    }
  });

  it('differs from seed to seed', () => {
    const at = (seed: number) => started({ walk: { step: 1, min: 0, max: 10 } }, { seed }).valueAt(100_000);
    expect(new Set([1, 2, 3, 4, 5].map(at)).size).toBe(5);
  });
});

describe('noise', () => {
  it('stays within its amplitude, and is spread evenly', () => {
    const signal = started({ noise: { around: 230, amplitude: 2, every: 100 } });
    const values = Array.from({ length: 10_000 }, (_, i) => signal.valueAt(i * 100));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(228);
    expect(Math.max(...values)).toBeLessThan(232);
    expect(values.reduce((sum, each) => sum + each, 0) / values.length).toBeCloseTo(230, 1);
    expect(values.filter((each) => each < 229).length / values.length).toBeCloseTo(0.25, 1);
  });
});

describe('a counter of another value', () => {
  it('has the exact integral of a sine', () => {
    const power = started({ sine: { period: '10s', amplitude: 5, offset: 20 } });
    const energy = started({ counter: { integral: 'power', per: '1h' } }, { named: { power } });
    expect(energy.valueAt(3_600_000)).toBeCloseTo(20, 9);
    const half = 5000;
    expect(energy.valueAt(half)).toBeCloseTo((20 * 5 + (5 * 10) / Math.PI) / 3600, 12);
  });

  it('adds up in steps what has no exact integral, and never falls while that is not negative', () => {
    const power = started({ noise: { around: 10, amplitude: 10, every: '1s' } });
    const energy = started({ counter: { integral: 'power' } }, { named: { power } });
    let before = 0;
    for (let time = 0; time < 60_000; time += 70) {
      const now = energy.valueAt(time);
      expect(now).toBeGreaterThanOrEqual(before);
      before = now;
    }
    expect(before / 60).toBeGreaterThan(5);
    expect(before / 60).toBeLessThan(15);
  });

  it('keeps what was added up when the value is changed from outside', () => {
    let watts = 100;
    const power: Signal = { valueAt: () => watts };
    const energy = started({ counter: { integral: 'power' } }, { named: { power } });
    energy.accumulator?.settle(10_500);
    watts = 0;
    expect(energy.valueAt(20_000)).toBeCloseTo(1050, 9);
    energy.accumulator?.settle(20_000);
    watts = 50;
    expect(energy.valueAt(22_000)).toBeCloseTo(1150, 9);
  });

  it('goes on from a value that it is preset to', () => {
    const counter = started({ counter: { perSecond: 2 } });
    counter.accumulator?.preset(10_000, 500);
    expect(counter.valueAt(10_000)).toBe(500);
    expect(counter.valueAt(11_000)).toBe(502);
  });
});
