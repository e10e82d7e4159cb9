import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Course,
  extended,
  nearest,
  shareOf,
  timeSpan,
  valueAxis,
} from '../../../src/remote/web/ui/plot-layout.js';

describe('the plot of a value', () => {
  it.each([
    ['a mains voltage', [229.4, null, 231.2], ['229', '229.5', '230', '230.5', '231', '231.5']],
    ['a value that stays', [50, 50], ['50', '60']],
    ['zero alone', [0], ['0', '1']],
    ['nothing yet', [], []],
    ['no number', [null], []],
  ])('has lines at round values around %s', (_, values, texts) => {
    expect(valueAxis(values).lines.map(({ text }) => text)).toEqual(texts);
  });

  it('has a few lines and every value between its edges, however great or small they are', () => {
    const values = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(values, (known) => {
        const axis = valueAxis(known);
        expect(axis.lines.length).toBeLessThanOrEqual(7);
        for (const value of known) {
          expect(shareOf(axis, value)).toBeGreaterThanOrEqual(-1e-6);
          expect(shareOf(axis, value)).toBeLessThanOrEqual(1 + 1e-6);
        }
      }),
    );
  });

  it('shows ten seconds at least and its window at most', () => {
    expect(timeSpan({ times: [], values: [] }, 300)).toEqual({ from: -10, to: 0 });
    expect(timeSpan({ times: [100, 101], values: [1, 1] }, 300)).toEqual({ from: 91, to: 101 });
    expect(timeSpan({ times: [100, 900], values: [1, 1] }, 300)).toEqual({ from: 600, to: 900 });
  });

  it.each([
    [0, 0],
    [10.4, 0],
    [10.6, 1],
    [99, 2],
  ])('reads at %f s the sample %i', (time, place) => {
    expect(nearest({ times: [10, 11, 12], values: [1, 2, 3] }, time)).toBe(place);
  });

  it('reads nothing where nothing was measured', () => {
    expect(nearest({ times: [], values: [] }, 5)).toBe(-1);
  });

  it('has an end', () => {
    let course: Course = { times: [], values: [] };
    for (let i = 0; i < 3000; i++) course = extended(course, i / 2, i === 0 ? 'NaN' : i, 300);
    expect([course.times[0], course.times.at(-1), course.values.length]).toEqual([
      1199.5,
      1499.5,
      course.times.length,
    ]);
  });
});
