import { networkInterfaces } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { SocketLine } from '../../../../src/modbus/transport/socket/socket-line.js';
import { until } from './raw-client.js';
import { socketSettings } from './socket-settings.js';
import { Device, delayed, openUdpLine, Peer, readRequest, type TestUdpLine } from './udp-peers.js';

const open: TestUdpLine[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((line) => line.close()));
});

async function opened(...settings: Parameters<typeof openUdpLine>): Promise<TestUdpLine> {
  const line = await openUdpLine(...settings);
  open.push(line);
  return line;
}

function lineAt(host: string, port: number): SocketLine {
  return new SocketLine(socketSettings('udp', { host, port }), SOCKET, new Device(SOCKET));
}

async function errorOf(host: string, port: number): Promise<string> {
  const line = lineAt(host, port);
  const started = await line.start();
  if (started.ok) {
    await line.stop();
    return 'no error';
  }
  if (Number.isInteger(port) && port >= 0 && port <= 65535) {
    expect(line.state).toEqual({ kind: 'failed', reason: started.error });
  }
  return started.error;
}

test('an open line says where it is', async () => {
  const { line, device, port } = await opened();
  expect(line.state).toEqual({ kind: 'open', endpoint: `127.0.0.1:${port}`, port });
  expect(device.events).toEqual([{ kind: 'open', endpoint: `127.0.0.1:${port}`, notes: [] }]);
  expect(line.clients).toBe(0);
});

test('a host name is looked up', async () => {
  const { device, peer, line } = await opened({ host: 'localhost' });
  expect(line.state).toMatchObject({ endpoint: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
  const client = peer();
  await client.send(readRequest(1));
  await client.receivedOf(1);
  expect(device.requests).toHaveLength(1);
});

test('a stopped line can be started again, and goes on counting its clients', async () => {
  const { port } = await opened();
  await open.splice(0)[0]?.close();
  const device = new Device(SOCKET);
  const line = new SocketLine(socketSettings('udp', { port }), SOCKET, device);
  for (const clientId of [1, 2, 3]) {
    expect(await line.start()).toEqual({ ok: true, endpoint: `127.0.0.1:${port}`, port });
    const client = new Peer(port);
    await client.send(readRequest(clientId));
    await client.receivedOf(1);
    await client.close();
    expect(device.requests.at(-1)?.clientId).toBe(clientId);
    await line.stop();
    expect(line.state).toEqual({ kind: 'stopped' });
    expect(line.clients).toBe(0);
  }
  await line.stop();
});

test('stop ends what is pending, and reports it', async () => {
  const { line, device, peer } = await opened();
  device.fault = (plan) => delayed(plan, 60_000);
  const clients = [peer(), peer()];
  for (const client of clients) for (const i of [1, 2]) await client.send(readRequest(i));
  await until(() => device.requests.length === 4, 'all have asked');
  await line.stop();
  expect(device.reports).toHaveLength(4);
  for (const { report } of device.reports) {
    expect(report).toMatchObject({
      steps: [{ outcome: 'not achieved', reason: 'the line was stopped' }],
      ended: 'disconnected',
    });
  }
  expect(device.count('client-gone')).toBe(2);
  expect(device.events.at(-1)).toMatchObject({ kind: 'client-gone', text: 'the line was stopped' });
  await line.stop();
});

test('a reply sent just before stop is reported before stop is done', async () => {
  const { line, device, peer } = await opened();
  let stopping: Promise<void> | undefined;
  device.fault = (plan) => {
    // After the reply was sent, before Node has told so.
    process.nextTick(() => {
      stopping = line.stop();
    });
    return plan;
  };
  const client = peer();
  await client.send(readRequest(1));
  await client.receivedOf(1);
  await until(() => stopping !== undefined, 'stopping');
  await stopping;
  expect(device.reports).toMatchObject([{ report: { steps: [{ outcome: 'achieved' }], ended: 'complete' } }]);
});

test('a request in which the line is stopped is not answered, and reported', async () => {
  const { line, device, peer } = await opened();
  let stopping: Promise<void> | undefined;
  device.fault = (plan) => {
    stopping = line.stop();
    return plan;
  };
  await peer().send(readRequest(1));
  await until(() => stopping !== undefined, 'stopping');
  await stopping;
  expect(device.reports).toMatchObject([
    {
      report: {
        steps: [{ outcome: 'not achieved', reason: 'the line was stopped' }],
        ended: 'disconnected',
      },
    },
  ]);
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);
if (!hasIpv6) console.warn('IPv6 is not tested: this machine has no address ::1');

test.skipIf(!hasIpv6)('serves IPv6 clients and names them', async () => {
  const { device, peer, line, port } = await opened({ host: '::1' });
  expect(line.state).toEqual({ kind: 'open', endpoint: `[::1]:${port}`, port });
  const client = peer('::1');
  await client.send(readRequest(1));
  await client.receivedOf(1);
  expect(device.requests[0]?.client).toBe(`[::1]:${client.socket.address().port}`);
  expect(await errorOf('::1', port)).toContain(`[::1]:${port}: another program`);
});

test.skipIf(!hasIpv6)('on :: serves both families and names IPv4 clients without a prefix', async () => {
  const { device, peer } = await opened({ host: '::' });
  for (const host of ['127.0.0.1', '::1']) {
    const client = peer(host);
    await client.send(readRequest(1));
    await client.receivedOf(1);
  }
  expect(device.requests[0]?.client).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(device.requests[1]?.client).toMatch(/^\[::1\]:\d+$/);
});
