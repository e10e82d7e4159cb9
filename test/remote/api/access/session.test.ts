import { describe, expect, test } from 'vitest';
import { Sessions } from '../../../../src/remote/api/access/clients.js';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const WRITER = 'the-token-that-may-do-everything';
const READER = 'the-only-token-that-may-just-read';
const ORIGIN = { host: 'localhost:8080', origin: 'http://localhost:8080' };

const rest = new Rest(SETUP, { host: '127.0.0.1', token: WRITER, readTokens: [READER] });

async function logIn(token: string, where = rest) {
  const response = await where.app.inject({
    method: 'POST',
    url: '/api/v1/session',
    headers: ORIGIN,
    payload: { token },
  });
  const header = String(response.headers['set-cookie']);
  return { response, header, cookie: header.split(';')[0] as string };
}

const statusOf = async (method: 'GET' | 'POST' | 'DELETE', url: string, headers: Record<string, string>) =>
  (await rest.send(method, url, undefined, { ...ORIGIN, ...headers })).status;

describe('a browser that logs in', () => {
  test('gets a cookie that no script can read and no other site can use', async () => {
    const { response, header } = await logIn(WRITER);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ role: 'write', secondsLeft: expect.closeTo(43_200, -2) });
    expect(header).toMatch(/^modbus-sim-8080=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(response.body + header).not.toContain(WRITER);
  });

  test('needs no token from then on, until it logs out', async () => {
    const { cookie } = await logIn(WRITER);
    expect(await statusOf('GET', '/api/v1/lines', { cookie })).toBe(200);
    expect(await statusOf('POST', '/api/v1/faults/reset', { cookie })).toBe(200);
    const out = await rest.app.inject({
      method: 'DELETE',
      url: '/api/v1/session',
      headers: { ...ORIGIN, cookie },
    });
    expect(out.statusCode).toBe(204);
    expect(out.headers['set-cookie']).toMatch(/^modbus-sim-8080=; Path=\/; Max-Age=0;/);
    expect(await statusOf('GET', '/api/v1/lines', { cookie })).toBe(401);
  });

  test('with a read-only token may only read, and log out', async () => {
    const { cookie } = await logIn(READER);
    expect(await rest.send('GET', '/api/v1/session', undefined, { ...ORIGIN, cookie })).toEqual({
      status: 200,
      // Less some seconds on a machine that is busy.
      body: { role: 'read', secondsLeft: expect.closeTo(43_200, -2) },
    });
    expect(await statusOf('POST', '/api/v1/faults/reset', { cookie })).toBe(403);
    expect(await statusOf('DELETE', '/api/v1/session', { cookie })).toBe(204);
  });

  test('with a wrong token gets status 401, and no cookie', async () => {
    const { response } = await logIn('wrong');
    expect(response.statusCode).toBe(401);
    expect(response.headers).not.toHaveProperty('set-cookie');
    expect(response.json()).toMatchObject({ detail: 'token: not a configured token' });
  });

  test.each([{}, { token: 12_345_678 }, { token: '' }, { token: [WRITER] }, { tokn: WRITER }])(
    'with the body %j gets status 400, and does not get it back',
    async (payload) => {
      const answer = await rest.send('POST', '/api/v1/session', payload, ORIGIN);
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).not.toMatch(/12345678|everything/);
    },
  );

  test('is known among the cookies of other programs', async () => {
    const { cookie } = await logIn(WRITER);
    expect(await statusOf('GET', '/api/v1/lines', { cookie: `a=b; ${cookie}; modbus-sim=x` })).toBe(200);
  });

  test('at another port of this machine stays logged in here', async () => {
    const { cookie } = await logIn(WRITER);
    expect(await statusOf('GET', '/api/v1/lines', { cookie: `modbus-sim-8081=other; ${cookie}` })).toBe(200);
    expect(await statusOf('GET', '/api/v1/lines', { cookie: cookie.replace('8080', '8081') })).toBe(401);
  });

  test('sends a token beside its cookie: the token counts', async () => {
    const { cookie } = await logIn(WRITER);
    expect(
      await statusOf('POST', '/api/v1/faults/reset', { cookie, authorization: `Bearer ${READER}` }),
    ).toBe(403);
    expect(await statusOf('GET', '/api/v1/lines', { cookie, authorization: 'Bearer wrong' })).toBe(401);
  });

  test('can not be made to act by a page of another site', async () => {
    const { cookie } = await logIn(WRITER);
    const headers = { ...ORIGIN, cookie, origin: 'http://example.invalid' };
    expect((await rest.send('POST', '/api/v1/faults/reset', undefined, headers)).status).toBe(403);
    expect((await rest.send('POST', '/api/v1/session', { token: WRITER }, headers)).status).toBe(403);
  });
});

test.each([
  'modbus-sim-8080=',
  'modbus-sim-8080',
  'modbus-sim-8080=__proto__',
  `modbus-sim-8080=${'A'.repeat(43)}`,
  `modbus-sim-8080=${'A'.repeat(8000)}`,
  `modbus-sim-8080=${WRITER}`,
  '=; ;;= modbus-sim-8080',
  'modbus-sim-8080=\xff\xfe',
])('a forged cookie, %j, lets nobody in', async (cookie) => {
  expect(await statusOf('GET', '/api/v1/lines', { cookie })).toBe(401);
});

test('where no token is configured, there is nothing to log in to', async () => {
  const open = new Rest(SETUP);
  const { response } = await logIn('any', open);
  expect(response.statusCode).toBe(409);
  expect(response.json()).toMatchObject({ detail: 'no token is configured' });
  expect(await open.send('GET', '/api/v1/session')).toEqual({
    status: 200,
    body: { role: 'write', secondsLeft: null },
  });
});

describe('sessions', () => {
  test('end after 12 hours', () => {
    let now = 1000;
    const sessions = new Sessions(() => now);
    const id = sessions.begin('write');
    now += 43_199_999;
    expect(sessions.clientOf(id)).toEqual({ role: 'write', secondsLeft: 1 });
    now += 1;
    expect(sessions.clientOf(id)).toBeUndefined();
  });

  test('are 64 of each role at most; the oldest one ends', () => {
    const sessions = new Sessions(() => 0);
    const writer = sessions.begin('write');
    const readers = Array.from({ length: 65 }, () => sessions.begin('read'));
    expect(sessions.clientOf(readers[0] as string)).toBeUndefined();
    expect(sessions.clientOf(readers[1] as string)).toMatchObject({ role: 'read' });
    expect(sessions.clientOf(writer)).toMatchObject({ role: 'write' });
  });
});
