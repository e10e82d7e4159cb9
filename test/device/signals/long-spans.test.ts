import { describe, expect, it } from 'vitest';
import type { Signal } from '../../../src/device/signals/signal.js';
import { liveDevices } from '../live.js';
import { started } from './start.js';

/** The longest step of a clock that REST takes: ten years, in ms. */
const TEN_YEARS = 315_360_000_000;
const PACE = { steps: 900, width: 1 };

function counted(valueAt: (time: number) => number, every: number | string, pace = PACE) {
  let looks = 0;
  const power: Signal = {
    valueAt(time) {
      looks++;
      return valueAt(time);
    },
  };
  const counter = started({ counter: { integral: 'power', every } }, { named: { power }, pace });
  return {
    counter,
    looksOf(time: number) {
      looks = 0;
      counter.valueAt(time);
      return looks;
    },
  };
}

describe('a counter of a value without an exact integral', () => {
  it.each([1, '1s', '1h'])(
    'looks at it a bounded number of times after ten years, with a step of %s',
    (every) => {
      const { looksOf } = counted(() => 5, every);
      expect(looksOf(TEN_YEARS)).toBeLessThanOrEqual(PACE.steps + 3);
      expect(looksOf(TEN_YEARS + 10)).toBeLessThanOrEqual(12);
      expect(looksOf(TEN_YEARS / 3)).toBe(0);
      expect(looksOf(2 * TEN_YEARS)).toBeLessThanOrEqual(PACE.steps + 3);
    },
  );

  it('looks once for each millisecond of a clock that is fast', () => {
    const { looksOf } = counted(() => 5, 1, { steps: 900, width: 100_000 });
    looksOf(0);
    for (let ms = 5; ms <= 50; ms += 5) expect(looksOf(ms * 100_000)).toBeLessThanOrEqual(7);
  });

  const day = (time: number) => 50 + 20 * Math.sin((2 * Math.PI * time) / 86_400_000);
  const dayIntegral = (time: number) =>
    (50 * time) / 1000 + ((20 * 86_400) / (2 * Math.PI)) * (1 - Math.cos((2 * Math.PI * time) / 86_400_000));

  it.each([
    [
      'a line over ten years',
      (time: number) => time / 1e6,
      (time: number) => time ** 2 / 2e9,
      TEN_YEARS,
      1e-9,
    ],
    ['a daily swing over a day', day, dayIntegral, 86_400_000, 1e-5],
    ['a daily swing over a month', day, dayIntegral, 30 * 86_400_000, 1e-2],
    // 900 looks at 3650 days: a sample of them.
    ['a daily swing over ten years', day, dayIntegral, TEN_YEARS, (20 / 50) * (3 / Math.sqrt(900))],
    [
      'a square of two minutes over ten years',
      (time: number) => Math.floor(time / 60_000) % 2,
      (time: number) => time / 2000,
      TEN_YEARS,
      3 / Math.sqrt(900),
    ],
  ])('is as exact after one step as the docs say: %s', (_, valueAt, integral, span, relative) => {
    const { counter } = counted(valueAt, '1s');
    expect(Math.abs(counter.valueAt(span) / integral(span) - 1)).toBeLessThan(relative);
  });

  it('comes close to a fine sum where it was looked at closely, and does so again after a long step', () => {
    const { counter } = counted(day, '1s');
    for (let time = 0; time <= 3_600_000; time += 600_000) counter.valueAt(time);
    expect(counter.valueAt(3_600_000)).toBeCloseTo(dayIntegral(3_600_000), 2);
    const before = counter.valueAt(TEN_YEARS);
    const [from, to] = [TEN_YEARS, TEN_YEARS + 600_000];
    expect(counter.valueAt(to) - before).toBeCloseTo(dayIntegral(to) - dayIntegral(from), 0);
  });

  it('never falls, at whatever times it is read', () => {
    const { counter } = counted((time) => (Math.floor(time / 3_333_333) % 5 === 0 ? 7 : 0), '1s', {
      steps: 20,
      width: 1,
    });
    let last = 0;
    for (let i = 0; i < 500; i++) {
      const now = counter.valueAt(i * 977_000);
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
    let behind = 0;
    for (let i = 0; i < 5000; i++) {
      const now = counter.valueAt(i * 97_700);
      expect(now).toBeGreaterThanOrEqual(behind);
      behind = now;
    }
  });
});

describe('counters of counters', () => {
  it('look at each other a bounded number of times, in a chain too, whichever is read first', () => {
    let looks = 0;
    const values: Record<string, Signal> = { v0: { valueAt: () => ++looks % 7 } };
    for (let i = 1; i <= 40; i++) {
      const counter = { integral: `v${i - 1}`, every: i % 2 === 0 ? 700 : 1000 };
      const inner = values[`v${i - 1}`] as Signal;
      const counted: Signal = { valueAt: inner.valueAt };
      values[`v${i}`] = started(
        { counter },
        { named: { [`v${i - 1}`]: counted }, pace: { steps: 20, width: 1 } },
      );
    }
    for (const time of [333, 666, 5001, 100_000, TEN_YEARS, TEN_YEARS + 333]) {
      looks = 0;
      for (let i = 1; i <= 40; i++) values[`v${i}`]?.valueAt(time);
      expect(looks).toBeLessThan(200);
      values.v40?.valueAt(time + 50_000);
      expect(looks).toBeLessThan(400);
    }
  });
});

describe('a latch', () => {
  it('looks at its signal a bounded number of times after a step of ten years', () => {
    const meter = liveDevices({
      meter: {
        holding: [{ address: 0, name: 'level', signal: { expression: 't > 1e9 && t % 2 < 1' } }],
        coils: [
          { address: 0, write: true, name: 'alarm', signal: { expression: 'level' }, latch: { every: 1 } },
          {
            address: 1,
            write: true,
            name: 'other',
            signal: { expression: 'level > 1' },
            latch: { every: 1 },
          },
        ],
      },
    });
    const bits = () => meter.respond([1, 0, 0, 0, 2]).at(-1);
    expect(bits()).toBe(0);
    for (let years = 0; years < 40; years += 10) meter.meter.setClock({}, TEN_YEARS);
    expect(bits()).toBe(1);
  });
});

describe('a clock at the end of its range', () => {
  const KINDS = [
    { sine: { period: 1000, amplitude: 5 } },
    { walk: { step: 1, min: 0, max: 10, every: 1 } },
    { noise: { around: 5, amplitude: 1, every: 1 } },
    { ramp: { from: 0, to: 5, over: 1000, then: 'bounce' } },
    {
      steps: [
        { value: 1, for: 1000 },
        { value: 2, for: 500 },
      ],
    },
    { counter: { perSecond: 1, rollover: 1000 } },
    { counter: { integral: 'v0', rollover: 1000, every: 1 } },
    { counter: { integral: 'v1', rollover: 1000, every: 1 } },
    { expression: 'v0 + v1 + v7 % 3' },
    { expression: 'other.w' },
  ];

  it('still shows numbers, and so do values of a device that has no power', () => {
    const { meter, wait } = liveDevices({
      meter: {
        input: KINDS.map((signal, i) => ({ address: 2 * i, type: 'float32', name: `v${i}`, signal })),
        queues: { 5: { signal: { expression: 'v6' }, every: 1 } },
      },
      other: {
        input: [{ address: 0, type: 'float32', name: 'w', signal: { walk: { step: 1, min: 0, max: 10 } } }],
      },
    });
    const values = () => meter.points.all.map((point) => meter.points.valueNow(point));
    const isNumber = (value: number) => Number.isFinite(value);
    meter.clock.resume(Number.MAX_SAFE_INTEGER, { speed: 100_000, paused: false });
    expect(values()).toSatisfy((shown: number[]) => shown.every(isNumber));
    meter.setClock({ speed: 1 }, TEN_YEARS);
    wait(10_000);
    expect(values()).toSatisfy((shown: number[]) => shown.every(isNumber));
    meter.interrupt({ bootMs: 0 });
    meter.setClock({ speed: 100_000 }, TEN_YEARS);
    expect(values()).toSatisfy((shown: number[]) => shown.every(isNumber));
    expect(meter.points.queueAt(5)).toSatisfy((words: number[]) => words.every(isNumber));
  });
});

it('many counters that integrate expressions share what may be made up at once', () => {
  const of = (count: number) =>
    liveDevices({
      meter: {
        input: [
          { address: 0, name: 'power', signal: { expression: `1${'+t'.repeat(100)}` } },
          ...Array.from({ length: count }, (_, i) => ({
            address: 1 + i,
            signal: { counter: { integral: 'power' } },
          })),
        ],
      },
    }).graph.stepsAtOnce;
  expect(of(0)).toBe(1000);
  expect(of(1)).toBeGreaterThan(200);
  expect(of(60)).toBeLessThan(10);
  expect(of(5000)).toBe(1);
});
