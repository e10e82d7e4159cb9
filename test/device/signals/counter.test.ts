import { describe, expect, it } from 'vitest';
import { signalSchema } from '../../../src/device/signals/kinds.js';
import type { Signal } from '../../../src/device/signals/signal.js';
import { started } from './start.js';

function counterOf(power: Signal, more: object = {}) {
  const counter = started({ counter: { integral: 'power', ...more } }, { named: { power } });
  if (!counter.accumulator) throw new Error('adds up nothing');
  return { ...counter, accumulator: counter.accumulator };
}

/** Rises by 1 per second. Without an exact integral it is added up in steps. */
const rising: Signal = { valueAt: (time) => time / 1000 };
const exact: Signal = { ...rising, integral: (from, to) => (to ** 2 - from ** 2) / 2_000_000 };

describe('a counter', () => {
  it.each([
    ['steps', rising],
    ['an exact integral', exact],
  ])('adds up by %s, within a step too', (_, power) => {
    const { valueAt } = counterOf(power, { from: 1000 });
    for (const time of [0, 250, 1000, 1500, 9999, 3000, 20_000_000]) {
      expect(valueAt(time)).toBeCloseTo(1000 + (time / 1000) ** 2 / 2, 3);
    }
  });

  it('takes its value as straight between two steps', () => {
    const power: Signal = { valueAt: (time) => (time >= 1000 ? 10 : 0) };
    const { valueAt } = counterOf(power);
    expect([500, 1000, 1500, 2000].map(valueAt)).toEqual([1.25, 5, 10, 15]);
    const finer = counterOf(power, { every: 500 });
    expect([500, 1000, 2000].map(finer.valueAt)).toEqual([0, 2.5, 12.5]);
  });

  it('counts per hour, and rolls over', () => {
    const power: Signal = { valueAt: () => 36, integral: (from, to) => (36 * (to - from)) / 1000 };
    const { valueAt } = counterOf(power, { per: '1h', from: 9.5, rollover: 10 });
    expect([0, 49_000, 50_000, 60_000].map(valueAt)).toEqual([
      9.5,
      expect.closeTo(9.99, 9),
      expect.closeTo(0, 9),
      expect.closeTo(0.1, 9),
    ]);
  });

  it('goes on after it was settled or preset, and stands still before that time', () => {
    for (const power of [rising, exact]) {
      const { valueAt, accumulator } = counterOf(power);
      accumulator.settle(4000);
      expect(valueAt(6000)).toBeCloseTo(18, 9);
      expect(valueAt(1000)).toBeCloseTo(8, 9);
      // Settled for a time that is past, it forgets nothing.
      accumulator.settle(2000);
      expect(valueAt(6000)).toBeCloseTo(18, 9);
      accumulator.preset(6000, 100);
      expect(valueAt(6000)).toBe(100);
      expect(valueAt(8000)).toBeCloseTo(114, 9);
      expect(valueAt(5000)).toBe(100);
    }
  });

  it('reports how far an exact sum reached: until the time asked for', () => {
    const { accumulator } = counterOf(exact, { from: 5 });
    expect(accumulator.reached(4000)).toEqual({ time: 4000, value: 13 });
    accumulator.preset(6000, 100);
    expect(accumulator.reached(1000)).toEqual({ time: 6000, value: 100 });
  });

  it('reports how far a sum of steps reached: until the last step that was read', () => {
    const { valueAt, accumulator } = counterOf(rising, { from: 5 });
    expect(accumulator.reached(9000)).toEqual({ time: 0, value: 5 });
    valueAt(4700);
    expect(accumulator.reached(9000)).toEqual({ time: 4000, value: 13 });
    // An earlier read takes nothing back.
    valueAt(2000);
    expect(accumulator.reached(9000)).toEqual({ time: 4000, value: 13 });
    accumulator.preset(6500, 100);
    expect(accumulator.reached(9000)).toEqual({ time: 6500, value: 100 });
    valueAt(8600);
    expect(accumulator.reached(9000)).toEqual({ time: 8500, value: 115 });
  });

  it('evaluates its value once for each step since the read before, and few times for a read behind', () => {
    let reads = 0;
    const readsOf = (valueAt: (time: number) => number, time: number) => {
      reads = 0;
      valueAt(time);
      return reads;
    };
    const power: Signal = { valueAt: () => ++reads };
    const { valueAt } = counterOf(power);
    expect(readsOf(valueAt, 10_000_000)).toBeLessThanOrEqual(10_001);
    expect(readsOf(valueAt, 10_010_000)).toBe(10);
    expect(readsOf(valueAt, 10_010_000)).toBe(0);
    expect(readsOf(valueAt, 8_200_000)).toBe(0);
    expect(readsOf(valueAt, 8_190_500)).toBe(0);
    expect(readsOf(valueAt, 10_020_000)).toBe(10);
  });

  it('needs the value that it adds up, and no other', () => {
    const needs = (counter: object) => signalSchema.parse({ counter }).needs;
    expect(needs({ integral: 'power' })).toEqual(['power']);
    expect(needs({ perSecond: 1 })).toEqual([]);
  });
});
