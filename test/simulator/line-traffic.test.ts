import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { abilities } from '../../src/device/faults/kind.js';
import { FaultRules } from '../../src/device/faults/rules.js';
import { ASCII_TIMEOUT_MS, AsciiFraming } from '../../src/modbus/protocol/ascii.js';
import { type Framing, RTU } from '../../src/modbus/protocol/framing.js';
import { silence } from '../../src/modbus/protocol/reply-plan.js';
import { AsciiFramer } from '../../src/modbus/transport/framer/ascii-framer.js';
import type { Framer } from '../../src/modbus/transport/framer/framer.js';
import { RtuFramer } from '../../src/modbus/transport/framer/rtu-framer.js';
import { inputPause, ptyAdapter } from '../../src/modbus/transport/port/adapter.js';
import type { BytePort } from '../../src/modbus/transport/port/port.js';
import { ChunkStatistics } from '../../src/modbus/transport/serial/chunk-statistics.js';
import { SerialSession } from '../../src/modbus/transport/serial/serial-session.js';
import { Bus } from '../../src/simulator/bus/bus.js';
import { LineTraffic } from '../../src/simulator/line-traffic.js';
import { TrafficStream } from '../../src/simulator/traffic/stream.js';
import { VirtualClock } from '../support/virtual-clock.js';

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

let clock: VirtualClock;
const LONGEST_PAUSE = inputPause(ptyAdapter, 0);

/** A line that nobody answers on, with what it counts. */
function listenWith(framing: Framing, framer: Framer, gap: number) {
  const log = pino({ level: 'silent' });
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const line = { name: 'bench', abilities: abilities('serial', 'rtu'), framing, characterTime: 0 };
  const bus = new Bus(line, { units: new Map() }, rules);
  const stream = new TrafficStream();
  const traffic = new LineTraffic(line, stream, () => bus.activityAt(undefined), log);
  const session = new SerialSession(
    port,
    {
      framing,
      framer,
      mayBeRequest: () => false,
      timing: { t35: T35, turnaround: T35, wireTime: 0, outputHold: 0, lead: 0 },
      gap,
      arrival: { wireTime: 0, inputHold: gap },
      whenBusy: 'replace',
      echo: 'auto',
    },
    {
      newClientId: () => 1,
      owns: () => true,
      request: (_, begin) => begin({ plan: silence('test'), played: () => {} }),
      event: (event) => traffic.event(event, framing),
    },
    new ChunkStatistics(),
    clock,
  );
  return { session, counters: traffic.counters, stream, errors: () => bus.activityAt(undefined).errors };
}

const rtu = (gap = GAP) =>
  listenWith(RTU, new RtuFramer(() => true, { t35: T35, longestPause: LONGEST_PAUSE }), gap);
const ascii = () => {
  const framing = new AsciiFraming();
  return listenWith(
    framing,
    new AsciiFramer(() => true, framing, { t35: T35, longestPause: LONGEST_PAUSE }),
    ASCII_TIMEOUT_MS,
  );
};

describe('the communication errors of function 8/12', () => {
  beforeEach(() => {
    clock = new VirtualClock();
    clock.replaceGlobalTimers();
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  const FRAME = RTU.encode({ transactionId: 0, unitId: 17, pdu: READ_PDU });
  const text = (content: string) => new TextEncoder().encode(content);
  const quiet = () => clock.advance(10 * GAP);

  it('count a frame once, wherever in it a character was damaged', () => {
    for (let at = 0; at < FRAME.length; at++) {
      const { session, counters, errors } = rtu();
      if (at > 0) session.received(FRAME.subarray(0, at));
      session.damaged(new Uint8Array(1));
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
    session.damaged(new Uint8Array(2));
    session.received(FRAME.subarray(4, 5));
    session.damaged(new Uint8Array(1));
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
      session.damaged(new Uint8Array(1));
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

  it('count noise once that is longer than any frame, and the next after a silence', () => {
    const { session, counters, errors } = rtu();
    for (const expected of [1, 2]) {
      for (let i = 0; i < 30; i++) session.received(new Uint8Array(50).fill(0xff));
      quiet();
      expect(errors()).toBe(expected);
    }
    expect(counters.noiseBytes).toBe(3000);
    session.end();
  });

  it('count a damaged character of its own, and one right behind a valid frame', () => {
    const { session, errors } = rtu();
    session.damaged(new Uint8Array(1));
    quiet();
    session.received(FRAME);
    session.damaged(new Uint8Array(1));
    expect(errors()).toBe(2);
    session.end();
  });

  it('count each ASCII message, which needs no silence behind it', () => {
    const { session, errors } = ascii();
    for (const expected of [1, 2, 3]) {
      session.received(text(':1103'));
      session.damaged(new Uint8Array(1));
      session.received(text('0000'));
      session.damaged(new Uint8Array(1));
      session.received(text('01EB\r\n'));
      expect(errors()).toBe(expected);
    }
    for (const expected of [4, 5]) {
      session.received(text(':110300000001FF\r\n'));
      expect(errors()).toBe(expected);
    }
    session.end();
  });

  describe('on a line that is never silent for the gap count', () => {
    it('each ASCII message of which nothing can be read', () => {
      const { session, errors } = ascii();
      for (let message = 1; message <= 10; message++) {
        for (let i = 0; i < 17; i++) session.damaged(new Uint8Array(1));
        expect(errors()).toBe(message);
        clock.advance(300);
      }
      session.end();
    });

    it.each([0, 300])('each ASCII message of which only the end is damaged, %d ms apart', (pause) => {
      const { session, errors } = ascii();
      for (let message = 1; message <= 10; message++) {
        session.received(text(':110300000001EB\r'));
        session.damaged(new Uint8Array(1));
        expect(errors()).toBe(message);
        clock.advance(pause);
      }
      session.end();
    });

    it('an ASCII message with a wrong check behind one whose end was damaged', () => {
      for (const rest of ['', '\n', '0000']) {
        for (const at of [0, 1, 5]) {
          const { session, errors } = ascii();
          session.received(text(':110300000001EB'));
          session.damaged(new Uint8Array(1));
          const wrong = `${rest}:110300000001FF\r\n`;
          session.received(text(wrong.slice(0, at)));
          session.received(text(wrong.slice(at)));
          expect(errors(), `behind '${rest}', cut at ${at}`).toBe(2);
          session.end();
        }
      }
    });

    it('what is left of a damaged ASCII message not again when a valid one follows in pieces', () => {
      const { session, errors } = ascii();
      session.received(text(':110300000001EB'));
      session.damaged(new Uint8Array(1));
      session.received(text('\n:1103'));
      session.received(text('00000001EB\r\n'));
      expect(errors()).toBe(1);
      session.end();
    });

    it('each RTU message that comes later than the adapter holds back what belongs together', () => {
      const { session, errors } = rtu(40);
      for (let message = 1; message <= 5; message++) {
        session.received(FRAME.subarray(0, 2));
        session.damaged(new Uint8Array(1));
        session.received(FRAME.subarray(3, 5));
        session.damaged(new Uint8Array(1));
        session.received(FRAME.subarray(6));
        expect(errors()).toBe(message);
        clock.advance(25);
      }
      session.end();
    });

    it('an RTU message once of which a valid one comes so late behind', () => {
      const { session, errors } = rtu(40);
      session.received(FRAME.subarray(0, 2));
      session.damaged(new Uint8Array(1));
      session.received(FRAME.subarray(3));
      clock.advance(25);
      session.received(FRAME);
      quiet();
      expect(errors()).toBe(1);
      session.end();
    });

    it('an RTU message once in which the adapter paused for as long as it did in a valid one', () => {
      const { session, errors } = rtu(40);
      for (const piece of [FRAME.subarray(0, 3), FRAME.subarray(3)]) {
        session.received(piece);
        clock.advance(30);
      }
      session.damaged(new Uint8Array(1));
      clock.advance(30);
      session.damaged(new Uint8Array(1));
      expect(errors()).toBe(1);
      session.end();
    });
  });
});
