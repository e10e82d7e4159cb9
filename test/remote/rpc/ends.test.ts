import { MessageChannel } from 'node:worker_threads';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { DeskEnd } from '../../../src/remote/rpc/desk-end.js';
import { LineEnd } from '../../../src/remote/rpc/line-end.js';
import { LocalRpc } from '../../../src/remote/rpc/local-rpc.js';
import { allParts, type Rpc } from '../../../src/remote/rpc/rpc.js';
import { Simulator } from '../../../src/simulator/simulator.js';
import { newTestContext, type TestContext } from '../../../src/testing/commands.js';
import { nativeSetup } from '../../support/configuration.js';

const SILENT = pino({ level: 'silent' });

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A room with a device of 300 values, which are more than one slice of a long list. */
function newRoom(): TestContext {
  const holding = Array.from({ length: 300 }, (_, i) => ({ address: i, name: `v${i}`, value: i }));
  const configuration = nativeSetup({
    devices: {
      meter: { registers: { holding } },
      large: { registers: { holding: [{ address: 0, quantity: 8192, value: 1 }] } },
    },
    lines: { lan: { tcp: { port: 0 }, units: { 1: 'meter' } } },
  });
  return newTestContext(new Simulator(configuration, SILENT), SILENT);
}

/** Both ends of a channel between two threads, here in one. */
function bothEnds(room: TestContext) {
  const { port1, port2 } = new MessageChannel();
  const lines = new LineEnd(room, port1);
  const desk = new DeskEnd(port2, room.simulator.traffic.limits.events);
  ends.push(() => {
    lines.end();
    port1.close();
  });
  return { lines, desk };
}

describe.each([
  ['in this thread', (room: TestContext): Rpc => new LocalRpc(room)],
  ['between two threads', (room: TestContext): Rpc => bothEnds(room).desk],
])('a call %s', (_, open) => {
  it('carries out a command', async () => {
    const room = newRoom();
    const rpc = open(room);
    const came = await rpc.call('value.set', { device: 'meter', name: 'v7', value: 4711, raw: false });
    expect(came).toMatchObject({ ok: true });
    const device = room.simulator.devices.get('meter');
    expect(device?.tables.holding.readWords(7, 1)).toEqual([4711]);
  });

  it('returns a refusal with its code', async () => {
    const came = await open(newRoom()).call('line.get', { line: 'nope' });
    expect(came).toMatchObject({
      ok: false,
      code: 'line.unknown',
      problems: [{ message: expect.any(String) }],
    });
  });

  it('rejects when a command fails, and goes on', async () => {
    const room = newRoom();
    const rpc = open(room);
    Object.defineProperty(room.simulator.devices, 'get', {
      value: () => {
        throw new Error('broken');
      },
      configurable: true,
    });
    await expect(rpc.call('device.get', { device: 'meter' })).rejects.toThrow('broken');
    expect(await rpc.call('program.ping', undefined)).toMatchObject({ ok: true });
  });

  it('gives all parts of a long list', async () => {
    const values = await allParts(
      await open(newRoom()).list('value.list', { device: 'meter', from: 0, to: 65535 }),
    );
    expect(values).toHaveLength(300);
  });

  it('refuses a list as it refuses a call', async () => {
    const came = await open(newRoom()).list('value.list', { device: 'nope', from: 0, to: 65535 });
    expect(came).toMatchObject({ ok: false, code: 'device.unknown' });
  });

  it('answers many questions at once, each with its own answer', async () => {
    const rpc = open(newRoom());
    const asked = Array.from({ length: 100 }, (_, i) =>
      rpc.call('value.get', { device: 'meter', value: `v${i}` }),
    );
    const came = await Promise.all(asked);
    expect(came.map((each) => each.ok && each.value.value)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });

  it('has another revision when lines or devices may have changed', async () => {
    const rpc = open(newRoom());
    await rpc.call('program.ping', undefined);
    const before = rpc.revision;
    const came = await rpc.call('line.add', { name: 'second', tcp: { port: 0 }, units: { 2: 'meter' } });
    expect(came).toMatchObject({ ok: true });
    expect(rpc.revision).not.toBe(before);
  });
});

it('a list that nobody wants to the end is ended on the side of the lines', async () => {
  const room = newRoom();
  const { desk } = bothEnds(room);
  const came = await desk.list('value.list', { device: 'meter', from: 0, to: 65535 });
  if (!came.ok) throw new Error('refused');
  for await (const _ of came.value) break;
  expect(await desk.call('program.ping', undefined)).toMatchObject({ ok: true });
});

it('whoever asks for all registers of a device holds nobody up while its values are counted', async () => {
  const room = newRoom();
  const { desk } = bothEnds(room);
  const order: string[] = [];
  Object.defineProperty(room.simulator.devices.get('meter')?.tables.holding.window.image, 'valuesIn', {
    *value() {
      for (let i = 0; i < 1e8 && order.length === 0; i++) yield;
      return 300;
    },
  });
  const listed = desk.list('value.list', { device: 'meter', from: 0, to: 65535 });
  const ping = desk.call('program.ping', undefined).then(() => order.push('ping'));
  const came = listed.then((outcome) => {
    order.push('list');
    return outcome;
  });
  await ping;
  expect(await came).toMatchObject({ ok: true });
  expect(order).toEqual(['ping', 'list']);
});

it('commands that wait for a port or a name hold nobody up who asks for something else', async () => {
  const room = newRoom();
  const { desk } = bothEnds(room);
  Object.defineProperty(room.simulator.changes, 'addLine', { value: () => new Promise(() => {}) });
  for (let i = 0; i < 40; i++)
    void desk.call('line.add', {
      name: `slow ${i}`,
      tcp: { host: 'slow.example', port: 0 },
      units: { 1: 'meter' },
    });
  expect(await desk.call('program.ping', undefined)).toMatchObject({ ok: true });
});

it('so many long lists are begun, another one is refused, and begun when one of them is ended', async () => {
  const { desk } = bothEnds(newRoom());
  const list = () => desk.list('value.list', { device: 'large', table: 'holding', from: 0, to: 8191 });
  const begun = [];
  for (let came = await list(); ; came = await list()) {
    if (!came.ok) {
      expect(came.code).toBe('readers.too_many');
      break;
    }
    begun.push(came.value[Symbol.asyncIterator]());
  }
  // Nothing of it was read: what is ended was not begun here.
  await begun[0]?.return?.();
  expect(await list()).toMatchObject({ ok: true });
  expect(await list()).toMatchObject({ ok: false, code: 'readers.too_many' });
});

it('the answer to a change comes behind the traffic before it', async () => {
  const room = newRoom();
  const { desk } = bothEnds(room);
  const { traffic } = room.simulator;
  const line = traffic.lineNumber('lan');
  for (let i = 1; i <= 50; i++) {
    traffic.add(line, { kind: 'echo', at: i, count: 1, isRest: false });
    await desk.call('program.ping', undefined);
    expect(desk.traffic.last).toBe(traffic.last);
    if (i % 10 === 0) {
      await desk.call('traffic.clear', undefined);
      expect([desk.traffic.first, desk.traffic.last]).toEqual([traffic.first, traffic.last]);
    }
  }
});

it('an end that is over answers nothing and feeds nothing', async () => {
  const room = newRoom();
  const { desk, lines } = bothEnds(room);
  expect(await desk.call('program.ping', undefined)).toMatchObject({ ok: true });
  lines.end();
  let isAnswered = false;
  void desk.call('program.ping', undefined).then(() => {
    isAnswered = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isAnswered).toBe(false);
});
