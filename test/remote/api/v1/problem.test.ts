import { describe, expect, test } from 'vitest';
import { nativeSetup } from '../../../support/configuration.js';
import { Rest } from '../rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: 1 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const rest = new Rest(SETUP);
const locked = new Rest(SETUP, {
  host: '127.0.0.1',
  token: 'a-token-that-is-long-enough',
  readTokens: ['r'],
});

interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
}

const json = { 'content-type': 'application/json' };

const REQUESTS: readonly (readonly [number, string, Rest, Request])[] = [
  [400, 'Bad Request', rest, { url: '/api/v1/exchanges?limit=0' }],
  [400, 'Bad Request', rest, { method: 'POST', url: '/api/v1/faults', headers: json, payload: '{' }],
  [400, 'Bad Request', rest, { method: 'POST', url: '/api/v1/faults' }],
  [400, 'Bad Request', rest, { url: '/api/v1/faults/%zz' }],
  [401, 'Unauthorized', locked, { url: '/api/v1/lines' }],
  [401, 'Unauthorized', locked, { url: '/api/v1/%zz' }],
  [
    403,
    'Forbidden',
    locked,
    { method: 'POST', url: '/api/v1/faults/reset', headers: { authorization: 'Bearer r' } },
  ],
  [403, 'Forbidden', rest, { url: '/api/v1/lines', headers: { origin: 'http://example.invalid' } }],
  [404, 'Not Found', rest, { url: '/api/v1/lines/none' }],
  [404, 'Not Found', rest, { url: '/api/v1/nonsense' }],
  [405, 'Method Not Allowed', rest, { method: 'DELETE', url: '/api/v1/lines' }],
  [
    409,
    'Conflict',
    rest,
    { method: 'POST', url: '/api/v1/session', headers: json, payload: '{"token":"x"}' },
  ],
  [
    413,
    'Payload Too Large',
    rest,
    { method: 'POST', url: '/api/v1/faults', headers: json, payload: `"${'x'.repeat(10_000_000)}"` },
  ],
  [
    413,
    'Payload Too Large',
    rest,
    { method: 'POST', url: '/api/v1/faults', headers: json, payload: '['.repeat(5000) },
  ],
  [
    415,
    'Unsupported Media Type',
    rest,
    { method: 'POST', url: '/api/v1/faults', headers: { 'content-type': 'text/plain' }, payload: 'x' },
  ],
  [421, 'Misdirected Request', rest, { url: '/api/v1/lines', headers: { host: 'example.invalid' } }],
];

describe('an error of /api/v1 is problem details (RFC 9457)', () => {
  test.each(REQUESTS)('%i %s', async (status, title, { app }, { headers = {}, ...request }) => {
    const response = await app.inject({ ...request, headers: { host: 'localhost', ...headers } });
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/problem+json');
    const body = response.json<{ detail: string }>();
    expect(body).toMatchObject({ title, status, error: body.detail, problems: expect.any(Array) });
    expect(body.detail).not.toBe('');
    // Where in the program something happened is no business of clients.
    expect(response.body).not.toMatch(/node_modules|\.[jt]s\b|\bat \w+ \(/);
  });
});

test('an error of the compatible interface is no problem details', async () => {
  for (const [url, status] of [
    ['/restapi/registers', 405],
    ['/restapi/%zz', 400],
    ['/api/v10/lines', 404],
  ] as const) {
    const response = await rest.app.inject({ url, headers: { host: 'localhost' } });
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toEqual({ result: 'error', error: expect.any(String) });
  }
});
