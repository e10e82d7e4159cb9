import { expect, it } from 'vitest';
import {
  achieved,
  notAchieved,
  notReached,
  type PlayReport,
  plainReply,
  type ReplyPlan,
  type Step,
  sentBytes,
  sentFrames,
  silence,
  stepsOf,
} from '../../../src/modbus/protocol/reply-plan.js';

it('a plain reply is one step at the usual time, and silence has its reason', () => {
  const bytes = Uint8Array.of(1, 2);
  const steps = [{ kind: 'bytes', waitMs: 0, bytes, continues: false }];
  expect(plainReply(bytes)).toEqual({ kind: 'send', early: false, steps });
  expect(silence('broadcast')).toEqual({ kind: 'silence', reason: 'broadcast' });
});

it('steps that were not reached have the times that were planned for them, and when they were given up', () => {
  const bytes = Uint8Array.of(1);
  const step = (waitMs: number) => ({ kind: 'bytes', waitMs, bytes, continues: false }) as const;
  const never = {
    achievedAt: 103,
    endedAt: 103,
    uncertainty: undefined,
    outcome: 'not achieved',
    reason: 'gone',
  };
  expect(notReached([step(2), step(5)], 100, 103, 'gone')).toEqual([
    { plannedAt: 102, ...never },
    { plannedAt: 107, ...never },
  ]);
  expect(achieved(1, 2, 3, 0.5)).toEqual({
    plannedAt: 1,
    achievedAt: 2,
    endedAt: 3,
    uncertainty: 0.5,
    outcome: 'achieved',
  });
});

it('a silence has no steps, and no plan has none either', () => {
  const bytes = Uint8Array.of(1);
  expect(stepsOf(plainReply(bytes))).toEqual([{ kind: 'bytes', waitMs: 0, bytes, continues: false }]);
  expect([stepsOf(silence('broadcast')), stepsOf(undefined)]).toEqual([[], []]);
});

it('what was sent is known by its pieces and by its frames', () => {
  const piece = (byte: number, continues = false): Step => ({
    kind: 'bytes',
    waitMs: 0,
    bytes: Uint8Array.of(byte),
    continues,
  });
  const steps = [
    piece(1),
    piece(2, true),
    { kind: 'break', waitMs: 0, ms: 5 } as const,
    piece(3),
    piece(4, true),
  ];
  const plan: ReplyPlan = { kind: 'send', early: false, steps };
  const [done, missed] = [achieved(0, 0, 0, undefined), notAchieved(0, 0, 'gone')];
  const sent = (...made: (typeof done)[]) => {
    const report: PlayReport = { steps: made, ended: 'disconnected' };
    return [sentBytes(plan, report), sentFrames(plan, report)].map((all) => all.map((bytes) => [...bytes]));
  };
  expect(sent(done, done, done, done, done)).toEqual([
    [[1], [2], [3], [4]],
    [
      [1, 2],
      [3, 4],
    ],
  ]);
  expect(sent(done, missed, missed, missed, missed)).toEqual([[[1]], [[1]]]);
  expect(sent(missed, done, done, done)).toEqual([
    [[2], [3]],
    [[2], [3]],
  ]);
  expect(sent()).toEqual([[], []]);
  expect(sentFrames(silence('broadcast'), { steps: [], ended: 'complete' })).toEqual([]);
});
