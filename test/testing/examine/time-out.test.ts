import { describe, expect, it } from 'vitest';
import { BACK_OFF, type Habits, type ModelQuestion } from './habits.js';
import { examineModel, inVirtualTime } from './virtual-bench.js';

inVirtualTime();

const ONE: readonly ModelQuestion[] = [{ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 2) }];
const SEVERAL: readonly ModelQuestion[] = [
  ...ONE,
  { unitId: 1, pdu: Uint8Array.of(3, 0, 10, 0, 4) },
  { unitId: 2, pdu: Uint8Array.of(3, 0, 0, 0, 2) },
];

interface Shape extends Partial<Habits> {
  readonly name: string;
}

/** Every combination, which is more than anybody would write down. */
const SHAPES: Shape[] = [['one', ONE] as const, ['several', SEVERAL] as const].flatMap(([asks, questions]) =>
  [50, 487, 5000].flatMap((timeoutMs) =>
    [20, 300, 10_000].flatMap((periodMs) =>
      ([1, 2, 3, 5] as const).flatMap((attempts) =>
        (['none', 'fixed', 'doubling'] as const).flatMap((backOff) =>
          (['after', 'grid'] as const).flatMap((rhythm) =>
            attempts === 1 && backOff !== 'none'
              ? []
              : [
                  {
                    name: `${asks}, time-out ${timeoutMs}, period ${periodMs}, attempts ${attempts}, back-off ${backOff}, ${rhythm}`,
                    questions,
                    timeoutMs,
                    periodMs,
                    attempts,
                    rhythm,
                    pausesMs: BACK_OFF[backOff](90, attempts),
                  },
                ],
          ),
        ),
      ),
    ),
  ),
);

/** One that asks one question, once, on a grid that is wider than its time-out: nothing on the line shows it. */
const isHidden = ({ questions, attempts, rhythm, periodMs = 0, timeoutMs = 0 }: Shape) =>
  questions === ONE && attempts === 1 && rhythm === 'grid' && periodMs > timeoutMs;

describe('the time-out', () => {
  for (const on of ['serial', 'tcp'] as const) {
    it(`is found to 3 ms or 2 % for every shape of client on ${on}`, { timeout: 120_000 }, async () => {
      const wrong: string[] = [];
      for (const { name, ...habits } of SHAPES) {
        const { examination, finding } = await examineModel({ on, habits, checks: ['time-out'] });
        const { verdict, summary } = finding('time-out');
        const { timeoutMs: found } = examination.found;
        if (isHidden({ name, ...habits })) {
          if (verdict !== 'inconclusive') wrong.push(`${name}: ${verdict} ${summary}`);
          continue;
        }
        const { timeoutMs = 0 } = habits;
        const isRight =
          found !== undefined &&
          found.plusMinus <= Math.max(3, 0.02 * timeoutMs) &&
          Math.abs(found.value - timeoutMs) <= found.plusMinus;
        if (!isRight || verdict !== 'pass') wrong.push(`${name}: ${verdict} ${summary}`);
      }
      expect(wrong).toEqual([]);
    });
  }
});
