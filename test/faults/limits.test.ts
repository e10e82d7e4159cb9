import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { abilities } from '../../src/faults/ability.js';
import { applyFaults } from '../../src/faults/apply.js';
import { MAX_SEED, seededRandom } from '../../src/faults/random.js';
import { AsciiFraming } from '../../src/protocol/ascii.js';
import { RTU, SOCKET } from '../../src/protocol/framing.js';
import { plainReply, type ReplyPlan, silence } from '../../src/protocol/reply-plan.js';
import { bytesOf } from '../vectors/hex.js';
import { ruleOf, shown } from './plans.js';

const HOUR = 3_600_000;
const KIB_64 = 65_536;
const TOO_LONG = 'the reply could be longer than 64 KiB';
const TOO_SLOW = 'the reply could take longer than an hour';

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
};

/** What one rule after the other makes of a reply of 9 bytes. */
function appliedTo(rules: readonly (readonly unknown[])[]) {
  const acting = rules.map((faults) => ({ rule: ruleOf(faults), random: seededRandom(1, 1) }));
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
      'a delay and a jitter',
      [[{ delay: HOUR }], [{ delay: { ms: 0, jitter: 1 } }]],
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
      [[{ junk: KIB_64 / 2 }], [copies(1)], [each(0)]],
      [undefined, undefined, undefined],
      { bytes: KIB_64, ms: 0 },
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

/** Each as far as a rule alone may go, and less. */
const STRETCHING: Readonly<Record<string, readonly unknown[]>> = {
  delay: [HOUR, 1000, { ms: HOUR / 2, jitter: HOUR / 2 }],
  exception: [2],
  silence: [true],
  junk: [1, 300, KIB_64],
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
  extend: [1, 500, 65_000],
  noise: [1, 500, 65_000],
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

describe('any two to four rules on any reply', () => {
  it('make no more than 64 KiB in as many pieces, and an hour', () => {
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
          }));
          const { plan, acted } = applyFaults(reply, acting, LINE, { ...CONTEXT, framing });
          const { steps, bytes, ms } = sizeOf(plan);
          const [breaks, closes] = ['break', 'close'].map(
            (kind) => acted.filter((fault) => fault.kind === kind).length,
          ) as [number, number];
          expect(acted).toHaveLength(faults.length);
          expect(bytes).toBeLessThanOrEqual(KIB_64);
          expect(steps).toBeLessThanOrEqual(bytes + breaks + closes);
          expect(ms).toBeLessThanOrEqual(HOUR + 1e-6);
          // Alone, a rule that was accepted is never kept from acting by the limits.
          expect([TOO_LONG, TOO_SLOW]).not.toContain(acted[0]?.notAchieved);
        },
      ),
      { numRuns: 500 },
    );
  });
});
