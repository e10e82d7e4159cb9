import { expect, it } from 'vitest';
import { StuckLines } from '../../../src/cli/service/service.js';
import { plainReply, type ReplyPlan } from '../../../src/modbus/protocol/reply-plan.js';

const MINUTE = 60_000;

/** Two lines, with the plans that are being played on them. */
function lines({ bench, lan }: { readonly bench?: ReplyPlan; readonly lan?: ReplyPlan }) {
  return [
    { name: 'bench', characterTime: 1, oldestPlan: bench },
    { name: 'lan', characterTime: 0, oldestPlan: lan },
  ];
}

const reply = plainReply(new Uint8Array(1000));

it('a line is stuck when a reply has not ended a minute after it should have', () => {
  const stuck = new StuckLines();
  const watched = lines({ bench: reply });
  expect(stuck.look(watched, 0)).toEqual([]);
  // 1000 characters of 1 ms.
  expect(stuck.look(watched, MINUTE + 1000)).toEqual([]);
  expect(stuck.look(watched, MINUTE + 1001)).toEqual(['bench']);
});

it('a reply that a fault delays by an hour is not late before that hour', () => {
  const stuck = new StuckLines();
  const slow: ReplyPlan = {
    kind: 'send',
    early: false,
    steps: [{ kind: 'break', waitMs: 30 * MINUTE, ms: 30 * MINUTE }],
  };
  const watched = lines({ lan: slow });
  expect(stuck.look(watched, 0)).toEqual([]);
  expect(stuck.look(watched, 61 * MINUTE)).toEqual([]);
  expect(stuck.look(watched, 61 * MINUTE + 1)).toEqual(['lan']);
});

it('a line is alive as long as one reply after the other ends, however many wait', () => {
  const stuck = new StuckLines();
  for (let minute = 1; minute < 10; minute++) {
    const watched = lines({ lan: plainReply(new Uint8Array(1000)) });
    expect(stuck.look(watched, minute * 0.9 * MINUTE)).toEqual([]);
  }
  expect(stuck.look(lines({}), 10 * MINUTE)).toEqual([]);
});
