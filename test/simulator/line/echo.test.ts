import { SerialPort } from 'serialport';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import {
  openRawClient,
  pause,
  quiet,
  readReply,
  readRequest,
  writeRequest,
} from '../../cli/verbs/clients.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, type RunningSimulator, startSimulator } from '../../support/simulator.js';

const CHUNKS = [1, 8, 16, 'usb'] as const;
/** Longer than the longest discard gap here, and than any echo is under way: what goes on by itself shows in it. */
const SILENCE = 120;
/** How long what has to come may take, on a machine that is busy. */
const PATIENCE = { timeout: 30_000, interval: 5 };

const RESTORED = encodeRtu(1, Uint8Array.of(22, 0, 1, 0xff, 0xff, 0, 0));
const COIL = encodeRtu(1, Uint8Array.of(5, 0, 0, 0xff, 0));
const RETURNED = encodeRtu(1, Uint8Array.of(8, 0, 0, 0x12, 0x34));
const DIAGNOSED = [COIL, RETURNED, RESTORED];

/** First requests whose reply is the same bytes, and one whose reply can be no request. */
const ORDERS: readonly (readonly [string, readonly Uint8Array[]])[] = [
  ['a register write', [writeRequest(1, 0, 7)]],
  ['a coil write', [COIL]],
  ['the same write three times', [writeRequest(1, 0, 7), writeRequest(1, 0, 7), writeRequest(1, 0, 7)]],
  ['writes of every kind', [writeRequest(1, 0, 7), ...DIAGNOSED, writeRequest(1, 1, 8)]],
  ['a read, then writes', [readRequest(1, 2), writeRequest(1, 0, 7), COIL]],
  ['a write, a read, a write', [writeRequest(1, 0, 7), readRequest(1, 2), writeRequest(1, 0, 7)]],
];

/** So long in ms that no stall of this machine can make an echo come too late: the echo window is longer. */
const GAP = 5000;

/** Lines on which somebody else speaks, and one whose adapter does not hear what it sends. */
const SHARED = 'shared';
const SLOW = 'slow';
const SILENT = 'silent';

let running: RunningSimulator;
const lineOf = (chunk: (typeof CHUNKS)[number], order: string) => `${chunk} ${order}`.replaceAll(' ', '-');
beforeAll(async () => {
  const baudRate = 19200;
  const echoing = CHUNKS.flatMap((chunk) =>
    ORDERS.map(([name]) => ({
      chunk,
      line: lineOf(chunk, name),
      echo: 'yes',
      timing: { gap: GAP },
      baudRate,
    })),
  );
  const lines = [
    ...echoing,
    { chunk: 8, line: SHARED, echo: 'auto', timing: {}, baudRate },
    { chunk: 8, line: SLOW, echo: 'auto', timing: {}, baudRate: 600 },
    { chunk: 8, line: SILENT, echo: 'no', timing: {}, baudRate },
  ];
  const device = {
    registers: {
      coils: [{ address: 0, quantity: 2, write: true }],
      holding: [
        { address: 0, value: [0, 0, 42], write: true },
        { address: 100, quantity: 125 },
      ],
    },
  };
  running = await startSimulator(
    nativeSetup({
      devices: { meter: device },
      lines: Object.fromEntries(
        lines.map(({ chunk, line, echo, timing, baudRate }) => [
          line,
          {
            serial: { path: 'virtual', baudRate, parity: 'none', pacing: { chunk } },
            echo,
            timing,
            units: { 1: 'meter' },
          },
        ]),
      ),
    }),
  );
});
afterAll(() => running.stop());

const counters = (line: string) => {
  const found = running.simulator.lines.get(line);
  if (!found) throw new Error(`no line ${line}`);
  return found.counters;
};

/** A bus on which the simulator hears itself: all that it sends comes back. */
async function openEchoingClient(path: string) {
  const port = new SerialPort({ path, baudRate: 19200, autoOpen: false });
  await new Promise<void>((resolve, reject) => port.open((error) => (error ? reject(error) : resolve())));
  const received: number[] = [];
  port.on('data', (chunk: Buffer) => {
    received.push(...chunk);
    port.write(chunk);
  });
  onTestFinished(() => new Promise<void>((resolve) => port.close(() => resolve())));
  return { send: (bytes: Uint8Array) => void port.write(bytes), received };
}

describe.each(CHUNKS)('an adapter that hears what it sends, at %s bytes a chunk', (chunk) => {
  it.each(ORDERS)('makes the simulator execute nothing twice: %s', async (name, requests) => {
    const line = lineOf(chunk, name);
    const client = await openEchoingClient(running.path(line));
    for (const [i, request] of requests.entries()) {
      client.received.splice(0);
      client.send(request);
      const reply = request[1] === 3 ? readReply(1, 42) : request;
      await vi.waitFor(() => expect(client.received.length).toBeGreaterThanOrEqual(reply.length), PATIENCE);
      await vi.waitFor(() => expect(counters(line).echoes).toBe(i + 1), PATIENCE);
      await pause(SILENCE);
      expect(client.received).toEqual([...reply]);
      expect(counters(line)).toMatchObject({
        requests: i + 1,
        replies: i + 1,
        echoes: i + 1,
        collisions: 0,
      });
    }
    await pause(SILENCE);
    expect(counters(line).requests).toBe(requests.length);
    expect(holding(running, 'meter', 2, 1)).toEqual([42]);
  });
});

describe('a line with echo: no', () => {
  it('executes a write as often as a client repeats it', async () => {
    const client = await openRawClient(running.path(SILENT));
    for (let i = 1; i <= 40; i++) {
      client.send(COIL);
      expect(await client.receive(COIL.length)).toEqual(COIL);
    }
    expect(counters(SILENT)).toMatchObject({ requests: 40, replies: 40, echoes: 0, collisions: 0 });
  });
});

describe('a paced line on which somebody else speaks too', () => {
  const found = (message: RegExp) => running.log.filter(({ msg }) => message.test(msg)).length;

  it('counts and logs a collision when bytes come while a reply is on the wire', async () => {
    const client = await openRawClient(running.path(SLOW));
    // The reply is on the wire for four seconds.
    client.send(readRequest(1, 100, 125));
    const { length } = await client.receive(8);
    client.send(Uint8Array.of(0x55, 0xaa));
    await vi.waitFor(() => expect(counters(SLOW).collisions).toBe(1), PATIENCE);
    // Until the reply is over, and what came meanwhile.
    expect(await client.receive(255 - length)).toHaveLength(255 - length);
    await quiet(8 * SILENCE);
    expect(found(/^collision:/)).toBe(1);
    client.take();
    client.send(readRequest(1, 2));
    expect(await client.receive(7)).toEqual(readReply(1, 42));
  });

  it("counts and logs another device's answer to a request to our unit", async () => {
    const line = SHARED;
    const client = await openRawClient(running.path(line));
    client.send(readRequest(1, 2));
    expect(await client.receive(7)).toEqual(readReply(1, 42));
    await pause(30);
    client.send(readReply(1, 4711));
    await vi.waitFor(() => expect(counters(line).duplicates).toBe(1), PATIENCE);
    expect(found(/another device answers/)).toBe(1);
    expect(client.take()).toEqual(new Uint8Array());
  });
});
