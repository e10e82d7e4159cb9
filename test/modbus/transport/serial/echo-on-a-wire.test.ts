import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { plainReply } from '../../../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { characterTime, t35 as t35At } from '../../../../src/modbus/protocol/timing.js';
import { discardGap, ptyAdapter } from '../../../../src/modbus/transport/port/adapter.js';
import { startPacedLane } from '../../../../src/modbus/transport/port/pacing.js';
import { ChunkStatistics } from '../../../../src/modbus/transport/serial/chunk-statistics.js';
import type { SerialSession } from '../../../../src/modbus/transport/serial/serial-session.js';
import type { EchoSetting } from '../../../../src/modbus/transport/settings.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import { playedPort, rtuSession } from './played-line.js';

const CHUNKS = [1, 8, 16, 'usb'] as const;
/** Longer than any reply is under way, and than the echo window: what goes on by itself shows in it. */
const QUIET_MS = 2000;

const write = (address: number, value: number) => encodeRtu(1, Uint8Array.of(6, 0, address, 0, value));
const READ = encodeRtu(1, Uint8Array.of(3, 0, 2, 0, 1));
const COIL = encodeRtu(1, Uint8Array.of(5, 0, 0, 0xff, 0));
const RETURNED = encodeRtu(1, Uint8Array.of(8, 0, 0, 0x12, 0x34));
const MASKED = encodeRtu(1, Uint8Array.of(22, 0, 1, 0xff, 0xff, 0, 0));

/** First requests whose reply is the same bytes, and one whose reply can be no request. */
const ORDERS: readonly (readonly [string, readonly Uint8Array[]])[] = [
  ['a register write', [write(0, 7)]],
  ['a coil write', [COIL]],
  ['the same write three times', [write(0, 7), write(0, 7), write(0, 7)]],
  ['writes of every kind', [write(0, 7), COIL, RETURNED, MASKED, write(1, 8)]],
  ['a read, then writes', [READ, write(0, 7), COIL]],
  ['a write, a read, a write', [write(0, 7), READ, write(0, 7)]],
];

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
  clock.replaceGlobalTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

interface Bus {
  readonly chunk: (typeof CHUNKS)[number];
  readonly baudRate: number;
  readonly echo: EchoSetting;
  /** Does the adapter hear what it sends? */
  readonly hearsItself: boolean;
  /** How much longer than is known of its kind the adapter holds received bytes back, in ms. */
  readonly late?: number;
}

/** A line on a wire in virtual time. Whatever is on the wire comes in as the adapter would hand it over. */
function busOf({ chunk, baudRate, echo, hearsItself, late = 0 }: Bus) {
  const format = { baudRate, dataBits: 8, parity: 'none', stopBits: 1 } as const;
  const character = characterTime(format);
  const t35 = t35At(baudRate);
  const gap = discardGap(ptyAdapter, character, t35);
  const noticed: string[] = [];
  let executed = 0;
  const input = startPacedLane(
    { ...format, chunk },
    (bytes) => clock.callAfter(late, () => session.received(bytes)),
    clock,
  );
  const port = playedPort((bytes) => {
    if (hearsItself) input.write(bytes);
    return undefined;
  });
  const session: SerialSession = rtuSession(
    port,
    { t35, characterTime: character, gap, whenBusy: 'replace', echo },
    {
      owns: (unitId) => unitId === 1,
      request: ({ pdu }, begin) => {
        executed++;
        const reply = encodeRtu(1, pdu[0] === 3 ? Uint8Array.of(3, 2, 0, 42) : pdu);
        begin({ plan: plainReply(reply), played: () => {} });
      },
      event: ({ kind }) => noticed.push(kind),
    },
    { chunks: new ChunkStatistics(), clock },
  );
  clock.advance(QUIET_MS);
  return { noticed, executed: () => executed, send: (bytes: Uint8Array) => input.write(bytes) };
}

describe.each([9600, 19_200, 115_200])('an adapter that hears what it sends, at %i baud', (baudRate) => {
  describe.each(CHUNKS)('and %s bytes a chunk', (chunk) => {
    it.each(ORDERS)('makes a line with echo: yes execute nothing twice: %s', (_, requests) => {
      const bus = busOf({ chunk, baudRate, echo: 'yes', hearsItself: true });
      for (const [i, request] of requests.entries()) {
        bus.send(request);
        clock.advance(QUIET_MS);
        expect(bus.executed()).toBe(i + 1);
      }
      expect(bus.noticed).toEqual(requests.map(() => 'echo'));
    });

    it('makes a line with echo: auto execute nothing twice after a read', () => {
      const bus = busOf({ chunk, baudRate, echo: 'auto', hearsItself: true });
      for (const [i, request] of [READ, COIL, write(0, 7), COIL, COIL].entries()) {
        bus.send(request);
        clock.advance(QUIET_MS);
        expect(bus.executed()).toBe(i + 1);
      }
    });
  });

  describe.each([1, 8, 16] as const)('and a FIFO that hands over %s bytes', (chunk) => {
    it.each(ORDERS)('makes a line with echo: auto execute nothing twice: %s', (_, requests) => {
      const bus = busOf({ chunk, baudRate, echo: 'auto', hearsItself: true });
      for (const [i, request] of requests.entries()) {
        bus.send(request);
        clock.advance(QUIET_MS);
        expect(bus.executed()).toBe(i + 1);
      }
      expect(bus.noticed).toEqual(requests.map(() => 'echo'));
    });
  });

  // The latency timer makes an echo look like a client that repeats its write.
  it.each([0, 60, 180])(
    'and a USB adapter %i ms slower than known makes a first write be executed 17 times, and none twice after a read',
    (late) => {
      const bus = busOf({ chunk: 'usb', baudRate, echo: 'auto', hearsItself: true, late });
      bus.send(write(0, 7));
      clock.advance(20 * QUIET_MS);
      expect(bus.executed()).toBe(17);
      expect(bus.noticed).toEqual(['loop']);
      bus.send(READ);
      clock.advance(QUIET_MS);
      bus.send(write(0, 7));
      clock.advance(QUIET_MS);
      expect(bus.executed()).toBe(19);
    },
  );
});

describe('a client that repeats a write as fast as it may, without an echo', () => {
  /** How many of 100 requests are executed, each sent `wait` ms after the reply to the one before is over. */
  function executedOf100(echo: EchoSetting, wait: number, request = (_: number) => write(0, 7)): number {
    const baudRate = 19_200;
    const bus = busOf({ chunk: 8, baudRate, echo, hearsItself: false });
    const exchange = 2 * 8 * characterTime({ baudRate, dataBits: 8, parity: 'none', stopBits: 1 });
    for (let i = 0; i < 100; i++) {
      bus.send(request(i));
      clock.advance(exchange + t35At(baudRate) + 2 + wait);
    }
    expect(bus.noticed).not.toContain('collision');
    return bus.executed();
  }

  it('is obeyed each time with echo: no', () => {
    expect(executedOf100('no', 3)).toBe(100);
  });

  it('is obeyed but for one of 17 times with echo: auto', () => {
    expect(executedOf100('auto', 3)).toBe(95);
  });

  it('is obeyed each time with echo: auto when it waits for 300 ms, or writes something else', () => {
    expect(executedOf100('auto', 300)).toBe(100);
    expect(executedOf100('auto', 3, (i) => write(0, i & 1))).toBe(100);
  });
});
