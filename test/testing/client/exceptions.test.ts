import { describe, expect, it } from 'vitest';
import { rows, some } from '../../support/tries.js';
import type { Habits } from './habits.js';
import { shownLater, WRITES_BACK, written } from './observers.js';
import { SEVERAL } from './shapes.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';

inVirtualTime();

const ALL_SHAPES: Readonly<Record<string, Partial<Habits>>> = {
  'of one question': {},
  'that never asks again': { attempts: 1, busyPauseMs: undefined },
  'that rests long': { periodMs: 3000, timeoutMs: 300 },
  'of several questions': { questions: SEVERAL, periodMs: 1000 },
  'that polls fast': { questions: SEVERAL, periodMs: 20, busyPauseMs: 200 },
  'on a grid': { rhythm: 'grid', periodMs: 2000 },
};
const SHAPES = rows(ALL_SHAPES, ['of several questions']);
const OBSERVED = Object.entries(SHAPES).filter(([name]) => !/rests|fast/.test(name));
const CODES = [1, 2, 3, 4, 5, 6, 10, 11];
const OBSERVERS = [
  { observer: written, more: WRITES_BACK },
  { observer: shownLater(400), more: {} },
] as const;

describe.each(some(['tcp', 'serial'] as const, 2))('exceptions on %s', (on) => {
  it.each(Object.entries(SHAPES))('pass a faultless client %s', async (_, habits) => {
    const { report } = await testModelClient({ on, habits, checks: ['exceptions'] });
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(['no-value', ...CODES].map(() => 'pass'));
  });

  it.each(OBSERVED)('pass one %s that shows what it reads', async (_, shape) => {
    for (const { observer, more } of OBSERVERS) {
      const habits = { ...shape, ...more };
      const { report } = await testModelClient({ on, habits, observer, checks: ['exceptions'] });
      expect(report.findings.map(({ verdict }) => verdict)).toEqual(['no-value', ...CODES].map(() => 'pass'));
    }
  });

  it.each(CODES)('show a client that asks again without end after exception %d', async (code) => {
    const habits = { mistakes: ['repeats after exceptions without end'] as const };
    for (const shape of code === CODES[0] ? Object.values(SHAPES) : [{}]) {
      const { finding } = await testModelClient({
        on,
        habits: { ...shape, ...habits },
        checks: [`exception-${code}`],
      });
      expect(finding(`exception-${code}`).verdict).toBe('fail');
    }
  });

  it.each(CODES)('show a client that stops after exception %d', async (code) => {
    const habits = { mistakes: ['stops after an exception'] as const };
    const { report } = await testModelClient({ on, habits, checks: [`exception-${code}`] });
    expect(report.conclusions).toContain(`Stops polling after exception ${code}.`);
  });

  it.each([4, 6])('show to an observer a client that takes exception %d for 0', async (code) => {
    for (const [, shape] of OBSERVED)
      for (const { observer, more } of OBSERVERS) {
        const habits = { ...shape, ...more, mistakes: ['takes exceptions for zeros'] as const };
        const { finding } = await testModelClient({ on, habits, observer, checks: [`exception-${code}`] });
        expect(finding(`exception-${code}`)).toMatchObject({ verdict: 'fail' });
        expect(finding(`exception-${code}`).summary).toContain(
          'showed "0", which matches no good reply to that request',
        );
      }
  });
});

describe('a client that repeats each poll at once after an exception, and not without end', () => {
  it('passes, because that is no loop; how soon and how often it asks again is a fact', async () => {
    const habits = { periodMs: 1000, busyPauseMs: 4, attempts: 3 };
    const { finding } = await testModelClient({ habits, checks: ['exception-6'] });
    const { verdict, title, summary } = finding('exception-6');
    expect([verdict, title]).toEqual([
      'pass',
      'Keeps polling after exception 6, without a tight loop of requests',
    ]);
    expect(summary).toMatch(
      /^sent the request \d+ times in 4\.\d+ s; usually 4 times; sent it again [45](\.\d)?.* ms after an exception, \d times$/,
    );
  });
});

describe('a client that asks again after a busy device', () => {
  it('is told how long it has waited, and how often', async () => {
    const { finding } = await testModelClient({ habits: { periodMs: 1000 }, checks: ['exception-6'] });
    expect(finding('exception-6').summary).toMatch(
      /; sent it again 10\d(\.\d)?( to 10\d(\.\d)?)? ms after an exception, \d times$/,
    );
  });
});
