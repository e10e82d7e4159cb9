import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { nativeSetup } from '../support/configuration.js';
import { RawClient, until } from '../transport/socket/raw-client.js';
import { Rest } from './rest.js';

const SETUP = {
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

let rest: Rest;

beforeEach(() => {
  rest = new Rest(nativeSetup(SETUP));
});

const NOT_JSON = "Body is not valid JSON but content-type is set to 'application/json'";

/** Endpoints with bodies; what they say of one that never gets to them. */
const WITH_BODY = [
  ['POST', '/restapi/registers'],
  ['POST', '/restapi/calls'],
  ['POST', '/restapi/server'],
  ['POST', '/restapi/nonsense'],
  ['PUT', '/api/v1/lines/lan'],
  ['POST', '/api/v1/lines/lan/stop'],
  ['POST', '/api/v1/faults'],
  ['PUT', '/api/v1/faults/some'],
] as const;

describe.each(WITH_BODY)('%s %s', (method, url) => {
  test.each([
    ['half an object', '{"submit":'],
    ['no JSON at all', 'submit=Register'],
    ['a number that JSON has not', '{"submit": "Set", "register": 0, "value": NaN}'],
    ['a key __proto__', '{"__proto__": {"submit": "Register"}}'],
    ['a key __proto__ deep inside', '{"submit": "Register", "a": [{"__proto__": {}}]}'],
    ['a key constructor.prototype', '{"constructor": {"prototype": {"submit": "Register"}}}'],
    ['200,000 open brackets', '['.repeat(200_000)],
    ['a byte order mark alone', '\ufeff'],
  ])('a body of %s gets status 400', async (_, body) => {
    const answer = await rest.send<{ error: string }>(method, url, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe(NOT_JSON);
  });

  test('a body of more than 256 KiB gets status 413', async () => {
    const body = `{"submit": "Register", "x": "${'x'.repeat(256 * 1024)}"}`;
    const answer = await rest.send(method, url, body);
    expect(answer.status).toBe(413);
    expect(answer.body).toHaveProperty('error', 'body: expected at most 262144 bytes');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x'])(
    'a body of type %s gets status 415',
    async (type) => {
      const answer = await rest.send(method, url, '{"submit": "Register"}', { 'content-type': type });
      expect(answer.status).toBe(415);
      expect(answer.body).toHaveProperty('error', 'content-type: expected application/json');
    },
  );
});

describe('the compatible interface', () => {
  test.each([
    [null, 'body: expected a JSON object, got nothing'],
    [[], 'body: expected a JSON object, got an empty list'],
    [[{ submit: 'Register' }], 'body: expected a JSON object, got a list'],
    [3, 'body: expected a JSON object, got 3'],
    ['Register', 'body: expected a JSON object, got "Register"'],
  ])('a body that is %j is an error', async (body, error) => {
    for (const endpoint of ['registers', 'calls', 'server', 'log']) {
      expect(await rest.send('POST', `/restapi/${endpoint}`, JSON.stringify(body))).toEqual({
        status: 200,
        body: { result: 'error', error },
      });
    }
  });

  test('an empty body is no JSON', async () => {
    expect(await rest.send('POST', '/restapi/registers', '')).toMatchObject({
      status: 400,
      body: { result: 'error' },
    });
    expect(await rest.send('POST', '/restapi/registers')).toEqual({
      status: 400,
      body: { result: 'error', error: 'body: missing, expected a JSON object' },
    });
  });

  test.each([
    [{}, 'submit: missing, expected'],
    [{ submit: null }, 'submit: expected'],
    [{ submit: 'Clear' }, 'submit: expected'],
    [{ submit: 'register' }, 'submit: expected'],
    [{ submit: ['Register'] }, 'submit: expected'],
    [{ submit: { toString: 'Set' } }, 'submit: expected'],
  ])('%j names what submit may be', async (body, error) => {
    const registers = await rest.registers(body);
    expect(registers).toMatchObject({ result: 'error', error: expect.stringContaining(error) });
    expect(registers.error).toContain('Register, Registers or Set');
    const calls = await rest.calls(body);
    expect(calls).toMatchObject({ result: 'error', error: expect.stringContaining(error) });
    expect(calls.error).toContain('Simulate, Reset, Add, Monitor or Stop');
  });

  test('unknown keys are ignored, as existing clients send those of the web page along', async () => {
    expect(await rest.registers({ submit: 'Register', action: '', refresh: 0 })).toMatchObject({
      result: 'ok',
    });
  });

  test('an unknown endpoint is an error that names the known ones', async () => {
    expect(await rest.send('POST', '/restapi/register', { submit: 'Register' })).toEqual({
      status: 200,
      body: {
        result: 'error',
        error: '"register": no such endpoint, expected registers, calls, server, log',
      },
    });
    expect(await rest.send('POST', '/restapi/__proto__', {})).toMatchObject({ status: 200 });
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE'] as const)('%s is not allowed, POST is', async (method) => {
    const response = await rest.app.inject({
      method,
      url: '/restapi/registers',
      headers: { host: 'localhost' },
    });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('POST');
    expect(response.json()).toEqual({ result: 'error', error: 'method: expected POST' });
  });
});

test('an address that is not there gets status 404', async () => {
  for (const url of ['/', '/restapi', '/restapi/registers/0', '/api/v1', '/api/v1/nonsense', '/healthz/x']) {
    const answer = await rest.send<{ error: string }>('GET', url);
    expect(answer.status, url).toBe(404);
    expect(answer.body.error).toBe(`GET ${url}: no such path`);
  }
});

test('an address that can not be decoded gets status 400', async () => {
  expect(await rest.send('GET', '/restapi/%zz')).toMatchObject({ status: 400 });
  expect(await rest.send('GET', '/api/v1/faults/%')).toMatchObject({ status: 400 });
});

describe('on a real socket', () => {
  async function listen(): Promise<number> {
    await rest.app.listen({ host: '127.0.0.1', port: 0 });
    return (rest.app.server.address() as AddressInfo).port;
  }

  test('a register is read and set', async () => {
    const port = await listen();
    const post = async (body: object) => {
      const response = await fetch(`http://127.0.0.1:${port}/restapi/registers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return response.json();
    };
    await post({ submit: 'Set', register: 1, value: 77 });
    expect(await post({ submit: 'Register', range_start: 0, range_end: 2 })).toMatchObject({
      result: 'ok',
      register_rows: [{ value: '1' }, { value: '77' }, { value: '3' }],
    });
    await rest.app.close();
  });

  test('closing ends idle connections, those with half a request, and those in use', async () => {
    const port = await listen();
    const agent = new Agent({ keepAlive: true });
    const idle = httpRequest({ port, host: '127.0.0.1', path: '/healthz', agent }).end();
    const [response] = await once(idle, 'response');
    response.resume();
    await once(response, 'end');
    const half = new RawClient(port);
    half.send(Buffer.from('POST /restapi/calls HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{'));
    const silent = new RawClient(port);
    await until(() => half.connected && silent.connected, 'both are connected');
    await rest.app.close();
    await until(() => half.closed && silent.closed, 'both are closed');
    agent.destroy();
  });
});
