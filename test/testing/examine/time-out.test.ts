import { describe, expect, it } from 'vitest';
import { ONE, type Shape, shapes } from './shapes.js';
import { examineModel, inVirtualTime } from './virtual-bench.js';

inVirtualTime();

/** One that asks one question, once, on a grid that is wider than its time-out: nothing on the line shows it. */
const isHidden = ({ habits: { questions, attempts, rhythm, periodMs, timeoutMs } }: Shape) =>
  questions === ONE && attempts === 1 && rhythm === 'grid' && periodMs > timeoutMs;

/** What is wrong with what was found for a shape; undefined when it is right. */
async function mistakeOf(shape: Shape, on: 'serial' | 'tcp'): Promise<string | undefined> {
  const { timeoutMs } = shape.habits;
  const { examination, finding } = await examineModel({ on, habits: shape.habits, checks: ['time-out'] });
  const { verdict, summary } = finding('time-out');
  const { timeoutMs: found } = examination.found;
  const told = `${shape.name}: ${verdict} ${summary}`;
  if (isHidden(shape)) return verdict === 'inconclusive' && found === undefined ? undefined : told;
  const isRight =
    verdict === 'pass' &&
    found !== undefined &&
    found.plusMinus <= Math.max(3, 0.02 * timeoutMs) &&
    Math.abs(found.value - timeoutMs) <= found.plusMinus;
  return isRight ? undefined : told;
}

describe('the time-out', () => {
  for (const on of ['serial', 'tcp'] as const) {
    for (const timeoutMs of [50, 487, 5000]) {
      it(`of ${timeoutMs} ms is found to 3 ms or 2 % for every shape of client on ${on}`, {
        timeout: 60_000,
      }, async () => {
        const mistakes: (string | undefined)[] = [];
        for (const shape of shapes([timeoutMs], [20, 300, 10_000])) mistakes.push(await mistakeOf(shape, on));
        expect(mistakes.filter((each) => each !== undefined)).toEqual([]);
      });
    }
  }

  it('is found within what is promised, or not at all, for clients with jitter', {
    timeout: 60_000,
  }, async () => {
    const wrong: string[] = [];
    for (const jitterMs of [2, 10, 40])
      for (const { name, habits } of shapes([487], [20, 1000])) {
        const { examination, finding } = await examineModel({
          habits: { ...habits, jitterMs },
          checks: ['time-out'],
        });
        const { timeoutMs: found } = examination.found;
        if (found && Math.abs(found.value - habits.timeoutMs) > found.plusMinus) {
          wrong.push(`${name}, jitter ${jitterMs}: ${finding('time-out').summary}`);
        }
      }
    expect(wrong).toEqual([]);
  });
});
