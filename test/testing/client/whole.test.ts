import { describe, expect, it } from 'vitest';
import { some } from '../../support/tries.js';
import { count, type Rates, testSubject } from './error-rates.js';
import type { Mistake } from './habits.js';
import { WRITES_BACK, written } from './observers.js';
import { ONE, SEVERAL } from './shapes.js';
import { SUBJECTS } from './subjects.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';

inVirtualTime();

const LONG_ENOUGH_MS = 10 * 3_600_000;
const EXCEPTIONS = [1, 2, 3, 4, 5, 6, 10, 11].map((code) => `exception-${code}`);

const BENCHES = (['serial', 'tcp'] as const).flatMap((on) =>
  [ONE, SEVERAL].flatMap((questions) =>
    [false, true].map((hasObserver) => {
      const asks = questions === ONE ? 'one question' : 'several';
      return {
        name: `${asks} on ${on} ${hasObserver ? 'with' : 'without'} an observer`,
        on,
        questions,
        hasObserver,
      };
    }),
  ),
);

/** All checks, from watching to connections: their verdicts by name. */
async function verdictsOf(
  { on, questions, hasObserver }: (typeof BENCHES)[number],
  mistakes: readonly Mistake[] = [],
): Promise<Record<string, string>> {
  const { report } = await testModelClient({
    on,
    habits: { questions, mistakes, ...(hasObserver && WRITES_BACK) },
    limitMs: LONG_ENOUGH_MS,
    ...(hasObserver && { observer: written }),
  });
  return Object.fromEntries(report.findings.map(({ id, verdict }) => [id, verdict]));
}

/** What the line or this client does not show. */
const UNDECIDED: Readonly<Record<string, readonly string[]>> = {
  'one question on serial': ['broadcast-pause', 'dead-unit'],
  'several on serial': ['broadcast-pause'],
  'one question on tcp': ['dead-unit'],
  'several on tcp': [],
};

describe('a whole client test', () => {
  for (const bench of some(BENCHES, 3)) {
    it(`passes a faultless client that asks ${bench.name}`, async () => {
      const verdicts = await verdictsOf(bench);
      const undecided = UNDECIDED[bench.name.replace(/ with.*/, '')] ?? [];
      const expected = Object.keys(verdicts).map((id) => [
        id,
        undecided.includes(id) ? 'inconclusive' : 'pass',
      ]);
      expect(verdicts).toEqual(Object.fromEntries(expected));
    });
  }

  const MISTAKES = [
    ['no CRC check', 'serial', ['wrong-crc']],
    ['ignores the unit', 'serial', ['wrong-unit']],
    ['ignores the transaction identifier', 'tcp', ['late-reply', 'wrong-transaction']],
    ['takes exceptions for zeros', 'tcp', EXCEPTIONS],
    ['repeats after exceptions without end', 'serial', EXCEPTIONS],
  ] as const;

  it.each(some(MISTAKES, 3))(
    'finds that a client %s on %s, and nothing else',
    async (mistake, on, failed) => {
      const verdicts = await verdictsOf({ name: '', on, questions: SEVERAL, hasObserver: true }, [mistake]);
      expect(
        Object.keys(verdicts)
          .filter((id) => verdicts[id] !== 'pass' && id !== 'broadcast-pause')
          .sort(),
      ).toEqual([...failed].sort());
    },
  );
});

/**
 * What rounds of the error rates have judged wrongly: a few even intervals, repetitions that looked like those of polls, what a client
 * does after a fault taken for its rhythm.
 */
const JUDGED_WRONGLY = [
  ['poll-period', 'polls as it likes, one question', 'serial', true, 1006, 'pass'],
  ['poll-period', 'polls as it likes, one question', 'tcp', true, 1006, 'pass'],
  ['poll-period', 'faultless, three questions', 'serial', false, 206, 'fail'],
  ['poll-period', 'faultless, three questions', 'serial', false, 207, 'fail'],
  [
    'exception-10',
    'repeats after exceptions without end, two units, asked once',
    'serial',
    false,
    1031,
    'pass',
  ],
  [
    'exception-4',
    'repeats after exceptions without end, two units, asked once',
    'serial',
    false,
    3039,
    'pass',
  ],
  ['retries', 'faultless, shows nothing', 'serial', true, 3054, 'pass'],
  ['retries', 'faultless, asks again at once, one question', 'tcp', true, 3071, 'fail'],
  ['retries', 'faultless, one question', 'tcp', true, 3079, 'fail'],
  ['duplicate-reply', 'faultless, queue', 'serial', false, 3077, 'fail'],
  ['split-reply', 'faultless, queue', 'tcp', false, 3173, 'fail'],
] as const;

it.each(some(JUDGED_WRONGLY, 4))(
  '%s of a client that is %s on %s, observed %s, with seed %d is no %s',
  async (...row) => {
    const [id, name, on, isObserved, seed, wrong] = row;
    const subject = SUBJECTS.find(
      (each) => each.name === name && each.on === on && each.isObserved === isObserved,
    );
    if (!subject) throw new Error('no such subject');
    const { findings } = await testSubject(subject, seed);
    const { verdict, summary } = findings.find((each) => each.id === id) ?? {};
    expect(verdict, summary).toMatch(/^(pass|fail|inconclusive)$/);
    expect(verdict, summary).not.toBe(wrong);
  },
);

/** One in this many clients of the error rates is tested here; `error-rates.test.ts` tests them all. */
const EVERY = 133;

it('passes no mistake and fails no faultless client, for some clients with jitter', async () => {
  const rates: Rates = { byCheck: new Map(), wrong: [] };
  for (const [seed, subject] of SUBJECTS.entries()) {
    if (seed % EVERY === 1) count(rates, subject, await testSubject(subject, seed), seed);
  }
  expect(rates.byCheck.size).toBeGreaterThan(20);
  expect(rates.wrong).toEqual([]);
});
