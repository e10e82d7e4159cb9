import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Certificates, type Identity } from '../../modbus/transport/socket/certificates.js';
import { startProgram } from '../../support/program.mjs';
import { METER, TCP_LINE } from './plant.js';
import { run, scratchSpace } from './run.js';

const { newDirectory, newFile } = scratchSpace();

const TOKEN = '6b6e0c2f9ad94b7c8d3f1d5ab7e4f210';
const setup = (api: object) => ({ devices: METER, lines: { lan: TCP_LINE }, api: { port: 0, ...api } });

let certificates: Certificates;
let server: Identity;
beforeAll(() => {
  certificates = new Certificates();
  server = certificates.signed('server', { extension: 'subjectAltName=IP:127.0.0.1' });
});
afterAll(() => certificates.remove());

async function started(api: object, env: Record<string, string> = {}) {
  const program = await startProgram({ config: setup(api), env });
  onTestFinished(async () => void (await program.stop()));
  return program;
}

describe('REST by certificate', () => {
  it('is printed as https, and answers there', async () => {
    const program = await started({ tls: server });
    const url = program.restUrl();
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const status = await new Promise((resolve, reject) => {
      request(`${url}/healthz`, { ca: readFileSync(certificates.ca.cert) }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });

  it.each([
    [
      'a certificate that is not there',
      { cert: 'nowhere.pem' },
      /the certificate file .*nowhere\.pem does not exist/,
    ],
    ['a key of another one', { key: 'ca.key' }, /the key in .*ca\.key does not belong to/],
    ['no key', { key: 'server.pem' }, /the key file .*server\.pem contains no private key, expected PEM/],
  ])('does not start with %s, and says so in one line', async (_, wrong: Partial<Identity>, message) => {
    const files = Object.fromEntries(
      Object.entries(wrong).map(([key, name]) => [key, certificates.path(name)]),
    );
    const file = newFile(setup({ tls: { ...server, ...files } }));
    const { code, stdout, stderr } = await run(['--config', file], newDirectory());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^REST: [^\n]*\n$/);
    expect(stderr).toMatch(message);
  });
});

describe('REST beyond this machine', () => {
  it('without a token is refused, unless the file says insecure', async () => {
    const { code, stderr } = await run(['--config', newFile(setup({ host: '::' }))], newDirectory());
    expect(code).toBe(1);
    expect(stderr).toContain('api.host: :: can be reached from other machines, so a token is required');
    const program = await started({ host: '0.0.0.0', insecure: true });
    const { port } = new URL(program.restUrl());
    for (const host of ['127.0.0.1', ...ownAddresses()]) {
      expect((await fetch(`http://${host}:${port}/api/v1/lines`)).status).toBe(200);
    }
  });

  it.skipIf(!hasIpv6())('on all addresses of both families is printed as [::]', async () => {
    const program = await started({ host: '::', token: TOKEN });
    expect(program.restUrl()).toMatch(/^http:\/\/\[::\]:\d+$/);
    const { port } = new URL(program.restUrl());
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const host of ['127.0.0.1', '[::1]']) {
      expect((await fetch(`http://${host}:${port}/api/v1/lines`, { headers })).status).toBe(200);
      expect((await fetch(`http://${host}:${port}/api/v1/lines`)).status).toBe(401);
    }
  });
});

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'));
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );
}

describe('tokens', () => {
  it('are in nothing that the program prints, logs or answers', async () => {
    const reader = 'the-token-that-only-reads';
    const config = setup({ token: TOKEN, readTokens: [reader] });
    const program = await startProgram({ config, args: ['--log', 'debug'] });
    const answers: string[] = [];
    for (const headers of [{}, { authorization: `Bearer ${TOKEN}` }, { authorization: `Bearer ${TOKEN}x` }]) {
      for (const path of ['/api/v1/lines', '/nonsense', '/api/v1/%zz', '/api/v1/session']) {
        const response = await fetch(`${program.restUrl()}${path}`, { headers });
        answers.push(await response.text(), JSON.stringify([...response.headers]));
      }
    }
    await program.stop();
    const { stdout, stderr } = program.output;
    const everything = [stdout, stderr, ...answers].join('\n');
    expect(everything).toContain('ready');
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain(reader);
  });

  it.each([
    ['a number', 'token: 73519264', /api\.token: expected text of at least one character$/m],
    ['with a space', 'token: "7351 9264"', /api\.token: expected ASCII characters without spaces/],
    [
      'twice',
      'token: long-73519264-long, readTokens: [long-73519264-long]',
      /api\.readTokens\[0\]: is the same/,
    ],
    ['a number for reading', 'readTokens: [73519264]', /api\.readTokens\[0\]: expected text of/],
    ['no list', 'readTokens: long-73519264-long', /api\.readTokens: expected a list of tokens/],
  ])('that are wrong, %s, are not shown by check', async (_, api, message) => {
    const yaml = `devices: {meter: {registers: {holding: [{address: 0}]}}}
lines: {lan: {tcp: {port: 0}, units: {1: meter}}}
api: {${api}}
`;
    const { code, stdout, stderr } = await run(['check', newFile(yaml)], newDirectory());
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stdout + stderr).not.toContain('73519264');
  });

  it('that are short get a warning, from check and at the start', async () => {
    const warning =
      'a token of fewer than 16 characters can be guessed; openssl rand -hex 16 makes a good one';
    const file = newFile(setup({ token: 'short' }));
    const checked = await run(['check', file], newDirectory());
    expect(checked).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`warning: api.token: ${warning}`),
    });
    const program = await started({}, { MODBUS_SIM_TOKEN: 'short' });
    await expect.poll(() => program.output.stderr).toContain(`warning: MODBUS_SIM_TOKEN: ${warning}`);
  });
});

it('a second program at the port of the first is told which port, and how to choose another', async () => {
  const program = await started({});
  const { port } = new URL(program.restUrl());
  const file = newFile(setup({ port: Number(port) }));
  const { code, stderr } = await run(['--config', file, '--log', 'error'], newDirectory());
  expect(code).toBe(1);
  expect(stderr).toBe(
    `REST: 127.0.0.1:${port} is in use by another program; choose another port with api.port, --http_port or --free-ports\n`,
  );
  expect((await fetch(`${program.restUrl()}/healthz`)).status).toBe(200);
});

it('bodies of 10 MB and a thousand wrong tokens leave REST as it was', async () => {
  const program = await started({ token: TOKEN });
  const url = `${program.restUrl()}/api/v1/faults`;
  const authorization = `Bearer ${TOKEN}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const big = fetch(url, { method: 'POST', headers, body: `"${'x'.repeat(10_000_000)}"` }).then(
    ({ status }) => status,
    // The program may close the connection before the client has sent all of it.
    () => 413,
  );
  expect(await big).toBe(413);
  const statuses = new Map<number, number>();
  const begunAt = performance.now();
  for (let i = 0; i < 1000; i++) {
    const response = await fetch(url, { headers: { authorization: `Bearer wrong-${i}` } });
    await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
  // Ten a minute; on a busy machine, a thousand may take longer.
  const windows = Math.ceil((performance.now() - begunAt) / 60_000);
  const { 401: tried = 0, 429: refused = 0 } = Object.fromEntries(statuses);
  expect(tried).toBeGreaterThanOrEqual(10);
  expect(tried).toBeLessThanOrEqual(10 * windows);
  expect(tried + refused).toBe(1000);
  expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
  expect(await program.stop()).toBe(0);
  const told = program.output.stderr.match(/wrong tokens/g) ?? [];
  expect(told.length).toBeGreaterThanOrEqual(1);
  expect(told.length).toBeLessThanOrEqual(windows);
});
