import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { startSimulator, stopAfterEach } from '../../support/simulator.js';
import { packet, pcap } from '../learn/helpers.js';

/* Files that are opened over REST. */

stopAfterEach();

const CAPTURE = pcap(
  101,
  packet({ from: 40_000, to: 502, hex: '0001 0000 0006 05 03 0010 0002' }),
  packet({ from: 502, to: 40_000, hex: '0001 0000 0007 05 03 04 00070008' }),
);
const TYPE = 'application/octet-stream';

async function started(rules?: Parameters<typeof startSimulator>[1]) {
  const { rest } = await startSimulator(
    nativeSetup({
      devices: { meter: { registers: { holding: [{ address: 3, value: 7 }] } } },
      lines: { lan: { tcp: { port: 0 }, units: { 5: 'meter' } } },
    }),
    rules,
  );
  const send = async (
    method: 'GET' | 'POST',
    url: string,
    body?: Uint8Array | string,
    headers: Record<string, string> = {},
  ) => {
    const about = { host: 'localhost', ...(body !== undefined && { 'content-type': TYPE }), ...headers };
    const payload = body === undefined ? undefined : Buffer.from(body);
    return rest.app.inject({ method, url, headers: about, ...(payload && { payload }) });
  };
  return send;
}

it('makes the page of a file, which may run its own program and nothing else, and keeps the last four', async () => {
  const send = await started();
  const opened = await send('POST', '/api/v1/view?name=<b>.pcap', CAPTURE);
  expect([opened.statusCode, opened.json()]).toEqual([
    201,
    { url: expect.stringMatching(/^\/api\/v1\/view\/[0-9a-f]{16}$/), notes: [] },
  ]);
  const { url } = opened.json() as { url: string };
  const plain = await send('GET', url);
  expect(plain.body).toContain('<title>&lt;b&gt;.pcap</title>');
  expect(plain.headers['content-security-policy']).toBe("sandbox allow-scripts; frame-ancestors 'none'");
  expect(plain.body).toContain(
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-`,
  );
  const packed = await send('GET', url, undefined, { 'accept-encoding': 'gzip' });
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
  // A page that was made can be opened, too.
  for (let i = 0; i < 4; i++) expect((await send('POST', '/api/v1/view', plain.body)).statusCode).toBe(201);
  expect((await send('GET', url)).json()).toMatchObject({
    status: 404,
    detail: expect.stringContaining('open it again'),
  });
});

/** A report whose device defines these ranges of registers. */
function pageWith(ranges: readonly (readonly number[])[]): string {
  const device = {
    ...{ name: 'meter', power: 'on', clock: { time: 0, speed: 1, paused: false }, lines: {}, names: [] },
    ...{ tables: { holding: 1 }, manners: {}, defined: { holding: { registers: 1, ranges } } },
  };
  const states = [{ at: '2026-01-02T03:04:05.000001Z', registers: {} }];
  const report = {
    ...{ kind: 'client', name: '', verdict: 'pass', configuration: '', startedAt: 0, durationMs: 0, seed: 0 },
    ...{ conclusions: [], parameters: [], findings: [], versions: [] },
    registers: { devices: [{ device, states }], missing: [] },
  };
  const data = JSON.stringify({ reports: [report] });
  return `<html><script type="application/json" id="recorded">${data}</script>`;
}

it('opens a report with registers again', async () => {
  const send = await started();
  expect((await send('POST', '/api/v1/view', pageWith([[0, 0]]))).statusCode).toBe(201);
});

it.each([
  ['', 400, 'has no events'],
  ['{"verdict": "pass"}', 400, 'line 1: seq: expected'],
  [
    Buffer.from('ff00ff00', 'hex'),
    400,
    'expected a report in HTML, a capture (pcapng, pcap) or traffic as NDJSON',
  ],
  ['<!doctype html><p>hello', 400, 'is an HTML page, but not a report of this program'],
  [
    '<html><script type="application/json" id="recorded">{"reports":[{"kind":"party"}]}</script>',
    400,
    'its report: reports[0].kind: ',
  ],
  [
    pageWith([[0, 1e9]]),
    400,
    'its report: reports[0].registers.devices[0].device.defined.holding.ranges[0][1]: ',
  ],
  [
    '<html><script type="application/json" id="recorded">{"reports":</script>',
    400,
    'its report: expected object',
  ],
  [Buffer.alloc(16 * 1024 * 1024 + 1, 0x20), 413, 'expected at most 16777216 bytes'],
])('%# is refused with a sentence', async (file, status, message) => {
  const send = await started();
  const answer = await send('POST', '/api/v1/view', file);
  expect([answer.statusCode, (answer.json() as { detail: string }).detail]).toEqual([
    status,
    expect.stringContaining(message),
  ]);
});

it('takes bytes there alone', async () => {
  const send = await started();
  expect((await send('POST', '/api/v1/faults', '{}')).statusCode).toBe(415);
  const json = await send('POST', '/api/v1/view', '{}', { 'content-type': 'application/json' });
  expect([json.statusCode, json.json()]).toMatchObject([415, { code: 'request.media_type' }]);
});

it('is open to a token that may only read', async () => {
  const send = await started({
    host: '127.0.0.1',
    token: 'the-token-that-may-do-everything',
    readTokens: ['the-token-that-may-only-read'],
  });
  const reader = { authorization: 'Bearer the-token-that-may-only-read' };
  expect((await send('POST', '/api/v1/view', CAPTURE)).statusCode).toBe(401);
  expect((await send('POST', '/api/v1/view?name=x', CAPTURE, reader)).statusCode).toBe(201);
  expect(
    (await send('POST', '/api/v1/lines', '{}', { ...reader, 'content-type': 'application/json' })).statusCode,
  ).toBe(403);
});
