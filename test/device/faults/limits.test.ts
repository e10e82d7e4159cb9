import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_SEED, seededRandom } from '../../../src/common/random.js';
import { applyFaults } from '../../../src/device/faults/apply.js';
import { Budget, startWorkTime } from '../../../src/device/faults/budget.js';
import { abilities } from '../../../src/device/faults/kind.js';
import { FAULT_KINDS } from '../../../src/device/faults/kinds.js';
import { AsciiFraming } from '../../../src/modbus/protocol/ascii.js';
import { type Framing, RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { plainReply, type ReplyPlan, silence } from '../../../src/modbus/protocol/reply-plan.js';
import { bytesOf } from '../../modbus/protocol/hex.js';
import { tries } from '../../support/tries.js';
import { PARAMETERS, rtu, ruleOf, shown } from './plans.js';

const HOUR = 3_600_000;
const MAX_PIECES = 4096;
const UNTRIED = /^too much work for one reply: faults that did not act, counted from this one: (\d+)$/;
const KIB_64 = 65_536;
const TOO_LONG = 'the reply would be longer than 64 KiB';
const TOO_MANY = 'the reply would have more than 4096 pieces';
const TOO_SLOW = 'the reply would take longer than an hour';

/** Can all there is, so that every kind acts. */
const LINE = {
  name: 'any',
  abilities: new Set([...abilities('serial', 'rtu'), ...abilities('tcp', 'socket')]),
};

const IDS = { unitId: 1, transactionId: 2 };
const REPLY = bytesOf('03 04 0102 0304');

const CONTEXT = {
  ...IDS,
  requestPdu: bytesOf('03 0000 0002'),
  framing: RTU,
  characterTime: 240,
  previousReply: bytesOf('01 03 02 0001 79 84'),
  startTime: () => () => 0,
};

/** What one rule after the other makes of a reply of 9 bytes. */
function appliedTo(rules: readonly (readonly unknown[])[]) {
  const acting = rules.map((faults) => ({ rule: ruleOf(faults), random: seededRandom(1, 1), turn: 1 }));
  const plan = plainReply(RTU.encode({ ...IDS, pdu: REPLY }));
  const { plan: changed, acted } = applyFaults(plan, acting, LINE, CONTEXT);
  return { plan: changed, cannot: acted.map(({ notAchieved }) => notAchieved) };
}

function sizeOf(plan: ReplyPlan) {
  const steps = plan.kind === 'send' ? plan.steps : [];
  const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
  return {
    steps: steps.length,
    bytes: sum(steps.map((step) => (step.kind === 'bytes' ? step.bytes.length : 0))),
    ms: sum(steps.map((step) => step.waitMs + (step.kind === 'break' ? step.ms : 0))),
  };
}

const each = (gap: number) => ({ split: { at: 'each', gap } });
const copies = (times: number, gap = 0) => ({ duplicate: { times, gap } });

describe('of several rules for one request, a fault does not act that would stretch the reply', () => {
  it.each<[string, unknown[][], (string | undefined)[], { bytes: number; ms: number }]>([
    [
      'copies of copies',
      Array(4).fill([copies(125)]),
      [undefined, TOO_LONG, TOO_LONG, TOO_LONG],
      { bytes: 9 * 126, ms: 0 },
    ],
    ['copies of junk', [[{ junk: KIB_64 }], [copies(1)]], [undefined, TOO_LONG], { bytes: KIB_64, ms: 0 }],
    [
      'noise before copies',
      [[copies(125)], [{ noise: 600 }]],
      [undefined, TOO_LONG],
      { bytes: 9 * 126, ms: 0 },
    ],
    [
      'bytes after copies',
      [[copies(125)], [{ extend: 600 }]],
      [undefined, TOO_LONG],
      { bytes: 9 * 126, ms: 0 },
    ],
    [
      'an echo of junk',
      [[{ junk: KIB_64 }], [{ echo: true }]],
      [undefined, TOO_LONG],
      { bytes: KIB_64, ms: 0 },
    ],
    ['two delays', [[{ delay: HOUR }], [{ delay: 1 }]], [undefined, TOO_SLOW], { bytes: 9, ms: HOUR }],
    [
      'a delay and another that varies',
      [[{ delay: HOUR }], [{ delay: { ms: 2, jitter: 1 } }]],
      [undefined, TOO_SLOW],
      { bytes: 9, ms: HOUR },
    ],
    [
      'a delay and a break',
      [[{ delay: HOUR }], [{ break: 1 }]],
      [undefined, TOO_SLOW],
      { bytes: 9, ms: HOUR },
    ],
    ['copies of pieces', [[each(6000)], [copies(125)]], [undefined, TOO_SLOW], { bytes: 9, ms: 8 * 6000 }],
    ['pieces of copies', [[copies(125)], [each(6000)]], [undefined, TOO_SLOW], { bytes: 9 * 126, ms: 0 }],
    [
      'gaps in copies',
      [[copies(125)], [{ gap: { after: 1, characters: 200 } }]],
      [undefined, TOO_SLOW],
      { bytes: 9 * 126, ms: 0 },
    ],
    [
      'what comes after acts',
      [[copies(125)], [copies(125), { truncate: 3 }]],
      [undefined, TOO_LONG, undefined],
      { bytes: 3 * 126, ms: 0 },
    ],
    [
      'what is as long as can be',
      [[{ junk: KIB_64 / 2 }], [copies(1)]],
      [undefined, undefined],
      { bytes: KIB_64, ms: 0 },
    ],
    ['pieces of what is long', [[{ junk: 4097 }], [each(0)]], [undefined, TOO_MANY], { bytes: 4097, ms: 0 }],
    [
      'as many pieces as can be',
      [[{ junk: 4096 }], [each(0)]],
      [undefined, undefined],
      { bytes: 4096, ms: 0 },
    ],
    [
      'copies of many pieces',
      [[{ junk: 2048 }], [each(0)], [copies(2)]],
      [undefined, undefined, TOO_MANY],
      { bytes: 2048, ms: 0 },
    ],
    // Drawn for each reply: this time it is no delay.
    [
      'what by chance takes no time',
      [[{ delay: HOUR }], [{ delay: { ms: 0, jitter: 1 } }]],
      [undefined, undefined],
      { bytes: 9, ms: HOUR },
    ],
    // What is really there counts, not the longest frame there could be.
    ['what has room', [[copies(60)], [copies(60)]], [undefined, undefined], { bytes: 9 * 61 * 61, ms: 0 }],
    [
      'what takes the place of much',
      [[{ junk: KIB_64 }], [{ exception: 2 }], [copies(125)]],
      [undefined, undefined, undefined],
      { bytes: 5 * 126, ms: 0 },
    ],
  ])('%s', (_, rules, cannot, size) => {
    const { plan, cannot: told } = appliedTo(rules);
    expect(told).toEqual(cannot);
    expect(sizeOf(plan)).toMatchObject(size);
  });

  it('and what keeps a request from its device acts in any case', () => {
    const { plan, cannot } = appliedTo([[{ junk: KIB_64 }, { delay: HOUR }], [{ exception: 2 }]]);
    expect(cannot).toEqual([undefined, undefined, undefined]);
    expect(shown(plan)).toHaveLength(1);
    expect(shown(appliedTo([[{ junk: KIB_64 }, { delay: HOUR }], [{ silence: true }]]).plan)).toEqual([
      'silence',
    ]);
  });

  it('not for what the rounding of fractions makes of an hour', () => {
    const parts = [[{ delay: 3274334.8 }], [{ split: { at: 1, gap: 325665.20000000007 } }]];
    expect(appliedTo(parts).cannot).toEqual([undefined, undefined]);
    expect(() => ruleOf(parts.flat())).not.toThrow();
  });
});

/** The kinds that can stretch a reply, each as far as a rule alone may go, and less. */
const STRETCHING: Readonly<Record<string, readonly unknown[]>> = {
  delay: [HOUR, 1000, { ms: HOUR / 2, jitter: HOUR / 2 }],
  exception: [2],
  silence: [true],
  junk: [1, 300, KIB_64, 'ff00', '7f'.repeat(1024)],
  pdu: ['03', '00'.repeat(253)],
  split: [
    { at: 'each', gap: 0 },
    { at: 'each', gap: 6000 },
    { at: 'middle', gap: HOUR },
    { at: 3, gap: 1 },
  ],
  gap: [
    { after: 1, characters: 15_000 },
    { after: 2, characters: 1.5 },
  ],
  truncate: [0, 5, -1],
  insert: [1, 500, 65_000, '7f'.repeat(1024)],
  extend: [1, 500, 65_000, '7f'.repeat(1024)],
  noise: [1, 500, 65_000, '7f'.repeat(1024)],
  duplicate: [{ times: 1 }, { times: 60 }, { times: 125 }, { times: 100, gap: 36_000 }],
  stale: [true],
  echo: [true],
  break: [1, HOUR],
  close: ['end', { how: 'reset', after: 40 }],
};

const anyStretching = fc.oneof(
  ...Object.entries(STRETCHING).map(([kind, all]) =>
    fc.constantFrom(...all).map((parameters) => ({ [kind]: parameters })),
  ),
);

it('no other kind makes a reply longer, slower or more pieces', () => {
  const others = FAULT_KINDS.filter((kind) => !(kind in STRETCHING));
  const anyOther = fc.oneof(
    ...others.map((kind) => {
      const parameters = PARAMETERS[kind];
      if (!parameters) throw new Error(`add ${kind} to PARAMETERS of test/device/faults/plans.ts`);
      return parameters.map((value) => ({ [kind]: value }));
    }),
  );
  const plain = sizeOf(plainReply(RTU.encode({ ...IDS, pdu: REPLY })));
  fc.assert(
    fc.property(anyOther, (fault) => {
      const { steps, bytes, ms } = sizeOf(appliedTo([[fault]]).plan);
      expect(
        [steps <= plain.steps, bytes <= plain.bytes, ms <= plain.ms],
        'no more pieces, no more bytes, not later; a kind that can do so belongs in STRETCHING of this file',
      ).toEqual([true, true, true]);
    }),
  );
});

describe('any two to four rules on any reply', () => {
  it('make no more than 64 KiB in 4096 pieces, and an hour', () => {
    fc.assert(
      fc.property(
        fc.array(anyStretching, { minLength: 2, maxLength: 4 }),
        fc.constantFrom(RTU, SOCKET, new AsciiFraming()),
        fc.option(fc.uint8Array({ minLength: 1, maxLength: 253 })),
        fc.nat(MAX_SEED),
        (faults, framing, response, seed) => {
          const reply = response ? plainReply(framing.encode({ ...IDS, pdu: response })) : silence('none');
          const acting = faults.map((fault, i) => ({
            rule: ruleOf([fault]),
            random: seededRandom(seed, i),
            turn: 1,
          }));
          const { plan, acted } = applyFaults(reply, acting, LINE, { ...CONTEXT, framing });
          const { steps, bytes, ms } = sizeOf(plan);
          const [breaks, closes] = ['break', 'close'].map(
            (kind) => acted.filter((fault) => fault.kind === kind).length,
          ) as [number, number];
          // One entry stands for all that were not tried.
          const untried = UNTRIED.exec(acted.at(-1)?.notAchieved ?? '')?.[1];
          expect(acted).toHaveLength(
            untried === undefined ? faults.length : faults.length - Number(untried) + 1,
          );
          expect(bytes).toBeLessThanOrEqual(KIB_64);
          expect(steps).toBeLessThanOrEqual(Math.min(MAX_PIECES, bytes + breaks + closes));
          expect(ms).toBeLessThanOrEqual(HOUR + 1e-6);
          // Alone, a rule that was accepted is never kept from acting by the limits.
          expect([TOO_LONG, TOO_SLOW, TOO_MANY]).not.toContain(acted[0]?.notAchieved);
          expect(acted[0]?.notAchieved ?? '').not.toMatch(UNTRIED);
        },
      ),
      { numRuns: tries(500) },
    );
  });
});

/** RTU that counts the bytes that faults have it read and write. */
function countingFraming() {
  const counted = { bytes: 0 };
  const framing: Framing = {
    ...RTU,
    encode: (content) => {
      counted.bytes += content.pdu.length;
      return RTU.encode(content);
    },
    fields: (adu) => {
      counted.bytes += adu.length;
      return RTU.fields(adu);
    },
  };
  return { counted, framing };
}

describe('the work of faults on one reply has an end', () => {
  const ruled = (rules: readonly (readonly unknown[])[], framing: Framing, startTime = CONTEXT.startTime) => {
    const acting = rules.map((faults, i) => ({
      rule: ruleOf(faults, { name: `r${i}` }),
      random: seededRandom(1, i),
      turn: 1,
    }));
    const plan = plainReply(RTU.encode({ ...IDS, pdu: REPLY }));
    return applyFaults(plan, acting, LINE, { ...CONTEXT, framing, startTime });
  };
  const unit = { unit: 5 };

  it.each<[string, unknown[][]]>([
    ['a long frame', [[{ junk: 60_000 }], ...Array(255).fill(Array(3).fill(unit))]],
    ['a frame in many pieces', [[{ junk: 1000 }, each(0)], ...Array(255).fill([unit])]],
    ['many frames', [[{ junk: 16 }, copies(600)], ...Array(255).fill([unit])]],
    ['a short frame', Array(256).fill(Array(64).fill(unit))],
  ])('on %s', (_, rules) => {
    const { counted, framing } = countingFraming();
    const faults = rules.flat().length;
    const { acted } = ruled(rules, framing);
    expect(counted.bytes).toBeGreaterThan(0);
    expect(counted.bytes).toBeLessThan(500_000);
    expect(acted.length).toBeLessThan(1000);
    const last = acted.at(-1);
    // The faults that acted, and those that did not, are all of them.
    expect(acted.length - 1 + Number(UNTRIED.exec(last?.notAchieved ?? '')?.[1])).toBe(faults);
  });

  it('and a fault at that end that keeps a request from its device is the last of them', () => {
    const { plan, acted } = ruled([[{ junk: 30_000 }, { exception: 6 }]], RTU, () => () => 10);
    expect(shown(plan)).toEqual([`0 ${rtu('01 83 06')}`]);
    expect(acted).toEqual([
      { rule: 'r0', kind: 'junk' },
      { rule: 'r0', kind: 'exception' },
    ]);
  });

  it('and then what keeps a request from its device still acts, the last of it alone', () => {
    const many = Array(20).fill(Array(64).fill(unit));
    const { plan, acted } = ruled(
      [[{ silence: true }], ...many, [{ exception: 4 }, { exception: 6 }, unit]],
      RTU,
    );
    expect(shown(plan)).toEqual([`0 ${rtu('01 83 06')}`]);
    expect(acted.at(-2)).toEqual({ rule: 'r21', kind: 'exception' });
    const untried = Number(UNTRIED.exec(acted.at(-1)?.notAchieved ?? '')?.[1]);
    expect(acted.length - 1 + untried).toBe(1 + 20 * 64 + 3);
    expect(acted.at(-1)).toMatchObject({ kind: 'unit' });
  });

  it('and what kept it before is not done again', () => {
    const { plan } = ruled([[{ exception: 6 }, { delay: 5 }], ...Array(40).fill(Array(64).fill(unit))], RTU);
    expect(shown(plan)).toEqual([`5 ${rtu('05 83 06')}`]);
  });

  /** Work that has taken another `ms` each time one looks. */
  const running = (ms: number) => () => {
    let worked = 0;
    return () => {
      worked += ms;
      return worked;
    };
  };
  const long = [{ extend: 8000 }, ...Array(10).fill(unit)];

  it('also where a computer takes long for little work', () => {
    const { acted } = ruled([long], RTU, running(1));
    expect(acted.length).toBeLessThan(long.length);
    expect(acted.at(-1)).toMatchObject({
      kind: 'unit',
      notAchieved: `too much work for one reply: faults that did not act, counted from this one: ${long.length + 1 - acted.length}`,
    });
    expect(ruled([long], RTU).acted).toHaveLength(long.length);
  });

  it('and then, too, what keeps a request from its device acts', () => {
    const { plan, acted } = ruled([long, [{ exception: 6 }]], RTU, running(1));
    expect(shown(plan)).toEqual([`0 ${rtu('01 83 06')}`]);
    expect(acted.at(-2)).toEqual({ rule: 'r1', kind: 'exception' });
  });

  it('and a pause of the whole process keeps no fault with little work from acting', () => {
    const few = [{ corrupt: 3 }, { split: { at: 'middle', gap: 1 } }, copies(2), unit, { delay: 5 }];
    const { acted } = ruled([few], RTU, running(1000));
    expect(acted.map(({ notAchieved }) => notAchieved)).toEqual(few.map(() => undefined));
  });
});

describe('the budget of a reply', () => {
  const PLAIN = { bytes: 9, ms: 0, pieces: 0 };

  it('is spent to the last unit of work, and says how much was wanted', () => {
    const budget = new Budget(() => () => 0);
    budget.begin(PLAIN);
    expect([budget.spend({ work: 249_700 }), budget.excess(PLAIN)]).toEqual([true, undefined]);
    expect([budget.spend({ work: 1 }), budget.excess(PLAIN)]).toEqual([
      false,
      { kind: 'excess', of: 'work', found: 250_001 },
    ]);
  });

  it('has bytes and pieces for each fault anew', () => {
    const budget = new Budget(() => () => 0);
    for (let fault = 0; fault < 2; fault++) {
      budget.begin(PLAIN);
      expect([budget.spend({ bytes: KIB_64 }), budget.spend({ bytes: 1 })]).toEqual([true, false]);
      expect(budget.excess({ ...PLAIN, bytes: KIB_64 })).toMatchObject({ of: 'bytes', found: KIB_64 + 1 });
    }
    budget.begin(PLAIN);
    expect([budget.spend({ pieces: MAX_PIECES }), budget.spend({ pieces: 1 })]).toEqual([true, false]);
  });

  it('ends with its time, which is looked at after each 2000 units of work', () => {
    let worked = 0;
    const budget = new Budget(() => () => worked);
    const spend = (work: number) => budget.spend({ work });
    budget.begin(PLAIN);
    worked = 3;
    expect([spend(25_000), spend(1000)]).toEqual([true, true]);
    worked = 4;
    expect([spend(1000), spend(0), spend(1), spend(1), spend(0)]).toEqual([true, true, true, false, false]);
    expect(budget.excess(PLAIN)).toMatchObject({ of: 'work', found: Number.POSITIVE_INFINITY });
  });
});

it('work is counted in time of the processor, and waiting is no work', () => {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const worked = startWorkTime();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  const waited = worked();
  const { user, system } = process.cpuUsage(cpu);
  expect(waited).toBeLessThanOrEqual((user + system) / 1000);
  for (let found = waited; found < waited + 3; found = worked());
  const all = worked();
  expect(all).toBeGreaterThanOrEqual(waited + 3);
  expect(all).toBeLessThanOrEqual(performance.now() - began);
});
