import { expect, it } from 'vitest';
import { RTU } from '../../src/protocol/framing.js';
import { plainReply } from '../../src/protocol/reply-plan.js';
import { Ledger } from '../../src/traffic/ledger.js';
import { bytesOf } from '../vectors/hex.js';

const REQUEST = bytesOf('03 0000 0001');

/** How many of 1,200 exchanges are kept, each with so many faults and so many pieces of ten bytes. */
function kept(faults: number, pieces = 1): number {
  const ledger = new Ledger();
  const acted = Array.from({ length: faults }, () => ({ rule: 'r', kind: 'delay' }));
  const steps = Array.from({ length: pieces }, () => plainReply(new Uint8Array(10))).flatMap((plan) =>
    plan.kind === 'send' ? plan.steps : [],
  );
  for (let i = 0; i < 1200; i++) {
    ledger.enter({
      time: new Date(0),
      line: 'bench',
      client: undefined,
      unitId: 1,
      requestPdu: REQUEST,
      requestAdu: REQUEST,
      framing: RTU,
      receivedAt: i,
      plan: { kind: 'send', early: false, steps },
      acted,
    });
  }
  const exchanges = ledger.latest();
  expect(exchanges[0]?.id).toBe(1200);
  return exchanges.length;
}

it('the ledger keeps 1,000 exchanges', () => {
  expect(kept(0)).toBe(1000);
  expect(kept(64)).toBe(1000);
});

it('the ledger keeps fewer of those that many faults acted on, or that left in many pieces', () => {
  // In 32 MiB, at 200 bytes a fault and 310 bytes a piece.
  expect(kept(1000)).toBeLessThanOrEqual(167);
  expect(kept(16_384)).toBeLessThanOrEqual(10);
  expect(kept(0, 4096)).toBeLessThanOrEqual(26);
  expect(kept(16_384)).toBeGreaterThan(5);
});

it('the ledger keeps the newest exchange, however much it takes up', () => {
  expect(kept(1_000_000)).toBe(1);
});
