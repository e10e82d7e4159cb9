import { describe, expect, it } from 'vitest';
import type { LineDefinition, UnsolicitedDefinition } from '../../src/document/configuration.js';
import { RTU } from '../../src/modbus/protocol/framing.js';
import { plainReply, type StepReport, silence, stepsOf } from '../../src/modbus/protocol/reply-plan.js';
import { encodeRtu } from '../../src/modbus/protocol/rtu.js';
import type { LineEvent, LineRequest } from '../../src/modbus/transport/transport.js';
import { Reply } from '../../src/simulator/bus/reply.js';
import { Unsolicited } from '../../src/simulator/unsolicited.js';
import { nativeSetup } from '../support/configuration.js';
import { VirtualClock } from '../support/virtual-clock.js';

const PDU = Uint8Array.of(3, 2, 0, 7);
const STRANGER = encodeRtu(9, PDU);
const STRAY: UnsolicitedDefinition = { bytes: Uint8Array.of(0), every: 1000 };

function definitionOf(unsolicited?: readonly UnsolicitedDefinition[]): LineDefinition {
  const [line] = nativeSetup({
    devices: { meter: { registers: { holding: [{ address: 0 }] } } },
    lines: { bench: { serial: { path: 'virtual' }, timing: { t35: 4 }, units: { 1: 'meter' } } },
  }).lines;
  if (!line) throw new Error('no line');
  return { ...line, ...(unsolicited && { unsolicited }) };
}

/** @param busyMs what the line answers, one after the other; after them it is free */
function started(unsolicited: readonly UnsolicitedDefinition[], busyMs: number[] = []) {
  const clock = new VirtualClock();
  const sent: { at: number; bytes: Uint8Array }[] = [];
  const before: LineEvent[] = [];
  const line = new Unsolicited(clock, 'bench', {
    framing: () => RTU,
    send: (bytes) => {
      const busy = busyMs.shift();
      if (busy === undefined) sent.push({ at: clock.now(), bytes });
      return busy;
    },
    sent: (event) => before.push(event),
  });
  line.change(definitionOf(unsolicited));
  line.start();
  return { clock, line, sent, before, times: () => sent.map(({ at }) => at) };
}

describe('what comes every so often', () => {
  it('comes at its times, and no more when the line is closed or the key is taken away', () => {
    const { clock, line, times } = started([STRAY]);
    clock.advance(3500);
    expect(times()).toEqual([1000, 2000, 3000]);
    line.stop();
    clock.advance(5000);
    line.start();
    clock.advance(1000);
    expect(times()).toEqual([1000, 2000, 3000, 9500]);
    line.change(definitionOf());
    clock.advance(5000);
    expect(times()).toHaveLength(4);
  });

  it('is not put off by a change of something else', () => {
    const { clock, line, times } = started([STRAY]);
    clock.advance(900);
    line.change(definitionOf([STRAY]));
    clock.advance(100);
    expect(times()).toEqual([1000]);
  });

  it('does not begin on a line that is not open', () => {
    const { clock, line, times } = started([STRAY]);
    line.stop();
    line.change(definitionOf([{ ...STRAY, every: 500 }]));
    clock.advance(5000);
    expect(times()).toEqual([]);
  });

  it('waits until the line is free', () => {
    const { clock, times } = started([STRAY], [2, 7]);
    clock.advance(1500);
    expect(times()).toEqual([1009]);
  });

  it('is sooner or later by its jitter, in the same way in each run, and never sooner than after 10 ms', () => {
    const unsolicited = [{ ...STRAY, jitter: 1000 }];
    const run = () => {
      const { clock, times } = started(unsolicited);
      clock.advance(200_000);
      return times();
    };
    const times = run();
    expect(run()).toEqual(times);
    const waits = times.map((at, i) => at - (times[i - 1] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(10);
    expect(Math.min(...waits)).toBeLessThan(500);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2000);
    expect(Math.max(...waits)).toBeGreaterThan(1500);
  });

  it('is a frame in the framing of the line', () => {
    const { clock, sent } = started([{ frame: { unit: 9, pdu: PDU }, every: 10 }]);
    clock.advance(10);
    expect(sent.map(({ bytes }) => bytes)).toEqual([STRANGER]);
  });
});

describe('what is sent once', () => {
  it('leaves as soon as the line is free, and not again', () => {
    const { clock, line, sent } = started([], [5, 3]);
    line.once(STRANGER);
    clock.advance(1000);
    expect(sent).toEqual([{ at: 8, bytes: STRANGER }]);
  });

  it('can be given up while it waits, and only then', () => {
    const { clock, line, sent } = started([], [5]);
    line.once(STRANGER)?.();
    clock.advance(1000);
    expect(sent).toEqual([]);
    expect(line.once(STRANGER)).toBeUndefined();
    expect(sent).toHaveLength(1);
  });
});

describe('what comes before a reply', () => {
  const FRAME: UnsolicitedDefinition = { frame: { unit: 9, pdu: PDU }, before: 'reply' };
  const REPLY = encodeRtu(1, PDU);
  const request = { client: undefined, clientId: 0 } as unknown as LineRequest;
  const step = (at: number, outcome: StepReport['outcome'] = 'achieved'): StepReport => ({
    ...{ plannedAt: at, achievedAt: at, endedAt: at + 1, outcome },
    uncertainty: undefined,
  });

  it('is a step of its own, t3.5 before the reply, whose report is about the reply alone', () => {
    const { line, before } = started([FRAME]);
    const own = plainReply(REPLY, 3);
    const reply = new Reply(RTU, own);
    line.beforeReply(reply);
    expect(reply).toMatchObject({ plan: { kind: 'send' }, alone: own });
    expect(stepsOf(reply.plan)).toMatchObject([
      { bytes: STRANGER, waitMs: 0 },
      { bytes: REPLY, waitMs: 7 },
    ]);
    const report = line.replied(request, reply, { steps: [step(10), step(20)], ended: 'complete' });
    expect(report).toEqual({ steps: [step(20)], ended: 'complete' });
    expect(before).toEqual([
      { kind: 'unsolicited', frame: { bytes: STRANGER, startedAt: 10, receivedAt: 11 } },
    ]);
  });

  it('is put before a reply that comes later', () => {
    const { line } = started([FRAME]);
    const reply = new Reply(RTU);
    line.beforeReply(reply);
    expect(reply.plan).toBeUndefined();
    reply.become(plainReply(REPLY), []);
    expect(stepsOf(reply.plan)).toMatchObject([{ bytes: STRANGER }, { bytes: REPLY, waitMs: 4 }]);
  });

  it('is not reported where it was not sent', () => {
    const { line, before } = started([FRAME]);
    const steps = [step(10, 'not achieved'), step(10, 'not achieved')];
    const reply = new Reply(RTU, plainReply(REPLY));
    line.beforeReply(reply);
    line.replied(request, reply, { steps, ended: 'superseded' });
    expect(before).toEqual([]);
  });

  it('does not come where there is no reply', () => {
    const { line } = started([FRAME]);
    const none = silence('broadcast');
    const reply = new Reply(RTU, none);
    line.beforeReply(reply);
    expect(reply.plan).toBe(none);
    expect(reply.before).toEqual([]);
  });
});
