import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { VIEW_NAMES } from '../../../src/remote/api/console/paths.js';
import { nativeSetup } from '../../support/configuration.js';
import { Rest } from './rest.js';

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0 }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const open = new Rest(SETUP);
const guarded = new Rest(SETUP, { host: '127.0.0.1', token: 'the-token-that-may-do-everything' });
const [, script = ''] = /"\/assets\/(chunk-[^"]+)"/.exec(readFileSync('dist/web/index.html', 'utf8')) ?? [];

const get = (rest: Rest, url: string, method: 'GET' | 'HEAD' | 'POST' = 'GET', headers: object = {}) =>
  rest.app.inject({ method, url, headers: { host: 'localhost', ...headers } });

describe('the pages of the console', () => {
  test.each([
    '/',
    '/?x=1',
    ...VIEW_NAMES.map((name) => `/${name}`),
    '/registers/m%C3%A4ter%2F1/holding',
    `/traffic/${'x'.repeat(100)}`,
  ])('%s is the page, with and without a token', async (url) => {
    for (const rest of [open, guarded]) {
      const { statusCode, headers, body } = await get(rest, url);
      expect(statusCode).toBe(200);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['content-security-policy']).toContain("default-src 'self'");
      expect(body).toContain(`/assets/${script}`);
    }
  });

  test('are for GET and HEAD', async () => {
    expect((await get(open, '/lines', 'HEAD')).statusCode).toBe(200);
    const refused = await get(open, '/lines', 'POST');
    expect(refused.statusCode).toBe(405);
    expect(refused.headers.allow).toBe('GET, HEAD');
  });

  test('come whole, whatever range of them is asked for', async () => {
    const { statusCode, body } = await get(open, '/', 'GET', { range: 'bytes=99999999-' });
    expect([statusCode, body]).toEqual([200, (await get(open, '/')).body]);
  });

  test.each([
    ['if-match', '"another one"'],
    ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ])('refuse a condition that they do not meet in the documented shape: %s', async (name, value) => {
    for (const url of ['/', `/assets/${script}`]) {
      const answer = await get(open, url, 'GET', { [name]: value });
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({
        result: 'error',
        error: expect.stringContaining('Precondition Failed'),
      });
      expect(answer.headers['cache-control']).toBe('no-cache');
    }
  });

  test('keep their files for ever, because their names have hashes', async () => {
    const { statusCode, headers } = await get(guarded, `/assets/${script}`);
    expect(statusCode).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toMatch(/javascript/);
  });

  test('come compressed to who takes that', async () => {
    const url = `/assets/${script}`;
    const plain = await get(open, url);
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'gzip'],
      ['br', undefined],
      ['gzip;q=0', undefined],
    ] as const) {
      const { statusCode, headers, rawPayload } = await get(open, url, 'GET', {
        'accept-encoding': accepted,
      });
      expect([statusCode, headers['content-encoding'], headers.vary]).toEqual([
        200,
        encoding,
        'accept-encoding',
      ]);
      expect(headers['content-type']).toBe(plain.headers['content-type']);
      expect(encoding ? gunzipSync(rawPayload) : rawPayload).toEqual(plain.rawPayload);
      if (encoding) expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
    }
    const known = await get(open, url, 'GET', { 'accept-encoding': 'gzip' });
    const again = { 'accept-encoding': 'gzip', 'if-none-match': String(known.headers.etag) };
    expect(await get(open, url, 'GET', again)).toMatchObject({ statusCode: 304, body: '' });
    expect((await get(open, `${url}.gz`)).statusCode).toBe(404);
  });

  test.each([
    '/assets/../main.js',
    '/assets/%2e%2e/main.js',
    '/assets/',
    '/index.html',
    '/LICENSES.txt',
    '/lines.html',
    '/linesx',
    '/tests.js',
  ])('%s is no such path', async (url) => {
    const { statusCode, body } = await get(open, url);
    expect(statusCode).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ result: 'error' });
  });

  test('an unknown path has a page for a browser, which leads to the console', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await get(open, '/linez', 'GET', headers);
    expect(page.statusCode).toBe(404);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('<a href="/">');
    const api = await get(open, '/api/v1/linez', 'GET', headers);
    expect(JSON.parse(api.body)).toMatchObject({ error: 'GET /api/v1/linez: no such path' });
  });

  test('open nothing else to those without a token', async () => {
    for (const url of ['/api/v1/lines', '/metrics', '/linesx', '//lines', '/lines/../api/v1/lines']) {
      const { statusCode, body } = await get(guarded, url);
      expect([url, statusCode === 401 || body.startsWith('<!doctype')]).toEqual([url, true]);
    }
  });
});
