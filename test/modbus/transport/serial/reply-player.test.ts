import { describe, expect, it } from 'vitest';
import {
  type PlayReport,
  plainReply,
  type ReplyPlan,
  silence,
} from '../../../../src/modbus/protocol/reply-plan.js';
import { ReplyPlayer } from '../../../../src/modbus/transport/serial/reply-player.js';
import type { WhenBusy } from '../../../../src/modbus/transport/settings.js';
import { VirtualClock } from '../../../support/virtual-clock.js';

const T35 = 4;
/** How long an adapter with a FIFO of 16 holds bytes back. */
const INPUT_HOLD = 20;
const FIRST = Uint8Array.of(1);
const SECOND = Uint8Array.of(2);
/** Eight characters. */
const REQUEST = { bytes: new Uint8Array(8), startedAt: 0, receivedAt: 0 };

interface Sent {
  readonly at: number;
  readonly bytes: number[];
}

interface PlayerOptions {
  readonly wireTime?: number;
  /** What the driver says of what was written; without it, it tells nothing. */
  readonly isSending?: () => boolean;
  /** How much longer a break takes than asked for, in ms. */
  readonly overrun?: number;
  readonly whenBusy?: WhenBusy;
}

/** A player on a port that only notes what was written when; `listening` is what the framer would say. */
function playerWith(
  turnaround: number | undefined,
  { wireTime = 1, isSending, overrun = 0, whenBusy = 'replace' }: PlayerOptions = {},
) {
  const sent: Sent[] = [];
  const clock = new VirtualClock();
  const ended: PlayReport['ended'][] = [];
  const reports: PlayReport[] = [];
  const listening = { busy: false, lastAt: 0 };
  const port = {
    write: (bytes: Uint8Array) => {
      sent.push({ at: clock.now(), bytes: [...bytes] });
      return undefined;
    },
    sendBreak: async (ms: number) => {
      await new Promise<void>((resolve) => clock.callAfter(ms + overrun, resolve));
      return undefined;
    },
    ...(isSending && { isSending }),
  };
  const player = new ReplyPlayer(
    {
      port,
      timing: { t35: T35, turnaround, wireTime, outputHold: 0, lead: 0 },
      listening,
      arrival: { wireTime, inputHold: INPUT_HOLD },
      whenBusy,
    },
    clock,
  );
  return {
    clock,
    sent,
    ended,
    reports,
    listening,
    player,
    /** Plays a reply to a request that was received now. */
    reply(bytes: Uint8Array, asked = REQUEST.bytes, early = false) {
      const now = clock.now();
      listening.lastAt = now;
      const request = { bytes: asked, startedAt: now, receivedAt: now };
      player.play(request, {
        plan: { ...plainReply(bytes), early } as ReplyPlan,
        played(report) {
          ended.push(report.ended);
          reports.push(report);
        },
      });
    },
    /** A byte comes in now. */
    hear(busy: boolean) {
      listening.busy = busy;
      listening.lastAt = clock.now();
    },
  };
}

describe('when a reply leaves', () => {
  it('waits the turnaround, counted from the last byte of the request', () => {
    const line = playerWith(T35);
    line.reply(FIRST);
    line.clock.advance(3);
    expect(line.sent).toEqual([]);
    line.clock.advance(5);
    expect(line.sent).toHaveLength(1);
    expect(line.sent[0]?.at).toBeGreaterThanOrEqual(T35);
    expect(line.ended).toEqual(['complete']);
  });

  it('sends at once when eager', () => {
    const line = playerWith(undefined);
    line.reply(FIRST);
    expect(line.sent).toEqual([{ at: 0, bytes: [1] }]);
  });

  it('waits for t3.5 of quiet when more bytes follow the request', () => {
    const line = playerWith(T35);
    line.reply(FIRST);
    line.clock.advance(3);
    line.hear(false);
    line.clock.advance(3);
    expect(line.sent).toEqual([]);
    line.clock.advance(3);
    expect(line.sent[0]?.at).toBeGreaterThanOrEqual(3 + T35);
  });

  it('waits until bytes that follow are understood', () => {
    const line = playerWith(T35);
    line.reply(FIRST);
    line.hear(true);
    line.clock.advance(50);
    expect(line.sent).toEqual([]);
    line.listening.busy = false;
    line.player.listened();
    expect(line.sent).toHaveLength(1);
  });

  it.each([
    ['that is early', T35, true],
    ['on an eager line', undefined, false],
  ])('takes no notice of bytes that follow: a reply %s', (_, wait, early) => {
    const line = playerWith(wait);
    line.hear(true);
    line.reply(FIRST, REQUEST.bytes, early);
    expect(line.sent).toEqual([{ at: 0, bytes: [1] }]);
  });

  it('keeps other requests from being executed: with drop while a reply is pending, with queue after 256', () => {
    const [drop, queue] = [playerWith(20, { whenBusy: 'drop' }), playerWith(60_000, { whenBusy: 'queue' })];
    expect(drop.player.refuses).toBe(false);
    drop.reply(FIRST);
    expect(drop.player.refuses).toBe(true);
    drop.clock.advance(30);
    expect([drop.player.refuses, drop.sent.length]).toEqual([false, 1]);
    for (let i = 0; i < 256; i++) {
      expect(queue.player.refuses).toBe(false);
      queue.reply(FIRST);
      queue.clock.advance(REQUEST.bytes.length + T35 + 1);
    }
    expect([queue.player.refuses, queue.sent.length]).toEqual([true, 0]);
    queue.clock.advance(120_000);
    expect([queue.player.refuses, queue.sent.length]).toEqual([false, 256]);
  });

  it('answers requests that were merged on their way in order, with t3.5 between the replies', () => {
    const line = playerWith(T35);
    line.reply(FIRST);
    line.reply(SECOND);
    line.clock.advance(50);
    expect(line.sent.map(({ bytes }) => bytes)).toEqual([[1], [2]]);
    expect((line.sent[1]?.at ?? 0) - (line.sent[0]?.at ?? 0)).toBeGreaterThanOrEqual(1 + T35);
    expect(line.ended).toEqual(['complete', 'complete']);
  });

  it.each([
    ['as usual', T35],
    ['eager', undefined],
  ])(
    'leaves t3.5 behind a reply that is still on the wire, though it was written long ago: %s',
    (_, wait) => {
      const line = playerWith(wait);
      line.reply(new Uint8Array(200));
      line.clock.advance(80);
      line.reply(SECOND);
      line.clock.advance(500);
      expect(line.sent).toHaveLength(2);
      const [first, second] = line.sent;
      expect(second?.at).toBeGreaterThanOrEqual((first?.at ?? 0) + 200 + T35);
      expect(second?.at).toBeLessThan((first?.at ?? 0) + 200 + T35 + 2);
    },
  );

  it('does not wait for the wire where there is none', () => {
    const line = playerWith(undefined, { wireTime: 0 });
    line.reply(FIRST);
    line.reply(SECOND);
    expect(line.sent.map(({ bytes }) => bytes)).toEqual([[1], [2]]);
  });

  it.each([
    ['as usual', T35, T35],
    ['eager', undefined, 0],
  ])(
    'answers at once whose request shows that what was written is not on a wire any more: %s',
    (_, wait, expected) => {
      const line = playerWith(wait, { isSending: () => false });
      line.reply(new Uint8Array(255));
      line.clock.advance(20);
      const askedAt = 20;
      line.reply(SECOND);
      line.clock.advance(10);
      expect(line.sent).toHaveLength(2);
      expect(line.sent[1]?.at).toBeGreaterThanOrEqual(askedAt + expected);
      expect(line.sent[1]?.at).toBeLessThan(askedAt + expected + 2);
    },
  );

  it('does not believe a request that its driver contradicts, nor one that came before the reply', () => {
    const sending = playerWith(undefined, { isSending: () => true });
    sending.reply(new Uint8Array(100));
    sending.clock.advance(20);
    sending.reply(SECOND);
    const merged = playerWith(undefined, { isSending: () => false });
    merged.reply(new Uint8Array(100));
    merged.reply(SECOND);
    sending.clock.advance(20 + T35);
    merged.clock.advance(20 + T35);
    expect(sending.sent).toHaveLength(1);
    expect(merged.sent).toHaveLength(1);
    sending.clock.advance(100);
    merged.clock.advance(100);
    expect(sending.sent[1]?.at).toBeGreaterThanOrEqual(100 + T35);
    expect(merged.sent[1]?.at).toBeGreaterThanOrEqual(100 + T35);
  });

  it.each([
    ['as usual', T35, false, 0],
    ['as usual, and it overruns', T35, false, 30],
    ['eager', undefined, false, 0],
    ['eager, and it overruns', undefined, false, 30],
    ['when the driver tells of characters only', T35, true, 30],
  ])('keeps t3.5 behind a break that was called off: %s', async (_, wait, tells, overrun) => {
    const line = playerWith(wait, { overrun, ...(tells && { isSending: () => false }) });
    const now = line.clock.now();
    const steps = [{ kind: 'break' as const, waitMs: 0, ms: 50 }];
    line.player.play(
      { ...REQUEST, startedAt: now, receivedAt: now },
      { plan: { kind: 'send', early: true, steps }, played: () => {} },
    );
    await line.clock.advanceAsync(30);
    line.reply(SECOND);
    await line.clock.advanceAsync(100);
    expect(line.sent.map(({ bytes }) => bytes)).toEqual([[2]]);
    expect(line.sent[0]?.at).toBeGreaterThanOrEqual(50 + overrun + T35);
  });

  it('answers requests without a pause between them that a FIFO hands over each in one piece', () => {
    const line = playerWith(T35);
    line.reply(new Uint8Array(9));
    for (const bytes of [FIRST, SECOND]) {
      line.clock.advance(REQUEST.bytes.length);
      line.reply(bytes);
    }
    line.clock.advance(100);
    expect(line.sent.map(({ bytes }) => bytes.length)).toEqual([9, 1, 1]);
    expect(line.ended).toEqual(['complete', 'complete', 'complete']);
  });

  it('starts nothing twice when several replies in turn waited for a break', async () => {
    const line = playerWith(T35, { overrun: 30 });
    const steps = [{ kind: 'break' as const, waitMs: 0, ms: 20 }];
    line.player.play(REQUEST, { plan: { kind: 'send', early: true, steps }, played: () => {} });
    for (const bytes of [FIRST, SECOND]) {
      await line.clock.advanceAsync(15);
      line.reply(bytes);
    }
    await line.clock.advanceAsync(100);
    expect(line.sent.map(({ bytes }) => bytes)).toEqual([[2]]);
    expect(line.ended).toEqual(['superseded', 'complete']);
  });

  it('drops the pending reply when a long request comes at once, though it would take long on a wire', () => {
    const line = playerWith(300);
    line.reply(FIRST);
    line.clock.advance(200);
    line.reply(SECOND, new Uint8Array(255));
    line.clock.advance(500);
    expect(line.sent.map(({ bytes }) => bytes)).toEqual([[2]]);
    expect(line.ended).toEqual(['superseded', 'complete']);
  });

  it('drops the pending reply when the client sends anew after a pause', () => {
    const line = playerWith(20);
    line.reply(FIRST);
    line.clock.advance(REQUEST.bytes.length + T35 + 1);
    line.reply(SECOND);
    line.clock.advance(100);
    expect(line.sent.map(({ bytes }) => bytes)).toEqual([[2]]);
    expect(line.ended).toEqual(['superseded', 'complete']);
  });

  it('reports every step of every reply that was given up, with the reason', () => {
    const line = playerWith(20);
    const piece = { kind: 'bytes' as const, waitMs: 5, bytes: FIRST, continues: false };
    for (const steps of [[piece, piece], [piece]]) {
      line.player.play(REQUEST, {
        plan: { kind: 'send', early: false, steps },
        played: (report) => line.reports.push(report),
      });
    }
    line.clock.advance(27);
    line.player.turnedAway();
    const outcomes = line.reports.map(({ steps }) => steps.map(({ outcome, reason }) => reason ?? outcome));
    const reason = 'the client has sent a request to another unit';
    expect(outcomes).toEqual([['achieved', reason], [reason]]);
  });

  it('drops the pending reply when the line is lost', () => {
    const line = playerWith(20);
    line.reply(FIRST);
    line.player.giveUp('the port is gone', 'disconnected');
    line.clock.advance(100);
    expect(line.sent).toEqual([]);
    expect(line.reports).toEqual([
      {
        steps: [
          {
            plannedAt: 20,
            achievedAt: 0,
            endedAt: 0,
            uncertainty: undefined,
            outcome: 'not achieved',
            reason: 'the port is gone',
          },
        ],
        ended: 'disconnected',
      },
    ]);
  });

  it('sends nothing for a silent plan', () => {
    const line = playerWith(T35);
    const now = line.clock.now();
    line.player.play(
      { ...REQUEST, startedAt: now, receivedAt: now },
      { plan: silence('test'), played: ({ ended }) => line.ended.push(ended) },
    );
    line.clock.advance(100);
    expect(line.sent).toEqual([]);
    expect(line.ended).toEqual(['complete']);
  });

  it('sends any number of pieces without a wait between them, 64 before other lines have their turn', () => {
    const line = playerWith(undefined);
    const steps = Array.from({ length: 20_000 }, (_, i) => ({
      kind: 'bytes' as const,
      waitMs: 0,
      bytes: Uint8Array.of(i & 0xff),
      continues: i > 0,
    }));
    line.player.play(REQUEST, {
      plan: { kind: 'send', early: false, steps },
      played: ({ ended }) => line.ended.push(ended),
    });
    expect(line.sent).toHaveLength(64);
    expect(line.ended).toEqual([]);
    line.clock.advance(1);
    expect(line.sent).toHaveLength(20_000);
    expect(line.sent.map(({ bytes }) => bytes[0])).toEqual(steps.map(({ bytes }) => bytes[0]));
    expect(line.ended).toEqual(['complete']);
  });

  it('counts a pause from the moment when everything before it has left the wire', () => {
    const line = playerWith(undefined);
    const piece = (waitMs: number, length: number) => ({
      kind: 'bytes' as const,
      waitMs,
      bytes: new Uint8Array(length),
      continues: true,
    });
    const now = line.clock.now();
    const steps = [piece(0, 100), piece(0, 1), piece(20, 1)];
    line.player.play(
      { ...REQUEST, startedAt: now, receivedAt: now },
      { plan: { kind: 'send', early: false, steps }, played: () => {} },
    );
    line.clock.advance(500);
    // A character takes 1 ms here: 101 of them, then the pause.
    expect(line.sent[2]?.at).toBeGreaterThanOrEqual(121);
  });
});
