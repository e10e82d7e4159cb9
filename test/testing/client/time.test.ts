import { describe, expect, it } from 'vitest';
import type { Habits } from './habits.js';
import { WRITES_BACK, written } from './observers.js';
import { SEVERAL } from './shapes.js';
import { inVirtualTime, newClientTest, testModelClient, untilOver, virtualBench } from './virtual-bench.js';

inVirtualTime();

const SHAPES = [
  { name: 'of one question', habits: {} },
  { name: 'of one question that rests long', habits: { periodMs: 3000, timeoutMs: 300 } },
  { name: 'of several units', habits: { questions: SEVERAL, periodMs: 1000 } },
  { name: 'that polls faster than it waits', habits: { questions: SEVERAL, periodMs: 20, timeoutMs: 1000 } },
  { name: 'that backs off', habits: { questions: SEVERAL, attempts: 4, pausesMs: [100, 200, 400] } },
  { name: 'on a grid', habits: { questions: SEVERAL, rhythm: 'grid' as const, periodMs: 2000 } },
];

describe('the group time passes a faultless client', () => {
  for (const { name, habits } of SHAPES) {
    it.each(['serial', 'tcp'] as const)(`${name} on %s`, async (on) => {
      const { report } = await testModelClient({ on, habits, checks: ['time'] });
      const failed = report.findings.filter(({ verdict }) => verdict !== 'pass');
      const oneUnit = (habits as { questions?: unknown }).questions === undefined;
      expect(failed.map(({ id, summary }) => `${id}: ${summary}`)).toEqual(
        oneUnit ? ['dead-unit: the client reads from one unit only'] : [],
      );
    });
  }
});

describe('the group time passes a client that connects anew', () => {
  it('after each time-out', async () => {
    const habits = { questions: SEVERAL, reconnectsOnTimeout: true };
    const { report, clientTest } = await testModelClient({ on: 'tcp', habits, checks: ['time'] });
    expect(report.findings.filter(({ verdict }) => verdict !== 'pass').map(({ id }) => id)).toEqual([]);
    expect(Math.abs((clientTest.report.found?.timeoutMs?.value ?? 0) - 500)).toBeLessThanOrEqual(10);
    expect(clientTest.report.found?.retries).toBe(2);
  });
});

it.each([
  { laterMs: 400, says: 'a reply after 450 ms (90 % of the time-out) was not accepted (3 of 3 trials)' },
  { laterMs: 600, says: 'a reply after 550 ms (110 % of the time-out) was accepted (3 of 3 trials)' },
])(
  'fails a client that waits $laterMs ms once its time-out of 500 ms was found',
  async ({ laterMs, says }) => {
    const bench = await virtualBench();
    const client = bench.client({ questions: SEVERAL, timeoutMs: 500 });
    const { clientTest } = newClientTest(bench, {
      checks: ['time-out-margins'],
      onFinding: ({ id }) => void (id === 'time-out' && Object.assign(client.habits, { timeoutMs: laterMs })),
    });
    void client.poll();
    const { findings } = await untilOver(bench.clock, clientTest.run());
    const { verdict, summary } = findings.find(({ id }) => id === 'time-out-margins') ?? {};
    expect(verdict).toBe('fail');
    expect(summary?.replace(/\d+(\.\d+)? ms/, (ms) => `${Math.round(Number.parseFloat(ms))} ms`)).toBe(says);
  },
);

it('is found of a client that was stuck before: what it did then is not what it usually does', async () => {
  const questions = [0, 10].map((address) => ({ unitId: 1, pdu: Uint8Array.of(3, 0, address, 0, 2) }));
  // Bytes that were left over stay in its buffer until its connection is closed.
  const mistakes = ['takes late replies'] as const;
  const habits = { questions, betweenMs: 1, periodMs: 250, timeoutMs: 300, attempts: 1, mistakes };
  const { finding, clientTest } = await testModelClient({
    on: 'tcp',
    habits: { ...habits, reconnectsOnGivingUp: false },
    checks: ['extended-reply', 'junk', 'truncated-reply', 'noise-before', 'time-out'],
  });
  expect(finding('extended-reply').verdict).toBe('fail');
  expect(finding('time-out').verdict).toBe('pass');
  expect(Math.abs((clientTest.report.found?.timeoutMs?.value ?? 0) - 300)).toBeLessThanOrEqual(3);
});

it('does not take repetitions for polls where they would come as far apart', async () => {
  const habits = { rhythm: 'grid', periodMs: 500, timeoutMs: 500, attempts: 3 } as const;
  const { finding } = await testModelClient({ habits: { ...habits, jitterMs: 1 }, checks: ['retries'] });
  expect(finding('retries')).toMatchObject({ verdict: 'inconclusive' });
});

it('says what would tell repetitions from polls where they look alike', async () => {
  const habits = { rhythm: 'grid', periodMs: 500, timeoutMs: 500, attempts: 3 } as const;
  const { finding } = await testModelClient({ habits, checks: ['retries'] });
  expect(finding('retries').summary).toMatch(
    /a different poll period or time-out of the client would tell them apart$/,
  );
});

it('names the outage that was, where the silence of another check counts as one', async () => {
  const { finding } = await testModelClient({
    on: 'tcp',
    habits: { reconnectsOnGivingUp: false },
    checks: ['half-open', 'outage-5s', 'outage-60s'],
  });
  expect(finding('half-open').verdict).toBe('fail');
  expect(finding('outage-5s').summary).toMatch(/ after an outage of 5 s, during which it sent \d requests?$/);
  expect(finding('outage-60s').summary).toMatch(
    / after an outage of 1 min, during which it sent \d\d+ requests$/,
  );
});

describe('a whole test of a client that polls twice a second', () => {
  const tested = async (on: 'serial' | 'tcp', habits: Partial<Habits>, observer?: typeof written) => {
    const early: string[] = [];
    const bench = await virtualBench(on);
    const client = bench.client({ rhythm: 'grid', periodMs: 500, ...habits });
    const { clientTest } = newClientTest(
      bench,
      { onFinding: ({ id }) => void (bench.clock.now() < 30_000 && early.push(id)) },
      observer?.(client, bench),
    );
    void client.poll();
    const { durationMs, findings } = await untilOver(bench.clock, clientTest.run());
    return { durationMs, early, failed: findings.filter(({ verdict }) => verdict === 'fail') };
  };

  it.each([
    ['of one question', 'serial', { timeoutMs: 300 }],
    ['of one question', 'tcp', { timeoutMs: 300 }],
    ['of three questions', 'serial', { questions: SEVERAL }],
    ['of three questions', 'tcp', { questions: SEVERAL }],
  ] as const)(
    '%s on %s takes at most 150 s without an observer, and shows much after 30 s',
    async (_, on, habits) => {
      const { durationMs, early, failed } = await tested(on, habits);
      expect(durationMs).toBeLessThanOrEqual(150_000);
      expect(early).toContain('time-out');
      expect(early.length).toBeGreaterThanOrEqual(8);
      expect(failed).toEqual([]);
    },
  );

  it('takes at most 240 s with an observer, and shows something after 30 s', async () => {
    const { durationMs, early, failed } = await tested(
      'tcp',
      { questions: SEVERAL, ...WRITES_BACK },
      written,
    );
    expect(durationMs).toBeLessThanOrEqual(240_000);
    expect(early.length).toBeGreaterThanOrEqual(3);
    expect(failed).toEqual([]);
  });
});

describe('the group time finds', () => {
  it('a client that does not ask again', async () => {
    const habits = { questions: SEVERAL, attempts: 1 };
    const { finding } = await testModelClient({ habits, checks: ['retries'] });
    expect(finding('retries')).toMatchObject({
      verdict: 'fail',
      summary: 'sent the request once and gave up (2 of 2 trials)',
      missed: {
        expected: 'at least one retry, then the next poll',
        received: 'sent the request once and gave up (2 of 2 trials)',
        frame: expect.any(Number),
      },
    });
  });

  it('a client that asks a dead unit without end', async () => {
    const habits = { questions: SEVERAL, attempts: 100_000, timeoutMs: 200 };
    const { finding } = await testModelClient({
      habits,
      checks: ['retries', 'dead-unit'],
      limitMs: 1_200_000,
    });
    expect(finding('retries').verdict).toBe('fail');
    expect(finding('dead-unit').verdict).toBe('fail');
  });

  it('a client that stops after an outage', async () => {
    const { report } = await testModelClient({
      habits: { mistakes: ['stops after an outage'] },
      checks: ['outage-60s'],
      limitMs: 1_200_000,
    });
    expect(report.verdict).toBe('fail');
  });

  it('a client that needs a complete reply within a few milliseconds between bytes', async () => {
    // A time-out so short that a slow reply does not fit into it.
    const habits = {
      timeoutMs: 12,
      attempts: 2,
      questions: [{ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 20) }],
    };
    const { finding } = await testModelClient({ habits, checks: ['trickle-slow'] });
    expect(finding('trickle-slow').verdict).toBe('fail');
  });

  it('a client that gives up at the first byte of its time-out and one that waits for the rest', async () => {
    for (const timeoutIsFor of ['reply', 'first byte'] as const) {
      const { clientTest } = await testModelClient({ habits: { timeoutIsFor }, checks: ['time-out'] });
      expect(clientTest.report.found?.timeoutMs?.value).toBeCloseTo(500, -1);
    }
  });
});
