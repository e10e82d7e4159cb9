import { describe, expect, it } from 'vitest';
import { type Shape, shapes } from './shapes.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';

inVirtualTime();

async function mistakesOf({ name, habits }: Shape, on: 'serial' | 'tcp'): Promise<string[]> {
  const { clientTest, finding } = await testModelClient({ on, habits, checks: ['pauses'] });
  const { retries, pausesMs, timeoutMs } = clientTest.report.found ?? {};
  const said = `${name}: ${finding('retries').summary}; ${finding('pauses').summary}`;
  // The rest after a reply as a pause before a retry: nobody could tell one from the other.
  if (retries === undefined) return habits.questions.length === 1 ? [] : [said];
  if (retries !== habits.attempts - 1) return [said];
  const error = (timeoutMs?.plusMinus ?? 0) + 4;
  const isRight =
    pausesMs === undefined ||
    (pausesMs.length === retries &&
      pausesMs.every((ms, i) => Math.abs(ms - (habits.pausesMs[i] ?? 0)) <= error));
  return isRight ? [] : [said];
}

describe('the retries and the pauses before them', () => {
  for (const on of ['serial', 'tcp'] as const) {
    for (const timeoutMs of [50, 5000]) {
      it(`are found for every shape of client with a time-out of ${timeoutMs} ms on ${on}, or not at all`, async () => {
        const mistakes: string[] = [];
        for (const shape of shapes([timeoutMs], on === 'serial' ? [20, 3000] : [300]))
          mistakes.push(...(await mistakesOf(shape, on)));
        expect(mistakes).toEqual([]);
      });
    }
  }

  it('are found for a client of one question that rests longer than it waits', async () => {
    for (const attempts of [1, 2, 3, 5]) {
      const habits = { attempts, timeoutMs: 100, periodMs: 1000 };
      const { clientTest, report } = await testModelClient({ habits, checks: ['pauses'] });
      expect(clientTest.report.found?.retries).toBe(attempts - 1);
      const asks = ['does not retry', 'retries once'][attempts - 1] ?? `retries ${attempts - 1} times`;
      expect(report.conclusions).toContainEqual(
        expect.stringMatching(new RegExp(`^Gives up after [\\d.]+ ± [\\d.]+ ms, ${asks}\\.$`)),
      );
    }
  });

  it('are distinguished from polls by the transaction identifier', async () => {
    const onOneConnection = { reconnectsOnGivingUp: false };
    const habits = {
      attempts: 3,
      timeoutMs: 500,
      periodMs: 100,
      rhythm: 'grid' as const,
      ...onOneConnection,
    };
    const tell = async (repeatsTransaction: boolean) => {
      const { clientTest } = await testModelClient({
        on: 'tcp',
        habits: { ...habits, repeatsTransaction },
        checks: ['retries'],
      });
      return clientTest.report.found?.retries;
    };
    expect([await tell(true), await tell(false)]).toEqual([2, undefined]);
  });

  it('tells growing pauses', async () => {
    const habits = { attempts: 4, timeoutMs: 200, periodMs: 2000, pausesMs: [100, 200, 400] };
    const { report, finding } = await testModelClient({ habits, checks: ['pauses'] });
    expect(finding('pauses').summary).toMatch(
      /: growing pauses of [\d.]+, [\d.]+, [\d.]+ ms after the time-outs$/,
    );
    expect(report.conclusions[0]).toMatch(/, retries 3 times, pauses \d+, \d+, \d+ ms\.$/);
  });
});
