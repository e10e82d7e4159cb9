import { describe, expect, it } from 'vitest';
import { abilities } from '../../../src/device/faults/kind.js';
import { ruleSchema } from '../../../src/device/faults/rule.js';
import { OwnRules } from '../../../src/testing/client/trial/rules.js';
import type { Finding } from '../../../src/testing/report/report.js';
import type { Habits } from './habits.js';
import type { ModelClient } from './model-client.js';
import { SEVERAL } from './shapes.js';
import { inVirtualTime, newClientTest, testModelClient, untilOver, virtualBench } from './virtual-bench.js';

inVirtualTime();

const ONLY_CLOSED = ['closed-after-reply'];
const HOW =
  'the device under test ended with exit code 1; its last output:\n    Traceback\n    IndexError: pop';
const BAD = ['wrong-byte-count', 'wrong-function', 'exception-2'];
const verdicts = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));

describe('a client that is gone once its connection was closed', () => {
  const habits = { mistakes: ['never reconnects'] as const };

  it.each([90_000, 160_000, 3_600_000])('fails with a limit of %d ms', async (limitMs) => {
    const { report, finding } = await testModelClient({ on: 'tcp', habits, checks: ONLY_CLOSED, limitMs });
    expect(finding('closed-after-reply').verdict).toBe('fail');
    expect(report.verdict).toBe('fail');
    expect(report.conclusions[0]).toMatch(/^The client is gone: it sent no more requests /);
    expect(report.durationMs).toBeLessThan(160_000);
  });
});

describe('a client that polls once more after a check, and then no more', () => {
  it.each(['serial', 'tcp'] as const)(
    'fails that check, and not the one that has begun meanwhile, on %s',
    async (on) => {
      const bench = await virtualBench(on);
      const client = bench.client({ periodMs: 500, timeoutMs: 300 });
      let spoilt = 0;
      let good = 0;
      bench.simulator.traffic.subscribe((event) => {
        if (event.kind !== 'reply') return;
        if (event.acted.some(({ rule }) => rule.includes('wrong-'))) spoilt++;
        else if (spoilt === 3 && ++good === 1) client.stop();
      });
      const { clientTest } = newClientTest(bench, { checks: ['wrong-unit', 'wrong-function'] });
      void client.poll();
      const { findings } = await untilOver(bench.clock, clientTest.run());
      const [first, second] = findings.filter(({ id }) => id.startsWith('wrong-'));
      expect(first?.verdict, first?.summary).toBe('fail');
      expect(second?.verdict, second?.summary).toBe('not run');
    },
  );
});

describe('a client test that its limit has ended', () => {
  it('is an error where most of it was not run and nothing has failed, and the first sentence counts what is undecided', async () => {
    const { report } = await testModelClient({ habits: { periodMs: 2000 }, limitMs: 60_000 });
    const notRun = report.findings.filter(({ verdict }) => verdict === 'not run').length;
    expect(notRun).toBeGreaterThan(report.findings.length / 2);
    expect(report.verdict).toBe('error');
    const open = report.findings.filter(({ verdict }) => verdict === 'inconclusive').length;
    expect(report.conclusions[0]).toBe(
      `${notRun + open} of ${report.findings.length} checks undecided: ${open > 0 ? `${open} inconclusive, ` : ''}${notRun} not run.`,
    );
  });

  it('gives the cause for each check that was not run where the client has no rhythm', async () => {
    const habits: Partial<Habits> = { questions: SEVERAL, rhythm: 'uneven', periodMs: 3000 };
    const { report } = await testModelClient({ on: 'tcp', habits, limitMs: 120_000 });
    const reasons = report.findings.flatMap(({ verdict, summary }) => (verdict === 'not run' ? summary : []));
    expect(reasons.length).toBeGreaterThan(10);
    expect(new Set(reasons).size).toBe(1);
    expect(reasons[0]).toMatch(
      /^no regular rhythm was found: unit 1 read holding registers 0–1 came 1\.\d+ s to 5\.\d+ s apart, and the limit of 2 min was reached before$/,
    );
  });
});

describe('a client test that was ended', () => {
  const ways = {
    'is stopped': ({ clientTest }: ReturnType<typeof newClientTest>) => clientTest.stop(),
    'hears that the client has ended': ({ clientTest }: ReturnType<typeof newClientTest>) =>
      clientTest.clientEnded(HOW),
  };

  it.each(Object.entries(ways))('leaves no wait behind when it %s before anybody polls', async (_, end) => {
    const bench = await virtualBench();
    await bench.clock.advanceAsync(1000);
    const begun = newClientTest(bench, {});
    const over = begun.clientTest.run();
    await bench.clock.advanceAsync(1000);
    end(begun);
    await untilOver(bench.clock, over);
    expect(bench.clock.waiting).toBe(0);
  });

  it.each(Object.entries(ways))('leaves no wait behind when it %s while checks run', async (_, end) => {
    const bench = await virtualBench('tcp');
    const client = bench.client();
    const begun = newClientTest(bench, {});
    const over = begun.clientTest.run();
    void client.poll();
    await bench.clock.advanceAsync(20_000);
    end(begun);
    await untilOver(bench.clock, over);
    client.stop();
    await bench.clock.advanceAsync(5000);
    expect(bench.clock.waiting).toBe(0);
  });
});

/** Tests a client whose program ends at the first bad reply. @param restart starts it again */
async function testCrash(restarts: boolean) {
  const bench = await virtualBench();
  const habits: Partial<Habits> = { questions: SEVERAL, mistakes: ['crashes at a bad reply'] };
  let client: ModelClient;
  let crashes = 0;
  const start = async () => {
    client = bench.client(habits);
    void client.poll().then(() => {
      if (isOver) return;
      crashes++;
      clientTest.clientEnded(HOW);
    });
    return undefined;
  };
  let isOver = false;
  const { clientTest } = newClientTest(bench, { checks: BAD, ...(restarts && { restart: start }) });
  await start();
  const report = await untilOver(bench.clock, clientTest.run());
  isOver = true;
  return { report, crashes: () => crashes };
}

describe('a client whose program crashes', () => {
  it('fails the check that it crashed in; the crash comes first, and its output once', async () => {
    const { report, crashes } = await testCrash(false);
    expect(crashes()).toBe(1);
    expect(report.verdict).toBe('fail');
    expect(report.conclusions[0]).toMatch(
      /^Crashed after .*: exit code 1, last line "IndexError: pop"; 2 of 3 checks undecided: 2 not run\.$/,
    );
    const said = [...report.conclusions, ...report.findings.map(({ summary }) => summary)].join('\n');
    expect(said.match(/Traceback/g)).toHaveLength(1);
    expect(report.findings.filter(({ verdict }) => verdict === 'not run').length).toBeGreaterThan(0);
  });

  it('fails no check when it has sent no request by then', async () => {
    const bench = await virtualBench();
    const { clientTest } = newClientTest(bench, { checks: BAD });
    const over = clientTest.run();
    clientTest.clientEnded(HOW);
    const report = await untilOver(bench.clock, over);
    expect(report.verdict).toBe('error');
    expect(report.conclusions[0]).toBe(`The client exited before its first request: ${HOW}`);
    expect(new Set(report.findings.map(({ verdict }) => verdict))).toEqual(new Set(['not run']));
  });

  it('is started again with --restart, and the checks that are left are run', async () => {
    const { report, crashes } = await testCrash(true);
    expect(crashes()).toBe(2);
    expect(verdicts(report.findings)).toMatchObject({
      'wrong-byte-count': 'fail',
      'wrong-function': 'fail',
      'exception-2': 'pass',
    });
  });

  it.each(['serial', 'tcp'] as const)(
    'is not passed on %s when its own supervisor starts it again',
    async (on) => {
      const habits: Partial<Habits> = { questions: SEVERAL, mistakes: ['restarts at a bad reply'] };
      const { finding, report } = await testModelClient({ on, habits, checks: BAD });
      expect(finding('wrong-byte-count').verdict).not.toBe('pass');
      expect(finding('wrong-function').verdict).not.toBe('pass');
      expect(report.conclusions[0]).toMatch(
        /^The client may have been restarted, or paused for longer than usual: after .* it came back .*; the same in one more check; 2 of 3 checks undecided: 2 inconclusive\.$/,
      );
      expect(report.verdict).toBe('inconclusive');
    },
  );
});

describe('a client that its own supervisor starts again at an exception', () => {
  it.each([
    { on: 'serial', how: 'only' },
    { on: 'tcp', how: 'on another connection' },
  ] as const)('is not passed on $on, and the first sentence says so', async ({ on, how }) => {
    const habits: Partial<Habits> = { questions: SEVERAL, mistakes: ['restarts at an exception'] };
    const { finding, report } = await testModelClient({ on, habits, checks: ['exception-4'] });
    expect(finding('exception-4').verdict).toBe('inconclusive');
    expect(report.conclusions[0]).toMatch(
      new RegExp(
        `^The client may have been restarted, or paused for longer than usual: after exception 4 it came back ${how} after \\d+ ms.*; 1 of 1 checks undecided: 1 inconclusive\\.$`,
      ),
    );
  });
});

describe('the rules of a client test', () => {
  const A_READ = {
    line: { name: 'bus', abilities: abilities('serial', 'rtu') },
    unitId: 1,
    device: 'meter',
    functionCode: 3,
    ranges: [{ address: 0, quantity: 2 }],
  };
  const REST = { when: { unit: 1 }, do: [{ silence: true }], seed: 1 };

  it('are known by identity: those of others keep their hits and stay, whatever their names are', async () => {
    const { rules } = (await virtualBench()).simulator.faults;
    const mine = { name: 'examine-wrong-crc-1', when: { unit: 2 }, do: [{ silence: true }] };
    rules.set(ruleSchema.parse(mine), { temporary: true });
    const [one, other] = [new OwnRules(rules), new OwnRules(rules)];
    const put = one.put('wrong-crc', REST);
    rules.match(A_READ);
    expect(rules.get(put.name)?.hits).toBe(1);
    expect(other.acted()).toBeUndefined();
    other.removeAll();
    expect(rules.list()).toHaveLength(2);
    expect(one.acted()).toBe(put);
    one.removeAll();
    expect(rules.list().map(({ rule }) => rule.name)).toEqual(['examine-wrong-crc-1']);
  });

  it('are not those that others have put in under their names since', async () => {
    const { rules } = (await virtualBench()).simulator.faults;
    const [one, other] = [new OwnRules(rules), new OwnRules(rules)];
    const { name } = one.put('wrong-crc', REST);
    rules.remove(name);
    expect(other.put('wrong-crc', REST).name).toBe(name);
    rules.match(A_READ);
    expect(one.acted()).toBeUndefined();
    one.removeAll();
    expect(rules.has(name)).toBe(true);
    other.removeAll();
    expect(rules.list()).toEqual([]);
  });
});

it('suspends rules that were in force before, on its line and for its time, and says so in the report', async () => {
  const bench = await virtualBench();
  const { rules } = bench.simulator.faults;
  const armed = { name: 'armed', when: { unit: 1 }, do: [{ silence: true }] };
  const status = rules.set(ruleSchema.parse(armed));
  rules.set(ruleSchema.parse({ ...armed, name: 'elsewhere', when: { line: 'other' } }));
  const notes: string[] = [];
  const { clientTest } = newClientTest(bench, {
    checks: ['wrong-crc'],
    onNote: (text) => void notes.push(text),
  });
  const client = bench.client();
  void client.poll();
  const report = await untilOver(bench.clock, clientTest.run());
  expect(report.verdict).toBe('pass');
  expect(report.conclusions).toContain('Suspended during the run: the fault rule armed.');
  expect(notes[0]).toBe('suspended during the run: the fault rule armed');
  expect(rules.get('armed')?.rule).toEqual(status.rule);
  expect(rules.get('elsewhere')?.rule.enabled).toBeUndefined();
  await bench.clock.advanceAsync(2000);
  client.stop();
  expect(rules.get('armed')?.hits).toBeGreaterThan(0);
});

describe('a client with a queue', () => {
  const QUEUE: Partial<Habits> = {
    questions: SEVERAL,
    rhythm: 'queue',
    periodMs: 500,
    timeoutMs: 1000,
    attempts: 1,
    reconnectsOnTimeout: true,
    reconnectPauseMs: 5000,
  };

  it('asks once, also where its next poll comes after a new connection', async () => {
    const { finding, report } = await testModelClient({ on: 'tcp', habits: QUEUE, checks: ['retries'] });
    expect(finding('retries').verdict).not.toBe('pass');
    expect(report.conclusions.join(' ')).not.toMatch(/asks [2-9] times/i);
  });

  it('is tested without a rhythm, and never waited for in silence', async () => {
    const notes: string[] = [];
    const { report } = await testModelClient({
      on: 'tcp',
      habits: { questions: SEVERAL, rhythm: 'uneven', periodMs: 3000 },
      limitMs: 1_800_000,
      onNote: (text) => void notes.push(text),
    });
    const decided = report.findings.filter(({ verdict }) => verdict !== 'not run');
    expect(decided.length).toBeGreaterThan(report.findings.length / 2);
    expect(report.findings.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id)).not.toContain(
      'wrong-unit',
    );
  });
});
