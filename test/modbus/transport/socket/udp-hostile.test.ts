import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import { RTU } from '../../../../src/modbus/protocol/framing.js';
import { until } from './raw-client.js';
import { delayed, openUdpLine, Peer, readRequest, type TestUdpLine } from './udp-peers.js';

let line: TestUdpLine;

afterEach(() => line.close());

const NOT_ONE_ADU: [string, Uint8Array][] = [
  ['an empty datagram', new Uint8Array(0)],
  ['half a header', readRequest(1).slice(0, 4)],
  ['a request without its last byte', readRequest(1).slice(0, -1)],
  ['a request with a byte after it', concatBytes(readRequest(1), [0])],
  ['two requests in one', concatBytes(readRequest(1), readRequest(2))],
  ['protocol identifier 1', Uint8Array.of(0, 1, 0, 1, 0, 6, 1, 3, 0, 0, 0, 1)],
  ['length 0', Uint8Array.of(0, 1, 0, 0, 0, 0, 1, 3, 0, 0, 0, 1)],
  ['length 65535', Uint8Array.of(0, 1, 0, 0, 0xff, 0xff, 1, 3, 0, 0, 0, 1)],
  ['an RTU frame', readRequest(0, 0, RTU)],
  ['the longest datagram there is', new Uint8Array(65_507).fill(0xa5)],
];

test.each(NOT_ONE_ADU)('%s is noise and gets no answer', async (_, datagram) => {
  line = await openUdpLine();
  const peer = line.peer();
  await peer.send(datagram);
  await until(() => line.device.count('noise') === 1, 'the noise was told');
  const event = line.device.events.find(({ kind }) => kind === 'noise');
  expect(event?.kind === 'noise' && Buffer.compare(event.noise.bytes, datagram)).toBe(0);
  expect(line.line.clients).toBe(0);
  await peer.send(readRequest(3));
  await peer.receivedOf(1);
  expect(peer.transactions).toEqual([3]);
});

test('a good client is served while others send garbage', async () => {
  line = await openUdpLine();
  const [good, bad] = [line.peer(), line.peer()];
  let seed = 1;
  const garbage = () => {
    return Uint8Array.from({ length: 1 + (seed % 300) }, () => {
      seed = (seed * 48271) % 0x7fffffff;
      return seed & 0xff;
    });
  };
  for (let i = 0; i < 200; i++) {
    await Promise.all(Array.from({ length: 10 }, () => bad.send(garbage())));
    await good.send(readRequest(i));
    await good.receivedOf(i + 1);
  }
  expect(good.transactions).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(bad.received).toEqual([]);
  expect(line.line.clients).toBe(1);
});

test('a client has at most 64 replies pending: further requests are not executed, and told', async () => {
  line = await openUdpLine();
  line.device.hold();
  const peer = line.peer();
  for (let i = 0; i < 70; i++) await peer.send(readRequest(i));
  await until(() => line.device.count('dropped') === 6, 'six are dropped');
  expect(line.device.requests).toHaveLength(64);
  expect(line.device.events.find(({ kind }) => kind === 'dropped')).toEqual({
    kind: 'dropped',
    frame: expect.objectContaining({ bytes: readRequest(64) }),
    client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    clientId: 1,
  });
  line.device.release();
  await peer.receivedOf(64);
  await peer.send(readRequest(100));
  await peer.receivedOf(65);
  expect(peer.transactions).toEqual([...Array.from({ length: 64 }, (_, i) => i), 100]);
});

test('the client that has been idle longest makes room for a new one', async () => {
  line = await openUdpLine({ maxClients: 2 });
  const [one, two, three] = [line.peer(), line.peer(), line.peer()];
  await one.send(readRequest(1));
  await one.receivedOf(1);
  await two.send(readRequest(1));
  await two.receivedOf(1);
  await one.send(readRequest(2));
  await one.receivedOf(2);
  await three.send(readRequest(1));
  await three.receivedOf(1);
  expect(line.line.clients).toBe(2);
  const client = `127.0.0.1:${two.socket.address().port}`;
  const text = 'the longest-idle of 2 clients was closed to make room for a new one';
  expect(line.device.events.slice(-3)).toEqual([
    { kind: 'rejected', client, clientId: 2, reason: 'limit', text },
    { kind: 'client-gone', client, clientId: 2, text },
    { kind: 'client', client: `127.0.0.1:${three.socket.address().port}`, clientId: 3 },
  ]);
  // The one that had to go comes back, and is a new client.
  await two.send(readRequest(2));
  await two.receivedOf(2);
  expect(line.device.requests.at(-1)?.clientId).toBe(4);
});

test('while all clients have replies pending a new one is turned away', async () => {
  line = await openUdpLine({ maxClients: 2 });
  line.device.hold();
  const [one, two, three] = [line.peer(), line.peer(), line.peer()];
  await one.send(readRequest(1));
  await two.send(readRequest(1));
  await until(() => line.device.requests.length === 2, 'both have asked');
  await three.send(readRequest(1));
  await until(() => line.device.count('rejected') === 1, 'the third is turned away');
  expect(line.device.events.at(-1)).toEqual({
    kind: 'rejected',
    client: `127.0.0.1:${three.socket.address().port}`,
    clientId: 3,
    reason: 'limit',
    text: 'all 2 clients have replies pending',
  });
  expect(line.device.requests).toHaveLength(2);
  line.device.release();
  await Promise.all([one.receivedOf(1), two.receivedOf(1)]);
  await until(() => line.device.reports.length === 2, 'both are idle again');
  await three.send(readRequest(2));
  await three.receivedOf(1);
  expect(three.transactions).toEqual([2]);
});

test('a flood from ever new addresses is not remembered, and a good client is served beside it', async () => {
  line = await openUdpLine({ maxClients: 8 });
  const good = line.peer();
  for (let i = 0; i < 300; i++) {
    const flood = new Peer(line.port);
    await flood.send(readRequest(i));
    await flood.receivedOf(1);
    await flood.close();
    expect(line.line.clients).toBeLessThanOrEqual(8);
    if (i % 10 === 0) {
      await good.send(readRequest(i));
      await good.receivedOf(i / 10 + 1);
    }
  }
  const { device } = line;
  expect(device.count('client') - device.count('client-gone')).toBe(line.line.clients);
  const ids = device.events.flatMap((event) => (event.kind === 'client' ? [event.clientId] : []));
  expect(new Set(ids).size).toBe(ids.length);
});

test('a client that has gone before its reply is sent harms nobody', async () => {
  line = await openUdpLine();
  line.device.fault = (plan, { transactionId }) => (transactionId === 1 ? delayed(plan, 50) : plan);
  const gone = new Peer(line.port);
  await gone.send(readRequest(1));
  await until(() => line.device.requests.length === 1, 'it has asked');
  await gone.close();
  await until(() => line.device.reports.length === 1, 'its reply was sent into the void');
  const peer = line.peer();
  for (let i = 2; i < 5; i++) {
    await peer.send(readRequest(i));
    await peer.receivedOf(i - 1);
  }
  expect(line.line.state.kind).toBe('open');
});

test('an idle client is forgotten, one with a reply pending is not', async () => {
  line = await openUdpLine({ idleTimeoutMs: 100 });
  const [idle, waiting] = [line.peer(), line.peer()];
  await idle.send(readRequest(1));
  await idle.receivedOf(1);
  line.device.hold();
  await waiting.send(readRequest(2));
  const gone = () => line.device.events.filter(({ kind }) => kind === 'client-gone');
  await until(() => gone().length === 1, 'the idle one is forgotten');
  expect(gone()).toMatchObject([{ client: `127.0.0.1:${idle.socket.address().port}` }]);
  await sleep(200);
  expect(line.line.clients).toBe(1);
  line.device.release();
  await waiting.receivedOf(1);
  await until(() => line.line.clients === 0, 'the other one is forgotten too');
  expect(line.device.events.at(-1)).toMatchObject({ kind: 'client-gone', text: 'no request for 100 ms' });
});
