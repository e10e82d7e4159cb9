import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { concatBytes, wordAt } from '../../../../src/modbus/protocol/bytes.js';
import { readRequest } from './holding-registers.js';
import { openLine, type TestLine } from './line.js';
import { until } from './raw-client.js';

let line: TestLine;

beforeEach(async () => {
  line = await openLine();
  line.device.registers.forEach((_, i, registers) => {
    registers[i] = i;
  });
});

afterEach(() => line.close());

test('answers a request with its transaction and unit identifier', async () => {
  const client = line.client();
  client.send(readRequest(0xbeef, 7, 2, 17));
  expect(await client.responsesOf(1)).toEqual([
    { transactionId: 0xbeef, unitId: 17, pdu: Uint8Array.of(3, 4, 0, 7, 0, 8) },
  ]);
});

test('tells the handler who asked, when, and the bytes', async () => {
  const before = performance.now();
  const client = line.client();
  client.send(readRequest(5, 7));
  await client.responsesOf(1);
  const [request] = line.device.requests;
  expect(request?.adu).toEqual(readRequest(5, 7));
  expect(request?.pdu).toEqual(readRequest(5, 7).subarray(7));
  expect(request?.client).toBe(`127.0.0.1:${client.socket.localPort}`);
  expect(request?.clientId).toBe(1);
  expect(request?.receivedAt).toBeGreaterThan(before);
  expect(request?.receivedAt).toBeLessThan(performance.now());
});

test('answers two merged requests cut at any byte', async () => {
  const both = concatBytes(readRequest(1, 10), readRequest(2, 20));
  const expected = [
    { transactionId: 1, unitId: 1, pdu: Uint8Array.of(3, 2, 0, 10) },
    { transactionId: 2, unitId: 1, pdu: Uint8Array.of(3, 2, 0, 20) },
  ];
  for (let cut = 0; cut <= both.length; cut++) {
    const client = line.client();
    await until(() => client.connected, 'connected');
    client.send(both.subarray(0, cut));
    await sleep(5);
    client.send(both.subarray(cut));
    expect(await client.responsesOf(2), `cut at ${cut}`).toEqual(expected);
    await client.end();
  }
});

test('answers a request sent byte by byte', async () => {
  const client = line.client();
  await until(() => client.connected, 'connected');
  for (const byte of concatBytes(readRequest(1, 10), readRequest(2, 20))) {
    client.send(Uint8Array.of(byte));
    await sleep(2);
  }
  expect((await client.responsesOf(2)).map((response) => response.transactionId)).toEqual([1, 2]);
});

test('answers 100 pipelined requests in order', async () => {
  const client = line.client();
  client.send(concatBytes(...Array.from({ length: 100 }, (_, i) => readRequest(1000 + i, i))));
  const responses = await client.responsesOf(100);
  expect(responses.map(({ transactionId }) => transactionId)).toEqual(
    Array.from({ length: 100 }, (_, i) => 1000 + i),
  );
  expect(responses.map(({ pdu }) => wordAt(pdu, 2))).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test('answers everything a client sent before it closed its sending side', async () => {
  const client = line.client();
  client.socket.end(concatBytes(...Array.from({ length: 20_000 }, (_, i) => readRequest(i, 0, 10))));
  await until(() => client.closed, 'closed by the line');
  expect(client.received.length).toBe(20_000 * (9 + 20));
  expect(wordAt(client.received, client.received.length - 29)).toBe(19_999);
});

describe('what is not Modbus TCP closes the connection at once', () => {
  const header = (protocolId: number, length: number) =>
    Uint8Array.of(0, 1, protocolId >> 8, protocolId & 0xff, length >> 8, length & 0xff);

  test.each([
    ['length 0', header(0, 0)],
    ['length 1', header(0, 1)],
    ['length 255', header(0, 255)],
    ['length 65535', header(0, 65535)],
    ['protocol identifier 1 and length 255', header(1, 255)],
    ['HTTP', new TextEncoder().encode('GET / HTTP/1.1\r\n')],
  ])('%s', async (_, bytes) => {
    const good = line.client();
    const bad = line.client();
    bad.send(bytes);
    await until(() => bad.closed, 'closed by the line');
    expect(bad.received.length).toBe(0);
    expect(line.device.rejections).toEqual(['protocol']);
    good.send(readRequest(1, 0));
    expect(await good.responsesOf(1)).toHaveLength(1);
  });

  test('after the good requests before it were answered', async () => {
    const client = line.client();
    client.send(concatBytes(readRequest(1, 0), readRequest(2, 0), header(0, 0), readRequest(3, 0)));
    await until(() => client.closed, 'closed by the line');
    expect(client.responses.map(({ transactionId }) => transactionId)).toEqual([1, 2]);
    expect(line.device.requests).toHaveLength(2);
  });
});

test('discards a frame of another protocol, counts it, and answers what is around it', async () => {
  // Messaging on TCP/IP V1.0b has an ADU with another protocol identifier than 0 discarded.
  const other = readRequest(2, 0);
  other[3] = 1;
  const client = line.client();
  const all = concatBytes(readRequest(1, 0), other, readRequest(3, 0));
  client.send(all.subarray(0, 17));
  await client.responsesOf(1);
  client.send(all.subarray(17));
  expect((await client.responsesOf(2)).map(({ transactionId }) => transactionId)).toEqual([1, 3]);
  const noise = line.device.events.flatMap((event) => (event.kind === 'noise' ? [event] : []));
  expect(noise).toMatchObject([{ client: expect.stringMatching(/^127/), noise: { bytes: other } }]);
  expect(line.device.rejections).toEqual([]);
});

test('a request of the longest PDU and of a bare function code are handed over whole', async () => {
  const client = line.client();
  const longest = concatBytes([0, 1, 0, 0, 0, 254, 1, 99], new Uint8Array(252).fill(0xaa));
  client.send(concatBytes(longest, [0, 2, 0, 0, 0, 2, 1, 3]));
  await client.responsesOf(2);
  expect(line.device.requests.map(({ pdu }) => pdu.length)).toEqual([253, 1]);
});

test('random bytes close the connection and hurt nobody else', async () => {
  const good = line.client();
  let seed = 42;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed >>> 24;
  };
  for (let i = 0; i < 100; i++) {
    const bad = line.client();
    bad.send(Uint8Array.from({ length: 3000 }, random));
    await until(() => bad.closed, 'closed by the line');
    good.send(readRequest(i, i));
  }
  const responses = await good.responsesOf(100);
  expect(responses.map(({ transactionId }) => transactionId)).toEqual(
    Array.from({ length: 100 }, (_, i) => i),
  );
  expect(line.line.clients).toBe(1);
});
