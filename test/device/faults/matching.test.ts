import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/common/random.js';
import { isOpen } from '../../../src/device/faults/condition.js';
import { abilities, lackOf } from '../../../src/device/faults/kind.js';
import { matchesRequest, type RequestFacts, RuleMatcher } from '../../../src/device/faults/matching.js';
import type { FaultRule } from '../../../src/device/faults/rule.js';
import { FaultRules } from '../../../src/device/faults/rules.js';
import { addressRanges } from '../../../src/modbus/protocol/pdu.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { ruleOf } from './plans.js';

/** What each rule is said to do: every rule is asked about every request, one after the other. */
class EveryRule {
  readonly #entries = new Map<string, { rule: FaultRule; since: number; matches: number; hits: number }>();

  set(rule: FaultRule, since: number): void {
    this.#entries.set(rule.name, { rule, since, matches: 0, hits: 0 });
  }

  remove(name: string): void {
    this.#entries.delete(name);
  }

  /** Names of the rules that act, each with the first random number of its turn. */
  match(facts: RequestFacts, now: number): [string, number][] {
    return [...this.#entries.values()].flatMap((entry) => {
      const { when, values, schedule, faults, seed = 0, name } = entry.rule;
      const elapsed = now - entry.since;
      if (!faults.some(({ needs }) => lackOf(facts.line, needs) === undefined)) return [];
      if (!matchesRequest(when, values, facts)) return [];
      if (!isOpen({ from: when.from, for: when.for }, elapsed)) return [];
      if (schedule && !schedule.some((window) => isOpen(window, elapsed))) return [];
      entry.matches++;
      if (when.count !== undefined && entry.hits >= when.count) return [];
      const turn = entry.matches - (when.after ?? 0);
      if (turn <= 0 || turn % Number(when.every ?? 1) !== 0) return [];
      const random = seededRandom(seed, entry.matches);
      if (when.probability !== undefined && random.next() >= when.probability) return [];
      entry.hits++;
      return [[name, random.next()]];
    });
  }

  counts(): [string, number, number][] {
    return Array.from(this.#entries.values(), ({ rule, matches, hits }) => [rule.name, matches, hits]);
  }
}

/** Few different values, so that rules and requests meet; `oneOf` also takes a list or nothing. */
const oneOf = <Item>(items: readonly Item[]) =>
  fc.oneof(fc.constantFrom(...items), fc.uniqueArray(fc.constantFrom(...items), { minLength: 1 }));
const pair = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 4 }))
  .map(([first, more]) => [first, first + more]);

const anywhere = {
  line: oneOf(['bench', 'lan']),
  unit: oneOf([1, 2, 3]),
  function: oneOf([3, 6, 8, 22, 23]),
  quantity: oneOf([1, 2, 3]),
  after: fc.integer({ min: 0, max: 3 }),
  every: fc.integer({ min: 1, max: 3 }),
  count: fc.integer({ min: 1, max: 4 }),
  probability: fc.constantFrom(0.3, 0.7),
  from: fc.constantFrom(0, 20),
  for: fc.constantFrom(10, 60),
};
const address = fc.oneof(fc.integer({ min: 0, max: 12 }), pair, fc.array(pair, { minLength: 1 }));

/** At most three conditions: with more of them no request would ever meet all. */
function someOf(conditions: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc
    .subarray(Object.entries(conditions), { maxLength: 3 })
    .chain((some) => fc.record(Object.fromEntries(some)));
}

const namedValue = fc.record({
  device: fc.constantFrom('meter', 'pump'),
  table: fc.constantFrom('holding' as const, 'coils' as const),
  address: fc.integer({ min: 0, max: 12 }),
  quantity: fc.integer({ min: 1, max: 3 }),
});

const rule = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    when: fc.oneof(someOf({ ...anywhere, address }), someOf(anywhere)),
    schedule: fc.option(fc.constant([{ from: 10, for: 5, every: 20 }]), { nil: undefined }),
    do: fc.constantFrom(
      [{ delay: 1 }],
      [{ close: 'end' }],
      [{ crc: 'invert' }],
      [{ close: 'end' }, { delay: 1 }],
    ),
    seed: fc.integer({ min: 0, max: 5 }),
    values: fc.option(fc.array(namedValue, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  })
  .map(({ do: faults, values, schedule, when, ...more }) => {
    const checked = ruleOf(faults, { ...more, when, ...(schedule && { schedule }) });
    return values !== undefined && !('address' in when) ? { ...checked, values } : checked;
  });

const BENCH = { name: 'bench', abilities: abilities('serial', 'rtu') };
const LINES = [
  BENCH,
  { name: 'lan', abilities: abilities('tcp', 'socket') },
  // The line `bench` with another definition.
  { name: 'bench', abilities: abilities('tcp', 'socket') },
];

const request = fc.record({
  line: fc.constantFrom(...LINES),
  unitId: fc.constantFrom(0, 1, 2, 3),
  device: fc.constantFrom('meter', 'pump'),
  pdu: fc.constantFrom(
    ...[
      '03 0000 0002',
      '03 0005 0001',
      '03 0005 0003',
      '03 0005 0000',
      '06 0005 1234',
      '08 0000 0000',
      '22',
      '16 0005 00F2 0025',
      '17 0003 0002 000A 0001 02 0001',
      '17 0003 0002 0006 0001 02 0001',
      '17 000A 0001 0003 0002 04 0001 0002',
      '17 0003 0001 000A 0002 04 0001 0002',
      '0F 0005 0002 01 03',
      '03 000A 0003',
    ].map(bytesOf),
  ),
});

const act = fc.oneof(
  { weight: 1, arbitrary: rule.map((each) => ({ kind: 'set' as const, rule: each })) },
  { weight: 1, arbitrary: fc.constantFrom('a', 'b').map((name) => ({ kind: 'remove' as const, name })) },
  { weight: 8, arbitrary: request.map((each) => ({ kind: 'request' as const, request: each })) },
);
const manyActs = fc.array(act, { minLength: 60, maxLength: 80 });

describe('rules that are found by line, unit, function and address', () => {
  it('act, count and draw random numbers as rules do that are all asked about every request', () => {
    fc.assert(
      fc.property(fc.array(rule, { minLength: 4, maxLength: 6 }), manyActs, (first, acts) => {
        let now = 0;
        const source = { uptime: () => now, now: () => new Date(now), random: () => 0.5 };
        const [found, asked] = [new FaultRules(source), new EveryRule()];
        for (const each of [...first.map((rule) => ({ kind: 'set' as const, rule })), ...acts]) {
          now += 3;
          if (each.kind === 'set') {
            found.set(each.rule);
            asked.set(each.rule, now);
          } else if (each.kind === 'remove') {
            found.remove(each.name);
            asked.remove(each.name);
          } else {
            const { pdu, ...place } = each.request;
            const facts = { ...place, functionCode: pdu[0] as number, ranges: addressRanges(pdu) };
            const acting = found.match(facts).map(({ rule, random }) => [rule.name, random.next()]);
            expect(acting).toEqual(asked.match(facts, now));
          }
        }
        const counts = found.list().map(({ rule, matches, hits }) => [rule.name, matches, hits]);
        expect(counts).toEqual(asked.counts());
      }),
      { numRuns: 200 },
    );
  });

  it('tell requests apart by their second range', () => {
    const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0.5 });
    rules.set(ruleOf([{ delay: 1 }], { when: { address: 10 } }));
    const acting = ['17 0003 0002 000A 0001 02 0001', '17 0003 0002 0014 0001 02 0001'].map((request) => {
      const ranges = addressRanges(bytesOf(request));
      return rules.match({ line: BENCH, unitId: 1, device: 'meter', functionCode: 23, ranges }).length;
    });
    expect(acting).toEqual([1, 0]);
  });

  it('tell a request that is cut short from one for address 0', () => {
    const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0.5 });
    rules.set(ruleOf([{ delay: 1 }], { when: { address: [0, 9] } }));
    const acting = ['03 0000 0001', '03 0001 0000', '03 00', '03 0000 0001'].map((request) => {
      const ranges = addressRanges(bytesOf(request));
      return rules.match({ line: BENCH, unitId: 1, device: 'meter', functionCode: 3, ranges }).length;
    });
    expect(acting).toEqual([1, 0, 0, 1]);
  });

  it('go on acting after more different requests than are kept', () => {
    const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0.5 });
    rules.set(ruleOf([{ delay: 1 }], { when: { address: 700 } }));
    const factsOf = (address: number) => ({
      line: BENCH,
      unitId: 1,
      device: 'meter',
      functionCode: 3,
      ranges: [{ address, quantity: 1 }],
    });
    for (let round = 0; round < 2; round++) {
      const acting = Array.from({ length: 20_000 }, (_, address) => rules.match(factsOf(address)).length);
      expect(acting.flatMap((count, address) => (count > 0 ? [address] : []))).toEqual([700]);
    }
  });

  it('keep no more answers for many units than for one', () => {
    let looked = 0;
    const when = {
      get address(): number {
        looked++;
        return 700;
      },
    };
    const candidates = new RuleMatcher([{ rule: { ...ruleOf([{ delay: 1 }]), when } }]);
    const factsOf = (unitId: number, address: number) => ({
      line: BENCH,
      unitId,
      device: 'meter',
      functionCode: 3,
      ranges: [{ address, quantity: 1 }],
    });
    const isKept = (unitId: number, address: number) => {
      looked = 0;
      candidates.matching(factsOf(unitId, address));
      return looked === 0;
    };
    isKept(1, 0);
    expect(isKept(1, 0)).toBe(true);
    for (let unitId = 1; unitId <= 40; unitId++) {
      for (let address = 0; address < 1000; address++) candidates.matching(factsOf(unitId, address));
    }
    expect(isKept(40, 999)).toBe(true);
    expect(isKept(1, 999)).toBe(false);
  });
});

describe('a rule for values', () => {
  const VALUES = [
    { device: 'meter', table: 'holding', address: 10, quantity: 2 },
    { device: 'meter', table: 'coils', address: 20, quantity: 1 },
  ] as const;
  const factsOf = (request: string, more: Partial<RequestFacts> = {}): RequestFacts => {
    const pdu = bytesOf(request);
    const ranges = addressRanges(pdu);
    return { line: BENCH, unitId: 1, device: 'meter', functionCode: pdu[0] as number, ranges, ...more };
  };

  it.each<[request: string, isFor: boolean]>([
    ['03 000A 0001', true],
    ['03 000B 0001', true],
    ['03 0009 0002', true],
    ['03 0009 0001', false],
    ['03 000C 0001', false],
    ['06 000B 0007', true],
    ['17 0000 0001 000A 0001 02 0007', true],
    ['04 000A 0001', false],
    ['01 000A 0001', false],
    ['01 0014 0001', true],
    ['01 0015 0001', false],
    ['02 0014 0001', false],
    ['08 0000 000A', false],
  ])('is for a request that touches one of them: %s, %s', (request, isFor) => {
    expect(matchesRequest({}, VALUES, factsOf(request))).toBe(isFor);
    expect(matchesRequest({}, VALUES, factsOf(request, { device: 'pump' }))).toBe(false);
  });

  const PLAIN = {
    coils: { source: 'coils', first: 0 },
    discrete: { source: 'discrete', first: 0 },
    input: { source: 'input', first: 0 },
    holding: { source: 'holding', first: 0 },
  } as const;
  const shifted = (first: number) => ({ in: { ...PLAIN, input: { source: 'holding', first } } }) as const;

  it('is for the registers where the device keeps them, whatever its manners make of their addresses', () => {
    const isFor = (address: number, first: number) =>
      matchesRequest({}, VALUES, factsOf(`04 000${address} 0001`, { stored: shifted(first) }));
    expect([4, 5, 6, 7].map((address) => isFor(address, 5))).toEqual([false, true, true, false]);
    expect([0, 1, 2].map((address) => isFor(address, 10))).toEqual([true, true, false]);
    expect([0, 1, 2].map((address) => isFor(address, 20))).toEqual([false, false, false]);
  });

  it('is asked again when the device keeps them somewhere else', () => {
    const candidates = new RuleMatcher([{ rule: { ...ruleOf([{ delay: 1 }]), values: VALUES } }]);
    const found = (first: number) =>
      candidates.matching(factsOf('04 0005 0001', { stored: shifted(first) })).length;
    expect([found(5), found(0), found(5)]).toEqual([1, 0, 1]);
  });
});
