import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limitConnections } from '../../src/api/connections.js';
import { LoopTurns } from '../../src/api/loop-turns.js';
import { RawClient, until } from '../transport/socket/raw-client.js';

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');

let server: Server;

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A connection to a server that answers when `release` is called. */
async function connected(descriptors?: number) {
  const waiting: (() => void)[] = [];
  server = createServer((_, response) => waiting.push(() => response.end('done')));
  limitConnections(server, new LoopTurns(() => 0), 8, descriptors);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new RawClient((server.address() as AddressInfo).port);
  return { client, waiting };
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

test('a request waits until those before it on its connection are answered', async () => {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  server = createServer((request, response) => {
    turnOf(request, () => {
      begun.push(request.url ?? '');
      waiting.push(() => response.end(request.url));
    });
  });
  const turnOf = limitConnections(server, new LoopTurns(() => 0));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new RawClient((server.address() as AddressInfo).port);
  const paths = ['/a', '/b', '/c'];
  client.send(Buffer.from(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')));
  for (let i = 0; i < paths.length; i++) {
    await until(() => begun.length > i, 'the next one is begun');
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(paths.slice(0, i + 1));
    waiting[i]?.();
  }
  await until(() => client.received.includes('/c'), 'all are answered');
});

test('a short body that has come with its header is read in the same turn, and the request behind it is not', async () => {
  const bodies: string[] = [];
  server = createServer((request) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => bodies.push(body));
  });
  const waiting: (() => void)[] = [];
  limitConnections(server, { take: (work) => void waiting.push(work) });
  let begun = 0;
  server.on('request', () => begun++);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new RawClient((server.address() as AddressInfo).port);
  const post = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody';
  client.send(Buffer.concat([Buffer.from(post), GET]));
  await until(() => waiting.length === 1, 'the bytes have come');
  waiting.shift()?.();
  await until(() => bodies.length === 1, 'the body is read');
  expect(bodies).toEqual(['body']);
  expect(begun).toBe(1);
  expect(waiting).toHaveLength(0);
});

test('while a request is being answered, none of those behind it is begun', async () => {
  const { client, waiting } = await connected();
  const count = 500;
  client.send(Buffer.concat(Array.from({ length: count }, () => GET)));
  await until(() => waiting.length > 0, 'the first requests have come');
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(waiting).toHaveLength(1);
  for (let answered = 0; answered < count; answered++) {
    await until(() => waiting.length > answered, 'the next one is begun');
    waiting[answered]?.();
  }
  await until(() => client.received.toString().split('done').length > count, 'all are answered');
});

test('clients that make no progress are cut one after another, each in a turn of its own', async () => {
  server = createServer();
  server.setTimeout(20);
  const waiting: (() => void)[] = [];
  limitConnections(server, { take: (work) => void waiting.push(work) });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const clients = [1, 2].map(() => new RawClient((server.address() as AddressInfo).port));
  await until(() => waiting.length === 2, 'both are to be cut');
  waiting.shift()?.();
  await until(() => clients.some(({ closed }) => closed), 'one is closed');
  expect(clients.filter(({ closed }) => closed)).toHaveLength(1);
  waiting.shift()?.();
  await until(() => clients.every(({ closed }) => closed), 'the other is closed, too');
});

test('what a closed connection had sent is passed to no parser, as Node gives its parser to another connection', async () => {
  let requests = 0;
  server = createServer(() => requests++);
  const waiting: (() => void)[] = [];
  limitConnections(server, { take: (work) => void waiting.push(work) });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const first = new RawClient((server.address() as AddressInfo).port);
  const [socket] = (await once(server, 'connection')) as [Socket];
  first.send(GET);
  await until(() => waiting.length === 1, 'the bytes have come');
  socket.destroy();
  await until(() => first.closed, 'the connection is closed');
  const second = new RawClient((server.address() as AddressInfo).port);
  await until(() => second.connected, 'another one is open');
  waiting.shift()?.();
  expect(requests).toBe(0);
  second.send(GET);
  await until(() => waiting.length === 1, 'its bytes have come');
  waiting.shift()?.();
  expect(requests).toBe(1);
});
