import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Handshakes } from '../../src/api/handshakes.js';
import { Certificates } from '../transport/socket/certificates.js';
import { RawClient, until } from '../transport/socket/raw-client.js';
import { TlsClient } from '../transport/socket/tls-client.js';

let certificates: Certificates;
beforeAll(() => {
  certificates = new Certificates();
});
afterAll(() => certificates.remove());

let server: Server;
let handshakes: Handshakes;
afterEach(async () => {
  handshakes.end();
  await new Promise((resolve) => server.close(resolve));
});

/** A server, its port, and the turns that its handshakes wait for. */
async function listening(timeoutMs: number) {
  const { cert, key } = certificates.ca;
  server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) =>
    response.end('done'),
  );
  const waiting: (() => void)[] = [];
  handshakes = new Handshakes(server, { take: (work) => void waiting.push(work) }, timeoutMs);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port, waiting };
}

const SECONDS = 60_000;

test('each handshake waits for a turn of its own', async () => {
  const { port, waiting } = await listening(SECONDS);
  const clients = [1, 2].map(() => new TlsClient(port, { ca: certificates.ca }));
  await until(() => waiting.length === 2, 'both have begun');
  waiting.shift()?.();
  await until(() => clients.some(({ server }) => server === 'ca'), 'one has the certificate of the server');
  expect(clients.filter(({ server }) => server !== undefined)).toHaveLength(1);
  waiting.shift()?.();
  await until(() => clients.every(({ server }) => server === 'ca'), 'the other has it, too');
  for (const client of clients) client.send(Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  await until(() => clients.every(({ received }) => received.includes('done')), 'both are answered');
  for (const client of clients) await client.end();
});

test('a client that begins no handshake takes no turn, and is closed after a time', async () => {
  const { port, waiting } = await listening(30);
  const client = new RawClient(port);
  await until(() => client.closed, 'it is closed');
  expect(waiting).toHaveLength(0);
});

test('a client that leaves before its turn harms nobody', async () => {
  const { port, waiting } = await listening(SECONDS);
  const client = new TlsClient(port, { ca: certificates.ca });
  await until(() => waiting.length === 1, 'it has begun');
  await client.end();
  const other = new RawClient(port);
  await until(() => other.connected, 'another one is connected');
  waiting.shift()?.();
  await other.end();
});

test('at the end all are closed, whatever they do, and no more are taken', async () => {
  const { port, waiting } = await listening(SECONDS);
  const silent = new RawClient(port);
  const begun = new TlsClient(port, { ca: certificates.ca });
  await until(() => silent.connected && waiting.length === 1, 'one is silent, and one has begun');
  handshakes.end();
  await until(() => silent.closed && begun.closed, 'both are closed');
  const late = new RawClient(port);
  await until(() => late.closed, 'one that comes late is closed, too');
});
