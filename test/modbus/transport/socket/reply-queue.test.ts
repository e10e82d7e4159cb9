import { expect, test } from 'vitest';
import type { PlayReport, ReplyPlan } from '../../../../src/modbus/protocol/reply-plan.js';
import { ReplyQueue, type ReplyWriter } from '../../../../src/modbus/transport/socket/reply-queue.js';
import { until } from './raw-client.js';

/** A writer into which every step takes 5 ms, or another time, and when each began and ended. */
function slowWriter(ms = 5) {
  const played: { readonly from: number; readonly to: number }[] = [];
  const writer: ReplyWriter = {
    open: true,
    play: () => {
      const from = performance.now();
      while (performance.now() < from + ms);
      played.push({ from, to: performance.now() });
      return undefined;
    },
    complete: (report, tell) => tell(report),
    flush: () => {},
  };
  return { writer, played };
}

function plan(...waits: number[]): ReplyPlan {
  const bytes = Uint8Array.of(1);
  const steps = waits.map((waitMs) => ({ kind: 'bytes' as const, waitMs, bytes, continues: false }));
  return { kind: 'send', early: false, steps };
}

async function play(reply: ReplyPlan) {
  const { writer, played } = slowWriter();
  const reports: PlayReport[] = [];
  const queue = new ReplyQueue(writer, () => {});
  queue.add({ plan: reply, played: (report) => reports.push(report) }, performance.now());
  await until(() => reports.length === 1, 'played');
  return { steps: reports[0]?.steps ?? [], played };
}

test.each([
  ['a plain reply', plan(0)],
  ['a reply in pieces', plan(0, 20, 0)],
])('%s is achieved no later than its bytes begin to leave', async (_, reply) => {
  const { steps, played } = await play(reply);
  expect(steps.length).toBe(played.length);
  steps.forEach(({ achievedAt }, i) => {
    expect(achievedAt).toBeLessThanOrEqual(played[i]?.from ?? Number.NaN);
  });
});

test('the wait between two pieces is not shortened by what writing the first one took', async () => {
  const { steps, played } = await play(plan(0, 20));
  expect((played[1]?.from ?? 0) - (played[0]?.to ?? 0)).toBeGreaterThanOrEqual(20);
  expect(steps[1]?.plannedAt).toBe((steps[0]?.achievedAt ?? 0) + 20);
});

test('64 steps of a plan are played in one turn, and the others in later ones', async () => {
  const { writer, played } = slowWriter(0);
  const reports: PlayReport[] = [];
  const queue = new ReplyQueue(writer, () => {});
  queue.add(
    { plan: plan(...Array(150).fill(0)), played: (report) => reports.push(report) },
    performance.now(),
  );
  expect(played).toHaveLength(64);
  await until(() => reports.length === 1, 'played');
  expect(played).toHaveLength(150);
});
