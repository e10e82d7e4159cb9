import { describe, expect, it, vi } from 'vitest';
import { inTurns } from '../../../src/testing/client/client-test-order.js';
import { ExchangeLog } from '../../../src/testing/client/heard/log.js';
import { type Check, LOST } from '../../../src/testing/client/trial/exam.js';
import { behaviourAfter } from '../../../src/testing/client/trial/observation.js';
import { sentence } from '../../../src/testing/report/words.js';
import { inVirtualTime, newClientTest, testModelClient, untilOver, virtualBench } from './virtual-bench.js';

inVirtualTime();

const CORE = ['poll-period', 'wrong-crc', 'exception-2'];

describe('the client test of a faultless client', () => {
  it.each([1, 2, 3])('passes every check of the core with seed %d', async (seed) => {
    const { report, bench } = await testModelClient({ checks: CORE, seed });
    expect(report.findings.map(({ id, verdict }) => `${id} ${verdict}`).sort()).toEqual([
      'exception-2 pass',
      'poll-period pass',
      'wrong-crc pass',
    ]);
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });

  it('gives the same report each time', async () => {
    const [one, other] = [await testModelClient({ checks: CORE }), await testModelClient({ checks: CORE })];
    const plain = ({ findings }: typeof one.report) =>
      findings.map(({ id, summary, frames }) => [id, summary, frames.map(({ seq }) => seq)]);
    expect(plain(one.report)).toEqual(plain(other.report));
  });

  it('passes on TCP, too', async () => {
    const { report } = await testModelClient({ on: 'tcp', checks: ['poll-period', 'exception-2'] });
    expect(report.verdict).toBe('pass');
  });

  it('cites the request, the spoilt reply and the request that came next', async () => {
    const { finding } = await testModelClient({ checks: ['wrong-crc'] });
    const { frames, confidence } = finding('wrong-crc');
    const trial = ['request', 'reply', 'request', 'reply'];
    expect(frames.map(({ kind }) => kind)).toEqual([...trial, ...trial, ...trial]);
    expect(confidence).toEqual({ agreeing: 3, trials: 3 });
  });
});

describe('a client with a mistake', () => {
  it('fails when it repeats after exception 2 without end', async () => {
    const habits = { mistakes: ['repeats after exceptions without end'] as const };
    const { finding, report } = await testModelClient({ habits, checks: ['exception-2'] });
    expect(finding('exception-2').verdict).toBe('fail');
    expect(report.conclusions).toContain('Keeps retrying in a loop after exception 2.');
  });

  it('is not passed when it takes replies with a wrong CRC', async () => {
    const { finding } = await testModelClient({
      habits: { mistakes: ['no CRC check'] },
      checks: ['wrong-crc'],
    });
    expect(finding('wrong-crc').verdict).toBe('inconclusive');
  });

  it('fails when its rhythm is uneven', async () => {
    const { finding } = await testModelClient({ habits: { rhythm: 'uneven' }, checks: ['poll-period'] });
    expect(finding('poll-period').verdict).toBe('fail');
  });
});

describe('a client test', () => {
  it('refuses to begin while nobody polls, and says what it waited for', async () => {
    const bench = await virtualBench();
    const { clientTest } = newClientTest(bench, {});
    const report = await untilOver(bench.clock, clientTest.run());
    expect(report.verdict).toBe('error');
    expect(clientTest.report.conclusions[0]).toBe('No client polls line bus: no request came within 30 s.');
    expect(new Set(report.findings.map(({ verdict }) => verdict))).toEqual(new Set(['not run']));
  });

  it('refuses a client that asks nothing that is answered', async () => {
    const questions = [{ unitId: 1, pdu: Uint8Array.of(3, 0x20, 0, 0, 1) }];
    const { clientTest } = await testModelClient({ habits: { questions }, limitMs: 60_000 });
    expect(clientTest.report.conclusions[0]).toContain('unit 1 read holding registers 8192');
  });

  it('looks for a rhythm the more seldom the longer there is none', async () => {
    const looks = vi.spyOn(ExchangeLog.prototype, 'newest');
    const questions = [{ unitId: 1, pdu: Uint8Array.of(3, 0x20, 0, 0, 1) }];
    const { clientTest } = await testModelClient({ habits: { questions, periodMs: 50 }, limitMs: 600_000 });
    expect(clientTest.report.conclusions[0]).toMatch(
      /^The client sent \d{4} requests in 150 s, but no poll came 3 times with a reply; /,
    );
    expect(looks.mock.calls.length).toBeLessThan(150);
    looks.mockRestore();
  });

  it('stops at its limit with what it has, and takes its faults away', async () => {
    const habits = { periodMs: 2000 };
    const { report, bench } = await testModelClient({
      habits,
      checks: [...CORE, 'junk', 'split-reply'],
      limitMs: 40_000,
    });
    expect(report.durationMs).toBe(40_000);
    expect(report.findings[0]?.verdict).toBe('pass');
    const last = report.findings.at(-1);
    expect(last?.verdict).toBe('not run');
    expect(last?.summary).toContain('the limit of 40 s was reached');
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });

  it('stops when it is told to, also in the middle of a check', async () => {
    const bench = await virtualBench();
    const told: string[] = [];
    const { clientTest } = newClientTest(bench, {
      checks: CORE,
      onFinding: ({ id }) => void told.push(id),
    });
    void bench.client().poll();
    const over = clientTest.run();
    while (bench.simulator.faults.rules.isEmpty) await bench.clock.advanceAsync(10);
    clientTest.stop();
    const report = await untilOver(bench.clock, over);
    expect(report.findings).toHaveLength(3);
    expect(report.findings.map(({ id }) => id)).toEqual(told);
    expect(report.findings.at(-1)?.verdict).toBe('not run');
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });

  it('says its failures in the order of the report, whichever check was run first', async () => {
    const habits = { mistakes: ['repeats after exceptions without end'] as const };
    const { report } = await testModelClient({ habits, checks: ['exceptions'] });
    const failed = report.findings.filter(({ verdict }) => verdict === 'fail');
    expect(failed.length).toBeGreaterThan(2);
    expect(report.conclusions.slice(0, failed.length)).toEqual(
      failed.map(({ conclusion = '' }) => sentence(conclusion)),
    );
  });

  it('ends with an error when the line is closed meanwhile', async () => {
    const bench = await virtualBench();
    const { clientTest } = newClientTest(bench, { checks: CORE });
    void bench.client().poll();
    const over = clientTest.run();
    await bench.clock.advanceAsync(3000);
    bench.serial.unplug();
    const report = await untilOver(bench.clock, over);
    expect(report.verdict).toBe('error');
    expect(report.findings.find(({ verdict }) => verdict === 'error')?.summary).toContain(
      'line bus was closed',
    );
  });

  it('fails a client that has stopped polling, in its first sentence,', async () => {
    const bench = await virtualBench();
    const client = bench.client();
    const { clientTest } = newClientTest(bench, {
      checks: CORE,
      onFinding: ({ id }) => {
        if (id === 'poll-period') client.stop();
      },
    });
    void client.poll();
    const report = await untilOver(bench.clock, clientTest.run());
    expect(report.findings.map(({ verdict }) => verdict).sort()).toEqual(['not run', 'not run', 'pass']);
    expect(report.conclusions[0]).toBe(
      'The client is gone: it sent no more requests although nothing was disturbed; 2 of 3 checks undecided: 2 not run.',
    );
    expect(report.verdict).toBe('fail');
  });
});

describe('the order of checks', () => {
  const check = (id: string, more: Partial<Check> = {}) =>
    ({ id, group: 'damaged', ...more }) as unknown as Check;
  const table = [
    check('a', { needs: ['d'] }),
    check('b', { group: 'time' }),
    check('c'),
    check('d', { group: 'connections' }),
    check('e', { lastsMs: 60_000 }),
    check('f', { lastsMs: 5_000 }),
    check('g'),
  ];
  const order = (seed: number) =>
    inTurns(table, seed, 1)
      .map(([check]) => check?.id)
      .join('');

  it('has the most telling ones first and the longest last, and depends on the seed alone', () => {
    for (const seed of [1, 2, 3]) expect(order(seed)).toMatch(/^(cg|gc)bdafe$/);
    expect(order(1)).toBe(order(1));
    expect(new Set([1, 2, 3, 4, 5, 6, 7, 8].map(order)).size).toBe(2);
  });
});

it('a request without a reply of a client that was stuck is no sample of what it does without one', () => {
  const request = { clientId: 1 };
  const reply = { report: { steps: [{ outcome: 'achieved', achievedAt: 1 }] } };
  const lostAfterGood = (isStuck: boolean) => ({
    ...{ poll: 'a', at: 100, request, rule: { faults: LOST }, isStuck },
    before: { poll: 'b', at: 0, request, reply },
    next: { poll: 'b', at: 400, request },
  });
  const log = { spoilt: [lostAfterGood(false), lostAfterGood(true)] };
  const heard = { log, target: { key: 'a' } } as unknown as Parameters<typeof behaviourAfter>[0];
  expect(behaviourAfter(heard, [LOST]).samples).toHaveLength(1);
});
