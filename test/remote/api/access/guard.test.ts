import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const TOKEN = '6b6e0c2f9ad94b7c8d3f1d5ab7e4f210';

/** Every way in, what it answers when let in. */
const WAYS = [
  ['POST', '/restapi/registers', 200],
  ['POST', '/restapi/calls', 200],
  ['POST', '/restapi/nonsense', 200],
  ['GET', '/restapi/registers', 405],
  ['GET', '/api/v1/faults', 200],
  ['POST', '/api/v1/faults', 400],
  ['POST', '/api/v1/faults/reset', 200],
  ['GET', '/api/v1/exchanges', 200],
  ['GET', '/api/v1/session', 200],
  ['DELETE', '/api/v1/session', 204],
  ['GET', '/metrics/', 404],
  ['OPTIONS', '/healthz', 405],
  ['GET', '/healthz/', 404],
  ['GET', '/nonsense', 404],
] as const;

describe('with a token', () => {
  const rest = new Rest(SETUP, { host: '127.0.0.1', token: TOKEN });

  test.each(WAYS)('%s %s needs it', async (method, url, status) => {
    const payload = method === 'POST' ? {} : undefined;
    const send = async (headers: Record<string, string>) =>
      (await rest.send(method, url, payload, headers)).status;
    expect(await send({})).toBe(401);
    expect(await send({ authorization: `Bearer ${TOKEN}` })).toBe(status);
  });

  test.each([
    ['none', undefined],
    ['nothing', ''],
    ['a wrong one', `Bearer ${TOKEN.slice(0, -1)}1`],
    ['the beginning of it', `Bearer ${TOKEN.slice(0, 31)}`],
    ['it and more', `Bearer ${TOKEN}0`],
    ['it in capitals', `Bearer ${TOKEN.toUpperCase()}`],
    ['it without Bearer', TOKEN],
    ['it as a password', `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`],
    ['a very long one', `Bearer ${'x'.repeat(8000)}`],
    ['no token behind Bearer', 'Bearer '],
    ['bytes beyond ASCII', `Bearer ${TOKEN}\xff\xfe`],
    ['a tab and the token', `Bearer\t${TOKEN}`],
    ['two tokens', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
    ['quotes', `Bearer "${TOKEN}"`],
  ])('%s is refused', async (_, authorization) => {
    const response = await rest.app.inject({
      method: 'POST',
      url: '/restapi/registers',
      headers: { host: 'localhost', ...(authorization !== undefined && { authorization }) },
      payload: { submit: 'Set', register: 0, value: 9 },
    });
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
    expect(response.json()).toEqual({
      result: 'error',
      error: 'Authorization: expected Bearer and a configured token',
    });
  });

  test('the word Bearer may be written in any case', async () => {
    for (const scheme of ['bearer', 'BEARER']) {
      const authorization = `${scheme} ${TOKEN}`;
      expect(await rest.send('GET', '/api/v1/faults', undefined, { authorization })).toMatchObject({
        status: 200,
      });
    }
  });

  test('it is not taken from the address', async () => {
    expect(await rest.send('GET', `/api/v1/faults?token=${TOKEN}&access_token=${TOKEN}`)).toMatchObject({
      status: 401,
    });
  });

  test('what was refused has not been done, and /healthz is free', async () => {
    expect(await rest.send('GET', '/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    const answer = await rest.send<{ register_rows: { value: string }[] }>(
      'POST',
      '/restapi/registers',
      { submit: 'Register' },
      { authorization: `Bearer ${TOKEN}` },
    );
    expect(answer.body.register_rows[0]?.value).toBe('1');
  });
});

describe('an answer of any kind', () => {
  const rest = new Rest(SETUP, { host: '127.0.0.1', token: TOKEN });
  const authorization = `Bearer ${TOKEN}`;

  test.each([
    ['GET', '/healthz', 200, {}],
    ['GET', '/api/v1/lines', 200, { authorization }],
    ['GET', '/api/v1/lines', 401, {}],
    ['GET', '/api/v1/lines', 421, { host: 'example.invalid' }],
    ['GET', '/nonsense', 404, { authorization }],
    ['DELETE', '/healthz', 405, { authorization }],
    ['GET', '/api/v1/%zz', 400, { authorization }],
  ] as const)(
    '%s %s with status %i keeps browsers from doing too much with it',
    async (method, url, status, more) => {
      const { statusCode, headers } = await rest.app.inject({
        method,
        url,
        headers: { host: 'localhost', ...more },
      });
      expect(statusCode).toBe(status);
      expect(headers).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'self';.* frame-ancestors 'none'/),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers).not.toHaveProperty('strict-transport-security');
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );
});

describe('the name that a request is for', () => {
  const rest = new Rest(SETUP, { host: 'plc-bench.local' });
  const status = async (url: string, host: string) =>
    (await rest.send('GET', url, undefined, { host })).status;

  test.each([
    'localhost',
    'LOCALHOST:8080',
    '127.0.0.1',
    '127.0.0.1:8080',
    '192.168.7.20:8080',
    '[::1]:8080',
    'plc-bench.local:8080',
    hostname(),
    `${hostname()}.local:80`,
  ])('%s is one of this machine', async (host) => {
    expect(await status('/api/v1/faults', host)).toBe(200);
  });

  test.each([
    'example.invalid',
    'example.invalid:8080',
    'localhost.example.invalid',
    '127.0.0.1.example.invalid',
    'xlocalhost',
    '[localhost',
    'localhost:8080:9090',
    'localhost@example.invalid',
  ])('%j is not, whatever is asked for', async (host) => {
    for (const url of ['/api/v1/faults', '/healthz', '/nonsense']) expect(await status(url, host)).toBe(421);
  });
});

describe('the page that a request comes from', () => {
  const rest = new Rest(SETUP, { host: '127.0.0.1' });
  const send = (origin: string) =>
    rest.send(
      'POST',
      '/restapi/registers',
      { submit: 'Set', register: 0, value: 9 },
      { host: 'localhost:8080', origin },
    );

  test.each([
    'http://example.invalid',
    'https://localhost:8080.example.invalid',
    'http://localhost:9090',
    'http://localhost',
    'null',
    'file://',
    '',
  ])('one of %j is refused', async (origin) => {
    expect((await send(origin)).status).toBe(403);
    expect(await rest.values(0)).toEqual(['1']);
  });

  test('one of this server itself is not', async () => {
    expect((await send('http://localhost:8080')).status).toBe(200);
    expect((await send('https://localhost:8080')).status).toBe(200);
  });
});
