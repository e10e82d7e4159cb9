import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { READY_SCENARIOS } from '../../../src/remote/web/views/tests/scenarios.js';
import { TestRun } from '../../../src/testing/scenario/test-run.js';
import type { Habits, Mistake, ModelQuestion } from '../client/habits.js';
import { ONE, SEVERAL } from '../client/shapes.js';
import { inVirtualTime, untilOver, virtualBench } from '../client/virtual-bench.js';
import { scenarioOf } from './read.js';

inVirtualTime();

/** Runs a scenario against a model client, which polls before it begins. */
async function run(source: object, habits: Partial<Habits>) {
  const bench = await virtualBench('serial');
  const scenario = scenarioOf({ name: 'a test', ...source }, bench.simulator);
  const client = bench.client(habits);
  const test = new TestRun(bench.simulator, scenario, () => {}, bench.clock);
  void client.poll();
  const report = await untilOver(bench.clock, test.run());
  client.stop();
  const last = report.findings.at(-1);
  return {
    verdict: last?.verdict,
    text: last?.summary ?? '',
    all: report.findings.map((each) => each.verdict),
  };
}

/** A ready-made scenario of the console. */
function ready(title: string): object {
  const found = READY_SCENARIOS.find((each) => each.title === title);
  if (!found) throw new Error(`no scenario ${title}`);
  return parse(found.text('bus')) as object;
}

const DAMAGED = { when: { count: 1 }, do: [{ crc: 'invert' }] };
const POLLED = { name: 'it polls', expect: [{}, { same: true, times: { min: 5 } }], within: '30s' };

/** Polls once a second, takes every reply for right, and never asks again. */
const CARELESS: Partial<Habits> = {
  rhythm: 'grid',
  periodMs: 1000,
  attempts: 1,
  mistakes: ['no CRC check', 'takes one read for a reply'] satisfies Mistake[],
};

/** Polls twice a second and asks again after 300 ms. */
const CAREFUL: Partial<Habits> = { rhythm: 'grid', periodMs: 500, timeoutMs: 300 };

describe('a retry', () => {
  it('is not what a client sends that never checks and never repeats: its next poll', async () => {
    const { verdict, text } = await run(ready('Survives a wrong CRC'), CARELESS);
    expect(verdict).toBe('inconclusive');
    expect(text).toMatch(/^received +frame \d+, 1 s after the disturbed request .* may be the next poll/m);
  });

  it.each(['Retries after silence', 'Survives a wrong CRC'])(
    'is what a careful client sends, in "%s" of the console',
    async (title) => {
      expect((await run(ready(title), CAREFUL)).all).not.toContain('inconclusive');
      expect((await run(ready(title), CAREFUL)).all).not.toContain('fail');
    },
  );

  it('is not seen where the time-out of the client is as long as the period of its polls', async () => {
    const steps = [POLLED, { fault: DAMAGED, expect: { same: true } }];
    const { verdict, text } = await run({ steps }, { rhythm: 'grid', periodMs: 500, timeoutMs: 900 });
    expect(verdict).toBe('inconclusive');
    expect(text).toMatch(/^received +frame \d+, 90\d.* ms after the disturbed request/m);
  });

  it('needs a bound where nothing is known of the polls', async () => {
    const steps = [{ fault: DAMAGED, expect: { same: true } }];
    const { verdict, text } = await run({ steps }, CAREFUL);
    expect(verdict).toBe('inconclusive');
    expect(text).toContain('the poll period is not known');
  });

  it('has a bound that counts from the disturbed request, wherever that is in the step', async () => {
    const retry = (within: string, after = '200ms') => ({
      steps: [{ fault: { ...DAMAGED, when: { after: 3, count: 1 } }, expect: { retry: { within, after } } }],
    });
    expect(await run(retry('350ms'), CAREFUL)).toMatchObject({ verdict: 'pass' });
    const late = await run(retry('250ms'), CAREFUL);
    expect(late.verdict).toBe('fail');
    expect(late.text).toMatch(/^received +none within 250 ms of the disturbed request \(frame \d+\)/m);
    const early = await run(retry('2s', '400ms'), CAREFUL);
    expect(early.verdict).toBe('fail');
    expect(early.text).toMatch(
      /^expected +the same request again, after 400 ms or more(, within .*)?\nreceived +frame \d+, 30\d(\.\d)? ms after the disturbed request \(frame \d+\)$/m,
    );
  });

  it('is not passed by a bound that the next poll meets, either', async () => {
    const steps = [POLLED, { fault: DAMAGED, expect: { retry: { within: '2s' } } }];
    expect(await run({ steps }, CARELESS)).toMatchObject({ verdict: 'inconclusive' });
    const beyond = [POLLED, { fault: DAMAGED, expect: { retry: { after: '800ms', within: '1s' } } }];
    expect(await run({ steps: beyond }, { rhythm: 'grid', periodMs: 500, timeoutMs: 900 })).toMatchObject({
      verdict: 'pass',
    });
  });

  it('is decided by a bound that leaves the next poll out, near as the retry comes to it', async () => {
    const near = { ...CAREFUL, periodMs: 403, timeoutMs: 320 };
    const bounded = (within: string) =>
      run({ steps: [POLLED, { fault: DAMAGED, expect: { retry: { after: '250ms', within } } }] }, near);
    expect(await bounded('350ms')).toMatchObject({ verdict: 'pass' });
    expect(await bounded('390ms')).toMatchObject({ verdict: 'inconclusive' });
  });

  it('may be wanted again and again, each counted from the one before', async () => {
    const fault = { do: [{ silence: true }] };
    const times = (count: number) => [
      POLLED,
      { fault, expect: { retry: { within: '350ms' }, times: count } },
    ];
    expect(await run({ steps: times(2) }, { ...CAREFUL, periodMs: 5000, attempts: 3 })).toMatchObject({
      verdict: 'pass',
    });
    expect(await run({ steps: times(3) }, { ...CAREFUL, periodMs: 5000, attempts: 3 })).toMatchObject({
      verdict: 'fail',
    });
  });

  it.each([0, 10, 25, 50])('is never seen in polls with %i ms of jitter', async (jitterMs) => {
    const step = { fault: DAMAGED, expect: { same: true } };
    const again = { name: 'polls on', wait: '3s' };
    const steps = [POLLED, ...Array.from({ length: 30 }, () => [step, again]).flat()];
    for (const rhythm of ['grid', 'after'] as const) {
      const { all } = await run({ steps }, { ...CARELESS, rhythm, jitterMs, periodMs: 500 });
      expect(all.filter((_, i) => i % 2 === 1)).toEqual(Array(30).fill('inconclusive'));
    }
  });
});

describe('a client with several questions', () => {
  const TURNS: Partial<Habits> = { ...CAREFUL, questions: [ONE[0], SEVERAL[2]] as ModelQuestion[] };

  it.each(READY_SCENARIOS.map(({ title }) => [title]))('passes "%s" of the console', async (title) => {
    expect((await run(ready(title), { ...TURNS, timeoutMs: 200 })).all).not.toContain('fail');
  });

  it('is asked for the same again, whichever of its questions the entry before has met', async () => {
    const steps = [{ expect: [{}, { same: true, times: { min: 5 } }], within: '10s' }];
    expect(await run({ steps }, TURNS)).toMatchObject({ verdict: 'pass' });
  });
});

describe('an entry without `same` that the disturbed request has met', () => {
  const silent = (expect: unknown) => ({ fault: { do: [{ silence: true }], when: { count: 1 } }, expect });
  const TWICE: readonly [expected: unknown][] = [
    [{ times: { min: 2 } }],
    [[{ unit: 1 }, { unit: 1 }]],
    [{ unit: 1, times: 2 }],
  ];

  it.each(TWICE)('is not met again by the next poll: %j', async (expected) => {
    const step = { ...silent(expected), within: '2500ms' };
    const { verdict, text } = await run({ steps: [POLLED, step] }, CARELESS);
    expect(verdict).toBe('inconclusive');
    expect(text).toMatch(
      /^received +frame \d+, 1(\.\d+)? s after the disturbed request .* may be the next poll/m,
    );
    expect((await run({ steps: [step] }, CARELESS)).text).toContain('the poll period is not known');
  });

  it.each(TWICE.slice(0, 2))('is met again by a retry: %j', async (expected) => {
    expect(await run({ steps: [POLLED, silent(expected)] }, CAREFUL)).toMatchObject({ verdict: 'pass' });
  });

  it('is met by a late attempt of a client that asks its questions in turn, as its next poll would not come', async () => {
    const all = [{ address: 0, unit: 1, times: 3 }, { unit: 2 }];
    const fault = { when: { unit: 1, address: 0 }, do: [{ silence: true }] };
    const steps = [
      { ...POLLED, expect: [{ unit: 1 }, { same: true, times: { min: 5 } }] },
      { fault, expect: all },
    ];
    const habits = { questions: [ONE[0], SEVERAL[2]] as ModelQuestion[], timeoutMs: 200, attempts: 3 };
    expect(await run({ steps }, { ...CAREFUL, ...habits })).toMatchObject({ verdict: 'pass' });
    expect(await run({ steps }, { ...CAREFUL, ...habits, attempts: 1 })).toMatchObject({ verdict: 'fail' });
  });

  it('may be met by other requests, by its own reply, and by a poll after another entry', async () => {
    const habits = { ...CARELESS, questions: SEVERAL };
    const others = [{ unit: 1 }, { unit: 2 }, { unit: 1 }];
    expect(await run({ steps: [silent(others)] }, habits)).toMatchObject({ verdict: 'pass' });
    const busy = { fault: { do: [{ exception: 6 }] }, expect: { response: { exception: 6 } } };
    expect(await run({ steps: [busy] }, CARELESS)).toMatchObject({ verdict: 'pass' });
  });
});

describe('a fault that did not act', () => {
  const withFault = (when: object) => ({ steps: [{ fault: { ...DAMAGED, when }, wait: '2s' }] });

  it('says which condition the nearest request missed', async () => {
    const { verdict, text } = await run(withFault({ unit: 5, function: 3, address: 7 }), CAREFUL);
    expect(verdict).toBe('inconclusive');
    expect(text).toMatch(
      /the fault never acted; nearest was unit 1 read holding registers 0–1 \(frame \d+\): unit 1, not 5; address 0–1, not 7/,
    );
  });

  it('says that it was left out by its counts', async () => {
    const { text } = await run(withFault({ unit: 1, after: 50 }), CAREFUL);
    expect(text).toMatch(/met its conditions, but `after` kept the fault from acting/);
  });

  it('says that no request came after it was armed', async () => {
    const steps = [{ expect: {} }, { fault: DAMAGED, wait: '2s' }];
    const { text } = await run({ steps }, { periodMs: 60_000 });
    expect(text).toContain('no request arrived after the fault took effect');
  });
});

describe('an expectation that nothing met', () => {
  it('says when it counts from, and which condition the nearest request missed', async () => {
    const { text } = await run(
      { steps: [{ expect: { unit: 1, function: 4, quantity: 2 }, within: '2s' }] },
      CAREFUL,
    );
    expect(text).toMatch(
      /none within the 2 s of the step; nearest was unit 1 read holding registers 0–1 \(frame \d+\): function 3, not 4\nwhen +\+/,
    );
  });
});
