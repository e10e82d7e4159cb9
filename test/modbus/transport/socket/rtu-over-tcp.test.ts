import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import { RTU } from '../../../../src/modbus/protocol/framing.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { quiet } from '../../../cli/verbs/clients.js';
import { openLine, type TestLine } from './line.js';
import { type RawClient, until } from './raw-client.js';

/** Longer than the discard gap of one second. */
const SILENCE_MS = 1300;

let line: TestLine;
let client: RawClient;

beforeEach(async () => {
  line = await openLine({ framing: RTU });
  line.device.registers.set([11, 12, 13, 14]);
  client = line.client();
});

afterEach(() => line.close());

const read = (address: number, unitId = 1) => encodeRtu(unitId, Uint8Array.of(3, 0, address, 0, 1));
const write = (address: number, value: number, unitId = 1) =>
  encodeRtu(unitId, Uint8Array.of(6, 0, address, 0, value));
const reply = (value: number) => encodeRtu(1, Uint8Array.of(3, 2, 0, value));
const damaged = (adu: Uint8Array) => adu.map((byte, i) => (i === adu.length - 1 ? byte ^ 1 : byte));

/** These bytes come next, and nothing else before them. */
async function expectNext(...replies: Uint8Array[]): Promise<void> {
  const expected = Buffer.from(concatBytes(...replies));
  await until(() => client.closed || client.received.length >= expected.length, 'the replies have come');
  expect(client.received).toEqual(expected);
  client.received = Buffer.alloc(0);
}

const noises = () =>
  line.device.events.flatMap((event) => (event.kind === 'noise' ? [event.noise.bytes.length] : []));

test('answers an RTU frame on a TCP connection with one', async () => {
  client.send(read(1));
  await expectNext(reply(12));
  expect(line.device.requests).toMatchObject([
    {
      unitId: 1,
      transactionId: 0,
      pdu: Uint8Array.of(3, 0, 1, 0, 1),
      adu: read(1),
      clientId: 1,
      client: `127.0.0.1:${client.socket.localPort}`,
    },
  ]);
});

test.each([0, 5, 130])('answers a request in single bytes %i ms apart', async (ms) => {
  for (const byte of encodeRtu(1, Uint8Array.of(16, 0, 2, 0, 1, 2, 0, 99))) {
    client.send(Uint8Array.of(byte));
    if (ms > 0) await sleep(ms);
  }
  await expectNext(encodeRtu(1, Uint8Array.of(16, 0, 2, 0, 1)));
  expect(line.device.registers[2]).toBe(99);
});

test('answers three requests in one write, in their order', async () => {
  client.send(concatBytes(read(0), write(1, 77), read(1)));
  await expectNext(reply(11), write(1, 77), reply(77));
});

test('answers two merged requests cut at any byte', async () => {
  const both = concatBytes(read(2), read(3));
  for (let cut = 1; cut < both.length; cut++) {
    client.send(both.subarray(0, cut));
    await sleep(5);
    client.send(both.subarray(cut));
    await expectNext(reply(13), reply(14));
  }
});

test('answers 1000 pipelined requests in order', async () => {
  client.send(concatBytes(...Array.from({ length: 1000 }, (_, i) => read(i % 4))));
  await expectNext(...Array.from({ length: 1000 }, (_, i) => reply(11 + (i % 4))));
});

test('answers a good request after a bad CRC and a silence', async () => {
  client.send(damaged(write(0, 5)));
  await quiet(SILENCE_MS);
  expect(noises()).toEqual([8]);
  client.send(read(0));
  await expectNext(reply(11));
});

test('answers a client that asks again, sooner than the silence, after a bad CRC', async () => {
  client.send(damaged(write(0, 5)));
  await sleep(400);
  client.send(read(0));
  await expectNext(reply(11));
  expect(noises()).toEqual([8]);
});

test('answers a client that asks again, sooner than the silence, after half a request', async () => {
  client.send(encodeRtu(1, Uint8Array.of(16, 0, 0, 0, 2, 4, 0, 1, 0, 2)).subarray(0, 7));
  await sleep(400);
  client.send(read(0));
  await expectNext(reply(11));
  expect(noises()).toEqual([7]);
});

const ILLEGAL_VALUE = encodeRtu(1, Uint8Array.of(0x83, 3));

test.each([
  ['a bare function code', [3]],
  ['less than an address', [3, 0]],
  ['no quantity', [3, 0, 0]],
  ['what looks like a response', [3, 2, 0, 11]],
])('answers a valid frame that is cut short, %s, with exception 03', async (_, pdu) => {
  client.send(read(0));
  await expectNext(reply(11));
  client.send(encodeRtu(1, Uint8Array.from(pdu)));
  await expectNext(ILLEGAL_VALUE);
  client.send(read(1));
  await expectNext(reply(12));
});

test('never executes what came behind a bad CRC in the same read, not even after the silence', async () => {
  client.send(concatBytes(damaged(read(0)), write(0, 5)));
  await quiet(SILENCE_MS);
  client.send(read(0));
  await expectNext(reply(11));
  expect(noises()).toEqual([16]);
});

test('never executes half a request that is completed after the silence', async () => {
  client.send(write(0, 5).subarray(0, 4));
  await quiet(SILENCE_MS);
  client.send(write(0, 5).subarray(4));
  await quiet(SILENCE_MS);
  client.send(read(0));
  await expectNext(reply(11));
  expect(noises()).toEqual([4, 4]);
});

test('answers an unknown function with exception 01 at once, silence or not', async () => {
  // Far below the discard gap, of up to twenty: this machine may be doing something else for a while.
  let fastest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20 && fastest >= 700; i++) {
    const started = performance.now();
    client.send(encodeRtu(1, Uint8Array.of(0x65, 1, 2, 3)));
    await expectNext(encodeRtu(1, Uint8Array.of(0xe5, 1)));
    fastest = performance.now() - started;
  }
  expect(fastest).toBeLessThan(700);
  client.send(encodeRtu(1, Uint8Array.of(0x65, 1, 2, 3)).subarray(0, 4));
  await sleep(20);
  client.send(encodeRtu(1, Uint8Array.of(0x65, 1, 2, 3)).subarray(4));
  await expectNext(encodeRtu(1, Uint8Array.of(0xe5, 1)));
});

test('answers an unknown function at the end of a long read', async () => {
  const reads = Array.from({ length: 100 }, () => read(0));
  client.send(concatBytes(...reads, encodeRtu(1, Uint8Array.of(0x65, 1, 2, 3))));
  await expectNext(...reads.map(() => reply(11)), encodeRtu(1, Uint8Array.of(0xe5, 1)));
});

test('a flood of frames for other units is told whole and in order, and does not stop the client beside it', async () => {
  const flood = line.client();
  const frames = Array.from({ length: 40_000 }, (_, i) => encodeRtu(100 + (i % 100), Uint8Array.of(7)));
  flood.send(concatBytes(...frames));
  for (let i = 0; i < 20; i++) {
    client.send(read(i % 4));
    await expectNext(reply(11 + (i % 4)));
  }
  const foreign = () =>
    line.device.events.flatMap((event) => (event.kind === 'foreign' ? [event.frame] : []));
  await until(() => foreign().length === frames.length, 'all are told');
  expect(foreign().every(({ bytes }, i) => bytes[0] === 100 + (i % 100))).toBe(true);
  expect(noises()).toEqual([]);
});

test('hands over a request with bytes too many, so that it is answered and not ignored', async () => {
  client.send(encodeRtu(1, Uint8Array.of(6, 0, 0, 0, 5, 0, 0)));
  await until(() => line.device.requests.length === 1, 'handed over');
  expect(line.device.requests[0]?.pdu).toEqual(Uint8Array.of(6, 0, 0, 0, 5, 0, 0));
});

test('does not answer for a unit that is not ours, and tells of its frame', async () => {
  client.send(concatBytes(write(0, 5, 200), read(0)));
  await expectNext(reply(11));
  expect(line.device.requests).toHaveLength(1);
  expect(line.device.events).toContainEqual(
    expect.objectContaining({
      kind: 'foreign',
      role: 'request',
      frame: expect.objectContaining({ bytes: write(0, 5, 200) }),
    }),
  );
});

test('executes a broadcast and does not answer it', async () => {
  client.send(concatBytes(write(0, 5, 0), read(0)));
  await expectNext(reply(5));
  expect(line.device.requests.map(({ unitId }) => unitId)).toEqual([0, 1]);
});

test('random bytes are told as noise, hurt nobody else and close nothing', async () => {
  const good = client;
  const bad = line.client();
  // No unit of the line: nobody means these.
  const noise = Uint8Array.from({ length: 1_000_000 }, (_, i) => 100 + ((i * 7919) % 150));
  bad.send(noise);
  for (let i = 0; i < 20; i++) {
    good.send(read(i % 4));
    await expectNext(reply(11 + (i % 4)));
  }
  await until(() => noises().reduce((a, b) => a + b, 0) >= noise.length - 256, 'all told');
  expect(line.device.rejections).toEqual([]);
  bad.send(noise.subarray(0, 10));
  await quiet(SILENCE_MS);
  client = bad;
  bad.send(read(0));
  await expectNext(reply(11));
});

test('a client that only sends noise is idle', async () => {
  await line.close();
  line = await openLine({ framing: RTU, idleTimeoutMs: 300 });
  client = line.client();
  for (let i = 0; !client.closed && i < 100; i++) {
    client.send(Uint8Array.of(0xff));
    await sleep(20);
  }
  expect(line.device.rejections).toEqual(['idle']);
});

test('half a request whose rest waits behind a reply delayed for longer than the discard gap is answered', async () => {
  line.device.fault = (plan, { pdu }) =>
    pdu[0] === 6 && plan.kind === 'send'
      ? { ...plan, steps: plan.steps.map((step) => ({ ...step, waitMs: 1800 })) }
      : plan;
  const reads = Array.from({ length: 100 }, () => read(0));
  // Half a request, so that the silence is watched; then more than may wait for their replies, and half of another.
  client.send(write(3, 9).subarray(0, 4));
  await sleep(50);
  client.send(concatBytes(write(3, 9).subarray(4), ...reads, read(1).subarray(0, 4)));
  await sleep(200);
  client.send(read(1).subarray(4));
  await expectNext(write(3, 9), ...reads.map(() => reply(11)), reply(12));
  expect(noises()).toEqual([]);
});
