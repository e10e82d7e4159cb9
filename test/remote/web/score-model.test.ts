import { describe, expect, it } from 'vitest';
import type { SumsView } from '../../../src/remote/api/v1/sums.js';
import {
  loadOf,
  placeOf,
  RANGES,
  shareText,
  unitRows,
} from '../../../src/remote/web/views/lines/score-model.js';

const [SECONDS, , MINUTES] = RANGES;
const NONE = {
  good: 0,
  exceptions: 0,
  ordered: 0,
  missing: 0,
  foreign: 0,
  damaged: 0,
  bytesIn: 0,
  bytesOut: 0,
};
const END_US = 1000.5e6;

function sums(second: number, more: Partial<SumsView>): SumsView {
  const at = { time: '', monotonicUs: second * 1e6, seconds: 1, line: 'bus', unit: 1, function: 3 };
  return { ...at, requests: 0, speakingMs: 0, slowestMs: 0, ...NONE, ...more };
}

describe('the lanes of the score', () => {
  it('end with the newest time', () => {
    expect([1000, 999.9, 401, 400].map((s) => placeOf(s * 1e6, SECONDS, END_US))).toEqual([599, 598, 0, -1]);
    expect(placeOf(960e6, MINUTES, END_US)).toBe(1439);
  });

  it('have a row for each unit in its order, and the columns say what became of its requests', () => {
    const rows = unitRows(
      [
        sums(1000, { unit: 17, good: 8 }),
        sums(999, { good: 3, exceptions: 1 }),
        sums(999, { function: 16, good: 4 }),
        sums(1000, { good: 4 }),
        sums(1000, { unit: null, function: null, damaged: 1 }),
        sums(300, { unit: 5, good: 1 }),
      ],
      [1, 5],
      SECONDS,
      END_US,
    );
    expect(rows.map(({ unit }) => unit)).toEqual([1, 5, 17, null]);
    expect(rows[1]).toEqual({ unit: 5, paths: [], words: 'nobody asks' });
    expect(rows[0]?.words).toBe('fn 3 16, 6/s, exceptions 8 %');
    expect(rows[3]?.words).toBe('1/s, damaged 100 %');
    // A second with 8 of 8 is as high as the row; one with 4 of 8 less. The exception stands above the good ones.
    expect(rows[0]?.paths).toEqual([
      ['good', 'M598 2.0h1v14.0h-1zM599 5.6h1v10.4h-1z'],
      ['exceptions', 'M598 0.0h1v2.0h-1z'],
    ]);
  });

  it('say how full a line is, where characters take time', () => {
    expect(loadOf([sums(1000, { good: 1 })], SECONDS, END_US)).toBeUndefined();
    const load = loadOf(
      [sums(1000, { speakingMs: 250 }), sums(1000, { unit: 2, speakingMs: 250 })],
      SECONDS,
      END_US,
    );
    expect([load?.at(-1), load?.at(-2)]).toEqual([0.5, 0]);
    expect([0, 0.004, 0.5].map(shareText)).toEqual(['0 %', '< 1 %', '50 %']);
  });
});
