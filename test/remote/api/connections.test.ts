import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limitConnections } from '../../../src/remote/api/connection-limit.js';
import { RawClient, until } from '../../modbus/transport/socket/raw-client.js';

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');

let server: Server;

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A connection to a server that answers when `release` is called. */
async function connected(descriptors?: number, most = 8) {
  const waiting: ((answer?: string | Uint8Array) => void)[] = [];
  server = createServer((_, response) => waiting.push((answer = 'done') => response.end(answer)));
  limitConnections(server, most, descriptors);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new RawClient((server.address() as AddressInfo).port);
  return { client, waiting, port: (server.address() as AddressInfo).port };
}

test('a connection that would take one of the last 32 descriptors is closed at once', async () => {
  // The sockets of this test have numbers above 8.
  const { client, waiting } = await connected(40);
  client.send(GET);
  await until(() => client.closed, 'it is closed');
  expect(waiting).toHaveLength(0);
});

test('where enough descriptors are left it is served', async () => {
  const { client, waiting } = await connected(100_000);
  client.send(GET);
  await until(() => waiting.length === 1, 'the request has come');
  waiting[0]?.();
  await until(() => client.received.includes('done'), 'it is answered');
});

test('at the limit, a new connection takes the place of the one that has waited longest for a request', async () => {
  const { client, waiting, port } = await connected(100_000, 3);
  client.send(GET);
  await until(() => waiting.length === 1, 'the request has come');
  const slow: RawClient[] = [];
  for (let i = 0; i < 2; i++) {
    const each = new RawClient(port);
    slow.push(each);
    // Half a header, and then nothing.
    each.send(GET.subarray(0, 20));
    await once(server, 'connection');
  }
  const next = new RawClient(port);
  next.send(GET);
  await until(() => waiting.length === 2, 'the new one is served');
  await until(() => slow[0]?.closed === true, 'the first of the slow ones is closed');
  expect([client.closed, slow[1]?.closed]).toEqual([false, false]);
  for (const answer of waiting) answer();
  await until(() => client.received.includes('done') && next.received.includes('done'), 'both are answered');
});

test('where none waits for a request, it takes the place of the one that has not read its answer for longest', async () => {
  const { client, waiting, port } = await connected(100_000, 3);
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket));
  client.send(GET);
  await until(() => waiting.length === 1, 'the request has come');
  for (let i = 0; i < 2; i++) {
    const each = new RawClient(port);
    each.socket.pause();
    each.send(GET);
    await until(() => waiting.length === i + 2, 'the next request has come');
    // More than the system keeps for a client that does not read.
    waiting[i + 1]?.(Buffer.alloc(64 * 1024 * 1024));
  }
  const next = new RawClient(port);
  next.send(GET);
  await until(() => waiting.length === 4, 'the new one is served');
  expect(sockets.map((socket) => socket.destroyed)).toEqual([false, true, false, false]);
  expect(client.closed).toBe(false);
});

test('a request that has just begun keeps its place before a long answer that is under way', async () => {
  const { client, port } = await connected(100_000, 2);
  // The system takes all of it, whether or not its client reads.
  const begin = (response: ServerResponse) => response.write(Buffer.alloc(300 * 1024));
  const answers: ServerResponse[] = [];
  server.on('request', (_, response) => answers.push(response));
  client.send(GET);
  await until(() => answers.length === 1, 'the request has come');
  begin(answers[0] as ServerResponse);
  await until(() => client.received.length > 300 * 1024, 'its answer is under way');
  const half = new RawClient(port);
  half.send(GET.subarray(0, 20));
  await once(server, 'connection');
  const next = new RawClient(port);
  next.send(GET);
  await until(() => client.closed, 'the long answer gives way');
  half.send(GET.subarray(20));
  await until(() => answers.length === 3, 'both of the others are served');
  for (const answer of answers.slice(1)) answer.end('done');
  await until(() => half.received.includes('done') && next.received.includes('done'), 'both are answered');
});

test('where all are busy, a new connection is closed', async () => {
  const { client, waiting, port } = await connected(100_000, 1);
  client.send(GET);
  await until(() => waiting.length === 1, 'the request has come');
  const next = new RawClient(port);
  await until(() => next.closed, 'the new one is closed');
  expect(client.closed).toBe(false);
});
