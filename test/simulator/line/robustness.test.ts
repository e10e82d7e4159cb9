import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/modbus/protocol/bytes.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { RtuFramer } from '../../../src/modbus/transport/framer/rtu-framer.js';
import {
  openRawClient,
  pause,
  quiet,
  type RawClient,
  readReply,
  readRequest,
  writeRequest,
} from '../../cli/verbs/clients.js';
import { nativeSetup } from '../../support/configuration.js';
import { holding, type RunningSimulator, startSimulator } from '../../support/simulator.js';

/** What damaged writes aim at; it stays 0. */
const TARGET = 4;
const DAMAGE = 0xbad;

/** A discard gap in ms that no stall of this machine is as long as. */
const PATIENT_GAP = 5000;

const write = writeRequest(1, TARGET, DAMAGE);
const writeMany = encodeRtu(1, Uint8Array.of(16, 0, TARGET, 0, 2, 4, 0x0b, 0xad, 0x0b, 0xad));

/** Always the same bytes that nobody meant, none of them a unit of the line. */
function noise(length: number): Uint8Array {
  let state = 4711;
  return Uint8Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 0x80000000;
    return 2 + ((state >> 16) % 240);
  });
}

describe.each([
  ['that passes bytes on at once', { pacing: undefined, gap: undefined, silence: 90, every: 1 }],
  // All of it would take too long at the speed of the wire. A busy machine delays a chunk of good bytes, too, and must not break its frame.
  ['paced by a FIFO of 8 bytes', { pacing: { chunk: 8 }, gap: 500, silence: 600, every: 3 }],
] as const)('a line of 9600 baud %s', (_, { pacing, gap, silence, every }) => {
  const some = <Case>(cases: readonly Case[]) => cases.filter((_, i) => i % every === 0);
  let running: RunningSimulator;
  let client: RawClient;

  beforeAll(async () => {
    const serial = { path: 'virtual', baudRate: 9600, parity: 'none', ...(pacing && { pacing }) };
    running = await startSimulator(
      nativeSetup({
        devices: {
          meter: { registers: { holding: [{ address: 0, value: [11, 12, 13, 14, 0, 0], write: true }] } },
        },
        lines: {
          // Where a busy machine stands still between two pieces of a chunk, the next request comes while a reply is on the wire.
          robust: {
            serial,
            ...(gap && { timing: { gap } }),
            ...(pacing && { whenBusy: 'queue' }),
            units: { 1: 'meter' },
          },
          // A busy machine stretches pauses of a few ms beyond the discard gap of 41.8 ms.
          patient: { serial, timing: { gap: PATIENT_GAP }, units: { 1: 'meter' } },
        },
      }),
    );
  });
  afterAll(() => running.stop());
  beforeEach(async () => {
    client = await openRawClient(running.path('robust'));
  });

  /** The good request that follows is answered, and nothing was written. */
  async function expectUnharmed(): Promise<void> {
    client.take();
    client.send(readRequest(1, 0, 6));
    const reply = readReply(1, 11, 12, 13, 14, 0, 0);
    expect(await client.receive(reply.length)).toEqual(reply);
    expect(holding(running, 'meter', 0, 6)).toEqual([11, 12, 13, 14, 0, 0]);
  }

  /** Not a byte comes in answer to these, and the next good request is answered. */
  async function expectIgnored(...parts: Uint8Array[]): Promise<void> {
    const bytes = concatBytes(...parts);
    client.take();
    client.send(bytes);
    // More than the discard gap, 41.8 ms on this line: what a client waits before it gives up a request. Paced, a byte takes 1.04 ms.
    await quiet(silence + (pacing ? 1.3 * bytes.length : 0));
    expect(client.take()).toEqual(new Uint8Array());
    await expectUnharmed();
  }

  it('ignores a write with one wrong bit, in whichever byte', async () => {
    for (let i = 0; i < write.length; i += every) {
      await expectIgnored(write.map((byte, at) => (at === i ? byte ^ (1 << i) : byte)));
    }
  });

  it('ignores a write that is cut off, at whichever length', async () => {
    for (const request of [write, writeMany]) {
      for (let length = 1; length < request.length; length += every) {
        await expectIgnored(request.subarray(0, length));
      }
    }
  });

  it('ignores a write that lacks its beginning', async () => {
    for (const start of [1, 2, 5]) await expectIgnored(write.subarray(start));
  });

  it('does not take a write out of the middle of noise', async () => {
    await expectIgnored(noise(3), write);
    await expectIgnored(noise(5), write, noise(2));
    await expectIgnored(noise(40), writeMany, noise(40));
  });

  it('answers a request after up to two stray bytes', async () => {
    for (const stray of [[0], [0xff], [0, 0xff]]) {
      client.send(Uint8Array.from(stray));
      await expectUnharmed();
      await quiet(silence);
    }
  });

  it('answers the next request when noise follows one', async () => {
    for (const length of [1, 4, 9]) {
      client.send(concatBytes(readRequest(1, 0), noise(length)));
      await quiet(2 * silence);
      await expectUnharmed();
    }
  });

  it('answers both of two requests in one chunk, in their order', async () => {
    const replies = concatBytes(readReply(1, 12, 13), writeRequest(1, 2, 13), readReply(1, 13));
    client.send(concatBytes(readRequest(1, 1, 2), writeRequest(1, 2, 13), readRequest(1, 2)));
    expect(await client.receive(replies.length)).toEqual(replies);
    await expectUnharmed();
  });

  it.each(some([0, 1, 2, 5, 10, 15]))('answers a request in single bytes %i ms apart', async (ms) => {
    client = await openRawClient(running.path('patient'));
    const request = writeRequest(1, 3, 14);
    for (const byte of request) {
      client.send(Uint8Array.of(byte));
      if (ms > 0) await pause(ms);
    }
    expect(await client.receive(request.length)).toEqual(request);
    await expectUnharmed();
  });

  it.each(
    some<[string, Uint8Array, Uint8Array]>([
      ['a read', readRequest(9, 0, 3), readReply(9, 1, 2, 3)],
      [
        'a write, whose response is the same bytes',
        writeRequest(9, TARGET, DAMAGE),
        writeRequest(9, TARGET, DAMAGE),
      ],
      ['an exception', readRequest(9, 0), encodeRtu(9, Uint8Array.of(0x83, 2))],
      [
        'a response with a write to our unit in it',
        readRequest(9, 0, 4),
        encodeRtu(9, concatBytes([3, 8], write)),
      ],
      ['a response that is cut off', readRequest(9, 0, 4), readReply(9, 1, 2, 3, 4).subarray(0, 9)],
      ['a response with a wrong CRC', readRequest(9, 0), readReply(9, 1).fill(0, 5)],
      ['no response', readRequest(9, 0), new Uint8Array()],
    ]),
  )('lets pass what others say: %s', async (_name, request, response) => {
    await expectIgnored(request, response);
    client.send(request);
    await pause(20);
    await expectIgnored(response);
  });

  it.each(
    some<[string, Uint8Array]>([
      ['zeros', new Uint8Array(300)],
      ['ones', new Uint8Array(257).fill(0xff)],
      ['noise', noise(600)],
      ['noise with a write in it', concatBytes(noise(270), write, noise(100))],
      ['noise that ends with a write', concatBytes(noise(300), write)],
      ['a write that promises 255 bytes', concatBytes([1, 16, 0, TARGET, 0, 123, 255], noise(300))],
      [
        'writes of which the first is damaged',
        concatBytes([0xff], ...Array.from({ length: 40 }, () => write)).fill(0, 3, 4),
      ],
    ]),
  )('ignores 257 bytes and more without a pause: %s', (_name, bytes) => expectIgnored(bytes));
});

describe('a FIFO that hands over 8 bytes at a time', () => {
  const CHARACTER_TIME = 1.146;
  const listen = (bytes: Uint8Array) => {
    const framer = new RtuFramer((unitId) => unitId === 1, { t35: 4.01, characterTime: CHARACTER_TIME });
    const chunks = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.subarray(8 * i, 8 * i + 8));
    const events = chunks.flatMap((chunk, i) => framer.push(chunk, 100 + 8 * CHARACTER_TIME * i));
    return [...events, ...framer.silence()].map(({ kind }) => kind);
  };

  it('does not make a frame of what lies behind one of its chunks in unbroken noise', () => {
    expect(listen(concatBytes(noise(48), write))).toEqual(['noise']);
  });
});
