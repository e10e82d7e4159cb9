import { describe, expect, it } from 'vitest';
import { rows } from '../../support/tries.js';
import type { Habits, Mistake } from './habits.js';
import { shownLater, WRITES_BACK, written } from './observers.js';
import { SEVERAL } from './shapes.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';

inVirtualTime();

const ALL_SHAPES: Readonly<Record<string, Partial<Habits>>> = {
  'of one question': {},
  'of one question, asked once': { attempts: 1, reconnectsOnGivingUp: false },
  'of one question that rests long': { periodMs: 3000, timeoutMs: 300 },
  'of several questions': { questions: SEVERAL, periodMs: 1000 },
  'of several questions, asked once': {
    questions: SEVERAL,
    attempts: 1,
    periodMs: 300,
    reconnectsOnGivingUp: false,
  },
  'that polls fast': { questions: SEVERAL, periodMs: 20, timeoutMs: 1000, attempts: 2 },
  'that backs off': { questions: SEVERAL, attempts: 4, pausesMs: [100, 200, 400] },
  'on a grid': { rhythm: 'grid', periodMs: 2000 },
};
const SHAPES = rows(ALL_SHAPES, ['of several questions, asked once']);

/** With an observer the rhythm matters less. */
const OBSERVED = Object.entries(SHAPES).filter(([name]) => /one question$|several.*once|grid/.test(name));

describe.each(['serial', 'tcp'] as const)('damaged replies on %s', (on) => {
  it.each(Object.entries(SHAPES))('do no harm to a faultless client %s', async (_, habits) => {
    const { report } = await testModelClient({ on, habits, checks: ['damaged'] });
    const others = report.findings.filter(({ verdict }) => verdict !== 'pass');
    expect(others.map(({ id, summary }) => `${id}: ${summary}`)).toEqual([]);
  });

  it.each(OBSERVED)('are not believed by a faultless client %s', async (_, habits) => {
    for (const [observer, more] of [
      [written, WRITES_BACK],
      [shownLater(400), {}],
    ] as const) {
      const { report } = await testModelClient({
        on,
        habits: { ...habits, ...more },
        observer,
        checks: ['damaged'],
      });
      const others = report.findings.filter(({ verdict }) => verdict !== 'pass');
      expect(others.map(({ id, summary }) => `${id}: ${summary}`)).toEqual([]);
    }
  });
});

type Row = readonly [check: string, mistakes: readonly Mistake[]];

const SERIAL: readonly Row[] = [
  ['wrong-crc', ['no CRC check']],
  ['truncated-reply', ['takes one read for a reply', 'no CRC check', 'ignores the byte count']],
  [
    'noise-before',
    [
      'takes one read for a reply',
      'no CRC check',
      'ignores the byte count',
      'ignores the unit',
      'ignores the function',
    ],
  ],
  [
    'junk',
    [
      'takes one read for a reply',
      'no CRC check',
      'ignores the byte count',
      'ignores the unit',
      'ignores the function',
    ],
  ],
  ['wrong-unit', ['ignores the unit']],
  ['wrong-function', ['ignores the function']],
  ['fewer-registers', ['ignores the byte count']],
  ['more-registers', ['ignores the byte count']],
  ['wrong-byte-count', ['takes one read for a reply', 'ignores the byte count']],
];
const TCP: readonly Row[] = [
  ['wrong-unit', ['ignores the unit']],
  ['wrong-function', ['ignores the function']],
  ['fewer-registers', ['ignores the byte count']],
  ['more-registers', ['ignores the byte count']],
  ['wrong-byte-count', ['ignores the byte count']],
  ['wrong-transaction', ['ignores the transaction identifier']],
  ['wrong-protocol', ['ignores the protocol identifier']],
];
const ROWS = [
  ...SERIAL.map(([check, mistakes]) => ({ on: 'serial' as const, check, mistakes })),
  ...TCP.map(([check, mistakes]) => ({ on: 'tcp' as const, check, mistakes })),
];

describe('with an observer', () => {
  it.each(ROWS)('$check on $on finds $mistakes', async ({ on, check, mistakes }) => {
    for (const [, shape] of OBSERVED)
      for (const [observer, more] of [
        [written, WRITES_BACK],
        [shownLater(400), {}],
      ] as const) {
        const habits = { ...shape, ...more, mistakes };
        const { finding } = await testModelClient({ on, habits, observer, checks: [check] });
        expect(`${finding(check).verdict}: ${finding(check).summary}`).toMatch(
          /^fail: the observer then showed/,
        );
      }
  });

  it.each(ROWS)('$check on $on passes nobody with $mistakes', async ({ on, check, mistakes }) => {
    for (const shape of Object.values(SHAPES)) {
      const { finding } = await testModelClient({ on, habits: { ...shape, mistakes }, checks: [check] });
      expect(finding(check).verdict).not.toBe('pass');
    }
  });
});

/** With several questions the copy does not fit the next one; only who checks nothing takes it. */
const CHECKS_NOTHING = ['ignores the byte count', 'ignores the unit'] as const;

describe('without an observer', () => {
  it.each([
    ['serial', 'duplicate-reply', ['takes late replies', ...CHECKS_NOTHING]],
    ['serial', 'late-reply', ['takes late replies', ...CHECKS_NOTHING]],
    ['serial', 'split-reply', ['takes one read for a reply']],
    [
      'tcp',
      'duplicate-reply',
      ['takes late replies', 'ignores the transaction identifier', ...CHECKS_NOTHING],
    ],
    ['tcp', 'late-reply', ['ignores the transaction identifier', ...CHECKS_NOTHING]],
    ['tcp', 'split-reply', ['takes one read for a reply']],
  ] as const)('on %s, %s finds %j', async (on, check, mistakes) => {
    const found: string[] = [];
    for (const [name, shape] of Object.entries(SHAPES)) {
      const { finding } = await testModelClient({ on, habits: { ...shape, mistakes }, checks: [check] });
      found.push(`${name}: ${finding(check).verdict} ${finding(check).summary}`);
    }
    expect(found.filter((each) => !each.includes(': fail '))).toEqual([]);
  });
});

describe('a client that asks for coils', () => {
  const questions = [{ unitId: 1, pdu: Uint8Array.of(1, 0, 0, 0, 16) }];

  it('is passed when it is faultless', async () => {
    const observer = shownLater(0);
    const { report } = await testModelClient({ habits: { questions }, observer, checks: ['damaged'] });
    expect(new Set(report.findings.map(({ verdict }) => verdict))).toEqual(new Set(['pass']));
  });

  it('is found when it does not check the CRC', async () => {
    const habits = { questions, mistakes: ['no CRC check'] as const };
    const { finding } = await testModelClient({ habits, observer: shownLater(0), checks: ['wrong-crc'] });
    expect(finding('wrong-crc').verdict).toBe('fail');
  });
});

describe.each(['serial', 'tcp'] as const)('a faultless client on %s', (on) => {
  it.each([20, 100, 150])('is not failed for a jitter of %d ms', async (jitterMs) => {
    for (const attempts of [1, 3]) {
      const { report } = await testModelClient({ on, habits: { jitterMs, attempts }, checks: ['damaged'] });
      expect(report.findings.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
    }
  });

  it('is neither failed nor passed where its rhythm hides what it does', async () => {
    const habits = { rhythm: 'grid', periodMs: 2000, attempts: 1, reconnectsOnGivingUp: false } as const;
    const { finding } = await testModelClient({ on, habits, checks: ['damaged'] });
    for (const id of ['wrong-unit', 'duplicate-reply', 'late-reply', 'split-reply']) {
      expect(finding(id).verdict).toBe('inconclusive');
    }
  });
});

describe('a client that connects anew after a time-out', () => {
  it('can get no late reply', async () => {
    const { finding } = await testModelClient({
      on: 'tcp',
      habits: { reconnectsOnTimeout: true },
      checks: ['late-reply'],
    });
    expect(finding('late-reply')).toMatchObject({
      verdict: 'pass',
      summary: 'reconnects after a time-out, so no late reply reaches it',
    });
  });
});

describe('a client that takes late replies', () => {
  it.each(['serial', 'tcp'] as const)('is in step again before the next check on %s', async (on) => {
    const habits = {
      timeoutMs: 300,
      attempts: 1,
      reconnectsOnGivingUp: false,
      mistakes: ['takes late replies', 'ignores the transaction identifier'] as const,
    };
    const checks = ['late-reply', 'wrong-unit', 'wrong-function', 'exceptions'];
    const { report } = await testModelClient({ on, habits, checks, observer: shownLater(100) });
    const failed = report.findings.filter(({ verdict }) => verdict !== 'pass');
    expect(failed.map(({ id, verdict }) => `${verdict} ${id}`)).toEqual(['fail late-reply']);
  });
});
