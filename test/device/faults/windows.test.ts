import { describe, expect, it } from 'vitest';
import { failure } from '../../../src/common/result.js';
import { At } from '../../../src/common/schema/at.js';
import { Findings } from '../../../src/common/schema/findings.js';
import { pathText } from '../../../src/common/schema/problem.js';
import { abilities } from '../../../src/device/faults/kind.js';
import type { RequestFacts } from '../../../src/device/faults/matching.js';
import { ruleSchema } from '../../../src/device/faults/rule.js';
import { FaultRules } from '../../../src/device/faults/rules.js';
import { FaultControl } from '../../../src/simulator/simulator.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { ruleOf } from './plans.js';

const FACTS: RequestFacts = {
  line: { name: 'bench', abilities: abilities('serial', 'rtu') },
  unitId: 1,
  device: 'meter',
  functionCode: 3,
  ranges: [{ address: 0, quantity: 1 }],
};

/** The rules, and a clock of their own that stands at 1000 s when they are made. */
function start() {
  const clock = new VirtualClock();
  clock.advance(1_000_000);
  const source = { now: () => new Date(0), uptime: () => clock.now(), random: () => 0 };
  return { clock, source };
}

/** The seconds, of the first 100 after the rule was made, in which the rule acts. */
function secondsOf(more: object): number[] {
  const { clock, source } = start();
  const rules = new FaultRules(source);
  rules.set(ruleOf([{ delay: 1 }], more));
  return Array.from({ length: 100 }, (_, second) => {
    const acts = rules.match(FACTS).length > 0;
    expect(rules.get('tested')?.open).toBe(acts);
    clock.advance(1000);
    return acts ? [second] : [];
  }).flat();
}

const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('a rule with times acts', () => {
  it.each([
    ['from a time on', { when: { from: '97s' } }, upTo(97, 99)],
    ['for a time', { when: { for: 3000 } }, upTo(0, 2)],
    ['from a time on, for a time', { when: { from: '10s', for: '2s' } }, [10, 11]],
    [
      'in the windows of its schedule',
      {
        schedule: [
          { from: '10s', for: '2s' },
          { from: '1m', for: 1000 },
        ],
      },
      [10, 11, 60],
    ],
    [
      'in windows that overlap',
      {
        schedule: [
          { from: 1000, for: 2000 },
          { from: 2000, for: 2000 },
        ],
      },
      [1, 2, 3],
    ],
    ['again and again', { schedule: [{ from: '5s', for: '2s', every: '40s' }] }, [5, 6, 45, 46, 85, 86]],
    ['again and again from the beginning', { schedule: [{ for: '1s', every: '50s' }] }, [0, 50]],
    ['from the start of a window without an end', { schedule: [{ from: '98s' }] }, [98, 99]],
    [
      'only where its own time and a window agree',
      { when: { from: '50s' }, schedule: [{ for: '1s', every: '40s' }] },
      [80],
    ],
    [
      'at no time, when its own time and its windows never agree',
      { when: { for: '1s' }, schedule: [{ from: '2s' }] },
      [],
    ],
  ])('%s', (_, more, seconds) => {
    expect(secondsOf(more)).toEqual(seconds);
  });

  it('with requests outside its time neither counted nor used up', () => {
    const { clock, source } = start();
    const rules = new FaultRules(source);
    rules.set(ruleOf([{ delay: 1 }], { when: { from: '1s', count: 1, after: 1 } }));
    rules.match(FACTS);
    expect(rules.get('tested')).toMatchObject({ open: false, matches: 0, hits: 0, remaining: 1 });
    clock.advance(1000);
    expect(rules.match(FACTS)).toHaveLength(0);
    expect(rules.match(FACTS)).toHaveLength(1);
    expect(rules.get('tested')).toMatchObject({ open: true, matches: 2, hits: 1, remaining: 0 });
  });

  it('with its time beginning anew when it is replaced, and when the rules are reset', () => {
    const { clock, source } = start();
    const rule = ruleOf([{ delay: 1 }], { when: { for: '10s' } });
    const faults = new FaultControl([rule], source);
    const isOpen = () => faults.rules.get('tested')?.open;
    expect(isOpen()).toBe(true);
    clock.advance(10_000);
    expect(isOpen()).toBe(false);
    faults.rules.set(rule);
    expect(isOpen()).toBe(true);
    clock.advance(10_000);
    faults.reset(() => failure('no value'));
    expect(isOpen()).toBe(true);
  });
});

describe('the times of a rule', () => {
  it.each([
    [
      { when: { from: -1 } },
      /^when\.from: expected a number of milliseconds, 0 or more, or a time such as 250ms/,
    ],
    [{ when: { for: 0 } }, /^when\.for: expected a number of milliseconds, 1 or more/],
    [{ when: { from: '10 s' } }, /^when\.from: expected a number of milliseconds, 0 or more, or a time/],
    [{ schedule: [] }, /^schedule: expected at least one window, got an empty list$/],
    [
      { schedule: { from: 1 } },
      /^schedule: expected a list of windows, as in \[\{from: 10s, for: 5s\}\], got a mapping$/,
    ],
    [{ schedule: Array(65).fill({ for: 1 }) }, /^schedule: expected at most 64 windows, got 65$/],
    [{ schedule: [{ until: 1 }] }, /^schedule\[0\]\.until: unknown key "until" \(known: from, for, every\)$/],
    [{ schedule: [{ every: '1m' }] }, /^schedule\[0\]\.every: only a window with `for` can open again$/],
    [
      { schedule: [{ for: '1m', every: '1m' }] },
      /^schedule\[0\]\.every: expected more than `for`, which is 60000 ms, got 60000$/,
    ],
  ])('of %j are refused', (more, message) => {
    const findings = new Findings();
    new At({ name: 'r', do: { delay: 1 }, ...more }, findings).check(ruleSchema);
    expect(findings.listed.map((issue) => `${pathText(issue.path)}: ${issue.message}`)).toEqual([
      expect.stringMatching(message),
    ]);
  });
});
