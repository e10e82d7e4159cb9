import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { AT_DESK } from '../../../src/extensions/at-desk.js';
import { buildApp } from '../../../src/remote/api/app.js';
import { newDesk } from '../../../src/remote/api/desk.js';
import { DeskEnd } from '../../../src/remote/rpc/desk-end.js';
import { type DeskMessage, LineEnd, type LineMessage } from '../../../src/remote/rpc/line-end.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { newTestContext } from '../../../src/testing/commands.js';
import { until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';

const SILENT = pino({ level: 'silent' });

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The REST interface in front of both ends of a door, and the lists that are kept on the side of the lines. */
async function served() {
  const holding = [{ address: 0, quantity: 8192, value: 1 }];
  const many = Array.from({ length: 300 }, (_, i) => [
    `d${i}`,
    { registers: { holding: [{ address: 0, name: 'a', value: i }] } },
  ]);
  const configuration = nativeSetup({
    devices: { meter: { registers: { holding } }, ...Object.fromEntries(many) },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
    faults: Array.from({ length: 200 }, (_, i) => ({ name: `r${i}`, do: [{ delay: 1 }] })),
  });
  const room = newTestContext(new Simulator(configuration, SILENT), SILENT);
  const { port1, port2 } = new MessageChannel();
  const lines = new LineEnd(room, port1);
  const kept = new Set<number>();
  let begun = 0;
  port1.on('message', (all: readonly DeskMessage[]) => {
    for (const asked of all) if (asked.kind === 'enough') kept.delete(asked.id);
  });
  const post = port1.postMessage.bind(port1);
  port1.postMessage = (all: readonly LineMessage[]) => {
    for (const { id, ...answered } of all.filter((each) => 'id' in each)) {
      const value = answered.kind === 'answer' && answered.outcome.ok ? answered.outcome.value : answered;
      if (typeof value !== 'object' || value === null || !('isLast' in value)) continue;
      begun++;
      if (value.isLast) kept.delete(id);
      else kept.add(id);
    }
    post(all);
  };
  const desk = new DeskEnd(port2, 1000);
  const now = () => performance.now();
  const atDesk = newDesk(desk, desk.traffic, { writesIn: '/', log: SILENT, now });
  const app = buildApp(
    atDesk,
    { host: '127.0.0.1' },
    SILENT,
    AT_DESK.map((begin) => begin(atDesk)),
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { simulator } = room;
  await simulator.start();
  ends.push(async () => {
    await app.close();
    await simulator.stop();
    lines.end();
    port1.close();
  });
  return { desk, kept, lists: () => begun, port: (app.server.address() as AddressInfo).port };
}

const LISTS = [
  '/api/v1/devices/meter/registers?table=holding&from=0&to=8191',
  '/api/v1/devices',
  '/api/v1/faults',
  '/api/v1/lines',
  '/api/v1/configuration',
  '/metrics',
];

/** When a client leaves that has asked. `written` resolves when the system has its request. */
const LEAVING: Readonly<Record<string, (socket: Socket, written: Promise<unknown>) => Promise<unknown>>> = {
  'at once': (_, written) => written,
  'before the answer begins': () => delay(1),
  'at the first bytes': (socket) => once(socket, 'data'),
  'without having read anything': (socket) => {
    socket.pause();
    return delay(30);
  },
};

/** Asks, and leaves; after 200 ms in any case, because some answers take longer to begin. */
async function left(port: number, path: string, leave: (typeof LEAVING)[string]): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const written = new Promise((resolve) => socket.write(request(path), resolve));
  await Promise.race([leave(socket, written), delay(200)]);
  socket.destroy();
}

function request(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

test.each(Object.entries(LEAVING))('a client that leaves %s leaves no list behind', async (_, leave) => {
  const { desk, kept, lists, port } = await served();
  for (let i = 0; i < 12; i++) for (const path of LISTS) await left(port, path, leave);
  await until(() => lists() > 0, 'some were begun');
  await until(() => kept.size === 0, 'all are ended');
  await desk.call('program.ping', undefined);
  expect(kept.size).toBe(0);
});

/** What only some clients may read at a time, and how a program asks for one that is short. */
const PLACES = [
  ['/api/v1/runs/1/report.html', 200],
  ['/api/v1/events', 200],
  ['/api/v1/capture.pcapng', 200],
  ['/api/v1/exchanges?wait=20s', 200],
  // The traffic is empty.
  ['/api/v1/learned.yaml', 409],
] as const;

test.each(PLACES)('30 clients that leave %s take no place from the next one', async (path, status) => {
  const { port } = await served();
  const url = `http://127.0.0.1:${port}`;
  const body = JSON.stringify({ name: 'short', line: 'lan', steps: [{ wait: 1 }] });
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url}/api/v1/runs?kind=scenario`, { method: 'POST', headers, body })).status).toBe(
    201,
  );
  for (const leave of Object.values(LEAVING))
    await Promise.all(Array.from({ length: 30 }, () => left(port, path, leave)));
  const asked = new AbortController();
  const ask = async () => (await fetch(url + path.replace('20s', '1ms'), asked)).status;
  // Sooner than a wait of 20 s is over.
  await expect.poll(ask, { timeout: 15_000 }).toBe(status);
  asked.abort();
});
