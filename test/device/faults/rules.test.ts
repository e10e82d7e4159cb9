import { describe, expect, it } from 'vitest';
import { MAX_SEED } from '../../../src/common/random.js';
import { failure, success } from '../../../src/common/result.js';
import { At } from '../../../src/common/schema/at.js';
import { Findings } from '../../../src/common/schema/findings.js';
import { pathText } from '../../../src/common/schema/problem.js';
import { playRule } from '../../../src/device/faults/apply.js';
import { abilities } from '../../../src/device/faults/kind.js';
import { FAULT_KINDS } from '../../../src/device/faults/kinds.js';
import type { RequestFacts } from '../../../src/device/faults/matching.js';
import {
  lineProblems,
  namesIn,
  type RuleHome,
  ruleSchema,
  usableRule,
} from '../../../src/device/faults/rule.js';
import { FaultRules, MAX_RULES, type RuleStatus } from '../../../src/device/faults/rules.js';
import { THEN } from '../../../src/device/faults/then.js';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { addressRanges } from '../../../src/modbus/protocol/pdu.js';
import { Bus } from '../../../src/simulator/bus/bus.js';
import { bytesOf, hexOf } from '../../modbus/protocol/hex.js';
import { answerAtOnce } from '../../simulator/bus/answer-at-once.js';
import { ask, deviceOf } from '../build.js';
import { rtu, ruleOf, shown } from './plans.js';

const NOW = new Date(2026, 0, 1);
const FAULTS = [{ delay: 1 }];

function rulesWith(...rules: { name?: string; when?: object; do?: unknown[]; seed?: number }[]): FaultRules {
  const faultRules = new FaultRules({ uptime: () => 0, now: () => NOW, random: () => 0.5 });
  for (const { do: faults = [{ delay: 1 }], ...more } of rules) faultRules.set(ruleOf(faults, more));
  return faultRules;
}

function factsOf(request = '03 0000 0001', { line = 'bench', unitId = 1 } = {}): RequestFacts {
  const pdu = bytesOf(request);
  const place = { name: line, abilities: abilities('serial', 'rtu') };
  return { line: place, unitId, device: 'meter', functionCode: pdu[0] as number, ranges: addressRanges(pdu) };
}

/** Whether a rule with this condition acts on the request. */
function acts(when: object, facts: RequestFacts): boolean {
  return rulesWith({ when }).match(facts).length > 0;
}

/** The numbers of the requests on which a rule acts, of `count` equal ones, counted from 1. */
function turns(when: object, count: number, seed = 1): number[] {
  const rules = rulesWith({ when, seed });
  return Array.from({ length: count }, (_, i) => i + 1).filter(() => rules.match(factsOf()).length > 0);
}

describe('a rule is for', () => {
  const facts = factsOf('03 0064 000A', { line: 'bench', unitId: 17 });

  it.each([
    [{}, true],
    [{ line: 'bench' }, true],
    [{ line: 'lan' }, false],
    [{ line: ['lan', 'bench'] }, true],
    [{ line: ['lan'] }, false],
    [{ unit: 17 }, true],
    [{ unit: 1 }, false],
    [{ unit: [1, 17] }, true],
    [{ unit: [1, 7] }, false],
    [{ function: 3 }, true],
    [{ function: 4 }, false],
    [{ function: [4, 3] }, true],
    [{ function: [4, 6] }, false],
    [{ quantity: 10 }, true],
    [{ quantity: 9 }, false],
    [{ quantity: [9, 10] }, true],
    [{ quantity: [8, 9] }, false],
    // The request is for the addresses 100 to 109.
    [{ address: 100 }, true],
    [{ address: 109 }, true],
    [{ address: 99 }, false],
    [{ address: 110 }, false],
    [{ address: [0, 100] }, true],
    [{ address: [109, 65535] }, true],
    [{ address: [103, 104] }, true],
    [{ address: [0, 65535] }, true],
    [{ address: [0, 99] }, false],
    [{ address: [110, 200] }, false],
    [
      {
        address: [
          [0, 99],
          [110, 200],
        ],
      },
      false,
    ],
    [
      {
        address: [
          [0, 99],
          [109, 109],
        ],
      },
      true,
    ],
    [{ line: 'bench', unit: 17, function: 3, address: 105, quantity: 10 }, true],
    [{ line: 'bench', unit: 17, function: 3, address: 105, quantity: 11 }, false],
    [{ line: 'bench', unit: 17, function: 4, address: 105, quantity: 10 }, false],
  ])('%j: %s', (when, expected) => {
    expect(acts(when, facts)).toBe(expected);
  });

  it.each([
    ['05 0064 FF00', true],
    ['06 0064 0001', true],
    // 100 is the value here, not an address.
    ['06 0001 0064', false],
    ['06 0063 0005', false],
    ['0F 0060 0005 01 1F', true],
    ['0F 0060 0004 01 0F', false],
    ['10 0064 0001 02 0007', true],
    ['16 0064 FFFF 0000', true],
    ['16 0001 0064 0064', false],
    // Function 23 reads one range and writes another.
    ['17 0064 0001 0000 0001 02 0007', true],
    ['17 0000 0001 0064 0001 02 0007', true],
    ['17 0000 0001 0000 0001 02 0064', false],
    // No registers, no addresses.
    ['08 0000 0064', false],
    ['2B 0E 01 64', false],
    ['64', false],
    // A request for nothing touches nothing, wherever it says to begin.
    ['03 0064 0000', false],
    ['03 0060 0000', false],
    // Cut short.
    ['03 00', false],
    ['03', false],
    // The last address there is, and beyond.
    ['03 FFFF 0001', false],
  ])('address 100: %s is %s', (request, expected) => {
    expect(acts({ address: 100 }, factsOf(request))).toBe(expected);
    expect(acts({ address: [90, 100] }, factsOf('03 005A 0000'))).toBe(false);
    expect(acts({ address: [90, 110] }, factsOf('03 0064 0000'))).toBe(false);
  });

  it('a request without addresses, where the rule asks for none', () => {
    expect(acts({ function: 8 }, factsOf('08 0000 0064'))).toBe(true);
    expect(acts({ function: 8, unit: 1 }, factsOf('08 0000 0064'))).toBe(true);
  });

  it('either quantity of function 23', () => {
    const both = factsOf('17 0000 0006 0064 0003 06 000100020003');
    expect([6, 3, 9].map((quantity) => acts({ quantity }, both))).toEqual([true, true, false]);
  });

  it('address 65535', () => {
    expect(acts({ address: 65535 }, factsOf('03 FFFF 0001'))).toBe(true);
    expect(acts({ address: 65535 }, factsOf('03 FFFE 0001'))).toBe(false);
    expect(acts({ address: 0 }, factsOf('03 FFFF 0002'))).toBe(false);
  });
});

describe('the turn of a rule', () => {
  it.each([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ after: 0 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ after: 7 }, [8, 9, 10]],
    [{ every: 1 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ every: 3 }, [3, 6, 9]],
    [{ count: 2 }, [1, 2]],
    [{ after: 2, every: 3 }, [5, 8]],
    [{ after: 2, count: 3 }, [3, 4, 5]],
    [{ every: 3, count: 2 }, [3, 6]],
    [{ after: 1, every: 2, count: 2 }, [3, 5]],
    [{ turns: 3 }, [3]],
    [{ turns: ['2-4', 7] }, [2, 3, 4, 7]],
    [{ turns: ['2-4', 7], after: 1 }, [3, 4, 5, 8]],
    [{ turns: ['2-4', 7], count: 2 }, [2, 3]],
    [{ probability: 1 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ probability: 0 }, []],
    [{ probability: 0, count: 1 }, []],
  ])('%j: requests %j of 10', (when, expected) => {
    expect(turns(when, 10)).toEqual(expected);
  });

  it('by chance comes about as often as said, and by the same seed at the same requests', () => {
    const first = turns({ probability: 0.3 }, 2000);
    expect(first.length).toBeGreaterThan(500);
    expect(first.length).toBeLessThan(700);
    expect(turns({ probability: 0.3 }, 2000)).toEqual(first);
    expect(turns({ probability: 0.3 }, 2000, 2)).not.toEqual(first);
  });

  it('by chance is that of the requests that are its turn, until the count is full', () => {
    const chance = turns({ probability: 0.5 }, 100);
    expect(turns({ probability: 0.5, count: 5 }, 100)).toEqual(chance.slice(0, 5));
    expect(turns({ probability: 0.5, after: 10 }, 100)).toEqual(chance.filter((turn) => turn > 10));
    expect(turns({ probability: 0.5, every: 4 }, 100)).toEqual(chance.filter((turn) => turn % 4 === 0));
  });

  it('comes with the requests it is for, not with others between them', () => {
    const rules = rulesWith({ when: { unit: 1, every: 2 } });
    const units = [1, 2, 2, 1, 2, 1, 1];
    expect(units.map((unitId) => rules.match(factsOf('03 0000 0001', { unitId })).length)).toEqual([
      0, 0, 0, 1, 0, 0, 1,
    ]);
  });
});

describe('what is shown of a rule', () => {
  it('counts matches and hits, and how often it will still act', () => {
    const rules = rulesWith({ when: { after: 1, count: 2 } });
    expect(rules.get('tested')).toMatchObject({ matches: 0, hits: 0, lastHit: undefined, remaining: 2 });
    rules.match(factsOf());
    expect(rules.get('tested')).toMatchObject({ matches: 1, hits: 0, lastHit: undefined, remaining: 2 });
    rules.match(factsOf());
    expect(rules.get('tested')).toMatchObject({ matches: 2, hits: 1, lastHit: NOW, remaining: 1 });
    for (let i = 0; i < 3; i++) rules.match(factsOf());
    expect(rules.get('tested')).toMatchObject({ matches: 5, hits: 2, remaining: 0 });
  });

  it('a rule that is replaced or switched keeps its place, in the past too', () => {
    let uptime = 0;
    const rules = new FaultRules({ uptime: () => uptime, now: () => NOW, random: () => 0.5 });
    const named = (name: string) => ruleSchema.parse({ name, do: [{ delay: 1 }] });
    for (const name of ['a', 'b', 'c']) rules.set(named(name));
    uptime = 1;
    rules.set(named('a'));
    rules.switch('b', false);
    uptime = 2;
    rules.remove('c');
    for (const [moment, names] of [
      [0, ['a', 'b', 'c']],
      [1, ['a', 'b', 'c']],
      [2, ['a', 'b']],
    ] as const)
      expect(rules.listAt(moment).map(({ rule }) => rule.name)).toEqual(names);
  });

  it('counts what all rules have done, and each change of them', () => {
    const rules = new FaultRules({ uptime: () => 0, now: () => NOW, random: () => 0.5 });
    expect([rules.isEmpty, rules.changes, rules.hits]).toEqual([true, 0, 0]);
    rules.set(ruleOf(FAULTS));
    rules.set(ruleOf(FAULTS, { name: 'second' }), { temporary: true });
    for (let i = 0; i < 3; i++) rules.match(factsOf());
    expect([rules.isEmpty, rules.changes, rules.hits]).toEqual([false, 2, 6]);
    expect(rules.list().map(({ temporary }) => temporary)).toEqual([false, true]);
    rules.remove('second');
    expect(rules.changes).toBe(3);
  });

  it('has no remaining count where there is no limit', () => {
    expect(rulesWith({}).get('tested')?.remaining).toBeUndefined();
  });

  it('has the seed it was given, or the one that was drawn', () => {
    expect(rulesWith({ seed: 7 }).get('tested')?.seed).toBe(7);
    expect(rulesWith({ seed: 0 }).get('tested')?.seed).toBe(0);
    expect(rulesWith({}).get('tested')?.seed).toBe(2 ** 31);
    const last = new FaultRules({ uptime: () => 0, now: () => NOW, random: () => 1 - Number.EPSILON / 2 });
    expect(last.set(ruleOf([{ junk: 1 }])).seed).toBe(MAX_SEED);
  });

  it('starts anew when it is put to use again, and with the same random numbers', () => {
    const rules = rulesWith({ when: { count: 2, probability: 0.5 }, seed: 3 });
    const draw = () =>
      Array.from({ length: 20 }, () => rules.match(factsOf()).map(({ random }) => random.below(1000)));
    const first = draw();
    expect(first.flat()).toHaveLength(2);
    expect(draw().flat()).toEqual([]);
    rules.set(rules.get('tested')?.rule ?? expect.fail('no rule'));
    expect(rules.get('tested')).toMatchObject({ matches: 0, hits: 0, lastHit: undefined, remaining: 2 });
    expect(draw()).toEqual(first);
  });

  it('has room among 256, and beyond them only in the place of another', () => {
    const rules = rulesWith(...Array.from({ length: MAX_RULES - 1 }, (_, i) => ({ name: `rule-${i}` })));
    expect(rules.hasRoomFor('new')).toBe(true);
    rules.set(ruleOf([{ delay: 1 }], { name: 'last' }));
    expect(rules.hasRoomFor('new')).toBe(false);
    expect(rules.hasRoomFor('rule-7')).toBe(true);
  });

  it('keeps its place and starts anew when it is replaced', () => {
    const rules = rulesWith({ name: 'first' }, { name: 'second' });
    rules.match(factsOf());
    rules.set(ruleOf([{ delay: 2 }], { name: 'first' }));
    expect(rules.list().map(({ rule, hits }) => [rule.name, hits])).toEqual([
      ['first', 0],
      ['second', 1],
    ]);
    expect(rules.remove('first')).toBe(true);
    expect(rules.remove('first')).toBe(false);
    expect(rules.match(factsOf()).map(({ rule }) => rule.name)).toEqual(['second']);
    expect([rules.has('first'), rules.has('second'), rules.isEmpty]).toEqual([false, true, false]);
  });
});

/** Each request with its plan, by a bus that has a device as unit 1 and 2. */
function busWith(rules: FaultRules, framing = RTU) {
  const device = deviceOf(
    {
      holding: [
        { address: 0, value: 0x0102 },
        { address: 1, value: 0x0304 },
      ],
    },
    { size: 2 },
  );
  const line = {
    name: 'bench',
    framing,
    characterTime: 1,
    abilities: framing === RTU ? abilities('serial', 'rtu') : abilities('tcp', 'socket'),
  };
  const bus = new Bus(
    line,
    {
      units: new Map([
        [1, device],
        [2, device],
      ]),
    },
    rules,
  );
  const answer = (request: string, { unitId = 1, clientId = 0, transactionId = 0 } = {}) => {
    const answered = answerAtOnce(bus, { unitId, pdu: bytesOf(request), transactionId, clientId });
    if (!answered) throw new Error('no such unit');
    return answered;
  };
  return {
    bus,
    device,
    answer,
    steps: (...args: Parameters<typeof answer>) => shown(answer(...args).plan),
  };
}

const READ = '03 0000 0002';
const REPLY = rtu('01 03 04 0102 0304');
const WROTE = rtu('01 06 0000 0102');

describe('the same seeds and the same requests', () => {
  const noise = { name: 'noise', when: { function: 3 }, do: [{ noise: 4 }, { corrupt: 2 }], seed: 11 };
  const junk = { name: 'junk', when: { function: 6, probability: 0.5 }, do: [{ junk: 6 }], seed: 11 };
  const late = { name: 'late', when: { unit: 2 }, do: [{ delay: { ms: 50, jitter: 50 } }], seed: 5 };

  const capture = (...rules: (typeof noise | typeof junk | typeof late)[]) => {
    const { steps } = busWith(rulesWith(...rules));
    return Array.from({ length: 40 }, (_, i) =>
      steps(i % 3 === 0 ? '06 0001 0304' : READ, { unitId: 1 + (i % 2) }),
    );
  };

  it('give the same bytes', () => {
    expect(capture(noise, junk, late)).toEqual(capture(noise, junk, late));
    expect(new Set(capture(noise, junk, late).flat()).size).toBeGreaterThan(35);
  });

  it('give the same bytes in another order of the rules', () => {
    expect(capture(late, junk, noise)).toEqual(capture(noise, junk, late));
  });

  it('give a rule the same bytes whatever rules there are beside it', () => {
    const alone = capture(noise);
    const beside = capture(noise, junk);
    expect(beside.filter((_, i) => i % 3 !== 0)).toEqual(alone.filter((_, i) => i % 3 !== 0));
  });

  it('give other bytes than another seed', () => {
    expect(capture({ ...noise, seed: 12 })).not.toEqual(capture(noise));
  });
});

describe('on a bus', () => {
  it('rules act in their order, each fault named with its rule', () => {
    const { answer } = busWith(
      rulesWith(
        { name: 'first', do: [{ unit: 9 }, { truncate: 20 }] },
        { name: 'second', do: [{ crc: 'zero' }, { transaction: 1 }] },
      ),
    );
    const { plan, acted } = answer(READ);
    expect(shown(plan)).toEqual(['0 09030401020304' + '0000']);
    expect(acted).toEqual([
      { rule: 'first', kind: 'unit' },
      { rule: 'first', kind: 'truncate', notAchieved: 'no frame that is long enough' },
      { rule: 'second', kind: 'crc' },
      { rule: 'second', kind: 'transaction', notAchieved: 'line bench has no transaction identifiers' },
    ]);
  });

  it('a rule of a test is decided with the last reply alone, and knows nothing of what became of those before', () => {
    const rules = rulesWith();
    const set = () => rules.set(ruleOf([{ stale: true }]), { temporary: true });
    const reason = 'no earlier reply to this client';
    set();
    rules.wereApplied(rules.match(factsOf()), [{ rule: 'tested', notAchieved: reason }]);
    expect(rules.get('tested')).toMatchObject({ isDecided: true, notAchieved: reason });
    const acting = rules.match(factsOf());
    expect(rules.get('tested')).toMatchObject({ isDecided: false });
    expect(rules.get('tested')).not.toHaveProperty('notAchieved');
    rules.wereApplied(acting, [{ rule: 'tested', notAchieved: reason }, { rule: 'tested' }]);
    expect(rules.get('tested')).toMatchObject({ isDecided: true });
    expect(rules.get('tested')).not.toHaveProperty('notAchieved');
    const before = rules.match(factsOf());
    set();
    rules.wereApplied(before, [{ rule: 'tested', notAchieved: reason }]);
    expect(rules.get('tested')).toMatchObject({ isDecided: false });
    expect(rules.get('tested')).not.toHaveProperty('notAchieved');
  });

  it.each([
    [[{ exception: 6 }], [`0 ${rtu('01 86 06')}`]],
    [[{ silence: true }], ['silence']],
    [[{ delay: 5 }, { exception: 6 }, { truncate: 1 }], ['5 01']],
  ])('%j keeps a request from the device', (faults, expected) => {
    const { steps, device } = busWith(rulesWith({ do: faults }));
    expect(steps('06 0000 9999')).toEqual(expected);
    expect(ask(device, '03 0000 0001')).toBe('03020102');
  });

  it.each([
    [[{ truncate: 0 }]],
    [[{ junk: 3 }]],
    [[{ stale: true }]],
    [[{ crc: 'zero' }]],
    [[{ delay: 10_000 }]],
  ])('%j lets the device execute the request', (faults) => {
    const { steps, device } = busWith(rulesWith({ do: faults }));
    steps('06 0000 9999');
    expect(ask(device, '03 0000 0001')).toBe('03029999');
  });

  it.each([
    [{ delay: 250 }, `250 ${rtu('01 83 02')}`],
    [{ duplicate: { times: 1 } }, `0 ${rtu('01 83 02')}`],
    [{ noise: 2 }, `0 ${rtu('01 83 02')}`],
  ])(
    'an exception of a later rule takes the place of the reply, %j of an earlier one stays',
    (fault, first) => {
      const rules = rulesWith({ name: 'a', do: [fault] }, { name: 'b', do: [{ exception: 2 }] });
      const { plan, acted } = busWith(rules).answer(READ);
      expect(shown(plan)).toEqual([first]);
      expect(acted.filter(({ notAchieved }) => notAchieved !== undefined)).toEqual([]);
    },
  );

  it('what a fault is kept from is never sent', () => {
    const rules = rulesWith({ do: [{ delay: 5 }, { split: { at: 'each', gap: 1 } }, { silence: true }] });
    expect(busWith(rules).steps(READ)).toEqual(['silence']);
  });

  it('stale sends the reply before, the true one of each client', () => {
    const { steps, bus } = busWith(rulesWith({ do: [{ stale: true }] }));
    const write = '06 0000 0102';
    expect(steps(READ)).toEqual([`0 ${REPLY}`]);
    expect(steps(write)).toEqual([`0 ${REPLY}`]);
    expect(steps(READ)).toEqual([`0 ${WROTE}`]);
    expect(steps(READ)).toEqual([`0 ${REPLY}`]);
    expect(steps(write, { clientId: 1 })).toEqual([`0 ${WROTE}`]);
    expect(steps(READ, { clientId: 1 })).toEqual([`0 ${WROTE}`]);
    bus.forget(0);
    expect(steps(write)).toEqual([`0 ${WROTE}`]);
  });

  it('stale knows a reply from before there was a rule', () => {
    const rules = rulesWith();
    const { steps } = busWith(rules);
    steps('06 0000 0102');
    rules.set(ruleOf([{ stale: true }]));
    expect(steps(READ)).toEqual([`0 ${WROTE}`]);
  });

  it('a stale reply over TCP has the transaction identifier of its own time', () => {
    const { steps } = busWith(rulesWith({ when: { after: 1 }, do: [{ stale: true }] }), SOCKET);
    expect(steps(READ, { transactionId: 7 })).toEqual(['0 00070000000701030401020304']);
    expect(steps(READ, { transactionId: 8 })).toEqual(['0 00070000000701030401020304']);
    expect(steps(READ, { transactionId: 9 })).toEqual(['0 00080000000701030401020304']);
  });

  it('a rule does not act on a broadcast, which nobody answers', () => {
    const rules = rulesWith({ do: [{ exception: 2 }] });
    const { bus, device } = busWith(rules);
    const request = { unitId: 0, pdu: bytesOf('06 0000 0007'), transactionId: 0, clientId: 0 };
    expect(answerAtOnce(bus, request)?.acted).toEqual([]);
    expect(ask(device, '03 0000 0001')).toBe('03020007');
    expect(rules.get('tested')?.matches).toBe(0);
  });
});

describe('a rule that is not right', () => {
  const SOME_BYTES =
    'a number of bytes, 1 or more, or 1 to 1024 bytes of hexadecimal text in quotes, as in "ff 00"';
  const PDU = 'a PDU as 1 to 253 bytes of hexadecimal text: write it in quotes, as in "83 02"';
  const TRANSACTION =
    '"previous", "swapped", a transaction identifier from 0 to 65535, or a difference in quotes, as in "+1"';
  const LENGTH = 'a length from 0 to 65535, or a difference in quotes, as in "+1" or "-2"';

  /** Every mistake as `path: message`. */
  function mistakes(rule: unknown): string[] {
    const findings = new Findings();
    const parsed = new At(rule, findings).check(ruleSchema);
    expect(parsed === undefined).toBe(findings.count > 0);
    return findings.listed.map(({ path, message }) => `${pathText(path)}: ${message}`);
  }

  it.each([
    [[], 'do: expected at least one fault, got an empty list'],
    [undefined, 'do: missing, expected a fault, as in {delay: 100}, or a list of faults'],
    ['silence', 'do: expected a fault, as in {delay: 100}, or a list of faults, got "silence"'],
    [{ delya: 1 }, /^do\[0\]\.delya: unknown kind of fault "delya", did you mean "delay"/],
    [{ delay: 1, junk: 2 }, 'do[0]: expected one kind of fault, got 2 keys'],
    [['delay'], 'do[0]: expected one kind of fault with its parameters, as in {delay: 100}, got "delay"'],
    [[null], 'do[0]: expected one kind of fault with its parameters, as in {delay: 100}, got nothing'],
    [[[]], 'do[0]: expected one kind of fault with its parameters, as in {delay: 100}, got an empty list'],
    [[{}], 'do[0]: expected one kind of fault, got 0 keys'],
    [[{ delay: 1, crc: 'zero' }], 'do[0]: expected one kind of fault, got 2 keys'],
    [
      [{ delay: 1 }, { delai: 1 }],
      /^do\[1\]\.delai: unknown kind of fault "delai", did you mean "delay"\? \(known: delay, /,
    ],
    [[{ constructor: 1 }], /^do\[0\]\.constructor: unknown kind of fault "constructor"/],
    [
      [{ delay: '5' }],
      'do[0].delay: expected a number of milliseconds, 0 or more, a list of them, or {ms, jitter}, got "5": write it without quotes',
    ],
    [
      [{ delay: '5 s' }],
      'do[0].delay: expected a number of milliseconds, 0 or more, a list of them, or {ms, jitter}, got "5 s"',
    ],
    [
      [{ delay: -1 }],
      'do[0].delay: expected a number of milliseconds, 0 or more, a list of them, or {ms, jitter}, got -1',
    ],
    [[{ delay: Number.NaN }], /^do\[0\]\.delay: expected a number of milliseconds/],
    [[{ delay: Number.POSITIVE_INFINITY }], /^do\[0\]\.delay: expected a number of milliseconds/],
    [
      [{ delay: null }],
      'do[0].delay: expected a number of milliseconds, 0 or more, a list of them, or {ms, jitter}, got nothing',
    ],
    [[{ split: { at: 3, gap: 1, pause: 2 } }], 'do[0].split.pause: unknown key "pause" (known: at, gap)'],
    [
      [{ split: { at: 3 } }],
      'do[0].split.gap: missing, expected a number of milliseconds, 0 or more, or a time such as 250ms, 20s, 5m, 1h',
    ],
    [[{ split: { at: 0, gap: 1 } }], 'do[0].split.at: expected a byte index, 1 or more, got 0'],
    [
      [{ split: { at: 'end', gap: 1 } }],
      'do[0].split.at: expected a byte index, "middle" or "each", got "end"',
    ],
    [
      [{ change: 101 }],
      'do[0].change: expected a percentage from 0 to 100, or {percent, probability}, got 101',
    ],
    [
      [{ change: { percent: 101, probability: 1 } }],
      'do[0].change.percent: expected percent from 0 to 100, got 101',
    ],
    [
      [{ change: { percent: 1, probability: 2 } }],
      'do[0].change.probability: expected a probability from 0 to 1, got 2',
    ],
    [[{ exception: 256 }], 'do[0].exception: expected an exception code from 0 to 255, got 256'],
    [[{ exception: 1.5 }], 'do[0].exception: expected an exception code from 0 to 255, got 1.5'],
    [[{ silence: false }], 'do[0].silence: expected true, got false'],
    [[{ stale: 1 }], 'do[0].stale: expected true, got 1'],
    [[{ early: 'true' }], 'do[0].early: expected true, got "true": write it without quotes'],
    [[{ junk: 0 }], `do[0].junk: expected ${SOME_BYTES}, got 0`],
    [[{ junk: 'f' }], `do[0].junk: expected ${SOME_BYTES}, got "f"`],
    [[{ junk: '' }], `do[0].junk: expected ${SOME_BYTES}, got ""`],
    [[{ noise: 'f f' }], `do[0].noise: expected ${SOME_BYTES}, got "f f"`],
    [[{ noise: '0xff' }], `do[0].noise: expected ${SOME_BYTES}, got "0xff"`],
    [[{ extend: 'ff\n00' }], `do[0].extend: expected ${SOME_BYTES}, got "ff\\n00"`],
    [[{ extend: 'ff'.repeat(1025) }], `do[0].extend: expected ${SOME_BYTES}, got "${'ff'.repeat(30)}…"`],
    [[{ extend: `ff${' '.repeat(3100)}` }], /^do\[0\]\.extend: expected a number of bytes/],
    [[{ pdu: 8302 }], `do[0].pdu: expected ${PDU}, got 8302`],
    [[{ pdu: '00'.repeat(254) }], `do[0].pdu: expected ${PDU}, got "${'00'.repeat(30)}…"`],
    [[{ corrupt: 0 }], 'do[0].corrupt: expected a number of bits from 1 to 2048, got 0'],
    [
      [{ crc: 'wrong' }],
      'do[0].crc: expected "invert", "byte", "zero", "swap" or a value from 0 to 65535, got "wrong"',
    ],
    [[{ crc: 65536 }], 'do[0].crc: expected a CRC from 0 to 65535, got 65536'],
    [
      [{ truncate: 1.5 }],
      'do[0].truncate: expected a number of bytes to keep, or a negative number to cut, got 1.5',
    ],
    [[{ unit: 256 }], 'do[0].unit: expected a unit identifier from 0 to 255, got 256'],
    [[{ function: -1 }], 'do[0].function: expected a function code from 0 to 255, got -1'],
    [[{ byteCount: 256 }], 'do[0].byteCount: expected a byte count from 0 to 255, got 256'],
    [
      [{ transaction: 65536 }],
      'do[0].transaction: expected a transaction identifier from 0 to 65535, got 65536',
    ],
    [[{ transaction: '1' }], `do[0].transaction: expected ${TRANSACTION}, got "1": write it without quotes`],
    [[{ transaction: '+123456' }], `do[0].transaction: expected ${TRANSACTION}, got "+123456"`],
    [[{ mbap: {} }], 'do[0].mbap: expected {protocol, length}, or one of them'],
    [[{ mbap: { length: '2' } }], `do[0].mbap.length: expected ${LENGTH}, got "2": write it without quotes`],
    [[{ mbap: { protocol: 1, unit: 1 } }], 'do[0].mbap.unit: unknown key "unit" (known: protocol, length)'],
    [[{ values: [] }], 'do[0].values: expected a list of 1 to 125 words, or "swapped", got an empty list'],
    [[{ values: [1, 65536] }], 'do[0].values[1]: expected a word from 0 to 65535, got 65536'],
    [
      [{ values: Array(126).fill(1) }],
      'do[0].values: expected a list of 1 to 125 words, or "swapped", got a list',
    ],
    [[{ duplicate: { gap: 1 } }], 'do[0].duplicate.times: missing, expected a number of copies, 1 or more'],
    [
      [{ gap: { after: 1, characters: -1 } }],
      'do[0].gap.characters: expected character times, 0 or more, got -1',
    ],
    [
      [{ break: -1 }],
      'do[0].break: expected a number of milliseconds, 0 or more, or a time such as 250ms, 20s, 5m, 1h, got -1',
    ],
    [[{ close: 'abort' }], 'do[0].close: expected "end", "reset" or {how, after: bytes}, got "abort"'],
    [
      [{ close: { how: 'end', after: -1 } }],
      'do[0].close.after: expected a number of bytes, 0 or more, got -1',
    ],
    [Array(65).fill({ early: true }), 'do: expected at most 64 faults, got 65'],
    // No reply may come before the one that is late: then what the faults before have made is longer.
    [
      [{ junk: 65_536 }, { stale: true }, { duplicate: { times: 1 } }],
      'do: expected at most 65536 bytes per reply, got up to 131072',
    ],
    // The longest reply is one of ASCII, which has no CRC.
    [
      [{ crc: 'zero' }, { duplicate: { times: 150 } }],
      'do: expected at most 65536 bytes per reply, got up to 77463',
    ],
  ])('do %j', (faults, message) => {
    const found = mistakes({ name: 'tested', do: faults });
    expect(found).toHaveLength(1);
    if (typeof message === 'string') expect(found).toEqual([message]);
    else expect(found[0]).toMatch(message);
  });

  it.each([
    [{ probability: 2 }, 'when.probability: expected a probability from 0 to 1, got 2'],
    [{ probability: -0.1 }, 'when.probability: expected a probability from 0 to 1, got -0.1'],
    [{ address: 65536 }, 'when.address: expected an address from 0 to 65535, got 65536'],
    [{ address: -1 }, 'when.address: expected an address from 0 to 65535, got -1'],
    [{ address: [0, 65536] }, 'when.address[1]: expected an address from 0 to 65535, got 65536'],
    [{ address: [9, 0] }, 'when.address: expected the first address before the last'],
    [
      { address: [1, 2, 3] },
      'when.address: expected an address from 0 to 65535, a range such as [0, 9], or a list of ranges, got a list',
    ],
    [{ address: [] }, 'when.address: expected at least one, got an empty list'],
    [{ address: 1, name: 'meter.voltage' }, 'when: expected either address or name'],
    [
      { address: 'all' },
      'when.address: expected an address from 0 to 65535, a range such as [0, 9], or a list of ranges, got "all"',
    ],
    [{ unit: 256 }, 'when.unit: expected a unit identifier from 0 to 255, got 256'],
    [{ unit: [1, 256] }, /^when\.unit(\[1\])?: expected a unit identifier from 0 to 255/],
    [{ unit: [] }, 'when.unit: expected at least one, got an empty list'],
    [
      { unit: 'all' },
      'when.unit: expected a unit identifier from 0 to 255, or a range such as "0-9", got "all"',
    ],
    [{ function: 0 }, 'when.function: expected a function code from 1 to 255, got 0'],
    [{ quantity: -1 }, 'when.quantity: expected a quantity from 0 to 65535, got -1'],
    [{ line: 5 }, 'when.line: expected the name of a line or a list of them, got 5'],
    [{ after: -1 }, 'when.after: expected a number of requests, 0 or more, got -1'],
    [{ every: 0 }, 'when.every: expected a number of requests, 1 or more, got 0'],
    [{ count: 0 }, 'when.count: expected a number of requests, 1 or more, got 0'],
    [{ count: 1.5 }, 'when.count: expected a number of requests, 1 or more, got 1.5'],
    [
      { adress: 5 },
      'when.adress: unknown key "adress", did you mean "address"? (known: line, device, unit, function, address, name, quantity, connected, nth, pause, state, after, every, turns, count, probability, from, for)',
    ],
    ['always', 'when: expected a mapping, got "always"'],
  ])('when %j', (when, message) => {
    const found = mistakes({ name: 'tested', do: FAULTS, when });
    expect(found).toHaveLength(1);
    if (typeof message === 'string') expect(found).toEqual([message]);
    else expect(found[0]).toMatch(message);
  });

  it.each([
    [{ do: FAULTS }, 'name: missing, expected a name'],
    [{ name: '', do: FAULTS }, /^name: expected /],
    [{ name: 'a/b', do: FAULTS }, 'name: expected letters, digits, dots, hyphens and underscores, got "a/b"'],
    [{ name: 'x'.repeat(65), do: FAULTS }, /^name: expected at most 64 characters/],
    [
      { name: 'a', do: FAULTS, seed: MAX_SEED + 1 },
      'seed: expected a seed from 0 to 4294967295, got 4294967296',
    ],
    [
      { name: 'a', do: FAULTS, unless: {} },
      'unless: unknown key "unless" (known: name, enabled, when, schedule, do, then, seed)',
    ],
    [null, ': expected a mapping, got nothing'],
    [[], ': expected a mapping, got an empty list'],
  ])('%j', (rule, message) => {
    const [first] = mistakes(rule);
    if (typeof message === 'string') expect(first).toBe(message);
    else expect(first).toMatch(message);
  });

  it.each(['line', 'unit', 'function', 'quantity', 'address'])('lists more than 256 of `%s`', (key) => {
    const entry = { line: 'bench', address: [0, 9] }[key] ?? 1;
    const listing = (count: number) => ({
      name: 'tested',
      do: FAULTS,
      when: { [key]: Array(count).fill(entry) },
    });
    expect(mistakes(listing(256))).toEqual([]);
    expect(mistakes(listing(257))).toEqual([`when.${key}: expected at most 256 of them, got 257`]);
  });

  it('has all of its mistakes told', () => {
    expect(
      mistakes({ name: 'tested', when: { unit: 300 }, do: [{ junk: 0 }, { foo: 1 }], seed: -1 }),
    ).toHaveLength(4);
  });

  const lines = [
    { name: 'bench', abilities: abilities('serial', 'rtu') },
    { name: 'lan', abilities: abilities('tcp', 'socket') },
  ];
  it.each([
    [{ line: 'bank' }, [{ delay: 1 }], ['when.line: unknown line bank, expected one of bench, lan']],
    [{ line: 'lan' }, [{ delay: 1 }, { break: 5 }], ['do[1].break: line lan has no break state']],
    [{ line: 'bench' }, [{ close: 'end' }], ['do[0].close: line bench has no connection to close']],
    [{ line: ['bench', 'lan'] }, [{ crc: 'zero' }], ['do[0].crc: line lan has no CRC']],
    [
      { line: 'bench' },
      [{ transaction: 1 }],
      ['do[0].transaction: line bench has no transaction identifiers'],
    ],
    [{ line: 'bench' }, [{ mbap: { length: '+1' } }], ['do[0].mbap: line bench has no MBAP header']],
    [{ line: 'lan' }, [{ early: true }], ['do[0].early: line lan has no turnaround to cut short']],
    [{ line: 'lan' }, [{ gap: { after: 1, characters: 2 } }], ['do[0].gap: line lan has no character times']],
    [{ line: 'bench' }, [{ break: 5 }, { crc: 'zero' }], []],
    [{}, [{ break: 5 }, { close: 'end' }], []],
  ])('for the lines: %j %j', (when, faults, expected) => {
    const problems = lineProblems(ruleOf(faults, { when }), lines);
    const isUnknown = problems.some(({ path }) => path[1] === 'line');
    expect(problems.map(({ code }) => code)).toEqual(
      problems.map(() => (isUnknown ? 'rule.unknown_line' : 'rule.impossible')),
    );
    expect(problems.map(({ path, message }) => `${pathText(path)}: ${message}`)).toEqual(expected);
  });

  it('text of hexadecimal digits is as long as it may be', () => {
    const longest = ['ff '.repeat(1024), `${'ff'.repeat(1024)} `].map((junk) => ({ junk }));
    for (const fault of [...longest, { pdu: '00'.repeat(253) }]) {
      expect(mistakes({ name: 'tested', do: [fault] })).toEqual([]);
    }
  });

  it.each([
    ['delya', 'delay'],
    ['dleay', 'delay'],
    ['dupilcate', 'duplicate'],
    ['slience', 'silence'],
  ])('a kind with two letters swapped, %s, is taken for %s', (written, meant) => {
    const [message] = mistakes({ name: 'tested', do: [{ [written]: {} }] });
    expect(message).toContain(`did you mean "${meant}"?`);
  });

  it('an unknown kind has all the known ones listed', () => {
    const [message] = mistakes({ name: 'tested', do: [{ xyzzy: 1 }] });
    expect(message).toBe(`do[0].xyzzy: unknown kind of fault "xyzzy" (known: ${FAULT_KINDS.join(', ')})`);
  });

  it('for any line when none can do it', () => {
    const virtual = [{ name: 'demo', abilities: abilities('virtual', 'rtu') }];
    expect(lineProblems(ruleOf([{ break: 5 }]), virtual)).toHaveLength(1);
  });
});

it('a rule has the keys that were written, and one without faults has none', () => {
  expect(Object.keys(ruleOf(FAULTS))).toEqual(['name', 'when', 'faults']);
  expect(Object.keys(ruleOf(FAULTS, { enabled: true }))).toEqual(['name', 'when', 'faults']);
  expect(ruleOf(FAULTS, { enabled: false })).toMatchObject({ name: 'tested', enabled: false });
  expect(ruleSchema.parse({ name: 'locks', [THEN]: { state: 'locked' } })).toEqual({
    name: 'locks',
    when: {},
    faults: [],
    becomes: { state: 'locked' },
  });
});

it('a state that lasts for some requests counts those of its own device alone', () => {
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  const locked = { state: 'locked', requests: 2 };
  rules.set(ruleSchema.parse({ name: 'locks', when: { function: 6 }, [THEN]: locked }));
  rules.set(
    ruleSchema.parse({ name: 'mute', when: { function: 3, state: 'locked' }, do: [{ silence: true }] }),
  );
  const of = (device: string, request = '03 0000 0001') => ({ ...factsOf(request), device });
  rules.match(of('pump 2', '06 0000 0001'));
  for (let i = 0; i < 5; i++) expect(rules.match(of('pump'))).toEqual([]);
  expect(rules.match(of('pump 2'))).toHaveLength(1);
});

it('a fault without a list around it is a list of one', () => {
  const alone = ruleSchema.parse({ name: 'tested', do: { delay: 5 } });
  expect(alone.faults.map(({ kind, written }) => [kind, written])).toEqual([['delay', 5]]);
});

it('a rule does not use up its count on a line that can do nothing of it', () => {
  const rules = new FaultRules({ uptime: () => 0, now: () => new Date(0), random: () => 0 });
  rules.set(ruleSchema.parse({ name: 'once', when: { count: 1 }, do: [{ crc: 'invert' }] }));
  const onTcp = { ...factsOf(), line: { name: 'lan', abilities: abilities('tcp', 'socket') } };
  expect(rules.match(onTcp)).toEqual([]);
  expect(rules.match(factsOf())).toHaveLength(1);
});

describe('a rule that names values', () => {
  const voltage = { device: 'meter', table: 'holding', address: 10, quantity: 2 } as const;
  const find = (name: string) =>
    name === 'meter.voltage' ? success(voltage) : failure(`no value has the name ${name}`);
  const lines = [{ name: 'bench', abilities: abilities('serial', 'rtu') }];
  const checked = (when: object, home: Partial<RuleHome> = {}) =>
    usableRule(ruleOf(FAULTS, { when }), { lines, find, ...home });

  it('is for the registers of the values', () => {
    expect(checked({ name: ['meter.voltage'] })).toMatchObject({ ok: true, value: { values: [voltage] } });
    expect(checked({ name: 'meter.voltage' })).toMatchObject({ ok: true, value: { values: [voltage] } });
  });

  it('is refused with the first name that no value has, and with what else is wrong', () => {
    const refused = checked({ line: 'bank', name: ['meter.voltage', 'meter.volt', 'meter.v'] });
    expect(refused).toEqual({
      ok: false,
      error: [
        {
          path: ['when', 'line'],
          message: 'unknown line bank, expected one of bench',
          code: 'rule.unknown_line',
        },
        {
          path: ['when', 'name'],
          message: 'no value has the name meter.volt',
          code: 'rule.unknown_value',
        },
      ],
    });
  });

  it('is refused for its line alone where its values are there, and is the same rule where it names none', () => {
    expect(checked({ line: 'bank', name: 'meter.voltage' })).toMatchObject({
      ok: false,
      error: [{ path: ['when', 'line'] }],
    });
    const rule = ruleOf(FAULTS);
    expect(usableRule(rule, { lines, find })).toEqual({ ok: true, value: rule });
  });

  it('is not judged by lines and values that are not known', () => {
    const rule = ruleOf(FAULTS, { when: { line: 'bank', name: 'meter.volt' } });
    expect(usableRule(rule, { lines: undefined, find: undefined })).toEqual({ ok: true, value: rule });
  });

  it('has its line and its names checked whatever else is wrong with it', () => {
    const written = { name: 5, when: { line: 'bank', unit: 999, name: 'meter.volt' }, do: 'nothing' };
    const rule = namesIn(new At(written, new Findings()));
    expect(rule).toMatchObject({ name: '', faults: [] });
    const usable = usableRule(rule, { lines, find });
    expect(usable.ok ? [] : usable.error.map(({ code }) => code)).toEqual([
      'rule.unknown_line',
      'rule.unknown_value',
    ]);
  });
});

describe('a rule that is switched', () => {
  it('off acts no more and keeps its counts, and on again begins anew with its seed', () => {
    const rules = rulesWith({ when: { after: 1 } });
    const numbers = () => rules.match(factsOf()).map(({ random }) => random.next());
    const first = [numbers(), numbers(), numbers()];
    expect(first.map(({ length }) => length)).toEqual([0, 1, 1]);
    const { seed } = rules.list()[0] as RuleStatus;
    const before = rules.changes;
    expect(rules.switch('tested', false)).toBe(true);
    expect(numbers()).toEqual([]);
    expect(rules.list()).toMatchObject([{ rule: { enabled: false }, matches: 3, hits: 2, lastHit: NOW }]);
    expect(rules.switch('tested', true)).toBe(true);
    expect(rules.get('tested')).toMatchObject({ matches: 0, hits: 0, lastHit: undefined, seed });
    expect(rules.get('tested')?.rule).not.toHaveProperty('enabled');
    expect([numbers(), numbers(), numbers()]).toEqual(first);
    expect(rules.changes).toBe(before + 2);
  });

  it('to what it is already goes on as it was', () => {
    const rules = rulesWith({});
    rules.match(factsOf());
    const before = rules.changes;
    expect(rules.switch('tested', true)).toBe(true);
    expect([rules.changes, rules.get('tested')?.hits]).toEqual([before, 1]);
  });

  it('has its windows measured from then on', () => {
    let uptime = 0;
    const rules = new FaultRules({ uptime: () => uptime, now: () => NOW, random: () => 0.5 });
    rules.set(ruleOf(FAULTS, { when: { for: 100 } }));
    uptime = 150;
    expect(rules.match(factsOf())).toEqual([]);
    rules.switch('tested', false);
    rules.switch('tested', true);
    uptime = 249;
    expect(rules.match(factsOf())).toHaveLength(1);
    uptime = 250;
    expect(rules.match(factsOf())).toEqual([]);
  });

  it('is not there under another name', () => {
    const rules = rulesWith({});
    const before = rules.changes;
    expect([rules.switch('other', false), rules.changes]).toEqual([false, before]);
  });
});

describe('a rule that is tried on a reply', () => {
  const REPLY = bytesOf(rtu('01 03 02 0001'));
  const FACTS = factsOf('03 0000 0001');
  const CONTEXT = {
    unitId: 1,
    transactionId: 0,
    requestPdu: bytesOf('03 0000 0001'),
    framing: RTU,
    characterTime: 1,
    previousReply: undefined,
    startTime: () => () => 0,
  };
  const tried = (faults: unknown[], more: object = {}) =>
    playRule(ruleOf(faults, more), FACTS, REPLY, CONTEXT, () => 0.25);

  it('acts as on its first match, whatever its counts, its chance and its times are', () => {
    const when = { after: 5, every: 3, count: 1, probability: 0, from: '1h' };
    const { matches, seed, plan, acted } = tried([{ junk: 4 }], { when, seed: 7 });
    expect({ matches, seed, acted }).toEqual({
      matches: true,
      seed: 7,
      acted: [{ rule: 'tested', kind: 'junk' }],
    });
    const junk = tried([{ junk: 4 }], { seed: 7 });
    expect(plan).toEqual(junk.plan);
    expect(shown(plan)).not.toEqual([`0 ${hexOf(REPLY)}`]);
  });

  it('has a seed that gives the same bytes again', () => {
    const drawn = tried([{ junk: 8 }]);
    expect(drawn.seed).toBe(0x4000_0000);
    expect(shown(tried([{ junk: 8 }], { seed: drawn.seed }).plan)).toEqual(shown(drawn.plan));
    expect(shown(tried([{ junk: 8 }], { seed: 1 }).plan)).not.toEqual(shown(drawn.plan));
  });

  it('leaves a reply as it is that it is not for', () => {
    const other = tried([{ silence: true }], { when: { unit: 2 } });
    expect(other).toMatchObject({ matches: false, acted: [] });
    expect(shown(other.plan)).toEqual([`0 ${hexOf(REPLY)}`]);
  });

  it('keeps the request from the device where its faults do', () => {
    const prevented = tried([{ delay: 5 }, { exception: 6 }]);
    expect(tried([{ silence: true }]).plan).toEqual({ kind: 'silence', reason: 'fault' });
    expect(shown(prevented.plan)).toEqual([`5 ${rtu('01 83 06')}`]);
    expect(shown(tried([{ silence: true }]).plan)).toEqual(['silence']);
  });
});
