import { afterEach, describe, expect, it, vi } from 'vitest';
import { plainReply } from '../../../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../../../src/modbus/protocol/rtu.js';
import { ChunkStatistics } from '../../../../src/modbus/transport/serial/chunk-statistics.js';
import type { SerialSession } from '../../../../src/modbus/transport/serial/serial-session.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import { playedPort, rtuSession } from './played-line.js';

const REQUEST = encodeRtu(1, Uint8Array.of(3, 0, 0, 0, 1));
const REPLY = encodeRtu(1, Uint8Array.of(3, 2, 0, 7));
const GAP = 10;

/** A session on a port that gives back what is written to it, when `echoes`. */
function sessionOn({ echoes }: { echoes: boolean }) {
  const clock = new VirtualClock();
  clock.replaceGlobalTimers();
  const chunks = new ChunkStatistics();
  let written = 0;
  const port = playedPort((bytes) => {
    const copy = Uint8Array.from(bytes);
    if (echoes) clock.callAfter(1, () => session.received(copy));
    written++;
    return undefined;
  });
  const session: SerialSession = rtuSession(
    port,
    { t35: 2, characterTime: 0.5, gap: GAP, whenBusy: 'queue', echo: 'auto' },
    {
      owns: () => true,
      request: (_, begin) => begin({ plan: plainReply(REPLY), played: () => {} }),
      event: () => {},
    },
    { chunks, clock },
  );
  return { clock, session, chunks, written: () => written };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the chunks of a line', () => {
  it('are those of its clients, and not the echo of its own replies', () => {
    const { clock, session, chunks, written } = sessionOn({ echoes: true });
    for (let i = 1; i <= 3; i++) {
      session.received(REQUEST);
      clock.advance(50);
      expect(written()).toBe(i);
    }
    session.end();
    expect(chunks.sizes).toEqual([[REQUEST.length, 3]]);
  });

  it('tell how far apart the pieces of a frame were that was discarded', () => {
    const { clock, session, chunks, written } = sessionOn({ echoes: false });
    session.received(REQUEST.subarray(0, 4));
    clock.advance(100);
    session.received(REQUEST.subarray(4));
    clock.advance(100);
    expect(chunks.longestPause).toBe(100);
    session.end();
    expect(written()).toBe(0);
  });
});
