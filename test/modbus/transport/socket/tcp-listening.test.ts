import { networkInterfaces } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { SocketLine } from '../../../../src/modbus/transport/socket/socket-line.js';
import { delayed, HoldingRegisters, readRequest } from './holding-registers.js';
import { openLine, type TestLine } from './line.js';
import { RawClient, until } from './raw-client.js';
import { socketSettings } from './socket-settings.js';

const open: TestLine[] = [];

afterEach(async () => {
  for (const line of open.splice(0)) await line.close();
});

async function opened(...settings: Parameters<typeof openLine>): Promise<TestLine> {
  const line = await openLine(...settings);
  open.push(line);
  return line;
}

async function errorOf(host: string, port: number): Promise<string> {
  const line = new SocketLine(socketSettings('tcp', { host, port }), SOCKET, new HoldingRegisters());
  const started = await line.start();
  if (started.ok) await line.stop();
  return started.ok ? 'no error' : started.error;
}

test('the state of a line follows it: stopped, open at its real port, failed with the reason', async () => {
  const device = new HoldingRegisters();
  const line = new SocketLine(socketSettings('tcp'), SOCKET, device);
  expect(line.state).toEqual({ kind: 'stopped' });
  const started = await line.start();
  const endpoint = started.ok ? started.endpoint : '';
  expect(endpoint).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
  const port = Number(endpoint.split(':')[1]);
  expect(started).toEqual({ ok: true, endpoint, port });
  expect(line.state).toEqual({ kind: 'open', endpoint, port });
  expect(device.events).toEqual([{ kind: 'open', endpoint, notes: [] }]);
  const second = new SocketLine(socketSettings('tcp', { port }), SOCKET, device);
  const refused = await second.start();
  expect(second.state).toEqual({ kind: 'failed', reason: refused.ok ? '' : refused.error });
  await second.stop();
  await line.stop();
  expect([line.state.kind, second.state.kind]).toEqual(['stopped', 'stopped']);
});

test('stop closes every connection at once, a waiting reply and a client that does not read included', async () => {
  const { line, device, port } = await opened();
  device.fault = (plan) => delayed(plan, 60_000);
  const clients = Array.from({ length: 10 }, () => new RawClient(port));
  for (const client of clients) client.send(readRequest(1, 0));
  await until(() => device.requests.length === 10, 'all have asked');
  await line.stop();
  expect(line.clients).toBe(0);
  expect(device.reports.map(({ report }) => report.ended)).toEqual(Array(10).fill('disconnected'));
  expect(device.events.filter(({ kind }) => kind === 'client-gone')).toHaveLength(10);
  await until(() => clients.every(({ closed }) => closed), 'the clients see it');
  await line.stop();
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);
if (!hasIpv6) console.warn('IPv6 is not tested: this machine has no address ::1');

test.skipIf(!hasIpv6)('serves IPv6 clients and names them', async () => {
  const { device, client: connect, port } = await opened({ host: '::1' });
  const client = connect();
  client.send(readRequest(1, 0));
  expect(await client.responsesOf(1)).toHaveLength(1);
  expect(device.requests[0]?.client).toBe(`[::1]:${client.socket.localPort}`);
  expect(await errorOf('::1', port)).toContain(`[::1]:${port}: another program`);
});

test.skipIf(!hasIpv6)('on :: serves both families and names IPv4 clients without a prefix', async () => {
  const { device, port } = await opened({ host: '::' });
  for (const host of ['127.0.0.1', '::1']) {
    const client = new RawClient(port, host);
    client.send(readRequest(1, 0));
    expect(await client.responsesOf(1)).toHaveLength(1);
    await client.end();
  }
  expect(device.requests[0]?.client).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(device.requests[1]?.client).toMatch(/^\[::1\]:\d+$/);
});
