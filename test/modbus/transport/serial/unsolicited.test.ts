import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { plainReply } from '../../../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { ChunkStatistics } from '../../../../src/modbus/transport/serial/chunk-statistics.js';
import type { LineEvent } from '../../../../src/modbus/transport/transport.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import { playedPort, rtuSession } from './played-line.js';

const STRAY = Uint8Array.of(0);
const READ = encodeRtu(1, Uint8Array.of(3, 0, 2, 0, 1));
const REPLY = encodeRtu(1, Uint8Array.of(3, 2, 0, 7));
const T35 = 2;

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
  clock.replaceGlobalTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** A line whose reply comes 50 ms late. */
function newLine(lost?: string) {
  const written: Uint8Array[] = [];
  const events: LineEvent[] = [];
  const port = playedPort((bytes) => {
    if (lost === undefined) written.push(bytes);
    return lost;
  });
  const session = rtuSession(
    port,
    { t35: T35, characterTime: 0.5, gap: 3, whenBusy: 'drop', echo: 'auto' },
    {
      owns: (unitId) => unitId === 1,
      request: (_, begin) => begin({ plan: plainReply(REPLY, 50), played: () => {} }),
      event: (event) => events.push(event),
    },
    { chunks: new ChunkStatistics(), clock },
  );
  clock.advance(100);
  return { session, written, events };
}

it('bytes that nobody asked for leave when the line has been silent for t3.5', () => {
  const { session, written, events } = newLine();
  expect(session.sendUnsolicited(STRAY)).toBeUndefined();
  expect(written).toEqual([STRAY]);
  const frame = { bytes: STRAY, startedAt: 100, receivedAt: 100.5 };
  expect(events).toEqual([{ kind: 'unsolicited', frame }]);
  // Our own byte, and then t3.5.
  expect(session.sendUnsolicited(STRAY)).toBeCloseTo(0.5 + T35);
});

it('they wait while a request comes in, and while a reply is pending', () => {
  const { session, written } = newLine();
  session.received(READ.subarray(0, 3));
  expect(session.sendUnsolicited(STRAY)).toBeGreaterThan(0);
  session.received(READ.subarray(3));
  clock.advance(10);
  expect(session.sendUnsolicited(STRAY)).toBeGreaterThan(0);
  expect(written).toEqual([]);
  clock.advance(1000);
  expect(written).toEqual([REPLY]);
  expect(session.sendUnsolicited(STRAY)).toBeUndefined();
  expect(written).toEqual([REPLY, STRAY]);
});

it('they keep no request from being served, on a line that drops requests while it is busy', () => {
  const { session, written, events } = newLine();
  session.sendUnsolicited(STRAY);
  clock.advance(5);
  session.received(READ);
  clock.advance(1000);
  expect(written).toEqual([STRAY, REPLY]);
  expect(events.map(({ kind }) => kind)).toEqual(['unsolicited']);
});

it('the echo of a frame is no request', () => {
  const { session, written, events } = newLine();
  session.sendUnsolicited(READ);
  clock.advance(1);
  session.received(READ);
  clock.advance(1000);
  expect(events.map(({ kind }) => kind)).toEqual(['unsolicited', 'echo']);
  expect(written).toEqual([READ]);
});

it('bytes that the port does not take are not reported as sent', () => {
  const { session, events } = newLine('no client has the port open');
  expect(session.sendUnsolicited(STRAY)).toBeUndefined();
  expect(events).toEqual([]);
});
