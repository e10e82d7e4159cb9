import { describe, expect, it, vi } from 'vitest';
import type { Habits } from './habits.js';
import { shownLater } from './observers.js';
import { inVirtualTime, newClientTest, testModelClient, untilOver, virtualBench } from './virtual-bench.js';

inVirtualTime();

const CONNECTIONS = ['closed-after-reply', 'reset-in-reply', 'listener-gone', 'half-open'];

/** A client that takes time-outs for a sign that its connection is dead. */
const examine = (habits: Partial<Habits> = {}, checks = ['connections'], seed = 1) =>
  testModelClient({ on: 'tcp', habits: { reconnectsOnGivingUp: true, ...habits }, checks, seed });

describe('the client test of connections', () => {
  it.each([1, 2, 3])('passes a client that comes back, with seed %d', async (seed) => {
    const { report, bench } = await examine({}, ['connections'], seed);
    expect(report.findings.map(({ id, verdict, summary }) => `${id} ${verdict} ${summary}`).sort()).toEqual(
      CONNECTIONS.toSorted().map((id) => expect.stringMatching(`^${id} pass `)),
    );
    expect(bench.simulator.lines.get('bus')?.state.kind).toBe('open');
    expect(bench.simulator.faults.rules.list()).toEqual([]);
  });

  it('tells how long the client takes to connect again', async () => {
    const { finding } = await examine({ reconnectPauseMs: 700 }, ['closed-after-reply']);
    const [, ms] = /connected again (\d+) ms/.exec(finding('closed-after-reply').summary) ?? [];
    expect(Number(ms)).toBeGreaterThanOrEqual(700);
    expect(Number(ms)).toBeLessThan(950);
    expect(finding('closed-after-reply').frames.map(({ kind }) => kind)).toEqual([
      'request',
      'reply',
      'client gone',
      'client',
      'request',
      'reply',
    ]);
  });

  it.each(['closed-after-reply', 'reset-in-reply', 'listener-gone', 'half-open'])(
    '%s fails a client that never connects again',
    async (check) => {
      const { finding } = await examine({ mistakes: ['never reconnects'] }, [check]);
      expect(finding(check).verdict, finding(check).summary).toBe('fail');
    },
  );

  it('fails a client that asks on and on over a dead connection', async () => {
    const { finding } = await examine({ reconnectsOnGivingUp: false }, ['half-open']);
    expect(finding('half-open').summary).toMatch(/sent \d+ requests on the dead connection within 60 s/);
    expect(finding('half-open').verdict).toBe('fail');
  });
});

it('does not wait for a second outage of 60 s after a dead connection has shown what it does', async () => {
  const { finding } = await examine({ reconnectsOnGivingUp: false }, ['half-open', 'outage-60s']);
  expect(finding('half-open').verdict).toBe('fail');
  expect(finding('outage-60s')).toMatchObject({ verdict: 'pass' });
  expect(finding('outage-60s').durationMs).toBeLessThan(30_000);
});

describe('a client that has lost its place in the stream of replies', () => {
  it('gets a new connection, so that the checks that follow can be run', async () => {
    const habits = { mistakes: ['takes late replies'] as const, reconnectsOnGivingUp: false };
    const { report } = await examine(habits, ['extended-reply', 'exception-1', 'exception-3']);
    const verdicts = Object.fromEntries(report.findings.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toMatchObject({
      'extended-reply': 'fail',
      'exception-1': 'pass',
      'exception-3': 'pass',
    });
  });

  it('gets one before an observer is asked for what it takes', async () => {
    const habits = { mistakes: ['takes late replies'] as const, reconnectsOnGivingUp: false };
    const checks = ['extended-reply', 'wrong-unit', 'wrong-function', 'fewer-registers'];
    const { report } = await testModelClient({ on: 'tcp', habits, checks, observer: shownLater(100) });
    const verdicts = Object.fromEntries(report.findings.map(({ id, verdict }) => [id, verdict]));
    expect(verdicts).toEqual({
      'extended-reply': 'fail',
      'wrong-unit': 'pass',
      'wrong-function': 'pass',
      'fewer-registers': 'pass',
    });
  });
});

describe('a line on any free port', () => {
  it('is closed as any other, because it comes back on the same port', async () => {
    const { finding, bench } = await testModelClient({ on: 'anyPort', checks: ['listener-gone'] });
    expect(finding('listener-gone')).toMatchObject({ verdict: 'pass' });
    expect(bench.simulator.lines.get('bus')?.state.kind).toBe('open');
  });
});

describe('a client test that is stopped while its line is closed', () => {
  async function stoppedInOutage() {
    const bench = await virtualBench('tcp');
    const { clientTest } = newClientTest(bench, { checks: ['listener-gone'] });
    void bench.client().poll();
    const over = clientTest.run();
    const line = bench.simulator.lines.get('bus');
    while (line?.state.kind === 'open') await bench.clock.advanceAsync(10);
    return { ...bench, clientTest, over, line };
  }

  it('opens it again', async () => {
    const { clock, clientTest, over, line } = await stoppedInOutage();
    await clock.advanceAsync(2000);
    clientTest.stop();
    const report = await untilOver(clock, over);
    expect(line?.state.kind).toBe('open');
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(['not run']);
  });

  it('says so when that is not possible', async () => {
    const { clock, over, line } = await stoppedInOutage();
    if (!line) throw new Error('no line');
    vi.spyOn(line, 'start').mockResolvedValue({ ok: false, error: 'the port is taken' });
    const report = await untilOver(clock, over);
    expect(report.verdict).toBe('error');
    expect(report.conclusions).toContain('Line bus could not be opened again: the port is taken.');
  });
});
