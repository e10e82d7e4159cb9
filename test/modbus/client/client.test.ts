import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ClientRequest, newClient } from '../../../src/modbus/client/client.js';
import type { ClientTarget, Wire, WireListener } from '../../../src/modbus/client/wire.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { bytesOf, hexOf } from '../protocol/hex.js';

/* The order and the times of a client, on a wire that the test plays. */

const SERIAL = { kind: 'serial', framing: 'rtu', path: '/dev/ttyUSB0', baudRate: 19200 } as ClientTarget;
const RTU_OVER_TCP: ClientTarget = { kind: 'tcp', host: 'meter', port: 502, framing: 'rtu' };
const T35 = 2;

function start(target = SERIAL, opens: () => Promise<string | undefined> = () => Promise.resolve(undefined)) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  let closings = 0;
  let listener: WireListener | undefined;
  const wire: Wire = {
    times: { character: 0.5, t35: T35, gap: 5 },
    open: opens,
    write: (bytes) => {
      sent.push(`${clock.now()}: ${hexOf(bytes.slice(0, 2))}`);
      return undefined;
    },
    close: () => {
      closings++;
      return Promise.resolve();
    },
  };
  const client = newClient(target, clock, (_, heardBy) => {
    listener = heardBy;
    return wire;
  });
  const ask = (unitId: number, pdu = '03 0000 0001'): Promise<string> => {
    const request: ClientRequest = { unitId, pdu: bytesOf(pdu), timeout: 100 };
    return client
      .ask(request)
      .then((outcome) =>
        outcome.kind === 'answered'
          ? `${hexOf(outcome.pdu)} after ${outcome.ms}`
          : outcome.kind === 'timeout'
            ? `timeout after ${outcome.ms}, heard ${outcome.heard.length}`
            : outcome.reason,
      );
  };
  return {
    client,
    clock,
    sent,
    ask,
    closings: () => closings,
    heard: (bytes: Uint8Array) => listener?.heard(bytes),
    lost: (reason: string) => listener?.lost(reason),
    /** Lets what is due in this many ms happen. */
    pass: async (ms: number) => {
      await turn();
      for (let i = 0; i < ms; i++) {
        clock.advance(1);
        await turn();
      }
    },
  };
}

const reply = (unitId: number) => encodeRtu(unitId, bytesOf('03 02 0007'));

it('sends one request after another, with t3.5 between them', async () => {
  const { ask, pass, heard, sent } = start();
  const [first, second] = [ask(1), ask(2)];
  await pass(20);
  expect(sent).toEqual(['0: 0103']);
  heard(reply(1));
  // The request took 8 characters of half a ms.
  expect(await first).toBe('03020007 after 16');
  await pass(T35);
  expect(sent).toEqual(['0: 0103', `${20 + T35}: 0203`]);
  heard(reply(2));
  expect(await second).toBe('03020007 after 0');
});

it('does not take the late reply to a request for that to the next one', async () => {
  const { ask, pass, heard } = start();
  const first = ask(1);
  await pass(110);
  expect(await first).toBe('timeout after 100, heard 0');
  heard(reply(1));
  const second = ask(2);
  await pass(10);
  heard(reply(1));
  heard(reply(2));
  expect(await second).toMatch(/^03020007/);
});

it('lets a reply end that has begun in time, and says what it heard instead of one', async () => {
  const { ask, pass, heard } = start();
  const whole = reply(1);
  const first = ask(1);
  await pass(103);
  heard(whole.slice(0, 3));
  await pass(4);
  heard(whole.slice(3));
  expect(await first).toMatch(/^03020007/);
  const second = ask(1);
  await pass(20);
  heard(whole.slice(0, 3));
  await pass(150);
  expect(await second).toBe('timeout after 100, heard 3');
});

it('never sends a request twice: one whose connection is lost has failed', async () => {
  const { ask, pass, lost, sent } = start();
  const first = ask(1, '06 0000 0001');
  await pass(5);
  lost('meter:502: the server closed the connection');
  expect(await first).toBe('meter:502: the server closed the connection');
  await pass(200);
  expect(sent).toHaveLength(1);
});

it('ends a broadcast after the turnaround delay', async () => {
  const { ask, pass } = start();
  const sent = ask(0, '06 0000 0001');
  await pass(110);
  expect(await sent).toBe('timeout after 100, heard 0');
});

it('closes a stream without transaction identifiers after a time-out', async () => {
  const { ask, pass, closings } = start(RTU_OVER_TCP);
  const asked = ask(1);
  await pass(120);
  expect(await asked).toMatch(/^timeout/);
  expect(closings()).toBe(1);
});

it('says why nothing could be opened, and tries again with the next request', async () => {
  const reasons = ['/dev/ttyUSB0: no such file', undefined];
  const { ask, pass, heard } = start(SERIAL, () => Promise.resolve(reasons.shift()));
  expect(await ask(1)).toBe('/dev/ttyUSB0: no such file');
  const second = ask(1);
  await pass(5);
  heard(reply(1));
  expect(await second).toMatch(/^03020007/);
});

it('answers everybody when it is closed, also while it opens', async () => {
  let opened = (_: undefined): void => {};
  const { client, ask, pass, sent } = start(SERIAL, () => new Promise((resolve) => (opened = resolve)));
  const [first, second] = [ask(1), ask(2)];
  await pass(1);
  await client.close();
  opened(undefined);
  expect(await Promise.all([first, second])).toEqual(['the client was closed', 'the client was closed']);
  await pass(5);
  expect(sent).toEqual([]);
  expect(client.pending).toBe(0);
});

it('sends raw bytes in pieces with their pauses, in turn with requests, and says when bytes came', async () => {
  const { client, clock, sent, heard, pass, ask } = start();
  const first = ask(1);
  const raw = client.raw([{ bytes: bytesOf('0103') }, { bytes: bytesOf('0000'), waitMs: 20 }], {
    timeout: 50,
  });
  await pass(10);
  heard(encodeRtu(1, bytesOf('03 02 0007')));
  expect(await first).toMatch(/^03020007 after/);
  await pass(40);
  heard(bytesOf('ff'));
  await pass(10);
  heard(bytesOf('00 01'));
  await pass(60);
  const outcome = await raw;
  if (outcome.kind !== 'heard') throw new Error(outcome.reason);
  const [, one = '', two = ''] = sent;
  const at = (text: string) => Number(text.split(':')[0]);
  // The character time of this wire is 0.5 ms: 20 ms from the end of two bytes.
  expect([one.slice(-4), two.slice(-4), at(two) - at(one)]).toEqual(['0103', '0000', 21]);
  expect(outcome.chunks.map(({ bytes }) => hexOf(bytes))).toEqual(['ff', '0001']);
  expect((outcome.chunks[1]?.ms ?? 0) - (outcome.chunks[0]?.ms ?? 0)).toBe(10);
  expect(outcome.lost).toBeUndefined();
  expect(clock.now()).toBeGreaterThan(50);
});

it('ends raw bytes that wait when the client is closed', async () => {
  const { client, pass } = start();
  const raw = client.raw([{ bytes: bytesOf('01') }, { bytes: bytesOf('02'), waitMs: 1000 }], { timeout: 50 });
  await pass(5);
  await client.close();
  expect(await raw).toEqual({ kind: 'failed', reason: 'the client was closed' });
});
