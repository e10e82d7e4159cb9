import { describe, expect, it } from 'vitest';
import type { SumsView } from '../../../src/remote/api/v1/sums.js';
import {
  loadOf,
  loadPaths,
  RANGES,
  rangeFor,
  rowsOf,
  shareText,
  sumOf,
  troublesOf,
  wordsOf,
} from '../../../src/remote/web/views/lines/score-model.js';

const [SECONDS, TENS, MINUTES] = RANGES;
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
const END_US = 1001e6;
const SPAN = { fromUs: 401e6, toUs: END_US };
const nameOf = (unit: number) => `unit ${unit}`;

function sums(second: number, more: Partial<SumsView>): SumsView {
  const at = { time: '', monotonicUs: second * 1e6, seconds: 1, line: 'bus', unit: 1, function: 3 };
  return { ...at, requests: 0, speakingMs: 0, slowestMs: 0, ...NONE, ...more };
}

/** The rows of a line whose newest time is second 1000, and what they add up to. */
function asked(given: readonly SumsView[], served: readonly number[] = []) {
  const rows = rowsOf(given, served, SECONDS, 1000);
  return rows.map((row) => ({ row, sum: sumOf(row, SPAN, SECONDS) }));
}

describe('the lanes of the score', () => {
  it('have the finest times that go back far enough', () => {
    expect([600e6, 610e6, 3600e6, 3700e6, 86_400e6, 1e12].map(rangeFor)).toEqual([
      SECONDS,
      SECONDS,
      TENS,
      MINUTES,
      MINUTES,
      MINUTES,
    ]);
  });

  it('have a row for each unit and function in their order, and the columns say what became of requests', () => {
    const rows = asked(
      [
        sums(999, { good: 3, exceptions: 1 }),
        sums(999, { function: 16, good: 4 }),
        sums(1000, { unit: 17, good: 8, slowestMs: 61.4 }),
        sums(1000, { good: 4 }),
        sums(1000, { unit: null, function: null, damaged: 1 }),
      ],
      [1, 5],
    );
    expect(rows.map(({ row: { unit, code }, sum }) => [unit, code, sum.total])).toEqual([
      [1, 3, 8],
      [1, 16, 4],
      [5, null, 0],
      [17, 3, 8],
      [null, null, 1],
    ]);
    expect(rows.map(({ row, sum }) => wordsOf(row, sum))).toEqual([
      '4/s, exceptions 13 %',
      '2/s',
      'not polled',
      '8/s, slowest 61 ms',
      '1/s, damaged 100 %',
    ]);
    expect(rows[0]?.row.paths).toEqual([
      ['good', 'M-1 4.0h1v12.0h-1zM0 0.0h1v16.0h-1z'],
      ['exceptions', 'M-1 0.0h1v4.0h-1z'],
    ]);
  });

  it('draw a steady minute as one piece', () => {
    const [steady] = rowsOf(
      Array.from({ length: 60 }, (_, i) => sums(940 + i, { good: 4 })),
      [],
      SECONDS,
      1000,
    );
    expect(steady?.paths).toEqual([['good', 'M-60 0.0h60v16.0h-60z']]);
  });

  it('count only what is in the span that is shown', () => {
    const [row] = rowsOf([sums(500, { good: 7 }), sums(990, { missing: 2 })], [], SECONDS, 1000);
    const sum = sumOf(row as NonNullable<typeof row>, { fromUs: 900e6, toUs: END_US }, SECONDS);
    expect([sum.good, sum.missing]).toEqual([0, 2]);
  });

  it('say how full a line is with characters, and with the pauses that frames need', () => {
    const rows = rowsOf(
      [
        sums(1000, { good: 50, requests: 50, speakingMs: 250 }),
        sums(1000, { unit: 2, requests: 50, speakingMs: 250 }),
      ],
      [],
      SECONDS,
      1000,
    );
    expect(loadOf(rowsOf([sums(1000, { good: 1 })], [], SECONDS, 1000), SPAN, 2)).toBeUndefined();
    expect(loadOf(rows, SPAN, 2)).toEqual({ speaking: 0.5, pauses: 0.3 });
    expect(loadPaths(rows, SECONDS, 1000, 2)).toEqual({
      speaking: 'M0 8.0h1v8.0h-1z',
      pauses: 'M0 3.2h1v4.8h-1z',
    });
    expect([0, 0.004, 0.5].map(shareText)).toEqual(['0 %', '< 1 %', '50 %']);
  });

  it('say what is wrong: a damaged, a silent, a late, a refusing and an idle unit, one that is asked too often', () => {
    const rows = asked(
      [
        sums(1000, { unit: 1, good: 40 }),
        sums(1000, { unit: 2, good: 1, missing: 1 }),
        sums(1000, { unit: 3, good: 1, slowestMs: 900 }),
        sums(1000, { unit: 4, exceptions: 1, good: 1 }),
        sums(1000, { unit: null, function: null, damaged: 3 }),
      ],
      [9],
    );
    expect(troublesOf(rows, { speaking: 0.7, pauses: 0.2 }, nameOf)).toEqual([
      'Damage: 3 messages, 3/s',
      'unit 2 leaves 50 % of its requests unanswered',
      'unit 3 takes up to 900 ms to reply',
      'unit 4 answers 50 % of its requests with an exception',
      'unit 1 is polled 40/s, the others at most 2/s',
      'The wire is 90 % busy',
      'No client polls unit 9',
    ]);
    expect(troublesOf(asked([sums(1000, { good: 1 })]), undefined, nameOf)).toEqual([]);
  });
});
