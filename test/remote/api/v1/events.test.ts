import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type RawClient, until } from '../../../modbus/transport/socket/raw-client.js';
import { nativeSetup } from '../../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../../support/simulator.js';
import { tries } from '../../../support/tries.js';
import { Rest } from '../rest.js';
import { EventSource, type Told } from './event-source.js';

const MB = 1024 * 1024;

const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, quantity: 125, write: true }] } } },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    other: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
});

const READ = Buffer.from('000100000006010300000001', 'hex');
const READ_LENGTH = 11;
/** Reads 125 registers: an event of 2 KB. */
const READ_MUCH = Buffer.from('00010000000601030000007d', 'hex');
const MUCH_LENGTH = 9 + 250;

let served: RunningSimulator;
let master: RawClient;
let url: string;
let sources: EventSource[];

stopAfterEach();

async function serve(setup = SETUP): Promise<void> {
  served = await startSimulator(setup);
  master = served.client();
  url = await served.rest.app.listen({ port: 0, host: '127.0.0.1' });
}

beforeEach(async () => {
  sources = [];
  await serve();
});

afterEach(async () => {
  for (const source of sources) await source.close();
});

async function follow(query = '', lastEventId?: string): Promise<EventSource> {
  const source = new EventSource(`${url}/api/v1/events${query}`, lastEventId);
  sources.push(source);
  return source.connected();
}

async function ask(count = 1, request = READ, length = READ_LENGTH): Promise<void> {
  master.received = Buffer.alloc(0);
  master.send(Buffer.concat(Array.from({ length: count }, () => request)));
  await until(() => master.received.length === count * length, 'all are answered');
}

const seqs = (told: readonly Told[]) => told.map(({ seq }) => seq);
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('a reader', () => {
  test('is disconnected when a message can not be made, so that it comes back, and takes no place', async () => {
    const source = await follow();
    const failing = vi.spyOn(served.simulator.traffic, 'read').mockImplementation(() => {
      throw new Error('unreadable');
    });
    await ask();
    await until(() => source.closed, 'it is disconnected');
    failing.mockRestore();
    expect(served.log.some(({ msg }) => msg === 'the events could not be sent')).toBe(true);
    const again = await follow('', source.lastEventId);
    await until(() => again.told.some(({ kind }) => kind === 'reply'), 'it is told what it has not read');
    const told = seqs([...source.told, ...again.told]);
    expect(told).toEqual(upTo(served.simulator.traffic.last, told[0]));
  });

  test('is told what happens from now on, as /traffic shows it', async () => {
    await ask();
    const source = await follow();
    const before = served.simulator.traffic.last;
    await ask(3);
    await until(() => source.told.length === 6, 'all is told');
    const { body } = await served.rest.send<{ events: unknown[] }>('GET', `/api/v1/traffic?after=${before}`);
    expect(source.told).toEqual(body.events);
    expect(source.response?.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(source.messages.filter(({ data }) => data).map(({ event }) => event)).toContain('traffic');
    expect(source.lastEventId).toBe(String(before + 6));
  });

  test('gets what happened together in one message', async () => {
    const source = await follow();
    await ask(50);
    await until(() => source.told.length === 100, 'all is told');
    expect(source.messages.filter(({ data }) => data).length).toBeLessThanOrEqual(10);
  });

  test('is told only what it asked for', async () => {
    const source = await follow('?line=other&kind=line,request');
    await ask(3);
    await served.simulator.lines.get('other')?.stop();
    await until(() => source.told.length > 0, 'the line has stopped');
    expect(source.told).toMatchObject([{ kind: 'line', line: 'other', text: 'line stopped' }]);
    expect(source.told).toHaveLength(1);
  });

  test('is told of rules that acted and of registers that were written', async () => {
    served.addRule({ name: 'slow', do: [{ delay: 1 }] });
    const source = await follow('?rule=slow');
    await ask(1, Buffer.from('000100000006010600010007', 'hex'), 12);
    await until(() => source.told.length > 0, 'it is told');
    expect(source.told).toMatchObject([
      { faults: [{ rule: 'slow', kind: 'delay' }], written: { table: 'holding', address: 1, values: [7] } },
    ]);
  });

  test('begins after the number it names', async () => {
    await ask(2);
    const source = await follow('?after=3');
    const { last } = served.simulator.traffic;
    await until(() => source.told.length === last - 3, 'all is told');
    expect(seqs(source.told)).toEqual(upTo(last, 4));
  });

  test('comes back after the last event it was told, also with one of an earlier run', async () => {
    await ask(2);
    const source = await follow('?after=0', '4');
    await until(() => source.told.length > 0, 'it is told');
    expect(source.told[0]?.seq).toBe(5);
    const late = await follow('', '999999');
    await ask();
    await until(() => late.told.length === 2, 'it is told what is new');
    expect(late.told[0]?.seq).toBe(served.simulator.traffic.last - 1);
  });
});

test('a reader that reconnects ten times under load holds every sequence number once', async () => {
  let isLoaded = true;
  const load = (async () => {
    while (isLoaded) await ask(20);
  })();
  const told: Told[] = [];
  let lastEventId = '0';
  for (let connection = 0; connection < 10; connection++) {
    const source = await follow('', lastEventId);
    await until(() => source.told.length > 40, 'something is told');
    await source.close();
    told.push(...source.told);
    lastEventId = source.lastEventId ?? lastEventId;
  }
  isLoaded = false;
  await load;
  const { last } = served.simulator.traffic;
  const source = await follow('', lastEventId);
  await until(() => source.lastEventId === String(last), 'the rest is told');
  told.push(...source.told);
  expect(seqs(told)).toEqual(upTo(last));
});

describe('with little memory for traffic', () => {
  beforeEach(async () => {
    await served.stop();
    await serve({ ...SETUP, traffic: { events: 200, bytes: 64 * MB } });
  });

  test('a reader that comes back too late is told how many it has missed', async () => {
    await ask(1000);
    const { first, last } = served.simulator.traffic;
    const source = await follow('', '10');
    await until(() => source.lastEventId === String(last), 'all is told');
    const count = first - 11;
    expect(source.told[0]).toEqual({
      kind: 'left out',
      count,
      text: `${count.toLocaleString('en')} left out`,
    });
    expect(seqs(source.told.slice(1))).toEqual(upTo(last, first));
  });

  test('readers that do not read are owed one message each, and miss what they do not read', async () => {
    const connections: Socket[] = [];
    served.rest.app.server.on('connection', (socket: Socket) => connections.push(socket));
    const stalled = await Promise.all(Array.from({ length: tries(10) }, () => follow()));
    for (const { response } of stalled) response?.pause();
    // Until the buffers of the system are full for all of them.
    const isFull = () => connections.every(({ writableLength }) => writableLength > 0);
    while (!isFull()) await ask(50, READ_MUCH, MUCH_LENGTH);
    for (let i = 0; i < 10; i++) await ask(50, READ_MUCH, MUCH_LENGTH);
    for (const { writableLength } of connections) expect(writableLength).toBeLessThan(MB / 4);
    const [source] = stalled as [EventSource];
    source.response?.resume();
    await until(() => source.told.some(({ kind }) => kind === 'left out'), 'the gap is told');
    const { last } = served.simulator.traffic;
    await until(() => source.lastEventId === String(last), 'the reader has caught up');
    // Nothing may have been sent to it before its buffers were full.
    const first = source.told.findIndex(({ kind }) => kind !== 'left out');
    let before = source.told[first]?.seq as number;
    for (const { kind, seq, count } of source.told.slice(first + 1)) {
      before += kind === 'left out' ? (count as number) : 1;
      if (kind !== 'left out') expect(seq).toBe(before);
    }
    expect(before).toBe(last);
  });
});

describe('the number of readers', () => {
  test('is 16 at most; one that leaves makes room', async () => {
    const readers = await Promise.all(Array.from({ length: 16 }, () => follow()));
    const refused = await follow();
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({
      error: 'expected at most 16 readers at a time, try again',
    });
    await readers[3]?.close();
    while ((await follow()).status !== 200) await sleep(10);
  });

  test('is a quarter of the connections where there are fewer', async () => {
    const rest = new Rest(SETUP, { host: '127.0.0.1', maxConnections: 8 });
    url = await rest.app.listen({ port: 0, host: '127.0.0.1' });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await follow()).status);
    await rest.app.close();
    expect(statuses).toEqual([200, 200, 503]);
  });

  test('other requests are served beside 16 readers', async () => {
    await Promise.all(Array.from({ length: 16 }, () => follow()));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

test('a reader that leaves leaves nothing behind', async () => {
  for (let i = 0; i < 40; i++) {
    const source = await follow();
    expect(source.status).toBe(200);
    await source.close();
  }
  const { server } = served.rest.app;
  const connections = () => new Promise((resolve) => server.getConnections((_, open) => resolve(open)));
  while ((await connections()) !== 0) await sleep(10);
  const outline = vi.spyOn(served.simulator.traffic, 'outline');
  await ask();
  await sleep(200);
  expect(outline).not.toHaveBeenCalled();
});

test('the simulator stops with readers connected', async () => {
  const source = await follow();
  await served.stop();
  await until(() => source.closed, 'the reader is disconnected');
});

test.each([
  ['lines=lan', 'lines'],
  ['unit=x', 'unit'],
  ['after=x', 'after'],
  ['limit=5', 'limit'],
])('?%s gets status 400, which names it', async (query, path) => {
  const { status, body } = await served.rest.send('GET', `/api/v1/events?${query}`);
  expect({ status, body }).toMatchObject({ status: 400, body: { problems: [{ path }] } });
});

test('HEAD is refused, since its answer would never end', async () => {
  expect((await served.rest.send('HEAD', '/api/v1/events')).status).toBe(405);
});
