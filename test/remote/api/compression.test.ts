import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { takesGzip } from '../../../src/remote/api/compression.js';
import { nativeSetup } from '../../support/configuration.js';
import { Rest } from './rest.js';

const many = Array.from({ length: 3000 }, (_, i) => ({ address: i, name: `value_${i}`, value: i }));
const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: many } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
});

const rest = new Rest(SETUP);
const get = (url: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') =>
  rest.app.inject({ method, url, headers: { host: 'localhost', ...headers } });
const GZIP = { 'accept-encoding': 'gzip, deflate' };

test.each([
  ['as one text', '/api/v1/openapi.json'],
  ['in pieces', '/api/v1/devices/meter/registers'],
])('an answer that is sent %s comes compressed to who takes that', async (_, url) => {
  const plain = await get(url);
  const { headers, rawPayload } = await get(url, GZIP);
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': plain.headers['content-type'],
  });
  for (const each of [headers, plain.headers]) expect(each.vary).toContain('accept-encoding');
  expect(gunzipSync(rawPayload).toString()).toBe(plain.body);
  expect(rawPayload.length).toBeLessThan(plain.body.length / 4);
  expect(plain.headers['content-encoding']).toBeUndefined();
});

test('what is short, no text, or has no body comes as it is', async () => {
  for (const answer of [
    await get('/healthz', GZIP),
    await get('/api/v1/capture.pcapng', GZIP),
    await get('/api/v1/openapi.json', GZIP, 'HEAD'),
  ])
    expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([200, undefined]);
});

test.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['br, GZIP ; q=0.5', true],
  ['gzip;q=0.0', false],
  ['x-gzip', false],
])('Accept-Encoding %s: %s', (header, takes) => expect(takesGzip(header)).toBe(takes));
