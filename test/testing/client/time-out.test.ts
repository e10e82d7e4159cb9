import { describe, expect, it } from 'vitest';
import { ONE, SEVERAL, type Shape, shapes } from './shapes.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';
import type { Lateness } from './virtual-port.js';

inVirtualTime();

/** One that asks one question, once, on a grid that is wider than its time-out: nothing on the line shows it. */
const isHidden = ({ habits: { questions, attempts, rhythm, periodMs, timeoutMs } }: Shape, on: string) =>
  // On TCP it closes its connection when it gives up.
  on === 'serial' && questions === ONE && attempts === 1 && rhythm === 'grid' && periodMs > timeoutMs;

/** What is wrong with what was found for a shape; undefined when it is right. */
async function mistakeOf(shape: Shape, on: 'serial' | 'tcp'): Promise<string | undefined> {
  const { timeoutMs } = shape.habits;
  const { clientTest, finding } = await testModelClient({ on, habits: shape.habits, checks: ['time-out'] });
  const { verdict, summary } = finding('time-out');
  const { timeoutMs: found } = clientTest.report.found ?? {};
  const told = `${shape.name}: ${verdict} ${summary}`;
  if (isHidden(shape, on)) return verdict === 'inconclusive' && found === undefined ? undefined : told;
  const isRight =
    verdict === 'pass' &&
    found !== undefined &&
    found.plusMinus <= Math.max(3, 0.02 * timeoutMs) &&
    Math.abs(found.value - timeoutMs) <= found.plusMinus;
  return isRight ? undefined : told;
}

/** What was said of the time-out, if it is not true. */
async function falseClaim(wanted: Parameters<typeof testModelClient>[0] & { habits: { timeoutMs: number } }) {
  const { timeoutMs } = wanted.habits;
  const { clientTest, finding } = await testModelClient({ ...wanted, checks: ['time-out'] });
  const { summary } = finding('time-out');
  const { value, plusMinus } = clientTest.report.found?.timeoutMs ?? { value: timeoutMs, plusMinus: 0 };
  const [, low = 0, high = Number.POSITIVE_INFINITY] = /between ([\d.]+) and ([\d.]+) ms/.exec(summary) ?? [];
  const isTrue =
    Math.abs(value - timeoutMs) <= plusMinus && Number(low) <= timeoutMs && timeoutMs <= Number(high);
  return isTrue ? undefined : summary;
}

/** On TCP only what is different there needs a look. */
const PERIODS = { serial: [20, 300, 10_000], tcp: [300] };

describe('the time-out', () => {
  for (const on of ['serial', 'tcp'] as const) {
    for (const timeoutMs of [50, 487, 5000]) {
      it(`of ${timeoutMs} ms is found to 3 ms or 2 % for every shape of client on ${on}`, {
        timeout: 600_000,
      }, async () => {
        const mistakes: (string | undefined)[] = [];
        for (const shape of shapes([timeoutMs], PERIODS[on])) mistakes.push(await mistakeOf(shape, on));
        expect(mistakes.filter((each) => each !== undefined)).toEqual([]);
      });
    }
  }

  it('is found within what is promised, or not at all, for clients with jitter', {
    timeout: 600_000,
  }, async () => {
    const wrong: string[] = [];
    for (const jitterMs of [2, 10, 40, 100])
      for (const { name, habits } of shapes([487], [20, 1000])) {
        const summary = await falseClaim({ habits: { ...habits, jitterMs } });
        if (summary !== undefined) wrong.push(`${name}, jitter ${jitterMs}: ${summary}`);
      }
    expect(wrong).toEqual([]);
  });

  it('is found within what is promised, or not at all, on a busy machine', { timeout: 600_000 }, async () => {
    const wrong: string[] = [];
    for (const latenessMs of [1, 5, 15])
      for (const timeoutMs of [50, 300])
        for (const { name, habits } of shapes([timeoutMs], [250])) {
          const summary = await falseClaim({
            on: 'tcp',
            habits,
            lateness: (random) => random.next() * latenessMs,
          });
          if (summary !== undefined) wrong.push(`${name}, late by up to ${latenessMs} ms: ${summary}`);
        }
    expect(wrong).toEqual([]);
  });

  /** Nearly all bytes come within half a millisecond, and some when the machine has stalled. */
  const stalls: Lateness = (random) => random.next() * (random.next() < 0.05 ? 10 : 0.5);

  it.each([
    ['that asks three times', { questions: ONE, attempts: 3, periodMs: 250 }],
    ['of several questions', { questions: SEVERAL, attempts: 1, periodMs: 250 }],
  ])('is found on a machine that stalls now and then, for a client %s', async (_, more) => {
    for (const timeoutMs of [60, 300]) {
      const habits = { ...more, timeoutMs, reconnectsOnGivingUp: false };
      const { clientTest, finding } = await testModelClient({
        on: 'tcp',
        habits,
        checks: ['time-out'],
        lateness: stalls,
      });
      const { value = 0, plusMinus = 0 } = clientTest.report.found?.timeoutMs ?? {};
      expect(finding('time-out').verdict, finding('time-out').summary).toBe('pass');
      expect(Math.abs(value - timeoutMs), finding('time-out').summary).toBeLessThanOrEqual(plusMinus);
    }
  });

  it.each([
    { timeoutMs: 800, periodMs: 500, attempts: 1, seed: 3 },
    { timeoutMs: 1000, periodMs: 500, attempts: 1, seed: 1 },
  ])('is not found too short for a client with a queue and late timers: %o', async ({ seed, ...habits }) => {
    const summary = await falseClaim({
      habits: { ...habits, rhythm: 'queue', jitterMs: 10, latenessMs: 10, seed },
      lateness: (random) => random.next() * 10,
      seed,
    });
    expect(summary).toBeUndefined();
  });

  it.each([
    ['serial', ONE],
    ['serial', SEVERAL],
    ['tcp', ONE],
    ['tcp', SEVERAL],
  ] as const)(
    'is found on %s for a client that takes late replies for the next one',
    async (on, questions) => {
      const habits = {
        questions,
        timeoutMs: 300,
        attempts: 1,
        periodMs: 250,
        reconnectsOnGivingUp: false,
        mistakes: ['takes late replies', 'ignores the transaction identifier'] as const,
      };
      const { clientTest, finding } = await testModelClient({ on, habits, checks: ['time-out'] });
      const { value = 0, plusMinus = 0 } = clientTest.report.found?.timeoutMs ?? {};
      expect(finding('time-out').verdict, finding('time-out').summary).toBe('pass');
      expect(Math.abs(value - 300), finding('time-out').summary).toBeLessThanOrEqual(plusMinus);
    },
  );
});
