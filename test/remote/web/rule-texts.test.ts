import { expect, it } from 'vitest';
import { conditionText, thenText, written } from '../../../src/remote/web/views/faults/texts.js';
import type { RuleView } from '../../../src/simulator/commands/schemas/fault.js';

/** A key of its own name: an object with `then` looks like a promise. */
const THEN = 'then';

const RULE: RuleView = {
  ...{ name: 'after-write', enabled: true, do: [], seed: 7, matches: 0, hits: 0, lastHit: null },
  ...{ open: true, remaining: null },
  when: { function: 6, pause: { below: 50 }, from: 20_000, count: 3 },
  schedule: [{ from: 1500, for: 250 }],
  [THEN]: { state: 'wrote', for: 5000, requests: 2 },
};

it('the list of rules shows the times of conditions with their units, and the state that follows', () => {
  expect(conditionText(RULE)).toBe(
    'function 6 · pause (below 50 ms) · from 20 s · count 3 · schedule (from 1.5 s, for 250 ms)',
  );
  expect(thenText(RULE)).toBe('then state wrote for 5 s for 2 requests');
  expect(thenText({})).toBe('');
});

it('a rule that is rearmed or edited keeps the state that follows it', () => {
  expect(written(RULE)).toEqual({
    ...{ name: 'after-write', when: RULE.when, schedule: RULE.schedule, [THEN]: RULE[THEN], seed: 7 },
  });
});
