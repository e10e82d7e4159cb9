import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { nativeSetup } from '../../support/configuration.js';
import { type RunningSimulator, startSimulator, stopAfterEach } from '../../support/simulator.js';
import { type RawClient, until } from '../../transport/socket/raw-client.js';

const EVENTS = 2000;
const SETUP = nativeSetup({
  devices: { meter: { registers: { holding: [{ address: 0, value: [1, 2, 3] }] } } },
  lines: {
    lan: { tcp: { port: 0 }, units: { 1: 'meter' } },
    other: { tcp: { port: 0 }, units: { 1: 'meter' } },
  },
  traffic: { events: EVENTS, bytes: '1MB' },
});

const REQUEST = Buffer.from('000100000006010300000001', 'hex');
const REPLY = Buffer.from('0001000000050103020001', 'hex');

const SECTION_HEADER = 0x0a0d0d0a;
const INTERFACE = 1;
const PACKET = 6;

/** Types of the complete blocks of a file. */
function blockTypes(file: Buffer): number[] {
  const types = [];
  for (let at = 0; at + 12 <= file.length; at += file.readUInt32LE(at + 4)) types.push(file.readUInt32LE(at));
  return types;
}

let running: RunningSimulator;
let master: RawClient;
let port: number;
/** The ends of HTTP connections in this program. */
let sockets: Socket[];

stopAfterEach();

beforeEach(async () => {
  running = await startSimulator(SETUP);
  master = running.client();
  await running.rest.app.listen({ port: 0, host: '127.0.0.1' });
  sockets = [];
  running.rest.app.server.on('connection', (socket) => sockets.push(socket));
  port = (running.rest.app.server.address() as AddressInfo).port;
});

async function ask(count = 1, client = master): Promise<void> {
  const before = client.received.length;
  for (let i = 0; i < count; i++) client.send(REQUEST);
  await until(() => client.received.length === before + count * REPLY.length, 'all are answered');
}

async function capture(query = ''): Promise<{ status: number; body: Buffer }> {
  const { statusCode, rawPayload } = await running.rest.app.inject({
    url: `/api/v1/capture.pcapng${query}`,
    headers: { host: 'localhost' },
  });
  return { status: statusCode, body: rawPayload };
}

/** A live capture, with what has come of it so far. */
async function follow(query = ''): Promise<{ answer: IncomingMessage; body: () => Buffer }> {
  const answer = await new Promise<IncomingMessage>((resolve) =>
    get({ port, host: '127.0.0.1', agent: false, path: `/api/v1/capture.pcapng?follow${query}` }, resolve),
  );
  let body = Buffer.alloc(0);
  answer.on('data', (chunk: Buffer) => {
    body = Buffer.concat([body, chunk]);
  });
  answer.on('error', () => {});
  return { answer, body: () => body };
}

describe('the capture of what is kept', () => {
  test('begins with its interfaces, and has a packet for each frame', async () => {
    await ask(2);
    const { status, body } = await capture();
    expect(status).toBe(200);
    // The handshake of the client, and two exchanges.
    expect(blockTypes(body)).toEqual([SECTION_HEADER, INTERFACE, INTERFACE, ...Array(3 + 4).fill(PACKET)]);
    expect(body.includes(REQUEST)).toBe(true);
    expect(body.includes(REPLY)).toBe(true);
  });

  test('has the lines that are asked for, and the events after the one that is named', async () => {
    await ask();
    await ask(1, running.client('other'));
    const one = await capture('?line=other');
    expect(blockTypes(one.body)).toEqual([SECTION_HEADER, INTERFACE, ...Array(3 + 2).fill(PACKET)]);
    const none = await capture(`?after=${running.simulator.traffic.last}`);
    expect(blockTypes(none.body)).toEqual([SECTION_HEADER, INTERFACE, INTERFACE]);
  });

  test.each([
    ['?line=nobody', 'line'],
    ['?form=raw', 'form'],
    ['?follow=maybe', 'follow'],
    ['?after=x', 'after'],
    ['?colour=red', 'colour'],
  ])('%s is refused by name', async (query, name) => {
    const { status, body } = await capture(query);
    expect(status).toBe(400);
    expect(JSON.parse(body.toString()).problems[0].path).toBe(name);
  });

  test('tells what was asked for and is gone', async () => {
    await ask(EVENTS);
    const { body } = await capture('?after=1');
    expect(body.toString('latin1')).toMatch(/\d+ events before this one were left out/);
    expect((await capture()).body.toString('latin1')).not.toContain('left out');
  });
});

describe('a live capture', () => {
  test('has frames as they happen, each once', async () => {
    await ask(3);
    const { answer, body } = await follow('&line=lan');
    for (let i = 1; i <= 5; i++) {
      await ask();
      await until(() => blockTypes(body()).length >= 2 + 2 * i, 'the frames are there');
    }
    expect(blockTypes(body())).toEqual([SECTION_HEADER, INTERFACE, ...Array(10).fill(PACKET)]);
    answer.destroy();
  });

  test('leaves room for others: at most sixteen, and those that have gone do not count', async () => {
    const readers = [];
    for (let i = 0; i < 16; i++) readers.push(await follow());
    const refused = await follow();
    expect(refused.answer.statusCode).toBe(503);
    readers[0]?.answer.destroy();
    let next = await follow();
    while (next.answer.statusCode !== 200) next = await follow();
    for (const { answer } of [...readers, next]) answer.destroy();
  });

  test('a reader that does not read is told what it has missed, and keeps no memory', async () => {
    const { answer, body } = await follow('&line=lan');
    await ask();
    await until(() => blockTypes(body()).length >= 4, 'the capture has begun');
    const endless = await Promise.all([follow(), follow()]);
    for (const each of [answer, ...endless.map((reader) => reader.answer)]) each.pause();
    // Far more than the buffers of the operating system take.
    for (let i = 0; i < 24; i++) await ask(EVENTS);
    for (const { writableLength } of sockets) expect(writableLength).toBeLessThan(256 * 1024);
    answer.resume();
    await until(() => body().includes('were left out'), 'the reader is told');
    expect(blockTypes(body()).slice(0, 3)).toEqual([SECTION_HEADER, INTERFACE, PACKET]);
    for (const each of [answer, ...endless.map((reader) => reader.answer)]) each.destroy();
  });
});
