import { afterEach, describe, expect, it } from 'vitest';
import { CHECKS } from '../../../../src/testing/checks.js';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { BENCH } from '../../../testing/scenario/read.js';

stopAfterEach();

interface ClientTestBody {
  readonly id: number;
  readonly state: string;
  readonly verdict: string;
  readonly conclusions: readonly string[];
  readonly found: { readonly pollPeriodMs?: number };
  readonly checks: readonly { readonly id: string; readonly verdict: string; readonly summary: string }[];
  readonly report?: { readonly findings: readonly { readonly frames: readonly object[] }[] };
  readonly error: string;
}

const start = () => startSimulator(nativeSetup(BENCH));
const post = ({ rest }: RunningSimulator, order: object) =>
  rest.send<ClientTestBody>('POST', '/api/v1/runs', { kind: 'client', ...order });
const get = async ({ rest }: RunningSimulator, id: number, query = '') =>
  (await rest.send<ClientTestBody>('GET', `/api/v1/runs/${id}${query}`)).body;

const PERIOD_MS = 50;
let polling: NodeJS.Timeout | undefined;
afterEach(() => clearInterval(polling));

const GOOD = '00 01 00 00 00 06 01 03 00 00 00 01';
const NO_SUCH_ADDRESS = '00 02 00 00 00 06 01 03 f0 00 00 01';

/** A client that polls whether or not it gets an answer. */
function poll(running: RunningSimulator, requests = [GOOD]): void {
  const client = running.client();
  polling = setInterval(() => requests.map((each) => client.send(bytesOf(each))), PERIOD_MS);
}

const isOver = (running: RunningSimulator, id: number) =>
  expect.poll(async () => (await get(running, id, '?report=false')).state).toBe('over');

describe('/api/v1/runs of the kind client', () => {
  it('tests the client of a line and tells what it has found', async () => {
    const running = await start();
    poll(running);
    const { status, body } = await post(running, { line: 'bus', checks: ['legal-requests'], seed: 7 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: 1,
      state: 'running',
      line: 'bus',
      seed: 7,
      checks: [],
      conclusions: [],
    });
    await isOver(running, 1);
    const over = await get(running, 1);
    expect(over).toMatchObject({ verdict: 'pass', checks: [{ id: 'legal-requests', verdict: 'pass' }] });
    expect(over.report?.findings[0]?.frames[0]).toMatchObject({ kind: 'request', unit: 1 });
    expect(await get(running, 1, '?report=false')).not.toHaveProperty('report');
    const { body: list } = await running.rest.send('GET', '/api/v1/runs?kind=client');
    expect(list).toMatchObject({ runs: [{ id: 1, line: 'bus', state: 'over' }] });
    const { body: traffic } = await running.rest.send<{ events: { text: string }[] }>(
      'GET',
      '/api/v1/traffic?kind=test',
    );
    expect(traffic.events.map(({ text }) => text)).toEqual([
      'test 1 began: the client on line bus',
      expect.stringMatching(/^test 1 step: 1 Sends only valid requests: pass/),
      'test 1 is over: the client on line bus: pass',
    ]);
  });

  it('says what is wrong with the client, on the first page of the report, too', async () => {
    const running = await start();
    poll(running, [GOOD, NO_SUCH_ADDRESS]);
    await post(running, { line: 'bus', checks: ['legal-requests'] });
    await isOver(running, 1);
    expect((await get(running, 1)).checks).toMatchObject([
      {
        verdict: 'fail',
        conclusion: 'sends invalid requests',
        confidence: { agreeing: 1, trials: 1 },
      },
    ]);
    const { body } = await running.rest.app.inject({
      url: '/api/v1/runs/1/report.html',
      headers: { host: 'localhost' },
    });
    expect(body).toContain('"conclusion":"sends invalid requests"');
  });

  it('has one line for one run, and counts both together', async () => {
    const running = await start();
    await post(running, { line: 'bus' });
    const test = { name: 'one', steps: [{ wait: '60s' }] };
    const busy = await running.rest.send<ClientTestBody>('POST', '/api/v1/runs?kind=scenario', test);
    expect(busy.status).toBe(409);
    expect(busy.body.error).toContain('run 1 is using line bus');
    expect((await running.rest.send('DELETE', '/api/v1/runs/1')).status).toBe(204);
    await isOver(running, 1);
    const stopped = await get(running, 1);
    expect(new Set(stopped.checks.map(({ verdict }) => verdict))).toEqual(new Set(['not run']));
    expect(stopped).toMatchObject({ stopped: true });
    expect(stopped.conclusions[0]).toBe('Stopped early: no verdict.');
    const started = await running.rest.send<ClientTestBody>('POST', '/api/v1/runs?kind=scenario', test);
    expect(started.body.id).toBe(2);
    expect((await post(running, { line: 'bus' })).body.error).toContain('run 2 is using line bus');
  });

  it('refuses while nobody polls, and says what it waited for', async () => {
    const running = await start();
    await post(running, { line: 'bus', limit: 400 });
    await isOver(running, 1);
    const refused = await get(running, 1);
    expect(refused.verdict).toBe('error');
    expect(refused.conclusions[0]).toBe('No client polls line bus: no request came within 100 ms.');
  });

  it.each([
    ['line', { line: 'bsu' }],
    ['line', {}],
    ['checks', { line: 'bus', checks: ['wrong-crk'] }],
    ['checks', { line: 'bus', checks: ['silence-before-requests'] }],
    ['unit', { line: 'bus', unit: 256 }],
    ['limit', { line: 'bus', limit: 'soon' }],
    ['nonsense', { line: 'bus', nonsense: 1 }],
    ['unit', { line: 'bus', unit: 99 }],
    ['observer.command', { line: 'bus', observer: { command: 'cat value' } }],
    ['observer.url', { line: 'bus', observer: { url: 'http://192.168.0.1/' } }],
    ['observer.register', { line: 'bus', observer: { register: 'nobody.value' } }],
  ])('names a mistake in %s', async (path, order) => {
    const { status, body } = await post(await start(), order);
    expect(status).toBe(400);
    expect(body).toMatchObject({ problems: [{ path }] });
  });

  it('refuses a line that is not open with 409, and knows no other numbers', async () => {
    const running = await start();
    await running.simulator.lines.get('bus')?.stop();
    expect((await post(running, { line: 'bus' })).status).toBe(409);
    expect((await running.rest.send('GET', '/api/v1/runs/7')).status).toBe(404);
    expect((await running.rest.send('DELETE', '/api/v1/runs/7')).status).toBe(404);
  });
});

describe('/api/v1/checks', () => {
  it('lists what each check does, or those that fit a line', async () => {
    const { rest } = await start();
    const { body } = await rest.send<{ checks: { id: string; does: string }[] }>('GET', '/api/v1/checks');
    expect(body.checks.map(({ id }) => id)).toEqual(CHECKS.map(({ id }) => id));
    expect(body.checks.every(({ does }) => does.length > 10)).toBe(true);
    const { body: fitting } = await rest.send<{ checks: { id: string }[] }>('GET', '/api/v1/checks?line=bus');
    const ids = fitting.checks.map(({ id }) => id);
    expect(ids).toContain('half-open');
    expect(ids).not.toContain('wrong-crc');
    expect((await rest.send('GET', '/api/v1/checks?line=bsu')).status).toBe(400);
  });
});
