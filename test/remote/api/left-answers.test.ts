import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
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
  const app = buildApp(
    newDesk(desk, desk.traffic, { writesIn: '/', log: SILENT, now }),
    { host: '127.0.0.1' },
    SILENT,
  );
  await app.listen({ host: '127.0.0.1', port: 0 });
  ends.push(async () => {
    await app.close();
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

const LEAVING = {
  'at once': async (port: number, path: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await new Promise<void>((resolve) => socket.write(request(path), () => resolve()));
    return socket;
  },
  'before the answer begins': async (port: number, path: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(request(path));
    await new Promise((resolve) => setTimeout(resolve, 1));
    return socket;
  },
  'at the first bytes': async (port: number, path: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(request(path));
    await once(socket, 'data');
    return socket;
  },
  'without having read anything': async (port: number, path: string) => {
    const socket = connect(port, '127.0.0.1')
      .on('error', () => {})
      .pause();
    socket.write(request(path));
    await new Promise((resolve) => setTimeout(resolve, 30));
    return socket;
  },
};

function request(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

test.each(Object.entries(LEAVING))('a client that leaves %s leaves no list behind', async (_, leave) => {
  const { desk, kept, lists, port } = await served();
  for (let i = 0; i < 12; i++) for (const path of LISTS) (await leave(port, path)).destroy();
  await until(() => lists() > 0, 'some were begun');
  await until(() => kept.size === 0, 'all are ended');
  await desk.call('program.ping', undefined);
  expect(kept.size).toBe(0);
});
