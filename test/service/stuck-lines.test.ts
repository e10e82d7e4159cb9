import { expect, it } from 'vitest';
import { RTU } from '../../src/protocol/framing.js';
import { plainReply, type ReplyPlan } from '../../src/protocol/reply-plan.js';
import { StuckLines } from '../../src/service/stuck-lines.js';
import type { Exchange } from '../../src/traffic/ledger.js';

const MINUTE = 60_000;
const lines = [
  { name: 'bench', characterTime: 1 },
  { name: 'lan', characterTime: 0 },
];

function exchange(id: number, line: string, plan: ReplyPlan, isOver = false): Exchange {
  const report = { steps: [], ended: 'complete' } as const;
  const [requestPdu, requestAdu] = [Uint8Array.of(3), Uint8Array.of(1, 3)];
  const rest = { time: new Date(), client: undefined, unitId: 1, requestPdu, requestAdu, framing: RTU };
  return { id, line, plan, ...rest, receivedAt: 0, acted: [], ...(isOver && { report }) };
}

const reply = plainReply(new Uint8Array(1000));

it('a line is stuck when a reply has not ended a minute after it should have', () => {
  const stuck = new StuckLines();
  const ledger = [exchange(2, 'lan', reply, true), exchange(1, 'bench', reply)];
  expect(stuck.look(lines, ledger, 0)).toEqual([]);
  // 1000 characters of 1 ms.
  expect(stuck.look(lines, ledger, MINUTE + 1000)).toEqual([]);
  expect(stuck.look(lines, ledger, MINUTE + 1001)).toEqual(['bench']);
});

it('a reply that a fault delays by an hour is not late before that hour', () => {
  const stuck = new StuckLines();
  const slow: ReplyPlan = {
    kind: 'send',
    early: false,
    steps: [{ kind: 'break', waitMs: 30 * MINUTE, ms: 30 * MINUTE }],
  };
  const ledger = [exchange(1, 'lan', slow)];
  expect(stuck.look(lines, ledger, 0)).toEqual([]);
  expect(stuck.look(lines, ledger, 61 * MINUTE)).toEqual([]);
  expect(stuck.look(lines, ledger, 61 * MINUTE + 1)).toEqual(['lan']);
});

it('a line is alive as long as one reply after the other ends, however many wait', () => {
  const stuck = new StuckLines();
  for (let id = 1; id < 10; id++) {
    const waiting = [exchange(id + 1, 'lan', reply), exchange(id, 'lan', reply)];
    expect(stuck.look(lines, waiting, id * 0.9 * MINUTE)).toEqual([]);
  }
  expect(stuck.look(lines, [exchange(9, 'lan', reply, true)], 10 * MINUTE)).toEqual([]);
});
