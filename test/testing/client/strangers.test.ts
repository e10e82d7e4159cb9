import { describe, expect, it } from 'vitest';
import { some } from '../../support/tries.js';
import { MISTAKEN, SHOWING, UNUSUAL } from './strangers.js';
import { testStranger } from './test-stranger.js';
import { inVirtualTime, stalling } from './virtual-bench.js';

inVirtualTime();

/** What clients without a mistake fail by the rule of a check. */
const BY_RULE: Readonly<Record<string, readonly string[]>> = {
  'opens a connection for each request': ['connections-reused'],
};
const ON = (name: string) =>
  name.includes('connection') ? (['tcp'] as const) : (['serial', 'tcp'] as const);
const ROWS = Object.entries(UNUSUAL).flatMap(([name, poll]) =>
  ON(name).map((on) => [name, on, poll] as const),
);

describe('an unusual client is accused of nothing', () => {
  it.each(some(ROWS, 6))('that %s on %s', { timeout: 60_000 }, async (name, on, poll) => {
    const { report, untrue, failed } = await testStranger(poll, on);
    expect(failed).toEqual(BY_RULE[name] && on === 'tcp' ? BY_RULE[name] : []);
    expect(report.conclusions.filter((text) => /gone|started again|crashed/i.test(text))).toEqual([]);
    expect(untrue).toEqual([]);
  });
});

describe('on a machine that stalls for up to 400 ms again and again', () => {
  it.each(
    some(
      ROWS.filter(([name]) => !name.includes('fast')),
      8,
    ),
  )('a client that %s on %s is accused of nothing', { timeout: 60_000 }, async (name, on, poll) => {
    stalling(400, 1);
    const { report, failed } = await testStranger(poll, on);
    expect(failed).toEqual(BY_RULE[name] && on === 'tcp' ? BY_RULE[name] : []);
    expect(report.findings.map(({ summary }) => summary).filter((text) => /-\d/.test(text))).toEqual([]);
  });
});

const BOTH = ['tcp', 'serial'] as const;

describe.each(some(BOTH, 2))(
  'on %s, a client with a mistake fails the check of its mistake, and no other',
  (on) => {
    it('drops one of two units, is not gone, and is tested with the other', async () => {
      for (const name of [
        'drops a unit at any exception',
        'drops a unit after three polls without a value',
      ] as const) {
        const { report, failed, untrue } = await testStranger(MISTAKEN[name], on);
        expect(failed).toEqual([expect.stringMatching(/^exception-/)]);
        expect(report.conclusions[0]).toMatch(
          /^No longer polls unit 1 read holding registers 0–1 after exception \d+\.$/,
        );
        expect(report.findings.filter(({ verdict }) => verdict === 'not run')).toEqual([]);
        expect(untrue).toEqual([]);
      }
    });

    it.each([
      ['ends at exception 4 only', 4],
      ['hangs at exception 0B', 11],
    ] as const)('%s', async (name, code) => {
      const { report, failed, untrue } = await testStranger(MISTAKEN[name], on);
      expect(failed).toEqual([`exception-${code}`]);
      expect(report.conclusions[0]).toBe(
        `The client is gone: it sent no more requests after exception ${code}.`,
      );
      expect(untrue).toEqual([]);
    });

    it('waits for ever, which comes first, and ends nothing', async () => {
      const { report, failed, untrue } = await testStranger(MISTAKEN['waits for ever'], on);
      expect(failed.filter((id) => !/^(half-open|outage-\d+s|listener-gone)$/.test(id))).toEqual([
        'time-out',
      ]);
      expect(report.conclusions[0]).toBe('Waits forever for a reply.');
      expect(report.findings.filter(({ verdict }) => verdict === 'not run')).toEqual([]);
      expect(untrue).toEqual([]);
    });

    it('sleeps for a minute where a reply is lost, which comes first and is the reason of what was not run', async () => {
      const name = 'sleeps for a minute at each request without a reply';
      const { report, failed, untrue } = await testStranger(MISTAKEN[name], on, { limitMs: 600_000 });
      expect(failed).toEqual(['time-out']);
      expect(report.conclusions).toContain('Sends nothing for more than 30 s when a reply is lost.');
      const left = report.findings.filter(({ verdict }) => verdict === 'not run');
      for (const { summary } of left)
        expect(summary).toMatch(/^the client takes 60\.\d+ s to continue after a request without/);
      expect(left.length).toBeLessThanOrEqual(18);
      expect(untrue).toEqual([]);
    });
  },
);

describe('the value that a client shows is compared with what was sent', () => {
  it.each(Object.entries(SHOWING))('%s', async (says, poll) => {
    const { report, failed } = await testStranger(poll, 'tcp', { checks: ['shown-value'] }, true);
    expect(report.findings[0]?.summary).toMatch(new RegExp(says));
    expect(failed).toEqual(says.includes('swapped') ? ['shown-value'] : []);
  });

  it('which needs an observer', async () => {
    const { report } = await testStranger(UNUSUAL['polls once in ten seconds'], 'tcp', {
      checks: ['shown-value'],
    });
    expect(report.findings[0]?.summary).toBe('no observer shows its values');
  });
});

it('a client that polls once in ten seconds is tested, and hears beforehand how long that takes', async () => {
  const notes: string[] = [];
  const order = { limitMs: 600_000, onNote: (text: string) => void notes.push(text) };
  const { report, failed } = await testStranger(UNUSUAL['polls once in ten seconds'], 'tcp', order);
  expect(notes[0]).toMatch(
    /^a poll comes every 10 s, so all checks may take \d+ min( \d+ s)?; checks that do not fit into 10 min /,
  );
  expect(failed).toEqual([]);
  expect(report.conclusions.join(' ')).not.toMatch(/nobody|gone/);
});
