import { describe, expect, it } from 'vitest';
import type { Habits } from './habits.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';

inVirtualTime();

const ask = (unitId: number, ...pdu: number[]) => ({ unitId, pdu: Uint8Array.from(pdu) });
const READ = ask(1, 3, 0, 0, 0, 2);

const verdictOn = async (check: string, habits: Partial<Habits> = {}, on: 'serial' | 'tcp' = 'serial') => {
  const { finding } = await testModelClient({ on, habits, checks: [check] });
  return finding(check);
};

describe('the check of legal requests', () => {
  it('passes questions that the devices answer', async () => {
    const questions = [READ, ask(2, 3, 0, 0, 0, 20), ask(1, 6, 0, 3, 0, 7)];
    expect(await verdictOn('legal-requests', { questions })).toMatchObject({
      verdict: 'pass',
      summary: 'its 3 polls are legal',
    });
  });

  it.each([
    ['addresses that its device does not have', ask(1, 3, 0x20, 0, 0, 2)],
    ['a function that its device does not have', ask(1, 0x50, 0, 0)],
    ['a quantity, byte count or value that is not allowed', ask(1, 3, 0, 0, 0, 126)],
    ['addresses beyond 65535', ask(1, 3, 0xff, 0xff, 0, 2)],
  ])('fails for %s', async (why, question) => {
    const { verdict, summary } = await verdictOn('legal-requests', { questions: [READ, question] }, 'tcp');
    expect(summary).toBe(`unit 1 function ${question.pdu[0]}: ${why}`);
    expect(verdict).toBe('fail');
  });
});

describe('the check of t3.5 before requests', () => {
  const questions = [READ, ask(1, 3, 0, 4, 0, 1)];

  it('passes a client that waits for t3.5', async () => {
    const { verdict, summary } = await verdictOn('silence-before-requests', { questions, betweenMs: 5 });
    expect(verdict, summary).toBe('pass');
  });

  it('fails one that asks its next question at once', async () => {
    const habits = { questions, betweenMs: 0, mistakes: ['ignores t3.5'] as const };
    const { verdict, summary } = await verdictOn('silence-before-requests', habits);
    expect(verdict, summary).toBe('fail');
  });

  it('is not run on TCP', async () => {
    const { report } = await testModelClient({ on: 'tcp', checks: ['watching'] });
    expect(report.findings.map(({ id }) => id)).toEqual([
      'poll-period',
      'legal-requests',
      'connections-reused',
    ]);
  });
});

describe('the check of questions while a reply is pending', () => {
  it.each([200, 40])('passes a client that waits, with a period of %d ms', async (periodMs) => {
    const { verdict, summary } = await verdictOn('one-at-a-time', { periodMs, rhythm: 'grid' });
    expect(verdict, summary).toBe('pass');
  });

  it('fails one that polls on in a fast rhythm', async () => {
    const mistakes = ['asks while a reply is pending'] as const;
    const found = await verdictOn('one-at-a-time', { periodMs: 40, rhythm: 'grid', mistakes });
    expect(found.verdict, found.summary).toBe('fail');
    expect(found.frames.length).toBeGreaterThan(1);
  });

  it('does not judge one that gives up before its next request is due: no reply could be pending then', async () => {
    const { verdict, summary } = await verdictOn('one-at-a-time', { periodMs: 1000, timeoutMs: 300 });
    expect(verdict).toBe('inconclusive');
    expect(summary).toMatch(
      /^its next request is due up to 100\d ms .* it continues after 300 ms, so no reply is still pending when the next request is due$/,
    );
  });

  it('does not judge one that may have given up in time for its next poll', async () => {
    const habits = { periodMs: 1000, timeoutMs: 300, attempts: 1, rhythm: 'grid' } as const;
    const { verdict, summary } = await verdictOn('one-at-a-time', habits);
    expect(verdict, summary).toBe('inconclusive');
  });
});

describe('the check of broadcasts', () => {
  const broadcast = ask(0, 6, 0, 0, 0, 1);
  /** A broadcast has no answer, so the model waits for its time-out, once. */
  const habits = { questions: [READ, broadcast], attempts: 1, betweenMs: 0 };

  it.each([
    [150, 'pass'],
    [50, 'inconclusive'],
    [10, 'fail'],
  ])('%d ms before the next request: %s', async (timeoutMs, verdict) => {
    const found = await verdictOn('broadcast-pause', { ...habits, timeoutMs, periodMs: 0 });
    expect(found.verdict, found.summary).toBe(verdict);
  });

  it('is inconclusive where too few came', async () => {
    // One round of questions takes 8 s.
    const questions = [...Array.from({ length: 40 }, () => READ), broadcast];
    const found = await verdictOn('broadcast-pause', {
      ...habits,
      questions,
      betweenMs: 200,
      timeoutMs: 150,
      periodMs: 0,
    });
    expect(found.summary).toMatch(/\([12] seen\), too few to judge$/);
    expect(found.verdict).toBe('inconclusive');
  });

  it('is inconclusive without any', async () => {
    expect((await verdictOn('broadcast-pause')).summary).toBe('the client sent no broadcast');
  });
});

describe('the check of connections', () => {
  it('passes a client that keeps its connection', async () => {
    expect((await verdictOn('connections-reused', {}, 'tcp')).verdict).toBe('pass');
  });

  it('fails one that connects for each request', async () => {
    const mistakes = ['connects for each request'] as const;
    const { verdict, summary } = await verdictOn('connections-reused', { mistakes }, 'tcp');
    expect(verdict, summary).toBe('fail');
  });
});
