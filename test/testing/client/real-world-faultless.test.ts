import { describe, expect, it } from 'vitest';
import { catalogueIds } from '../../../src/document/catalogue-files.js';
import type { Habits } from './habits.js';
import { shownLater, WRITES_BACK, written } from './observers.js';
import { SEVERAL } from './shapes.js';
import { inVirtualTime, testModelClient } from './virtual-bench.js';

inVirtualTime();

const SHAPES: Readonly<Record<string, Partial<Habits>>> = {
  'of one question': {},
  'that never asks again': { attempts: 1, busyPauseMs: undefined },
  'that rests long': { periodMs: 3000, timeoutMs: 300 },
  'of several questions': { questions: SEVERAL, periodMs: 1000 },
  'that keeps its connection': { questions: SEVERAL, reconnectsOnGivingUp: false },
  'that connects anew at a bad reply': { atBadReply: 'connects anew' },
  'on a grid': { rhythm: 'grid', periodMs: 2000 },
};
const OBSERVERS = {
  'by nobody': {},
  'by a page': { observer: shownLater(300) },
  'by a register': { observer: written, habits: WRITES_BACK },
} as const;
/** Their replies are valid and their values are not: a client that takes what is valid takes them. */
const VALID = ['substituted-block', 'torn-value', 'words-swapped', 'zero-after-start', 'zero-for-a-poll'];
const LIMIT_MS = 10 * 3_600_000;

describe.each(['serial', 'tcp'] as const)('the real world on %s', (on) => {
  it.each(Object.keys(SHAPES))('fails no faultless client %s', async (name) => {
    for (const [seed, watched] of Object.values(OBSERVERS).entries()) {
      const habits = { ...SHAPES[name], ...('habits' in watched && watched.habits), seed };
      const lateness = (random: { next(): number }) => random.next() * 3;
      const wanted = { on, habits, lateness, seed, limitMs: LIMIT_MS, checks: ['real-world'] };
      const { report } = await testModelClient({
        ...wanted,
        ...('observer' in watched && { observer: watched.observer }),
      });
      const allowed = 'observer' in watched ? VALID.map((id) => `real-world.${id}`) : [];
      expect(report.findings).toHaveLength(catalogueIds().length);
      expect(
        report.findings.filter(
          ({ id, verdict }) => !['pass', 'inconclusive'].includes(verdict) && !allowed.includes(id),
        ),
      ).toEqual([]);
    }
  });
});
