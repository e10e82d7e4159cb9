import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { lowestFreeDescriptor } from '../../../../src/common/descriptors.js';
import { concatBytes } from '../../../../src/modbus/protocol/bytes.js';
import { delayed, readRequest } from './holding-registers.js';
import { openLine, type TestLine } from './line.js';
import { RawClient, until } from './raw-client.js';

let line: TestLine;

afterEach(() => line.close());

test('half a header and then silence is closed after the idle timeout, a client that asks is not', async () => {
  line = await openLine({ idleTimeoutMs: 2000 });
  const silent = line.client();
  silent.send(readRequest(1, 0).subarray(0, 3));
  const dripping = line.client();
  await until(() => line.line.clients === 2, 'both are connected');
  const good = line.client();
  for (let i = 0; !(silent.closed && dripping.closed); i++) {
    good.send(readRequest(i, 0));
    // A byte now and then is no request either.
    if (i % 5 === 0 && i < 55) dripping.send(readRequest(1, 0).subarray(i / 5, i / 5 + 1));
    await sleep(50);
    if (i > 1000) expect.fail('not closed');
  }
  expect(line.device.rejections).toEqual(['idle', 'idle']);
  expect(good.closed).toBe(false);
});

test('a client that asks in time is not closed by a program that stands still for longer than the idle timeout', async () => {
  line = await openLine({ idleTimeoutMs: 50 });
  const client = line.client();
  await until(() => client.connected, 'connected');
  for (let i = 0; i < 3; i++) {
    client.send(readRequest(i, 0));
    const until = performance.now() + 100;
    while (performance.now() < until);
    expect(await client.responsesOf(i + 1)).toHaveLength(i + 1);
  }
  expect(line.device.rejections).toEqual([]);
});

test('a client that sends and never reads is bounded in memory and dropped, one beside it goes on', async () => {
  line = await openLine({ slowTimeoutMs: 1500 });
  const good = line.client();
  const greedy = line.client();
  greedy.socket.pause();
  const batch = concatBytes(...Array.from({ length: 50_000 }, (_, i) => readRequest(i, 0, 125)));
  let rounds = 0;
  while (!greedy.closed) {
    if (greedy.socket.writableLength < 1_000_000) greedy.send(batch);
    good.send(readRequest(rounds++, 1));
    await good.responsesOf(rounds);
    await sleep(20);
    if (rounds > 1000) expect.fail('not dropped');
  }
  // The line has stopped reading in the middle of the first batch: its replies are more than the system buffers.
  const executed = line.device.requests.filter(({ clientId }) => clientId === 2);
  expect(executed.length).toBeLessThan(50_000);
  expect(line.device.rejections).toEqual(['slow']);
  expect(good.responses).toHaveLength(rounds);
});

test('a client that pipelines without end does not keep others waiting', async () => {
  line = await openLine();
  const good = line.client();
  const bulk = line.client();
  let received = 0;
  bulk.socket.removeAllListeners('data').on('data', (chunk) => {
    received += chunk.length;
  });
  const total = 50_000;
  bulk.send(concatBytes(...Array.from({ length: total }, (_, i) => readRequest(i, 0, 125))));
  let asked = 0;
  while (received < total * 259 && !bulk.closed) {
    good.send(readRequest(asked++, 1));
    await good.responsesOf(asked);
  }
  const byGood = line.device.requests.flatMap(({ clientId }, i) => (clientId === 1 ? [i] : []));
  const waits = byGood.slice(1).map((index, i) => index - (byGood[i] ?? 0));
  expect(waits.length).toBeGreaterThan(10);
  expect(Math.max(...waits)).toBeLessThan(5000);
});

test('a client that reads late, but reads, gets all replies and is not dropped', async () => {
  line = await openLine({ slowTimeoutMs: 10_000 });
  const client = line.client();
  client.socket.pause();
  client.send(concatBytes(...Array.from({ length: 60_000 }, (_, i) => readRequest(i, 0, 125))));
  await sleep(500);
  expect(line.device.requests.length).toBeLessThan(60_000);
  const total = 60_000 * (9 + 250);
  let received = 0;
  client.socket.removeAllListeners('data').on('data', (chunk) => {
    received += chunk.length;
  });
  client.socket.resume();
  await until(() => received === total || client.closed, 'all replies have come');
  expect(received).toBe(total);
  expect(line.device.rejections).toEqual([]);
});

test('with 300 connections and a limit of 256 the oldest silent ones make room', async () => {
  line = await openLine();
  const good = line.client();
  good.send(readRequest(1, 0));
  await good.responsesOf(1);
  const flood: RawClient[] = [];
  for (let i = 0; i < 299; i++) {
    const client = line.client();
    await until(() => client.connected, 'connected');
    flood.push(client);
  }
  await until(() => flood.filter(({ closed }) => closed).length === 44, '44 are closed');
  expect(flood.findIndex(({ closed }) => !closed)).toBe(44);
  expect(line.line.clients).toBe(256);
  expect(line.device.rejections).toEqual(Array(44).fill('limit'));
  good.send(readRequest(2, 0));
  expect(await good.responsesOf(2)).toHaveLength(2);
});

test('of connections that all have asked, the one idle for longest makes room', async () => {
  line = await openLine({ maxClients: 3 });
  const clients = [line.client(), line.client(), line.client()];
  for (const i of [0, 1, 2, 0]) {
    const client = clients[i] ?? expect.fail();
    const count = client.responses.length + 1;
    client.send(readRequest(i, 0));
    await client.responsesOf(count);
    await sleep(5);
  }
  const newcomer = line.client();
  newcomer.send(readRequest(9, 0));
  expect(await newcomer.responsesOf(1)).toHaveLength(1);
  await until(() => clients.some(({ closed }) => closed), 'one is closed');
  expect(clients.map(({ closed }) => closed)).toEqual([false, true, false]);
});

test('a newcomer is refused while every connection waits for a reply', async () => {
  line = await openLine({ maxClients: 1 });
  line.device.fault = (plan) => delayed(plan, 60_000);
  const first = line.client();
  first.send(readRequest(1, 0));
  await until(() => line.device.requests.length === 1, 'the request has come');
  const second = line.client();
  await until(() => second.closed, 'refused');
  expect(line.device.rejections).toEqual(['limit']);
  expect(first.closed).toBe(false);
});

test('10,000 connections opened and closed leave no file descriptors behind, and a client beside them gets all answers', async () => {
  line = await openLine();
  const good = line.client();
  good.send(readRequest(0, 0));
  await good.responsesOf(1);
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  for (let i = 0; i < 250; i++) {
    const clients = Array.from({ length: 40 }, () => new RawClient(line.port));
    for (const client of clients) client.send(readRequest(1, 0).subarray(0, i % 13));
    good.send(readRequest(i + 1, 0));
    await until(() => clients.every(({ connected }) => connected), 'connected');
    for (const [n, client] of clients.entries()) {
      if (n % 2 === 0) client.socket.resetAndDestroy();
      else client.socket.destroy();
    }
    await until(() => clients.every(({ closed }) => closed), 'closed');
  }
  expect(await good.responsesOf(251)).toHaveLength(251);
  await until(() => line.line.clients === 1, 'all others are gone');
  await until(() => descriptors() <= before, 'the descriptors are back');
  const count = (kind: string) => line.device.events.filter((event) => event.kind === kind).length;
  expect(count('client')).toBe(10_001);
  expect(count('client-gone')).toBe(10_000);
}, 600_000);

/** A line in a process that may have this many descriptors more, beside the 64 that REST and files keep. */
async function lineWithDescriptors(more: number, settings: Parameters<typeof openLine>[0] = {}) {
  const limit = lowestFreeDescriptor() + more + 64;
  line = await openLine({ ...settings, descriptors: limit });
  const rejections = () =>
    line.device.events.flatMap((event) => (event.kind === 'rejected' ? [event.text] : []));
  return { kept: limit - 64, rejections };
}

test('clients leave file descriptors for REST and files: the oldest idle one makes room for a new one', async () => {
  const { kept, rejections } = await lineWithDescriptors(20);
  for (let i = 0; i < 40; i++) {
    const client = line.client();
    client.send(readRequest(i, 0));
    await client.responsesOf(1);
  }
  // Each takes two descriptors: the client is in this process, too.
  expect(line.line.clients).toBeLessThan(15);
  expect(rejections().length).toBeGreaterThan(25);
  expect(rejections()[0]).toMatch(
    /^the longest-idle of \d+ connections was closed to make room for a new one; this process has almost reached its limit of open files and sockets/,
  );
  expect(lowestFreeDescriptor()).toBeLessThan(kept + 10);
});

test('with whenFull: refuse, a client that would take one of those descriptors is closed at once', async () => {
  const { rejections } = await lineWithDescriptors(6, { whenFull: 'refuse' });
  const clients = Array.from({ length: 12 }, () => line.client());
  await until(() => rejections().length > 0, 'one is refused');
  expect(rejections()[0]).toMatch(
    /^all \d connections are in use; this process has almost reached its limit/,
  );
  await until(() => clients.some(({ closed }) => closed), 'it is closed');
});

test('with whenFull: ignore, it is answered when another has left', async () => {
  const { rejections } = await lineWithDescriptors(6, { whenFull: 'ignore' });
  const clients: RawClient[] = [];
  while (rejections().length === 0) {
    const client = line.client();
    clients.push(client);
    client.send(readRequest(1, 0));
    await until(() => client.responses.length > 0 || rejections().length > 0, 'it is served or not');
  }
  const last = clients.at(-1);
  expect([last?.responses.length, last?.closed]).toEqual([0, false]);
  clients[0]?.socket.destroy();
  await last?.responsesOf(1);
});

test('a line without a client still takes one where others have used up what they may', async () => {
  const { rejections } = await lineWithDescriptors(-2);
  const client = line.client();
  client.send(readRequest(1, 0));
  await client.responsesOf(1);
  expect(rejections()).toEqual([]);
});

test('where even that would leave REST too few, nobody is served', async () => {
  const { rejections } = await lineWithDescriptors(-30);
  const client = line.client();
  await until(() => client.closed, 'it is closed');
  expect(rejections()).toEqual([
    expect.stringMatching(/^no room for a client; this process has almost reached its limit/),
  ]);
});
