import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Course,
  constant,
  courseAt,
  courseFrom,
  courseIntegral,
  limitedCourse,
} from '../../../src/device/signals/signal.js';

const number = fc.double({ min: -1000, max: 1000, noNaN: true });
const anyCourse: fc.Arbitrary<Course> = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 500 }),
      value: number,
      rate: fc.double({ min: -2, max: 2, noNaN: true }),
    }),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((pieces) => {
    let time = 0;
    return pieces.map(({ gap, value, rate }) => {
      time += gap;
      return { time, value, rate };
    });
  });

describe('a course', () => {
  const course: Course = [
    { time: 100, value: 5, rate: 0 },
    { time: 200, value: 5, rate: 0.1 },
    { time: 300, value: 0, rate: 0 },
  ];

  it('has the value of its lines at each time, and stands still before them', () => {
    expect([0, 100, 199, 250, 299, 300, 9999].map((time) => courseAt(course, time))).toEqual([
      5,
      5,
      5,
      10,
      5 + 0.1 * 99,
      0,
      0,
    ]);
  });

  it('has an exact integral', () => {
    expect(courseIntegral(course, 0, 200)).toBeCloseTo(1, 12);
    expect(courseIntegral(course, 200, 1000)).toBeCloseTo(1, 12);
    expect(courseIntegral(course, 250, 250)).toBe(0);
  });

  it('has an integral over its jumps and slopes, and none backwards', () => {
    expect(courseIntegral(course, 0, 50)).toBeCloseTo(0.25, 12);
    expect(courseIntegral(course, 200, 300)).toBeCloseTo(1, 12);
    expect(courseIntegral(course, 250, 400)).toBeCloseTo(0.625, 12);
    expect(courseIntegral(course, 300, 200)).toBe(0);
    const rising: Course = [{ time: 1000, value: 2, rate: 0.001 }];
    expect(courseIntegral(rising, 0, 1000)).toBeCloseTo(2, 12);
    expect(courseIntegral(rising, 0, 3000)).toBeCloseTo(8, 12);
    expect(courseIntegral(rising, 2000, 3000)).toBeCloseTo(3.5, 12);
  });

  it('goes on from any time with the same lines, and before its first line stands still until that begins', () => {
    expect(courseFrom(course, 250)).toEqual([
      { time: 250, value: 10, rate: 0.1 },
      { time: 300, value: 0, rate: 0 },
    ]);
    expect(courseFrom(course, 300, 20)).toEqual([{ time: 320, value: 0, rate: 0 }]);
    expect(courseFrom(course.slice(1), 150, 5)).toEqual([
      { time: 155, value: 5, rate: 0 },
      { time: 205, value: 5, rate: 0.1 },
      { time: 305, value: 0, rate: 0 },
    ]);
    expect(courseFrom(course.slice(1), 200)[0]).toEqual({ time: 200, value: 5, rate: 0.1 });
  });

  it('goes on later as it is', () => {
    fc.assert(
      fc.property(anyCourse, fc.nat(3000), fc.nat(3000), (any, from, time) => {
        fc.pre(time >= from);
        expect(courseAt(courseFrom(any, from, 700), time + 700)).toBeCloseTo(courseAt(any, time), 6);
      }),
    );
  });
});

describe('a limited course', () => {
  const most = 0.5;

  it('never changes faster than its limit, and reaches a target that stands still', () => {
    fc.assert(
      fc.property(anyCourse, number, (target, value) => {
        const limited = limitedCourse([...target, { time: 4000, value: 0, rate: 0 }], 50, value, most);
        expect(courseAt(limited, 50)).toBeCloseTo(value, 9);
        for (let time = 50; time < 4000; time += 7) {
          const change = Math.abs(courseAt(limited, time + 7) - courseAt(limited, time));
          expect(change).toBeLessThanOrEqual(7 * most + 1e-6);
        }
        // At most 1000 and 2 * 4000 * 0.5 away.
        expect(courseAt(limited, 20_000)).toBe(0);
      }),
    );
  });

  it('is the target itself where the target is slow enough', () => {
    const slow: Course = [
      { time: 0, value: 3, rate: 0.2 },
      { time: 100, value: 23, rate: -0.1 },
    ];
    const limited = limitedCourse(slow, 0, 3, most);
    for (const time of [0, 50, 100, 150]) {
      expect(courseAt(limited, time)).toBeCloseTo(courseAt(slow, time), 9);
    }
  });

  it('stays where it is when its target is not a number, and leaves what is not a number', () => {
    expect(courseAt(limitedCourse(constant(Number.NaN), 0, 5, most), 1000)).toBe(5);
    expect(courseAt(limitedCourse(constant(7), 0, Number.NaN, most), 1000)).toBe(7);
  });

  it('goes straight to its target, meets it where it moves, and then is the target', () => {
    expect(limitedCourse(constant(10), 100, 5, most)).toEqual([
      { time: 100, value: 5, rate: 0.5 },
      { time: 110, value: 10, rate: 0 },
    ]);
    // The target comes towards the value, which has reached it after 10 / (0.5 + 0.5) ms.
    const coming: Course = [{ time: 0, value: 10, rate: -0.5 }];
    expect(limitedCourse(coming, 0, 0, most)).toEqual([
      { time: 0, value: 0, rate: 0.5 },
      { time: 10, value: 5, rate: -0.5 },
    ]);
    // It flees as fast as the value may follow, and is never met.
    const fleeing: Course = [{ time: 0, value: 10, rate: 0.5 }];
    expect(limitedCourse(fleeing, 0, 0, most)).toEqual([{ time: 0, value: 0, rate: 0.5 }]);
  });

  it('falls behind a target that is too fast, from the first moment on', () => {
    const fast: Course = [
      { time: 0, value: 0, rate: 1 },
      { time: 100, value: 100, rate: 0 },
    ];
    expect(limitedCourse(fast, 0, 0, most)).toEqual([
      { time: 0, value: 0, rate: 0.5 },
      { time: 100, value: 50, rate: 0.5 },
      { time: 200, value: 100, rate: 0 },
    ]);
    const falling: Course = [{ time: 0, value: 0, rate: -1 }];
    expect(limitedCourse(falling, 0, 0, most)).toEqual([{ time: 0, value: 0, rate: -0.5 }]);
  });
});
