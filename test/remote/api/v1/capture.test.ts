import { beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../modbus/transport/socket/raw-client.js';
import { stopAfterEach } from '../../../support/simulator.js';
import {
  blockTypes,
  EVENTS,
  INTERFACE,
  PACKET,
  REPLY,
  REQUEST,
  SECTION_HEADER,
  startCapture,
} from './live-capture.js';

let live: Awaited<ReturnType<typeof startCapture>>;

stopAfterEach();

beforeEach(async () => {
  live = await startCapture();
});

async function capture(query = ''): Promise<{ status: number; body: Buffer }> {
  const { statusCode, rawPayload } = await live.running.rest.app.inject({
    url: `/api/v1/capture.pcapng${query}`,
    headers: { host: 'localhost' },
  });
  return { status: statusCode, body: rawPayload };
}

describe('the capture of what is kept', () => {
  test('begins with its interfaces, and has a packet for each frame', async () => {
    await live.ask(2);
    const { status, body } = await capture();
    expect(status).toBe(200);
    // The handshake of the client, and two exchanges.
    expect(blockTypes(body)).toEqual([SECTION_HEADER, INTERFACE, INTERFACE, ...Array(3 + 4).fill(PACKET)]);
    expect(body.includes(REQUEST)).toBe(true);
    expect(body.includes(REPLY)).toBe(true);
  });

  test('has the lines that are asked for, and the events after the one that is named', async () => {
    await live.ask();
    await live.ask(1, live.running.client('other'));
    const one = await capture('?line=other');
    expect(blockTypes(one.body)).toEqual([SECTION_HEADER, INTERFACE, ...Array(3 + 2).fill(PACKET)]);
    const none = await capture(`?after=${live.running.simulator.traffic.last}`);
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
    await live.ask(EVENTS);
    const { body } = await capture('?after=1');
    expect(body.toString('latin1')).toMatch(/\d+ events before this one left out/);
    expect((await capture()).body.toString('latin1')).not.toContain('left out');
  });
});

describe('a live capture', () => {
  test('has frames as they happen, each once', async () => {
    await live.ask(3);
    const { answer, body } = await live.follow('&line=lan');
    for (let i = 1; i <= 5; i++) {
      await live.ask();
      await until(() => blockTypes(body()).length >= 2 + 2 * i, 'the frames are there');
    }
    expect(blockTypes(body())).toEqual([SECTION_HEADER, INTERFACE, ...Array(10).fill(PACKET)]);
    answer.destroy();
  });

  test('leaves room for others: at most sixteen, and those that have gone do not count', async () => {
    const readers = [];
    for (let i = 0; i < 16; i++) readers.push(await live.follow());
    const refused = await live.follow();
    expect(refused.answer.statusCode).toBe(503);
    readers[0]?.answer.destroy();
    let next = await live.follow();
    while (next.answer.statusCode !== 200) next = await live.follow();
    for (const { answer } of [...readers, next]) answer.destroy();
  });
});
