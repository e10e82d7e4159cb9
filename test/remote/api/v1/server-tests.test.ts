import { expect, it } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import type { Rest } from '../rest.js';

/* Servers that a running simulator tests, over REST. The server is a line of another simulator. */

stopAfterEach();

const METER = {
  registers: { holding: [{ address: 0, value: [1, 2, 3, 4] }] },
  identity: { vendorName: 'Acme' },
};

const newServer = () =>
  startSimulator(
    nativeSetup({
      devices: { meter: METER },
      lines: { lan: { tcp: { port: 0 }, units: { 5: 'meter' } } },
    }),
  );

/** A bench that may test a server: the device `meter` is that server. */
async function newBench(server: RunningSimulator) {
  const real = { tcp: { host: '127.0.0.1', port: server.port('lan') }, unit: 5 };
  const running = await startSimulator(
    nativeSetup({
      devices: { meter: { real }, plain: METER },
      lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter', 2: 'plain' } } },
      api: { mayReach: ['plc.lan'] },
    }),
  );
  return running.rest;
}

interface ServerTestBody {
  readonly state: string;
  readonly verdict: string;
  readonly checks: readonly { readonly id: string; readonly verdict: string }[];
  readonly report: {
    readonly findings: readonly { readonly id: string; readonly frames: readonly object[] }[];
  };
}

const post = (rest: Rest, order: object) =>
  rest.send<object>('POST', '/api/v1/runs', { kind: 'server', ...order });
const get = async (rest: Rest, id: number, query = '') =>
  (await rest.send<ServerTestBody>('GET', `/api/v1/runs/${id}${query}`)).body;
const isOver = (rest: Rest, id: number) =>
  expect.poll(async () => (await get(rest, id, '?report=false')).state, { timeout: 60_000 }).toBe('over');

it('tests the real device behind one of the bench, and tells what it is like', async () => {
  const rest = await newBench(await newServer());
  const order = { device: 'meter', checks: ['identification'], pause: 0, idle: 0, seed: 1 };
  const { status, body } = await post(rest, order);
  expect({ status, body }).toMatchObject({ status: 201, body: { id: 1, state: 'running', seed: 1 } });
  await isOver(rest, 1);
  const over = await get(rest, 1);
  expect(over).toMatchObject({ kind: 'server', verdict: 'conforms', server: { unit: 5 } });
  expect(over.checks.find(({ id }) => id === 'fc43-basic')).toMatchObject({ verdict: 'conforms' });
  const finding = over.report.findings.find(({ id }) => id === 'fc43-basic');
  expect(finding?.frames[0]).toMatchObject({ kind: 'request', bytes: expect.stringMatching(/05 2b 0e/) });
  const { body: list } = await rest.send('GET', '/api/v1/runs?kind=server');
  expect(list).toMatchObject({ runs: [{ id: 1, state: 'over' }] });
});

it('has its report as a page, as JUnit XML and as JSON', async () => {
  const rest = await newBench(await newServer());
  await post(rest, { device: 'meter', checks: ['there'], pause: 0, idle: 0 });
  await isOver(rest, 1);
  const file = async (name: string) =>
    (await rest.app.inject({ url: `/api/v1/runs/1/${name}`, headers: { host: 'localhost' } })).body;
  expect(await file('report.html')).toContain('"line":"unit 5 · TCP 127.0.0.1');
  expect(await file('junit.xml')).toContain('<testsuite name=');
  const json = JSON.parse(await file('report.json')) as { checks: { exchanges: object[] }[] };
  expect(json.checks.some(({ exchanges }) => exchanges.length > 0)).toBe(true);
});

it('asks a server once at a time, and stops when it is told to', async () => {
  const rest = await newBench(await newServer());
  await post(rest, { device: 'meter', soak: '1h', checks: ['endurance'] });
  expect(await post(rest, { device: 'meter' })).toMatchObject({
    status: 409,
    body: { code: 'server.under_test' },
  });
  expect((await rest.send('DELETE', '/api/v1/runs/1')).status).toBe(204);
  await isOver(rest, 1);
  const { body } = await rest.send<object>('GET', '/api/v1/runs/1');
  expect(body).toMatchObject({ stopped: true, verdict: 'inconclusive', lost: [] });
  expect((await rest.send('GET', '/api/v1/runs/7')).status).toBe(404);
});

it.each([
  [400, '', {}],
  [400, 'device', { device: 'metre' }],
  [400, 'device', { device: 'plain' }],
  [400, 'checks', { device: 'meter', checks: ['nonsense'] }],
  [400, 'scratch.holding', { device: 'meter', scratch: { holding: { first: 9, last: 8 } } }],
  [400, 'map', { device: 'meter', map: 'metre' }],
  [400, 'claims.functions[0]', { device: 'meter', claims: { functions: [0] } }],
  [400, 'pause', { device: 'meter', pause: 'soon' }],
  [403, 'real.tcp.host', { real: { tcp: { host: 'intranet' } } }],
  [400, 'real.serial.path', { real: { serial: { path: '/dev/tty' } } }],
])('refuses with %i a mistake in %s', async (status, path, order) => {
  const rest = await newBench(await newServer());
  expect(await post(rest, order)).toMatchObject({ status, body: { problems: [{ path }] } });
});

it('takes a device of the bench as the map, and what a maker claims', async () => {
  const rest = await newBench(await newServer());
  const order = { device: 'meter', checks: ['map', 'claims'], pause: 0, idle: 0, seed: 1 };
  await post(rest, { ...order, map: 'plain', claims: { functions: [3, 4], exceptions: [1] } });
  await isOver(rest, 1);
  const { checks } = await get(rest, 1);
  const verdictOf = (id: string) => checks.find((check) => check.id === id)?.verdict;
  expect(['map-values', 'claim-functions', 'claim-exceptions', 'claim-registers'].map(verdictOf)).toEqual([
    'conforms',
    'conforms',
    'violates',
    'not-run',
  ]);
});
