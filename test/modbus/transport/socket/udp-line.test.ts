import modbusSerial from 'modbus-serial';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AsciiFraming } from '../../../../src/modbus/protocol/ascii.js';
import { RTU, SOCKET } from '../../../../src/modbus/protocol/framing.js';
import { type ReplyPlan, type Step, silence } from '../../../../src/modbus/protocol/reply-plan.js';
import { until } from './raw-client.js';
import { delayed, openUdpLine, readRequest, type TestUdpLine } from './udp-peers.js';

let line: TestUdpLine;

beforeEach(async () => {
  line = await openUdpLine();
});

afterEach(() => line.close());

const steps = (...all: Step[]): ReplyPlan => ({ kind: 'send', early: false, steps: all });
const bytes = (data: Uint8Array): Step => ({ kind: 'bytes', waitMs: 0, bytes: data, continues: false });

test('answers a datagram to its sender, with its transaction identifier', async () => {
  const peer = line.peer();
  await peer.send(readRequest(0xbeef, 258));
  expect(await peer.receivedOf(1)).toEqual([Uint8Array.of(0xbe, 0xef, 0, 0, 0, 5, 1, 3, 2, 0x01, 0x02)]);
  expect(line.device.requests).toMatchObject([
    {
      transactionId: 0xbeef,
      unitId: 1,
      pdu: Uint8Array.of(3, 1, 2, 0, 1),
      adu: readRequest(0xbeef, 258),
      clientId: 1,
      client: `127.0.0.1:${peer.socket.address().port}`,
    },
  ]);
  await until(() => line.device.reports.length === 1, 'reported');
  const { request, report } = line.device.reports[0] ?? expect.fail('no report');
  expect(report).toMatchObject({ steps: [{ outcome: 'achieved' }], ended: 'complete' });
  expect(report.steps[0]?.achievedAt).toBeGreaterThanOrEqual(request.receivedAt);
});

test('modbus-serial reads from it, many times', async () => {
  const client = new modbusSerial.default();
  await client.connectUDP('127.0.0.1', { port: line.port });
  await until(() => client.isOpen, 'the client is open');
  client.setID(1);
  client.setTimeout(30_000);
  for (let i = 0; i < 200; i++) {
    expect((await client.readHoldingRegisters(i, 3)).data).toEqual([i, i + 1, i + 2]);
  }
  expect(line.line.clients).toBe(1);
  await new Promise<void>((resolve) => {
    client.close(() => resolve());
  });
});

test('the requests of one client are answered in their order', async () => {
  line.device.fault = (plan, { transactionId }) => (transactionId === 1 ? delayed(plan, 50) : plan);
  const peer = line.peer();
  for (let i = 1; i <= 20; i++) await peer.send(readRequest(i));
  await peer.receivedOf(20);
  expect(peer.transactions).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
});

test('two clients at once each get their own replies', async () => {
  const [one, two] = [line.peer(), line.peer()];
  for (let i = 1; i <= 30; i++) {
    await one.send(readRequest(i));
    await two.send(readRequest(1000 + i));
  }
  await Promise.all([one.receivedOf(30), two.receivedOf(30)]);
  expect(one.transactions).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  expect(two.transactions).toEqual(Array.from({ length: 30 }, (_, i) => 1001 + i));
  expect(line.line.clients).toBe(2);
  expect(line.device.events.filter(({ kind }) => kind === 'client')).toEqual([
    { kind: 'client', client: `127.0.0.1:${one.socket.address().port}`, clientId: 1 },
    { kind: 'client', client: `127.0.0.1:${two.socket.address().port}`, clientId: 2 },
  ]);
});

test('a delayed reply does not hold back other clients', async () => {
  line.device.fault = (plan, { transactionId }) => (transactionId === 1 ? delayed(plan, 60_000) : plan);
  const [slow, fast] = [line.peer(), line.peer()];
  await slow.send(readRequest(1));
  await until(() => line.device.requests.length === 1, 'the slow request has come');
  await fast.send(readRequest(2));
  await fast.receivedOf(1);
  expect(slow.received).toEqual([]);
});

test('a delayed reply is never early', async () => {
  line.device.fault = (plan) => delayed(plan, 30);
  const peer = line.peer();
  await peer.send(readRequest(1));
  await peer.receivedOf(1);
  await until(() => line.device.reports.length === 1, 'reported');
  const { request, report } = line.device.reports[0] ?? expect.fail('no report');
  expect(report.steps[0]?.plannedAt).toBe(request.receivedAt + 30);
  expect(report.steps[0]?.achievedAt).toBeGreaterThanOrEqual(request.receivedAt + 30);
});

test('a reply in two pieces leaves as two datagrams', async () => {
  line.device.fault = (plan) => {
    if (plan.kind !== 'send' || plan.steps[0]?.kind !== 'bytes') return plan;
    const whole = plan.steps[0].bytes;
    return steps(bytes(whole.slice(0, 4)), { ...bytes(whole.slice(4)), waitMs: 20 });
  };
  const peer = line.peer();
  await peer.send(readRequest(7, 9));
  expect(await peer.receivedOf(2)).toEqual([Uint8Array.of(0, 7, 0, 0), Uint8Array.of(0, 5, 1, 3, 2, 0, 9)]);
  await until(() => line.device.reports.length === 1, 'reported');
  expect(line.device.reports[0]?.report.steps).toMatchObject([
    { outcome: 'achieved' },
    { outcome: 'achieved' },
  ]);
});

test('a silent plan sends nothing', async () => {
  line.device.fault = (plan, { transactionId }) => (transactionId === 1 ? silence('dropped') : plan);
  const peer = line.peer();
  await peer.send(readRequest(1));
  await peer.send(readRequest(2));
  await peer.receivedOf(1);
  expect(peer.transactions).toEqual([2]);
  expect(line.device.reports[0]?.report).toEqual({ steps: [], ended: 'complete' });
});

test('what UDP can not do is reported with the reason, and the rest of the plan is played', async () => {
  line.device.fault = () =>
    steps(
      { kind: 'close', waitMs: 0, how: 'reset' },
      { kind: 'break', waitMs: 0, ms: 1 },
      bytes(Uint8Array.of(1, 2, 3)),
    );
  const peer = line.peer();
  await peer.send(readRequest(1));
  expect(await peer.receivedOf(1)).toEqual([Uint8Array.of(1, 2, 3)]);
  await until(() => line.device.reports.length === 1, 'reported');
  expect(line.device.reports[0]?.report).toMatchObject({
    steps: [
      { outcome: 'not achieved', reason: 'UDP has no connection to close' },
      { outcome: 'not achieved', reason: 'UDP has no break state' },
      { outcome: 'achieved' },
    ],
    ended: 'complete',
  });
});

test('a reply longer than a datagram can be is reported as not sent, those around it arrive', async () => {
  line.device.fault = (plan, { transactionId }) =>
    transactionId === 2 ? steps(bytes(Uint8Array.of(9)), bytes(new Uint8Array(70_000))) : plan;
  const peer = line.peer();
  for (const transactionId of [1, 2, 3]) await peer.send(readRequest(transactionId));
  await peer.receivedOf(3);
  expect(peer.received[1]).toEqual(Uint8Array.of(9));
  await until(() => line.device.reports.length === 3, 'reported');
  expect(line.device.reports[1]?.report).toMatchObject({
    steps: [
      { outcome: 'achieved' },
      { outcome: 'not achieved', reason: expect.stringMatching(/^not sent: .*EMSGSIZE/) },
    ],
    ended: 'complete',
  });
  expect(line.line.state.kind).toBe('open');
});

test.each([
  ['RTU', RTU],
  ['ASCII', new AsciiFraming()],
])('%s frames in datagrams are answered when they are for our units or for all', async (_, framing) => {
  await line.close();
  line = await openUdpLine({ framing });
  line.device.fault = (plan, { unitId }) => (unitId === 0 ? silence('broadcast') : plan);
  const peer = line.peer();
  const foreign = readRequest(0, 5, framing, 2);
  await peer.send(foreign);
  await until(() => line.device.count('foreign') === 1, 'the foreign request has come');
  expect(line.line.clients).toBe(0);
  await peer.send(readRequest(0, 6, framing, 0));
  await peer.send(readRequest(0, 7, framing));
  expect(await peer.receivedOf(1)).toEqual([
    framing.encode({ transactionId: 0, unitId: 1, pdu: Uint8Array.of(3, 2, 0, 7) }),
  ]);
  expect(line.device.requests.map(({ unitId, pdu }) => [unitId, pdu[2]])).toEqual([
    [0, 6],
    [1, 7],
  ]);
  const event = line.device.events.find(({ kind }) => kind === 'foreign');
  expect(event).toMatchObject({ role: 'request', frame: { bytes: foreign } });
});

test('on Modbus TCP framing every unit identifier is asked for, as behind a gateway', async () => {
  const peer = line.peer();
  await peer.send(readRequest(1, 0, SOCKET, 77));
  await peer.receivedOf(1);
  expect(line.device.requests).toMatchObject([{ unitId: 77 }]);
  expect(line.device.count('foreign')).toBe(0);
});

test('a line that takes another framing reads later datagrams in it', async () => {
  await line.close();
  line = await openUdpLine({ framing: new AsciiFraming() });
  const other = Object.assign(new AsciiFraming(), { delimiter: '!'.charCodeAt(0) });
  const peer = line.peer();
  await peer.send(readRequest(0, 5, line.device.framing));
  await peer.receivedOf(1);
  line.line.reframe(other);
  await peer.send(readRequest(0, 6, other));
  await peer.receivedOf(2);
  await peer.send(readRequest(0, 7, line.device.framing));
  await until(() => line.device.count('noise') === 1, 'the old one is noise');
  expect(line.device.requests).toHaveLength(2);
});
