import { describe, expect, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const WRITER = 'the-token-that-may-do-everything';
const READERS = ['the-first-token-that-only-reads', 'the-second-token-that-only-reads'];

const rest = new Rest(SETUP, { host: '127.0.0.1', token: WRITER, readTokens: READERS });
const as = (token: string) => ({ authorization: `Bearer ${token}` });

describe.each(READERS)('%s', (token) => {
  test.each([
    ['GET', '/api/v1/lines'],
    ['HEAD', '/api/v1/lines'],
    ['GET', '/api/v1/devices/meter/registers'],
    ['GET', '/api/v1/exchanges'],
    ['GET', '/api/v1/session'],
  ] as const)('may %s %s', async (method, url) => {
    expect((await rest.send(method, url, undefined, as(token))).status).toBe(200);
  });

  test.each([
    ['POST', '/api/v1/faults', { name: 'x', do: [{ delay: 1 }] }],
    ['PUT', '/api/v1/lines/lan', { tcp: { port: 0 } }],
    ['PATCH', '/api/v1/devices/meter/registers', { changes: [] }],
    ['DELETE', '/api/v1/faults/x', undefined],
    ['POST', '/api/v1/lines/lan/stop', undefined],
    ['POST', '/api/v1/nonsense', {}],
  ] as const)('may not %s %s', async (method, url, body) => {
    expect(await rest.send(method, url, body, as(token))).toMatchObject({
      status: 403,
      body: { status: 403, detail: 'method: a read-only token allows only GET and HEAD' },
    });
  });

  test('may not use the compatible interface, whose every request is a POST', async () => {
    for (const endpoint of ['registers', 'calls', 'server', 'log']) {
      expect(await rest.send('POST', `/restapi/${endpoint}`, { submit: 'Registers' }, as(token))).toEqual({
        status: 403,
        body: { result: 'error', error: 'method: a read-only token allows only GET and HEAD' },
      });
    }
  });
});

test('the other token may do everything', async () => {
  expect((await rest.send('POST', '/api/v1/faults/reset', undefined, as(WRITER))).status).toBe(200);
});

test('where there are tokens for reading alone, everybody needs one, and nobody changes anything', async () => {
  const readOnly = new Rest(SETUP, { host: '127.0.0.1', readTokens: READERS });
  const [token = ''] = READERS;
  expect((await readOnly.send('GET', '/api/v1/lines')).status).toBe(401);
  expect((await readOnly.send('GET', '/api/v1/lines', undefined, as(token))).status).toBe(200);
  expect((await readOnly.send('POST', '/api/v1/faults/reset', undefined, as(token))).status).toBe(403);
});
