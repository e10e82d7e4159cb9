import { afterEach, describe, expect, it } from 'vitest';
import { bytesOf } from '../../../modbus/protocol/hex.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { BENCH } from '../../../testing/scenario/read.js';

stopAfterEach();

interface FuzzBody {
  readonly id: number;
  readonly state: string;
  readonly verdict: string;
  readonly conclusions: readonly string[];
  readonly moves: number;
  readonly plays: number;
  readonly schedule?: readonly object[];
  readonly scenario?: string;
  readonly findings: readonly { readonly frames?: readonly object[] }[];
  readonly report?: { readonly findings: readonly { readonly frames: readonly object[] }[] };
  readonly code: string;
}

const start = () => startSimulator(nativeSetup(BENCH));
const post = ({ rest }: RunningSimulator, order: object) =>
  rest.send<FuzzBody>('POST', '/api/v1/runs', { kind: 'fuzz', ...order });
const get = async ({ rest }: RunningSimulator, id: number, query = '?report=false') =>
  (await rest.send<FuzzBody>('GET', `/api/v1/runs/${id}${query}`)).body;
const file = ({ rest }: RunningSimulator, id: number, name: string) =>
  rest.app.inject({ url: `/api/v1/runs/${id}/${name}`, headers: { host: 'localhost' } });

const PERIOD_MS = 25;
let polling: NodeJS.Timeout | undefined;
afterEach(() => clearInterval(polling));

const READ = bytesOf('00 01 00 00 00 06 01 03 00 00 00 01');
/** Another protocol than Modbus, which is no request. */
const NO_REQUEST = bytesOf('00 01 00 07 00 06 01 03 00 00 00 01');
/** Unit 1, and the function of an exception: in no other reply. */
const EXCEPTION = Buffer.of(1, 0x83);

/** A client that polls, and that answers exceptions with bytes that are no request if it is `clumsy`. */
function poll(running: RunningSimulator, clumsy = false): void {
  const client = running.client();
  let read = 0;
  polling = setInterval(() => {
    const got = client.received;
    const isException = got.includes(EXCEPTION, read);
    read = got.length;
    client.send(clumsy && isException ? NO_REQUEST : READ);
  }, PERIOD_MS);
}

const REPLAY = [
  { after: 0, requests: 2, does: { fault: { when: { line: 'bus' }, do: [{ exception: 4 }] } } },
];

const move = (does: object) => ({ after: 0, requests: 1, does });

const isOver = (running: RunningSimulator, id: number) =>
  expect.poll(async () => (await get(running, id)).state).toBe('over');
const hasPlayed = (running: RunningSimulator, id: number) =>
  expect.poll(async () => (await get(running, id)).plays).toBeGreaterThan(0);

describe('/api/v1/runs of the kind fuzz', () => {
  it('plays moves until it is stopped, and tells how far it has come, on the line too', async () => {
    const running = await start();
    poll(running);
    const about = { client: 'a gateway' };
    const { status, body } = await post(running, { line: 'bus', moves: 500, seed: 7, about });
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: 1, state: 'running', line: 'bus', seed: 7, moves: 0, findings: [] });
    expect(body).not.toHaveProperty('schedule');
    const none = await file(running, 1, 'scenario.yaml');
    expect(none.statusCode).toBe(404);
    expect(none.json()).toMatchObject({ code: 'run.no_failure' });
    await hasPlayed(running, 1);
    expect((await running.rest.send('DELETE', '/api/v1/runs/1')).status).toBe(204);
    await isOver(running, 1);
    const { body: list } = await running.rest.send('GET', '/api/v1/runs?kind=fuzz');
    expect(list).toMatchObject({
      runs: [{ id: 1, line: 'bus', state: 'over', stopped: true, verdict: 'inconclusive' }],
    });
    expect((await file(running, 1, 'junit.xml')).body).toContain('tests="1"');
    expect((await file(running, 1, 'report.html')).body).toContain('a gateway');
    const { body: traffic } = await running.rest.send<{ events: { text: string }[] }>(
      'GET',
      '/api/v1/traffic?kind=test',
    );
    const texts = traffic.events.map(({ text }) => text);
    expect(texts[0]).toBe('test 1 began: the client on line bus, fuzzed');
    expect(texts.at(-1)).toMatch(/^test 1 is over: the client on line bus, fuzzed: /);
  });

  it('plays given moves again, and hands out what shows that the client fails', async () => {
    const running = await start();
    poll(running, true);
    await post(running, { line: 'bus', replay: REPLAY });
    await isOver(running, 1);
    const over = await get(running, 1, '');
    expect(over).toMatchObject({ verdict: 'fail', schedule: REPLAY, plays: 2 });
    expect(over.conclusions[0]).toContain('sent bytes that are not a request');
    expect(over.report?.findings[0]?.frames.length).toBeGreaterThan(0);
    const scenario = await file(running, 1, 'scenario.yaml');
    expect(scenario.headers['content-type']).toContain('application/yaml');
    expect(scenario.body).toContain('fault: {when: {line: bus}, do: [{exception: 4}]}');
    const json = (await file(running, 1, 'report.json')).json<FuzzBody>();
    expect(json).toMatchObject({ verdict: 'fail', schedule: REPLAY, scenario: scenario.body });
    expect(json.findings[0]?.frames?.length).toBeGreaterThan(0);
    const page = (await file(running, 1, 'report.html')).body;
    expect(page).toMatch(/"scenario":"# The client sent bytes that are not a request.*exception: 4/);
    expect((await file(running, 1, 'junit.xml')).body).toMatch(/failures="1".*<failure/s);
  });

  it('has one line for one run, and takes the end of a program for a failure of its moves', async () => {
    const running = await start();
    poll(running);
    await post(running, { line: 'bus', replay: REPLAY.map((move) => ({ ...move, requests: 1000 })) });
    const busy = await running.rest.send<{ error: string }>('POST', '/api/v1/runs', {
      kind: 'client',
      line: 'bus',
    });
    expect(busy.status).toBe(409);
    expect(busy.body.error).toContain('run 1 is using line bus');
    await hasPlayed(running, 1);
    const ended = '/api/v1/runs/1?failure=it%20was%20killed';
    expect((await running.rest.send('DELETE', ended)).status).toBe(204);
    await isOver(running, 1);
    const over = await get(running, 1);
    expect(over.findings).toMatchObject([{ title: 'The client crashed: it was killed' }]);
    expect((await post(running, { line: 'bus', limit: '1m' })).body.id).toBe(2);
    expect((await running.rest.send('DELETE', '/api/v1/runs/2')).status).toBe(204);
    await isOver(running, 2);
    expect(await get(running, 2)).toMatchObject({ verdict: 'inconclusive', findings: [] });
  });

  it.each([
    ['line', { line: 'bsu' }],
    ['line', {}],
    ['unit', { line: 'bus', unit: 99 }],
    ['limit', { line: 'bus', limit: 'soon' }],
    ['moves', { line: 'bus', moves: 0 }],
    ['nonsense', { line: 'bus', nonsense: 1 }],
    ['observer.command', { line: 'bus', observer: { command: 'cat value' } }],
    ['observer.register', { line: 'bus', observer: { register: 'nobody.value' } }],
    ['replay[0].after', { line: 'bus', replay: [{ requests: 1, does: {} }] }],
    ['replay[1].does.power.nobody', { line: 'bus', replay: [...REPLAY, move({ power: { nobody: 'off' } })] }],
    ['replay[0].does.fault.do[0].delai', { line: 'bus', replay: [move({ fault: { do: [{ delai: 1 }] } })] }],
    ['replay[0].does.shout', { line: 'bus', replay: [move({ shout: true })] }],
  ])('names a mistake in %s', async (path, order) => {
    const { status, body } = await post(await start(), order);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'run.invalid', problems: [{ path }] });
  });

  it('knows no other numbers', async () => {
    const running = await start();
    for (const name of ['', '/scenario.yaml', '/report.json']) {
      const { status, body } = await running.rest.send<FuzzBody>('GET', `/api/v1/runs/7${name}`);
      expect([status, body.code]).toEqual([404, 'run.unknown']);
    }
    expect((await running.rest.send('DELETE', '/api/v1/runs/7')).status).toBe(404);
  });
});
