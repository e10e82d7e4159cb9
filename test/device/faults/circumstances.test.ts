import { describe, expect, it } from 'vitest';
import { type Circumstances, numbersOf } from '../../../src/device/faults/condition.js';
import { abilities, type FaultLine } from '../../../src/device/faults/kind.js';
import { ruleSchema, usableRule } from '../../../src/device/faults/rule.js';
import { FaultRules } from '../../../src/device/faults/rules.js';
import { THEN } from '../../../src/device/faults/then.js';

const LAN: FaultLine = { name: 'lan', abilities: abilities('tcp', 'socket') };
const BUS: FaultLine = { name: 'bus', abilities: abilities('serial', 'rtu') };

let uptime = 0;

function rulesOf(...rules: object[]): FaultRules {
  uptime = 0;
  const all = new FaultRules({ uptime: () => uptime, now: () => new Date(0), random: () => 0 });
  rules.forEach((rule, i) => {
    all.set(ruleSchema.parse({ name: `r${i}`, do: { silence: true }, ...rule }));
  });
  return all;
}

interface Asked {
  readonly unitId?: number;
  readonly quantity?: number;
  readonly device?: string;
  readonly starts?: number;
  readonly circumstances?: Circumstances;
}

/** The names of the rules that act on a request. */
const acting = (rules: FaultRules, { unitId = 1, quantity = 1, device = 'meter', ...more }: Asked = {}) =>
  rules
    .match({ line: LAN, unitId, device, functionCode: 3, ranges: [{ address: 0, quantity }], ...more })
    .map(({ rule }) => rule.name);

describe('ranges in conditions', () => {
  it.each([
    [{ quantity: '11-125' }, { quantity: 12 }, true],
    [{ quantity: '11-125' }, { quantity: 126 }, false],
    [{ quantity: [1, '11-125'] }, { quantity: 1 }, true],
    [{ quantity: [11, 125] }, { quantity: 12 }, false],
    [{ quantity: '11-125' }, { quantity: 11 }, true],
    [{ quantity: '11-11' }, { quantity: 11 }, true],
    [{ unit: '0-255' }, { unitId: 255 }, true],
    [{ unit: '20-29' }, { unitId: 29 }, true],
    [{ unit: ['20-29', 5] }, { unitId: 6 }, false],
    [{ function: '1-4' }, {}, true],
    [{ function: '5-6' }, {}, false],
  ])('%j and %j', (when, asked, acts) => {
    expect(acting(rulesOf({ when }), asked)).toHaveLength(acts ? 1 : 0);
  });

  it.each(['29-20', '0-70000', '1-70000', 'a-b', '1-', ''])('refuse %j', (quantity) => {
    expect(ruleSchema.safeParse({ name: 'r', when: { quantity }, do: { delay: 1 } }).success).toBe(false);
  });

  it('stand for each of their numbers', () => {
    expect(numbersOf('3-5')).toEqual([3, 4, 5]);
    expect(numbersOf(7)).toEqual([7]);
  });
});

describe('conditions on connections and pauses', () => {
  const now = (circumstances: Partial<Circumstances>): Asked => ({
    circumstances: { connected: undefined, nth: undefined, pause: undefined, ...circumstances },
  });

  it.each([
    [{ connected: { below: '1s' } }, { connected: 999 }, true],
    [{ connected: { below: '1s' } }, { connected: 1000 }, false],
    [{ connected: { above: '1s' } }, { connected: 1001 }, true],
    [{ connected: { above: '1s' } }, { connected: 1000 }, false],
    [{ connected: { above: '1s' } }, {}, false],
    [{ pause: { below: '50ms' } }, { pause: 20, nth: 3, connected: 5 }, true],
    [{ nth: 1 }, { nth: 1 }, true],
    [{ nth: 1 }, { nth: 2 }, false],
    [{ nth: 1 }, {}, false],
    [{ pause: { below: '50ms' } }, { pause: 20 }, true],
    [{ pause: { below: '50ms' } }, {}, false],
    [{ pause: { above: '30s' } }, { pause: 30_001 }, true],
  ])('%j in %j', (when, circumstances, acts) => {
    const rules = rulesOf({ when });
    expect(acting(rules, now(circumstances))).toHaveLength(acts ? 1 : 0);
    expect(rules.get('r0')?.matches).toBe(acts ? 1 : 0);
  });

  it('are met by no request of which nobody knows when it came', () => {
    for (const when of [{ connected: { below: 1000 } }, { nth: 1 }, { pause: { above: 1 } }]) {
      expect(acting(rulesOf({ when }))).toEqual([]);
    }
  });

  it('have one limit each', () => {
    for (const pause of [{}, { below: 1, above: 1 }, { below: 0 }]) {
      expect(ruleSchema.safeParse({ name: 'r', when: { pause }, do: { delay: 1 } }).success).toBe(false);
    }
  });

  it('on connections are refused for lines that have none', () => {
    const rule = ruleSchema.parse({ name: 'r', when: { nth: 1, connected: { below: 5 } }, do: { delay: 1 } });
    const issues = (lines: readonly FaultLine[]) => {
      const usable = usableRule(rule, { lines, find: undefined });
      return usable.ok ? [] : usable.error.map(({ path }) => path.join('.'));
    };
    expect(issues([BUS])).toEqual(['when.connected', 'when.nth']);
    expect(issues([BUS, LAN])).toEqual([]);
    const named = { ...rule, when: { line: ['bus', 'lan'], nth: 1 } };
    expect(usableRule(named, { lines: [LAN, BUS], find: undefined })).toEqual({
      ok: false,
      error: [{ path: ['when', 'nth'], message: 'line bus has no connections', code: 'rule.impossible' }],
    });
  });
});

describe('states', () => {
  const LOCKS = { when: { quantity: 9 }, do: undefined, [THEN]: { state: 'locked', for: '20s' } };
  const LOCKED = { when: { state: 'locked' } };

  it('begin after the request that brings them about, and end in time', () => {
    const rules = rulesOf(LOCKS, LOCKED);
    expect(acting(rules)).toEqual([]);
    expect(acting(rules, { quantity: 9 })).toEqual(['r0']);
    expect(acting(rules, { device: 'other' })).toEqual([]);
    uptime = 19_999;
    expect(acting(rules)).toEqual(['r1']);
    uptime = 20_000;
    expect(acting(rules)).toEqual([]);
  });

  it('end after a number of requests of their device, or in time, whichever is first', () => {
    const rules = rulesOf({ ...LOCKS, [THEN]: { state: 'locked', for: '20s', requests: 2 } }, LOCKED);
    acting(rules, { quantity: 9 });
    expect([acting(rules, { device: 'other' }), acting(rules), acting(rules), acting(rules)]).toEqual([
      [],
      ['r1'],
      ['r1'],
      [],
    ]);
    acting(rules, { quantity: 9 });
    uptime = 20_000;
    expect(acting(rules)).toEqual([]);
  });

  it('stay when other rules are put in force or removed', () => {
    const rules = rulesOf(LOCKS, LOCKED);
    acting(rules, { quantity: 9 });
    rules.set(ruleSchema.parse({ name: 'other', when: { unit: 9 }, do: { delay: 1 } }));
    expect(acting(rules)).toEqual(['r1']);
    rules.remove('other');
    expect(acting(rules)).toEqual(['r1']);
  });

  it('end when the device starts again, and with the rule that brings them about', () => {
    const rules = rulesOf({ ...LOCKS, [THEN]: { state: 'locked' } }, LOCKED);
    acting(rules, { quantity: 9, starts: 0 });
    uptime = 1e9;
    expect(acting(rules, { starts: 0 })).toEqual(['r1']);
    expect(acting(rules, { starts: 1 })).toEqual([]);
    acting(rules, { quantity: 9, starts: 1 });
    rules.remove('r0');
    expect(acting(rules, { starts: 1 })).toEqual([]);
  });

  it.each(['!alive', { not: 'alive' }])(
    'may be absent: %j until a heartbeat, and again 3 s after the last',
    (state) => {
      const rules = rulesOf(
        { when: { quantity: 9 }, do: undefined, [THEN]: { state: 'alive', for: '3s' } },
        { when: { state }, do: { exception: 6 } },
      );
      expect(acting(rules, { quantity: 1 })).toEqual(['r1']);
      acting(rules, { quantity: 9 });
      uptime = 2999;
      expect(acting(rules)).toEqual([]);
      expect(acting(rules, { device: 'other' })).toEqual(['r1']);
      uptime = 3000;
      expect(acting(rules)).toEqual(['r1']);
    },
  );

  it('need a name, and a rule needs faults or a state', () => {
    for (const rule of [
      {},
      { [THEN]: { state: 'a b' } },
      { [THEN]: {} },
      { [THEN]: { state: 'x', for: 0 } },
    ]) {
      expect(ruleSchema.safeParse({ name: 'r', ...rule }).success).toBe(false);
    }
  });
});

it('a rule acts on all matches but every third', () => {
  const rules = rulesOf({ when: { every: { not: 3 } } });
  expect(Array.from({ length: 7 }, () => acting(rules).length)).toEqual([1, 1, 0, 1, 1, 0, 1]);
});
