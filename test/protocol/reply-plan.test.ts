import { expect, it } from 'vitest';
import { achieved, notReached, plainReply, silence } from '../../src/protocol/reply-plan.js';

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
