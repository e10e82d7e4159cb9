import { describe, expect, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const TOKEN = '6b6e0c2f9ad94b7c8d3f1d5ab7e4f210';
const CONSOLE = 'https://bench.example.org';
const OTHER = 'https://other.example.org';

const rest = new Rest(SETUP, { host: '127.0.0.1', token: TOKEN, origins: [CONSOLE] });

async function answer(
  method: 'GET' | 'OPTIONS' | 'PUT',
  headers: Readonly<Record<string, string>>,
  url = '/api/v1/lines',
) {
  const response = await rest.app.inject({ method, url, headers: { host: 'localhost', ...headers } });
  return { status: response.statusCode, headers: response.headers, body: response.body };
}

describe('a page of a site in api.origins', () => {
  test('may read the answers, errors too', async () => {
    const authorization = `Bearer ${TOKEN}`;
    for (const [more, status] of [
      [{ authorization }, 200],
      [{}, 401],
    ] as const) {
      const { headers, ...got } = await answer('GET', { origin: CONSOLE, ...more });
      expect(got.status).toBe(status);
      expect(headers).toMatchObject({ 'access-control-allow-origin': CONSOLE, vary: 'Origin' });
    }
  });

  test('still needs a token, and sends no cookies', async () => {
    const { status, headers } = await answer('GET', { origin: CONSOLE });
    expect(status).toBe(401);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('can not use the session of a browser, which sends the cookie where only the port differs', async () => {
    const login = { method: 'POST', url: '/api/v1/session', payload: { token: TOKEN } } as const;
    const { headers } = await rest.app.inject({ ...login, headers: { host: 'localhost' } });
    const cookie = String(headers['set-cookie']).split(';')[0] as string;
    expect((await answer('GET', { cookie })).status).toBe(200);
    expect((await answer('GET', { cookie, origin: 'http://localhost' })).status).toBe(200);
    expect((await answer('GET', { cookie, origin: CONSOLE })).status).toBe(401);
  });

  test('may ask beforehand, which needs no token, whatever the path', async () => {
    for (const url of ['/api/v1/lines/lan', '/restapi/calls', '/nonsense']) {
      const preflight = { origin: CONSOLE, 'access-control-request-method': 'PUT' };
      const { status, headers, body } = await answer('OPTIONS', preflight, url);
      expect(status).toBe(204);
      expect(body).toBe('');
      expect(headers).toMatchObject({
        'access-control-allow-origin': CONSOLE,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': 'Authorization, Content-Type',
      });
    }
  });

  test('an OPTIONS that is no such question is a method like any other', async () => {
    expect((await answer('OPTIONS', { origin: CONSOLE })).status).toBe(401);
    const authorization = `Bearer ${TOKEN}`;
    expect((await answer('OPTIONS', { origin: CONSOLE, authorization })).status).toBe(405);
  });
});

describe('a page of another site', () => {
  test.each([OTHER, 'http://bench.example.org', `${CONSOLE}:8443`, `${CONSOLE}.example.net`, 'null'])(
    '%s is refused, with its name and the setting that would let it in',
    async (origin) => {
      const { status, headers, body } = await answer('GET', { origin, authorization: `Bearer ${TOKEN}` });
      expect(status).toBe(403);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(JSON.parse(body).detail).toBe(
        `Origin: pages of "${origin}" are refused; list the site in api.origins to allow it`,
      );
    },
  );

  test('is refused when it asks beforehand', async () => {
    const preflight = { origin: OTHER, 'access-control-request-method': 'PUT' };
    const { status, headers } = await answer('OPTIONS', preflight);
    expect(status).toBe(403);
    expect(headers).not.toHaveProperty('access-control-allow-methods');
  });

  test('is named shortly and without bytes that a terminal would obey', async () => {
    const { body } = await answer('GET', { origin: `http://${'x'.repeat(5000)}\x9b31m` });
    expect(body.length).toBeLessThan(1000);
    expect(body).not.toContain('\x9b');
  });
});

test('without api.origins no site but this one is let in, and caches are told nothing of origins', async () => {
  const closed = new Rest(SETUP, { host: '127.0.0.1' });
  const inject = (origin: string) =>
    closed.app.inject({ url: '/healthz', headers: { host: 'localhost:8080', origin } });
  expect((await inject(CONSOLE)).statusCode).toBe(403);
  const own = await inject('http://localhost:8080');
  expect(own.statusCode).toBe(200);
  expect(own.headers).not.toHaveProperty('vary');
});
