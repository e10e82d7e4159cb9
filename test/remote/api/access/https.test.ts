import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Certificates, type Identity } from '../../../modbus/transport/socket/certificates.js';
import { RawClient, until } from '../../../modbus/transport/socket/raw-client.js';
import { TlsClient } from '../../../modbus/transport/socket/tls-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const TOKEN = '6b6e0c2f9ad94b7c8d3f1d5ab7e4f210';

let certificates: Certificates;
let server: Identity;
let rest: Rest;
let port: number;

beforeAll(() => {
  certificates = new Certificates();
  server = certificates.signed('server', { extension: 'subjectAltName=DNS:localhost,IP:127.0.0.1' });
});
afterAll(() => certificates.remove());

beforeEach(async () => {
  const credentials = { cert: readFileSync(server.cert, 'utf8'), key: readFileSync(server.key, 'utf8') };
  rest = new Rest(SETUP, { host: '127.0.0.1', token: TOKEN, maxConnections: 3, credentials });
  await rest.app.listen({ host: '127.0.0.1', port: 0 });
  port = (rest.app.server.address() as AddressInfo).port;
});
afterEach(() => rest.app.close());

interface Got {
  readonly status: number | undefined;
  readonly body: string;
  readonly cookie: string | undefined;
}

/** Asks as a client that trusts the CA and checks the name in the certificate. */
function ask(
  path: string,
  { method = 'GET', body, headers = {} }: { method?: string; body?: string; headers?: object } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, method, ca: readFileSync(certificates.ca.cert) };
    const sent = request({ ...options, agent: false, headers: { ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        resolve({
          status: response.statusCode,
          body: text,
          cookie: response.headers['set-cookie']?.[0],
        });
      });
    });
    sent.on('error', reject).end(body);
  });
}

describe('REST over HTTPS', () => {
  test('answers clients that check its certificate', async () => {
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    expect(await ask('/api/v1/lines')).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await ask('/api/v1/lines', { headers })).toMatchObject({ status: 200 });
  });

  test('gives browsers a cookie that they send over HTTPS only', async () => {
    const origin = `https://127.0.0.1:${port}`;
    const headers = { origin, 'content-type': 'application/json' };
    const body = JSON.stringify({ token: TOKEN });
    const { status, cookie = '' } = await ask('/api/v1/session', { method: 'POST', body, headers });
    expect(status).toBe(200);
    expect(cookie).toMatch(/; Secure$/);
    const [pair = ''] = cookie.split(';');
    expect(await ask('/api/v1/lines', { headers: { cookie: pair } })).toMatchObject({ status: 200 });
  });

  test('takes a page that came by plain HTTP for one of another site', async () => {
    const refused = await ask('/healthz', { headers: { origin: `http://127.0.0.1:${port}` } });
    expect(refused).toMatchObject({ status: 403 });
    expect(await ask('/healthz', { headers: { origin: `https://127.0.0.1:${port}` } })).toMatchObject({
      status: 200,
    });
  });

  test('takes a body that comes in many pieces', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ submit: 'Set', register: 0, value: `${' '.repeat(100_000)}7` });
    expect(await ask('/restapi/registers', { method: 'POST', body, headers })).toMatchObject({ status: 200 });
    expect(
      await ask('/restapi/registers', { method: 'POST', body: `"${'x'.repeat(300_000)}"`, headers }),
    ).toMatchObject({ status: 413 });
  });

  test('answers requests that are sent without waiting in their order', async () => {
    const client = new TlsClient(port, { ca: certificates.ca });
    const head = `HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
    const paths = Array.from({ length: 50 }, (_, i) => `/nowhere/${i}`);
    client.send(Buffer.from(paths.map((path) => `GET ${path} ${head}`).join('')));
    await until(() => client.received.includes('/nowhere/49:'), 'the last one is answered');
    expect(client.received.toString().match(/\/nowhere\/\d+/g)).toEqual(paths);
    await client.end();
  });

  test('closes a connection that speaks plain HTTP', async () => {
    const client = new RawClient(port);
    client.send(Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    await until(() => client.closed, 'it is closed');
    expect(client.received.toString()).not.toContain('status');
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
  });

  test('ends at once, with clients that began no handshake or only a part of it', async () => {
    const silent = new RawClient(port);
    const half = new RawClient(port);
    half.send(Buffer.from([0x16, 3, 1, 2, 0, 1]));
    await until(() => silent.connected && half.connected, 'both are connected');
    await rest.app.close();
    await until(() => silent.closed && half.closed, 'both are closed');
  });

  test('counts connections without a handshake, too: one more ends the one that has waited longest', async () => {
    const silent = Array.from({ length: 3 }, () => new RawClient(port));
    await until(() => silent.every(({ connected }) => connected), 'all are connected');
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    await until(() => silent.some(({ closed }) => closed), 'one is closed');
    expect(silent.filter(({ closed }) => closed)).toHaveLength(1);
    for (const client of silent) await client.end();
  });
});
