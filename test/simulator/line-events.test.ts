import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Bus } from '../../src/bus/bus.js';
import { abilities } from '../../src/faults/ability.js';
import { FaultRules } from '../../src/faults/rules.js';
import { AsciiFraming } from '../../src/protocol/ascii.js';
import { type Framing, RTU } from '../../src/protocol/framing.js';
import { silence } from '../../src/protocol/reply-plan.js';
import { recordEvent } from '../../src/simulator/line-events.js';
import { LineRecord } from '../../src/simulator/line-record.js';
import { Ledger } from '../../src/traffic/ledger.js';
import { AsciiFramer } from '../../src/transport/framer/ascii-framer.js';
import type { Framer } from '../../src/transport/framer/framer.js';
import { RtuFramer } from '../../src/transport/framer/rtu-framer.js';
import { ptyAdapter } from '../../src/transport/port/adapter.js';
import type { BytePort } from '../../src/transport/port/port.js';
import { ChunkStatistics } from '../../src/transport/serial/chunk-statistics.js';
import { SerialSession } from '../../src/transport/serial/serial-session.js';

const GAP = 10;
const T35 = 2;
const READ_PDU = Uint8Array.of(3, 0, 0, 0, 1);

const port: BytePort = {
  path: '/dev/fake',
  write: () => undefined,
  facts: () => ({
    adapter: ptyAdapter,
    settings: undefined,
    lowLatency: undefined,
    parityMarks: true,
    direction: '',
  }),
  close: async () => {},
};

/** A line that nobody answers on, with what it counts. */
function listenWith(framing: Framing, framer: Framer) {
  const log = pino({ level: 'silent' });
  const rules = new FaultRules({ now: () => new Date(0), random: () => 0 });
  const line = { name: 'bench', abilities: abilities('serial', 'rtu'), framing, characterTime: 0 };
  const bus = new Bus(line, new Map(), rules);
  const { counters } = new LineRecord('bench', new Ledger(), log);
  const session = new SerialSession(
    port,
    {
      framing,
      framer,
      mayBeRequest: () => false,
      timing: { t35: T35, turnaround: T35, wireTime: 0, outputHold: 0, lead: 0 },
      gap: GAP,
      inputHold: GAP,
      whenBusy: 'replace',
      isPseudoTerminal: false,
      joinsTraffic: false,
    },
    {
      owns: () => true,
      request: () => silence('test'),
      played: () => {},
      event: (event) => recordEvent(event, bus, counters, log),
    },
    new ChunkStatistics(),
  );
  return { session, counters, errors: () => bus.activity.errors };
}

const rtu = () => listenWith(RTU, new RtuFramer(() => true, T35));
const ascii = () => {
  const framing = new AsciiFraming();
  return listenWith(framing, new AsciiFramer(() => true, framing));
};

describe('the communication errors of function 8/12', () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const FRAME = RTU.encode({ transactionId: 0, unitId: 17, pdu: READ_PDU });
  const quiet = () => vi.advanceTimersByTime(10 * GAP);

  it('count a frame once, wherever in it a character was damaged', () => {
    for (let at = 0; at < FRAME.length; at++) {
      const { session, counters, errors } = rtu();
      if (at > 0) session.received(FRAME.subarray(0, at));
      session.damaged(1);
      if (at < FRAME.length - 1) session.received(FRAME.subarray(at + 1));
      quiet();
      expect(errors(), `damaged at ${at}`).toBe(1);
      expect(counters).toMatchObject({ damagedCharacters: 1, noiseBytes: FRAME.length - 1 });
      session.end();
    }
  });

  it('count a frame once in which several characters were damaged', () => {
    const { session, counters, errors } = rtu();
    session.received(FRAME.subarray(0, 2));
    session.damaged(2);
    session.received(FRAME.subarray(4, 5));
    session.damaged(1);
    session.received(FRAME.subarray(6));
    quiet();
    expect(errors()).toBe(1);
    expect(counters).toMatchObject({ damagedCharacters: 3, noiseBytes: 5 });
    session.end();
  });

  it('count each frame of several between which the line was silent', () => {
    const { session, errors } = rtu();
    for (const expected of [1, 2, 3]) {
      session.received(FRAME.subarray(0, 2));
      session.damaged(1);
      session.received(FRAME.subarray(3));
      quiet();
      expect(errors()).toBe(expected);
    }
    session.received(FRAME);
    session.received(FRAME.subarray(0, 4));
    quiet();
    expect(errors()).toBe(4);
    session.end();
  });

  it('count a damaged character of its own, and one right behind a valid frame', () => {
    const { session, errors } = rtu();
    session.damaged(1);
    quiet();
    session.received(FRAME);
    session.damaged(1);
    expect(errors()).toBe(2);
    session.end();
  });

  it('count each ASCII message, which needs no silence behind it', () => {
    const { session, errors } = ascii();
    const text = (content: string) => new TextEncoder().encode(content);
    for (const expected of [1, 2, 3]) {
      session.received(text(':1103'));
      session.damaged(1);
      session.received(text('0000'));
      session.damaged(1);
      session.received(text('01EB\r\n'));
      expect(errors()).toBe(expected);
    }
    for (const expected of [4, 5]) {
      session.received(text(':110300000001FF\r\n'));
      expect(errors()).toBe(expected);
    }
    session.end();
  });
});
