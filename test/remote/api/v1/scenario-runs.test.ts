import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { BENCH } from '../../../testing/scenario/read.js';

stopAfterEach();

interface TestBody {
  readonly id: number;
  readonly state: string;
  readonly verdict: string;
  readonly lines: readonly string[];
  readonly steps: readonly { readonly name: string; readonly verdict: string; readonly message: string }[];
  readonly report: {
    readonly findings: readonly { readonly frames: readonly object[] }[];
  };
  readonly error: string;
}

const start = () => startSimulator(nativeSetup(BENCH));
const post = ({ rest }: RunningSimulator, scenario: object) =>
  rest.send<TestBody>('POST', '/api/v1/runs?kind=scenario', scenario);

/** The test once it is over. */
async function ended({ rest }: RunningSimulator, id: number): Promise<TestBody> {
  let body: TestBody | undefined;
  let isAsking = false;
  await until(() => {
    if (!isAsking) {
      isAsking = true;
      void rest.send<TestBody>('GET', `/api/v1/runs/${id}`).then((answer) => {
        body = answer.body;
        isAsking = false;
      });
    }
    return body?.state === 'over';
  }, 'the test is over');
  return body as TestBody;
}

describe('/api/v1/runs of the kind scenario', () => {
  it('runs a scenario and tells its steps with their frames', async () => {
    const running = await start();
    const { status, body } = await post(running, {
      name: 'over REST',
      steps: [{ name: 'polls', expect: { unit: 1 }, within: '20s' }],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: 1, state: 'running', lines: ['bus'], steps: [] });
    running.client().send(bytesOf('00 01 00 00 00 06 01 03 00 00 00 01'));
    const over = await ended(running, 1);
    expect(over).toMatchObject({ verdict: 'pass', steps: [{ name: 'polls', verdict: 'pass' }] });
    expect(over.report.findings[0]?.frames[0]).toMatchObject({ kind: 'request', unit: 1 });
    const { body: list } = await running.rest.send('GET', '/api/v1/runs?kind=scenario');
    expect(list).toMatchObject({ runs: [{ id: 1, name: 'over REST', state: 'over' }] });
  });

  it('refuses a second test on a line with 409, and DELETE stops the first', async () => {
    const running = await start();
    await post(running, { name: 'one', steps: [{ wait: '60s' }, { wait: 1 }] });
    const second = await post(running, { name: 'two', steps: [{ wait: 1 }] });
    expect(second.status).toBe(409);
    expect(second.body.error).toContain('run 1 is using line bus');
    expect((await running.rest.send('DELETE', '/api/v1/runs/1')).status).toBe(204);
    const over = await ended(running, 1);
    expect(over.steps.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'not run']);
    expect(over).toMatchObject({ stopped: true, verdict: 'inconclusive' });
    expect((await post(running, { name: 'three', steps: [{ wait: 1 }] })).status).toBe(201);
  });

  it('has its line free for the next one when DELETE is answered, also while last replies are waited for', async () => {
    const running = await start();
    await post(running, { name: 'one', steps: [{ wait: 1 }] });
    const steps = async () => (await running.rest.send<TestBody>('GET', '/api/v1/runs/1')).body.steps;
    await expect.poll(steps, { interval: 1 }).toHaveLength(1);
    expect((await running.rest.send('DELETE', '/api/v1/runs/1')).status).toBe(204);
    expect((await post(running, { name: 'two', steps: [{ wait: 1 }] })).status).toBe(201);
  });

  it('fails the step that runs when DELETE says why', async () => {
    const running = await start();
    await post(running, { name: 'one', steps: [{ wait: '60s' }, { wait: 1 }] });
    const failure = 'the device under test ended with exit code 3';
    const path = `/api/v1/runs/1?failure=${encodeURIComponent(failure)}`;
    expect((await running.rest.send('DELETE', path)).status).toBe(204);
    const over = await ended(running, 1);
    expect(over.steps).toMatchObject([{ verdict: 'fail', message: failure }, { verdict: 'not run' }]);
    expect((await running.rest.send('DELETE', '/api/v1/runs/1?failure=')).status).toBe(400);
  });

  it('tells how far it has come as events of its line', async () => {
    const running = await start();
    await post(running, { name: 'flaky', steps: [{ name: 'rests', wait: 1 }, { wait: '60s' }] });
    running.client().send(bytesOf('00 01 00 00 00 06 01 03 00 00 00 01'));
    const texts = async () => {
      const { body } = await running.rest.send<{ events: { text: string; test: number; line: string }[] }>(
        'GET',
        '/api/v1/traffic?kind=test',
      );
      return body.events.map(({ text, test, line }) => `${line} ${test} ${text}`);
    };
    await expect.poll(texts).toHaveLength(2);
    await running.rest.send('DELETE', '/api/v1/runs/1');
    await expect.poll(texts).toHaveLength(4);
    expect(await texts()).toEqual([
      'bus 1 test 1 began: flaky',
      'bus 1 test 1 step: 1 rests: pass',
      'bus 1 test 1 step: 2 wait 1 min: inconclusive (the test was stopped early)',
      'bus 1 test 1 is over: flaky: inconclusive',
    ]);
  });

  it('refuses a line that is not open with 409', async () => {
    const running = await start();
    await running.simulator.lines.get('bus')?.stop();
    expect((await post(running, { name: 'x', steps: [{ wait: 1 }] })).status).toBe(409);
  });

  it('names every mistake with its path, and starts no program', async () => {
    const running = await start();
    const wrong = await post(running, { name: 'x', steps: [{ expct: 1 }, { wait: -1 }] });
    expect(wrong.status).toBe(400);
    expect(wrong.body).toMatchObject({ problems: [{ path: 'steps[0].expct' }, { path: 'steps[1].wait' }] });
    const dut = await post(running, { name: 'x', dut: { command: 'true' }, steps: [{ wait: 1 }] });
    expect(dut.status).toBe(400);
    expect(dut.body).toMatchObject({ problems: [{ path: 'dut' }] });
    expect((await running.rest.send('GET', '/api/v1/runs/7')).status).toBe(404);
    expect((await running.rest.send('DELETE', '/api/v1/runs/7')).status).toBe(404);
  });

  it('refuses integers of YAML that no double holds, with their places', async () => {
    const { rest } = await start();
    for (const [step, path] of [
      ['set: {meter.voltage: 9007199254740993}', 'steps[0].set["meter.voltage"]'],
      ['expect: {write: {meter.voltage: 9007199254740993}}', 'steps[0].expect.write["meter.voltage"]'],
      ['power: {meter: {off: 9007199254740993}}', 'steps[0].power.meter'],
    ]) {
      const answer = await rest.app.inject({
        method: 'POST',
        url: '/api/v1/runs?kind=scenario',
        headers: { host: 'localhost', 'content-type': 'application/yaml' },
        payload: `name: a\nsteps:\n  - ${step}\n`,
      });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toMatchObject({ problems: [{ path, line: 3 }] });
    }
  });

  it('takes a scenario as YAML, and tells mistakes with their lines', async () => {
    const { rest } = await start();
    const send = (payload: string) =>
      rest.app.inject({
        method: 'POST',
        url: '/api/v1/runs?kind=scenario',
        headers: { host: 'localhost', 'content-type': 'application/yaml' },
        payload,
      });
    expect((await send('name: a\nsteps:\n  - wait: 1h\n')).statusCode).toBe(201);
    expect((await send('name: b\nsteps:\n  - wait: soon\n')).json()).toMatchObject({
      problems: [{ path: 'steps[0].wait', line: 3, column: 5 }],
    });
    expect((await send('name: [')).json()).toMatchObject({ problems: [{ line: 1, column: 7 }] });
    expect((await send(`# ${'x'.repeat(20_000)}`)).statusCode).toBe(413);
    expect((await send('')).statusCode).toBe(400);
    const aliases = `a: &a [${'1, '.repeat(100)}]\nb: [${'*a, '.repeat(100)}]`;
    expect((await send(aliases)).json()).toMatchObject({
      problems: [{ message: 'more than 4096 values with aliases expanded' }],
    });
    const long = (what: string) => `a: &a ${what}\nb: [${'*a, '.repeat(2000)}]`;
    for (const text of [long('x'.repeat(8000)), long(`{${'x'.repeat(8000)}: 1}`)])
      expect((await send(text)).json()).toMatchObject({
        problems: [{ message: 'texts of more than 262144 characters with aliases expanded' }],
      });
    expect((await send('a: 1\n'.repeat(31))).json()).toMatchObject({
      problems: { length: 20 },
      omittedProblems: 10,
    });
  });

  it.each(['never', 'expect'])('refuses a step whose `%s` is null or a number', async (key) => {
    const running = await start();
    for (const value of [null, 1, [null]]) {
      const { status } = await post(running, { name: 'x', steps: [{ [key]: value, within: '1s' }] });
      expect(status).toBe(400);
    }
  });

  it('hands out reports as files that can do nothing in a browser', async () => {
    const running = await start();
    await post(running, { name: '<script>', steps: [{ wait: '1h' }] });
    for (const [file, content] of [
      ['report.html', '&lt;script'],
      ['junit.xml', '&lt;script'],
      ['report.json', '"<script>"'],
    ] as const) {
      const { headers, body } = await running.rest.app.inject({
        url: `/api/v1/runs/1/${file}`,
        headers: { host: 'localhost' },
      });
      expect(body).toContain(content);
      expect(headers['content-disposition']).toMatch(/^attachment; filename="scenario-1\.(html|xml|json)"$/);
      expect(headers['content-security-policy']).toContain('sandbox');
    }
  });

  it('counts what is inconclusive as a failure in JUnit where that is wanted', async () => {
    const running = await start();
    await post(running, { name: 'waits', steps: [{ wait: '1h' }] });
    const ask = (url: string, method: 'GET' | 'DELETE' = 'GET') =>
      running.rest.app.inject({ method, url: `/api/v1/runs/1${url}`, headers: { host: 'localhost' } });
    await ask('', 'DELETE');
    await expect.poll(async () => (await ask('/junit.xml')).body).toContain('type="inconclusive"');
    expect((await ask('/junit.xml')).body).not.toContain('<failure');
    expect((await ask('/junit.xml?inconclusive=failure')).body).toContain('<failure');
    expect((await ask('/junit.xml?inconclusive=often')).statusCode).toBe(400);
  });
});
