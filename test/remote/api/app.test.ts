import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RawClient, until } from '../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../support/configuration.js';
import { Rest } from './rest.js';

const SETUP = {
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
  lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
};

let rest: Rest;

function anew(): void {
  rest = new Rest(nativeSetup(SETUP));
}

/** Most of these requests change nothing, so one simulator answers them. */
beforeAll(anew);

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
    ['60 open brackets', '['.repeat(60)],
    ['a byte order mark alone', '\ufeff'],
  ])('a body of %s gets status 400', async (_, body) => {
    const answer = await rest.send<{ error: string }>(method, url, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe(NOT_JSON);
  });

  test.each([
    ['{"__proto__": {"submit": "Register"}}', '__proto__'],
    ['{"\\u005f_proto__": 1}', '__proto__'],
    ['{"submit": "Register", "a": [{"__proto__": {}}]}', 'a[0].__proto__'],
    ['{"constructor": {"prototype": {"submit": "Register"}}}', 'constructor.prototype'],
  ])('a key that no request has, in %s, is named', async (body, key) => {
    const answer = await rest.send<{ error: string }>(method, url, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe(`${key}: not a key of any request`);
  });

  test.each([
    ['200,000 open brackets', '['.repeat(200_000)],
    ['4097 numbers', `[${'1,'.repeat(4096)}1]`],
    ['2049 keys', `{${Array.from({ length: 2049 }, (_, i) => `"k${i}":0`).join(',')}}`],
  ])('a body of %s gets status 413, before it is parsed', async (_, body) => {
    const answer = await rest.send<{ error: string }>(method, url, body);
    expect(answer.status).toBe(413);
    expect(answer.body.error).toBe('body: expected at most 4096 names and values');
  });

  test('text in a body may hold whatever separates values elsewhere', async () => {
    const answer = await rest.send(method, url, JSON.stringify({ x: '[{,:\\"'.repeat(9000) }));
    expect(answer.status).not.toBe(413);
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
  for (const url of [
    '/nonsense',
    '/assets/nonsense.js',
    '/restapi',
    '/restapi/registers/0',
    '/api/v1',
    '/api/v1/nonsense',
    '/healthz/x',
  ]) {
    const answer = await rest.send<{ error: string }>('GET', url);
    expect(answer.status, url).toBe(404);
    expect(answer.body.error).toBe(`GET ${url}: no such path`);
  }
});

test('an address that can not be decoded gets status 400, in the words of its interface', async () => {
  expect(await rest.send('GET', '/restapi/%zz')).toEqual({
    status: 400,
    body: { result: 'error', error: "'/restapi/%zz' is not a valid url component" },
  });
  expect(await rest.send('GET', '/api/v1/faults/%')).toMatchObject({
    status: 400,
    body: { error: expect.any(String), problems: [{ path: '' }] },
  });
});

describe('another method than those of a path', () => {
  test.each([
    ['POST', '/healthz', 'GET, HEAD'],
    ['GET', '/restapi/calls', 'POST'],
    ['DELETE', '/api/v1/lines', 'GET, HEAD, POST'],
    ['POST', '/api/v1/lines/lan?x=1', 'DELETE, GET, HEAD, PUT'],
    ['GET', '/api/v1/lines/lan/stop', 'POST'],
    ['PATCH', '/api/v1/faults', 'GET, HEAD, POST'],
    ['POST', '/api/v1/faults/some', 'DELETE, GET, HEAD, PATCH, PUT'],
    ['PUT', '/api/v1/exchanges', 'GET, HEAD'],
  ] as const)('%s %s gets status 405 and is told %s', async (method, url, allow) => {
    const response = await rest.app.inject({ method, url, headers: { host: 'localhost' } });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe(allow);
    expect(response.json().error).toBe(`method: expected ${allow.replaceAll(', ', ' or ')}`);
  });

  test('HEAD is GET without a body', async () => {
    for (const url of ['/healthz', '/api/v1/lines', '/api/v1/faults', '/api/v1/exchanges']) {
      expect(await rest.send('HEAD', url), url).toEqual({ status: 200, body: undefined });
    }
  });
});

test('every error of the compatible interface has result and error', async () => {
  const errors = [
    rest.send('POST', '/restapi/registers', '{'),
    rest.send('POST', '/restapi/registers'),
    rest.send('GET', '/restapi/%zz'),
    rest.send('POST', '/restapi/registers', {}, { origin: 'http://example.invalid' }),
    rest.send('POST', '/restapi/registers', {}, { host: 'example.invalid' }),
    rest.send('GET', '/restapi'),
    rest.send('GET', '/restapi/registers'),
    rest.send('POST', '/restapi/registers', `"${'x'.repeat(256 * 1024)}"`),
    rest.send('POST', '/restapi/registers', 'x', { 'content-type': 'text/plain' }),
    new Rest(nativeSetup(SETUP), { host: 'x', token: 'secret' }).send('POST', '/restapi/registers', {}),
  ];
  const answers = await Promise.all(errors);
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 403, 421, 404, 405, 413, 415, 401]);
  for (const { body } of answers) expect(body).toEqual({ result: 'error', error: expect.any(String) });
});

describe('on a real socket', () => {
  beforeEach(anew);

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

  async function answerTo(request: string): Promise<string> {
    const client = new RawClient(await listen());
    client.send(Buffer.from(request));
    await until(() => client.closed || client.received.length > 0, 'the answer has come');
    await rest.app.close();
    return client.received.toString();
  }

  test.each([
    [
      'HTTP/1.0 without a Host',
      'GET /healthz HTTP/1.0\r\n\r\n',
      400,
      'Host: missing, expected the name of this machine',
    ],
    [
      'HTTP/1.1 without a Host',
      'GET /restapi/x HTTP/1.1\r\n\r\n',
      400,
      'Host: missing, expected the name of this machine',
    ],
    [
      'two Hosts',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n',
      400,
      'Host: expected one, got 2',
    ],
    [
      'a foreign Host where the address is nonsense',
      'GET /%zz HTTP/1.1\r\nHost: example.invalid\r\n\r\n',
      421,
      'Host: does not name this machine',
    ],
    [
      'another host in the request target, beside a good Host',
      'GET http://example.invalid/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
      421,
      'Host: does not name this machine',
    ],
    [
      'another host in the request target where the address is nonsense',
      'GET HTTP://example.invalid/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n',
      421,
      'Host: does not name this machine',
    ],
    [
      'a name before another host in the request target',
      'GET http://localhost@example.invalid/ HTTP/1.1\r\nHost: localhost\r\n\r\n',
      421,
      'Host: does not name this machine',
    ],
    [
      'a whole URL as target without a Host',
      'GET http://localhost/healthz HTTP/1.1\r\n\r\n',
      400,
      'Host: missing, expected the name of this machine',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'not a valid HTTP request'],
    [
      'too long a header',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'the request header is too long',
    ],
  ])('%s is refused in words', async (_, request, status, error) => {
    const answer = await answerTo(request);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({ result: 'error', error });
  });

  test.each(['http://localhost/healthz', 'http://localhost:8080/healthz?', 'HTTP://127.0.0.1/healthz'])(
    'the target %s is served, whatever the Host is',
    async (target) => {
      const request = `GET ${target} HTTP/1.1\r\nHost: example.invalid\r\n\r\n`;
      expect(await answerTo(request)).toMatch(/^HTTP\/1.1 200 /);
    },
  );

  test('an address that can not be decoded needs the token too', async () => {
    rest = new Rest(nativeSetup(SETUP), { host: '127.0.0.1', token: 'secret' });
    expect(await answerTo('GET /restapi/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(/^HTTP\/1.1 401 /);
  });

  test('requests sent without waiting are answered in their order', async () => {
    const client = new RawClient(await listen());
    const paths = Array.from({ length: 100 }, (_, i) => `/nowhere/${i}`);
    client.send(Buffer.from(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')));
    await until(() => client.received.includes('/nowhere/99:'), 'the last one is answered');
    expect(client.received.toString().match(/\/nowhere\/\d+/g)).toEqual(paths);
    await rest.app.close();
  });

  test('a body that comes in many pieces arrives as a whole', async () => {
    const client = new RawClient(await listen());
    const body = JSON.stringify({ submit: 'Set', register: 1, value: `${' '.repeat(100_000)}x` });
    const head = `POST /restapi/registers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    client.send(Buffer.from(head + body));
    await until(() => client.received.includes('"result"'), 'the answer has come');
    expect(client.received.toString()).toContain('value: expected a whole number');
    await rest.app.close();
  });

  test('no more connections than configured are served; a new one takes the place of one that asks nothing', async () => {
    rest = new Rest(nativeSetup(SETUP), { host: '127.0.0.1', maxConnections: 2 });
    const port = await listen();
    const [first, second] = [new RawClient(port), new RawClient(port)];
    await until(() => first.connected && second.connected, 'two are connected');
    const third = new RawClient(port);
    await until(() => first.closed, 'the first is closed');
    for (const client of [second, third]) {
      client.send(Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'));
      await until(() => client.received.includes('HTTP/1.1 200 '), 'it is served');
    }
    await rest.app.close();
  });

  test('a long answer is made as fast as it is read, and comes whole', async () => {
    const client = new RawClient(await listen());
    client.socket.pause();
    const body = JSON.stringify({ submit: 'Register', range_stop: 8191 });
    client.send(
      Buffer.from(
        `POST /restapi/registers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    client.socket.resume();
    await until(() => client.received.includes('0\r\n\r\n'), 'the whole answer has come');
    expect(client.received.toString()).toMatch(/transfer-encoding: chunked/i);
    expect(client.received.toString().match(/"index":/g)).toHaveLength(8192);
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

describe('a request that HTTP has a status of its own for', () => {
  beforeEach(anew);

  test('a name that is too long for any device is 400, with a code', async () => {
    const answer = await rest.send('GET', `/api/v1/devices/${'x'.repeat(800)}`);
    expect(answer).toMatchObject({ status: 400, body: { status: 400, code: 'request.invalid' } });
  });

  test('an expectation that nobody knows is ignored', async () => {
    await rest.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = rest.app.server.address() as AddressInfo;
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      path: '/api/v1/lines',
      headers: { expect: 'a-pony' },
    });
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(200);
    response.resume();
    await rest.app.close();
  });
});
