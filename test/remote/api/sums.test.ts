import { describe, expect, it } from 'vitest';
import { Sums } from '../../../src/remote/api/sums.js';
import type { Rpc } from '../../../src/remote/rpc/rpc.js';
import { packed } from '../../../src/simulator/commands/packed-sums.js';
import { done } from '../../../src/simulator/commands/refusal.js';
import { SUM_NAMES, type SumRow } from '../../../src/simulator/traffic/sums.js';

const ZERO = Object.fromEntries(SUM_NAMES.map((name) => [name, 0])) as Omit<SumRow, 'unit' | 'function'>;
const row = (unit: number, sums: Partial<SumRow>): SumRow => ({ ...ZERO, unit, function: 3, ...sums });

/** Sums of a line that has had these rows in each second up to `last`, which are fetched some at a time. */
async function sumsOf(
  last: number,
  rows: (second: number) => readonly SumRow[],
  most?: number,
): Promise<Sums> {
  let now = 0;
  const list = async (_: string, { after }: { after: number }) => {
    const seconds = Array.from({ length: now - after }, (_, i) => ({
      name: 'bus',
      second: after + 1 + i,
      rows: packed(rows(after + 1 + i)),
    }));
    return done([seconds]);
  };
  const sums = new Sums({ list } as unknown as Rpc, most);
  while (now < last) {
    now = Math.min(last, now + 500);
    await sums.read();
  }
  return sums;
}

describe('the sums that are kept', () => {
  it('are of a second for ten minutes, of ten seconds for an hour, and of a minute for a day', async () => {
    // Before the last hour, something passed in every half minute only.
    const sums = await sumsOf(100_000, (second) =>
      second < 95_000 && second % 30 > 0
        ? []
        : [row(1, { requests: 1, good: 1, bytesIn: 8, slowestMs: second % 60 })],
    );
    for (const [seconds, most] of [
      [1, 600],
      [10, 360],
      [60, 1440],
    ] as const) {
      const all = [...sums.from(seconds, 0)];
      expect(all.length).toBeGreaterThanOrEqual(most);
      expect(all.length).toBeLessThanOrEqual(most + 1);
      expect(all.at(-2)).toMatchObject({
        line: 'bus',
        unit: 1,
        function: 3,
        requests: seconds,
        bytesIn: 8 * seconds,
      });
    }
    expect([...sums.from(60, 0)].at(-2)?.slowestMs).toBe(59);
    expect([...sums.from(1, 99_999)].map(({ from }) => from)).toEqual([99_999, 100_000]);
    expect(sums.last).toBe(100_000);
  });

  it('keep units apart, and give up the oldest of what takes most room', async () => {
    const units = Array.from({ length: 10 }, (_, unit) => row(unit, { requests: 2 }));
    const sums = await sumsOf(3000, () => units, 3000);
    const counts = [1, 10, 60].map((seconds) => [...sums.from(seconds, 0)].length);
    expect(counts.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(3000 + 3 * 10);
    // The seconds and the tens take most; the minutes are all there.
    expect(counts[2]).toBe(51 * 10);
    expect([...sums.from(1, 3000)].filter(({ unit }) => unit === 7)).toMatchObject([{ requests: 2 }]);
    expect(sums.byLine(2999)).toMatchObject([{ line: 'bus', requests: 2 * 2 * 10, good: 0 }]);
  });

  it('keep a tenth of all rows apart in a time that is not over, and lose nothing of the others', async () => {
    const sums = await sumsOf(50, (second) => [row(second, { requests: 1, slowestMs: second })], 100);
    const minute = [...sums.from(60, 0)];
    expect(minute.length).toBe(11);
    expect(minute.at(-1)).toMatchObject({ line: 'bus', unit: -1, function: -1, requests: 41, slowestMs: 50 });
    expect(minute.reduce((sum, { requests }) => sum + requests, 0)).toBe(51);
  });
});
