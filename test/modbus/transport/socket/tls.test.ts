import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import { RTU } from '../../../../src/modbus/protocol/framing.js';
import type { ReplyPlan } from '../../../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { Certificates, type Identity, roleExtension } from './certificates.js';
import { delayed, readRequest } from './holding-registers.js';
import { type LineSettings, openLine, type TestLine } from './line.js';
import { RawClient, until } from './raw-client.js';
import { TLS_1_1, TlsClient, type TlsClientOptions } from './tls-client.js';

let certificates: Certificates;
let server: Identity;
let operator: Identity;
let line: TestLine;
const clients: RawClient[] = [];

beforeAll(() => {
  certificates = new Certificates();
  server = certificates.signed('server');
  operator = certificates.signed('operator', { extension: roleExtension('ASN1:UTF8String:Operator') });
});

afterAll(() => certificates.remove());

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await line.close();
});

const mutual = () => ({ ...server, ca: certificates.ca.cert });

async function open(settings: LineSettings = {}): Promise<void> {
  line = await openLine({ tls: mutual(), ...settings });
}

function connect(identity?: Identity, options?: TlsClientOptions['options']): TlsClient {
  const client = new TlsClient(line.port, {
    ca: certificates.ca,
    ...(identity && { identity }),
    ...(options && { options }),
  });
  clients.push(client);
  return client;
}

function plain(): RawClient {
  const client = new RawClient(line.port);
  clients.push(client);
  return client;
}

const rejections = () =>
  line.device.events.flatMap((event) =>
    event.kind === 'rejected' ? [`${event.reason}: ${event.text}`] : [],
  );
const ofKind = (kind: string) => line.device.events.filter((event) => event.kind === kind);

async function expectRejected(text: string): Promise<void> {
  await until(() => rejections().length > 0, 'rejected');
  expect(rejections()).toEqual([text]);
  expect(ofKind('client')).toEqual([]);
  expect(ofKind('client-gone')).toEqual([]);
  expect(line.line.clients).toBe(0);
}

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'answers a client with a certificate of the CA and tells its role (%s)',
  async (version) => {
    await open();
    line.device.registers[7] = 4711;
    const client = connect(operator, { minVersion: version, maxVersion: version });
    client.send(concatBytes(readRequest(1, 7), readRequest(2, 7)));
    const responses = await client.responsesOf(2);
    expect(responses.map(({ transactionId }) => transactionId)).toEqual([1, 2]);
    expect(responses[0]?.pdu).toEqual(Uint8Array.of(3, 2, 0x12, 0x67));
    const address = `127.0.0.1:${client.socket.localPort}`;
    expect(ofKind('client')).toEqual([{ kind: 'client', client: address, clientId: 1, role: 'Operator' }]);
    expect(line.device.requests[0]).toMatchObject({ client: address, clientId: 1 });
    expect(ofKind('open')).toMatchObject([{ endpoint: `127.0.0.1:${line.port}`, notes: [] }]);
    await client.end();
    await until(() => ofKind('client-gone').length === 1, 'gone');
    expect(line.line.clients).toBe(0);
  },
);

test('answers a request that comes byte by byte in TLS records', async () => {
  await open();
  const client = connect(operator);
  for (const byte of readRequest(1, 0)) client.send(Uint8Array.of(byte));
  expect(await client.responsesOf(1)).toHaveLength(1);
});

test('RTU goes over TLS too', async () => {
  await open({ framing: RTU });
  const client = connect(operator);
  client.send(encodeRtu(1, Uint8Array.of(3, 0, 0, 0, 1)));
  await until(() => client.received.length === 7, 'answered');
  expect(client.received).toEqual(Buffer.from(encodeRtu(1, Uint8Array.of(3, 2, 0, 0))));
});

test('tells the role of a client that resumes its session', async () => {
  await open();
  const first = connect(operator, { maxVersion: 'TLSv1.2' });
  let session: Buffer | undefined;
  first.socket.on('session', (ticket: Buffer) => {
    session = ticket;
  });
  first.send(readRequest(1, 0));
  await first.responsesOf(1);
  await until(() => session !== undefined, 'a session ticket has come');
  const second = connect(operator, { maxVersion: 'TLSv1.2', session: session as Buffer });
  second.send(readRequest(1, 0));
  await second.responsesOf(1);
  expect(ofKind('client')).toMatchObject([{ role: 'Operator' }, { role: 'Operator' }]);
});

test.each([
  ['without one', ''],
  ['that is a number', roleExtension('ASN1:INTEGER:5')],
  ['that is cut off', roleExtension('DER:0c:10:41')],
  ['with bytes too many', roleExtension('DER:0c:01:41:00')],
  ['that is no DER', roleExtension('DER:ff:ff:ff')],
])('a certificate %s role has no role, and its client is served', async (name, extension) => {
  await open();
  const client = connect(certificates.signed(`role ${name}`, { extension }));
  client.send(readRequest(1, 0));
  expect(await client.responsesOf(1)).toHaveLength(1);
  expect(ofKind('client')[0]).not.toHaveProperty('role');
});

test('a role may be any text', async () => {
  await open();
  const extension = roleExtension('ASN1:FORMAT:UTF8,UTF8String:Prüfer Ω');
  const client = connect(certificates.signed('examiner', { extension }));
  client.send(readRequest(1, 0));
  await client.responsesOf(1);
  expect(ofKind('client')).toMatchObject([{ role: 'Prüfer Ω' }]);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a client without a certificate gets an alert (%s)',
  async (maxVersion) => {
    await open();
    const client = connect(undefined, { maxVersion });
    await until(() => client.closed, 'closed');
    expect(client.error).toMatch(
      /^ERR_SSL_(TLSV13_ALERT_CERTIFICATE_REQUIRED|(SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE)$/,
    );
    await expectRejected('tls: the client sent no certificate; this line requires one');
  },
);

test.each([
  ['signed by itself', () => certificates.selfSigned('self')],
  ['of another CA', () => certificates.signed('stranger', { issuer: certificates.selfSigned('other CA') })],
])('a client with a certificate %s is turned away', async (_, make) => {
  await open();
  const client = connect(make());
  client.send(readRequest(1, 0));
  await until(() => client.closed, 'closed');
  await expectRejected("tls: the client's certificate is not signed by the CA of this line");
  expect(line.device.requests).toEqual([]);
});

test('a client with an expired certificate is turned away', async () => {
  await open();
  const client = connect(certificates.signed('expired', { days: -1 }));
  await until(() => client.closed, 'closed');
  await expectRejected("tls: the client's certificate has expired");
});

test('a client that speaks TLS 1.1 is turned away', async () => {
  await open();
  const client = connect(operator, TLS_1_1);
  await until(() => client.closed, 'closed');
  await expectRejected('tls: the client supports only TLS versions before 1.2');
});

test.each([
  ['Modbus TCP without TLS', readRequest(1, 0)],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['bytes that mean nothing', new Uint8Array(5000).fill(0xff)],
])('a client that speaks %s is turned away', async (_, bytes) => {
  await open();
  const client = plain();
  client.send(bytes);
  await until(() => client.closed, 'closed');
  await expectRejected('tls: the client does not speak TLS');
});

test.each(['-tls1_2', '-tls1_3'])(
  'a client that does not accept the certificate of the line is named as the one (openssl %s)',
  async (version) => {
    await open();
    const { cert } = certificates.selfSigned('CA of the client');
    // It checks during the handshake and says so, which Node's client does not.
    const identity = ['-cert', operator.cert, '-key', operator.key];
    const trust = ['-CAfile', cert, '-verify_return_error'];
    const to = ['s_client', '-connect', `127.0.0.1:${line.port}`, version];
    const client = spawn('openssl', [...to, ...identity, ...trust], { stdio: 'ignore' });
    await once(client, 'exit');
    await expectRejected('tls: the client does not accept the certificate of this line');
  },
);

test('a client that leaves in the middle of the handshake, and one that is silent, are turned away', async () => {
  await open({ handshakeTimeoutMs: 500 });
  const leaving = plain();
  await until(() => leaving.connected, 'connected');
  leaving.socket.destroy();
  await until(() => rejections().length === 1, 'rejected');
  plain();
  await until(() => rejections().length === 2, 'rejected');
  expect(rejections()).toEqual([
    'tls: the client closed the connection during the TLS handshake',
    'tls: the client did not complete its TLS handshake in time',
  ]);
});

test('a flood of handshakes that never end throws out itself, not a client that is served', async () => {
  await open({ maxClients: 20, handshakeTimeoutMs: 60_000 });
  const good = connect(operator);
  good.send(readRequest(1, 0));
  await good.responsesOf(1);
  const flood: RawClient[] = [];
  for (let i = 0; i < 100; i++) {
    const client = plain();
    // The beginning of a handshake.
    client.send(Uint8Array.of(22, 3, 1, 0, 200, 1));
    await until(() => client.connected, 'connected');
    flood.push(client);
  }
  await until(() => flood.filter(({ closed }) => closed).length === 80, 'all but 20 are closed');
  expect(ofKind('rejected')).toHaveLength(80);
  expect(ofKind('rejected')).toEqual(Array(80).fill(expect.objectContaining({ reason: 'limit' })));
  good.send(readRequest(2, 0));
  expect(await good.responsesOf(2)).toHaveLength(2);
  const late = connect(operator);
  late.send(readRequest(3, 0));
  expect(await late.responsesOf(1)).toHaveLength(1);
});

test('on a full line a connection takes the place of another only after its handshake', async () => {
  await open({ maxClients: 1 });
  const first = connect(operator);
  first.send(readRequest(1, 0));
  await first.responsesOf(1);
  const stranger = plain();
  stranger.send(Uint8Array.of(22, 3, 1, 0, 200, 1));
  await until(() => stranger.connected, 'connected');
  first.send(readRequest(2, 0));
  expect(await first.responsesOf(2)).toHaveLength(2);
  const second = connect(operator);
  second.send(readRequest(3, 0));
  expect(await second.responsesOf(1)).toHaveLength(1);
  await until(() => first.closed, 'the idle one is closed');
  expect(ofKind('rejected')).toMatchObject([
    { text: 'the oldest of 1 TLS handshakes was ended to make room for a new one' },
    { text: 'the longest-idle of 1 connections was closed to make room for a new one' },
  ]);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a plan that says reset sends a TCP reset (%s)',
  async (maxVersion) => {
    await open();
    line.device.fault = (plan, { transactionId }) => (transactionId === 2 ? close('reset') : plan);
    const client = connect(operator, { maxVersion });
    client.send(readRequest(1, 0));
    await client.responsesOf(1);
    client.send(readRequest(2, 0));
    await until(() => client.closed, 'closed');
    expect(client.error).toBe('ECONNRESET');
    await until(() => line.device.reports.length === 2 && line.line.clients === 0, 'reported');
    expect(line.device.reports[1]?.report).toMatchObject({
      steps: [{ outcome: 'achieved' }],
      ended: 'complete',
    });
    expect(ofKind('client-gone')).toMatchObject([{ text: 'closed by the reply plan' }]);
  },
);

test('a reply before a reset has left, nothing leaves behind it, and both are reported so', async () => {
  await open();
  line.device.fault = (plan) =>
    plan.kind === 'send'
      ? { ...plan, steps: [...plan.steps, { kind: 'close', waitMs: 0, how: 'reset' }, ...plan.steps] }
      : plan;
  const client = connect(operator);
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  await until(() => client.closed && line.line.clients === 0, 'closed');
  expect(client.responses).toHaveLength(1);
  const behind = { outcome: 'not achieved', reason: 'the connection is closed' };
  expect(line.device.reports.map(({ report }) => report)).toMatchObject([
    { steps: [{ outcome: 'achieved' }, { outcome: 'achieved' }, behind], ended: 'disconnected' },
  ]);
});

test('a plan that says close ends the TLS connection in an orderly way', async () => {
  await open();
  line.device.fault = (plan, { transactionId }) => (transactionId === 2 ? close('end') : plan);
  const client = connect(operator);
  client.send(concatBytes(readRequest(1, 0), readRequest(2, 0)));
  await until(() => client.closed, 'closed');
  expect(client.responses).toHaveLength(1);
  expect(client.error).toBeUndefined();
});

test('answers everything that a client sent before it closed its sending side', async () => {
  await open();
  const client = connect(operator);
  await until(() => client.connected, 'connected');
  client.socket.end(concatBytes(...Array.from({ length: 5000 }, (_, i) => readRequest(i, 0, 10))));
  await until(() => client.closed, 'closed by the line');
  expect(client.received.length).toBe(5000 * (9 + 20));
});

test('the idle timeout holds on TLS', async () => {
  await open({ idleTimeoutMs: 300 });
  const client = connect(operator);
  client.send(readRequest(1, 0).subarray(0, 3));
  await until(() => client.closed, 'closed');
  expect(line.device.rejections).toEqual(['idle']);
});

test('a TLS client that sends and never reads is dropped, one beside it goes on', async () => {
  await open({ slowTimeoutMs: 1000 });
  const good = connect(operator);
  const greedy = connect(operator);
  await until(() => greedy.connected, 'connected');
  greedy.socket.pause();
  const batch = concatBytes(...Array.from({ length: 10_000 }, (_, i) => readRequest(i, 0, 125)));
  for (let i = 1; !greedy.closed; i++) {
    if (greedy.socket.writableLength < 1_000_000) greedy.send(batch);
    good.send(readRequest(i, 1));
    await good.responsesOf(i);
    await sleep(20);
    if (i > 1000) expect.fail('not dropped');
  }
  expect(line.device.rejections).toEqual(['slow']);
});

test('stop ends TLS clients and handshakes, and a start afterwards takes the renewed certificate', async () => {
  const files = { cert: certificates.path('renewed.pem'), key: certificates.path('renewed.key') };
  certificates.signed('renewed');
  await open({ tls: { ...files, ca: certificates.ca.cert } });
  line.device.fault = (plan) => delayed(plan, 60_000);
  const client = connect(operator);
  client.send(readRequest(1, 0));
  const handshaking = plain();
  await until(() => line.device.requests.length === 1 && handshaking.connected, 'both are there');
  expect(client.server).toBe('renewed');
  await line.line.stop();
  expect(line.line.clients).toBe(0);
  await until(() => client.closed && handshaking.closed, 'closed');
  expect(ofKind('rejected')).toEqual([]);

  const newer = certificates.signed('newer');
  certificates.copy(newer, files);
  const started = await line.line.start();
  const port = Number(started.ok && started.endpoint.split(':')[1]);
  const again = new TlsClient(port, { ca: certificates.ca, identity: operator });
  clients.push(again);
  await until(() => again.server !== undefined, 'connected');
  expect(again.server).toBe('newer');
});

test('without a CA clients need no certificate, and the line says so', async () => {
  await open({ tls: server });
  const client = connect();
  client.send(readRequest(1, 0));
  expect(await client.responsesOf(1)).toHaveLength(1);
  expect(ofKind('open')).toMatchObject([{ notes: ['clients are not authenticated: no CA is configured'] }]);
  expect(ofKind('client')[0]).not.toHaveProperty('role');
});

function close(how: 'end' | 'reset'): ReplyPlan {
  return { kind: 'send', early: false, steps: [{ kind: 'close', waitMs: 0, how }] };
}

test('with whenFull: ignore, a second client shakes hands and is answered when the first has left, with its role', async () => {
  await open({ maxClients: 1, whenFull: 'ignore' });
  const first = connect(operator);
  first.send(readRequest(1, 0));
  expect(await first.responsesOf(1)).toHaveLength(1);
  const second = connect(operator);
  second.send(readRequest(2, 0));
  await until(() => rejections().length === 1, 'the second is without room');
  expect(rejections()).toEqual([
    'limit: all 1 connections are in use; the new client is not served until one closes',
  ]);
  expect(second.responses).toEqual([]);
  first.socket.destroy();
  expect(await second.responsesOf(1)).toHaveLength(1);
  expect(ofKind('client')).toMatchObject([{ role: 'Operator' }, { role: 'Operator' }]);
});
