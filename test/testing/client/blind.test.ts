import { describe, expect, it } from 'vitest';
import type { Hands, Stranger } from './strangers.js';
import { testStranger } from './test-stranger.js';
import { inVirtualTime } from './virtual-bench.js';

/*
 * Clients of a blind set: their author knew the specification and public reports only. Each is here because the client test
 * missed its mistake, or said something of it that was not so.
 */

inVirtualTime();

const QUESTIONS = [
  [3, 0, 0, 0, 4],
  [3, 0, 10, 0, 4],
  [3, 0, 30, 0, 2],
];

/** Asks one of three questions four times a second, each up to twice, and waits a second for a reply. */
function inTurn(
  { failed = () => {} }: { readonly failed?: (hands: Hands) => void } = {},
  lax: Hands['lax'] = new Set(),
  questions: readonly (readonly number[])[] = QUESTIONS,
): Stranger {
  return async (hands) => {
    hands.lax = lax;
    for (let i = 0; !hands.isOver; i++) {
      const began = hands.now;
      const question = questions[i % questions.length] as readonly number[];
      for (let tries = 0; tries < 2 && !hands.isOver; tries++) {
        const got = await hands.ask(1, question, 1000);
        if (got.kind === 'data' && i % questions.length === 0)
          hands.shown = String(((got.pdu[2] ?? 0) << 8) | (got.pdu[3] ?? 0));
        if (got.kind === 'data') break;
        if (got.kind === 'closed') await hands.sleep(1000);
        failed(hands);
        if (got.kind === 'exception') break;
      }
      await hands.sleep(Math.max(20, began + 250 - hands.now));
    }
  };
}

const said = ({ report }: Awaited<ReturnType<typeof testStranger>>) => report.conclusions.join(' ');

describe('a client that takes no reply any more', () => {
  it('fails at the noise that it does not get over, though the retries of a poll look like polls', async () => {
    const tested = await testStranger(inTurn({}, new Set(['stray bytes'])), 'tcp', {
      checks: ['noise-before', 'late-reply'],
    });
    expect(tested.failed).toContain('noise-before');
    expect(said(tested)).toContain('No longer accepts good replies after noise before a reply');
    expect(tested.untrue).toEqual([]);
  });

  it('fails at the exception after which it hears nothing', async () => {
    const tested = await testStranger(inTurn({}, new Set(['exceptions'])), 'tcp', {
      checks: ['exception-2', 'exception-3'],
    });
    expect(tested.failed).toContain('exception-2');
    expect(tested.untrue).toEqual([]);
  });
});

it('a page that shows 0 when no reply comes is not blamed on spoilt replies', async () => {
  const shows = inTurn({
    failed: (hands) => {
      hands.shown = '0';
    },
  });
  const tested = await testStranger(shows, 'tcp', { checks: ['junk', 'exception-2', 'wrong-unit'] }, true);
  expect(tested.failed).toEqual([]);
  expect(said(tested)).toContain('Shows "0" when no reply comes, as if it were a value.');
});

it('a client that gives up its request at a wrong transaction is not said to take a late reply', async () => {
  const tested = await testStranger(inTurn({}, new Set(['give up', 'stray bytes'])), 'tcp', {
    checks: ['late-reply', 'duplicate-reply'],
  });
  expect(tested.failed).toEqual(['duplicate-reply', 'late-reply']);
  expect(said(tested)).not.toContain('dangerous');
  expect(said(tested)).toContain('or gives up a request because of it');
});

it('a client that leaves its connection open when it opens another is known by that', async () => {
  const tested = await testStranger(inTurn({ failed: (hands) => hands.leave() }), 'tcp', {
    checks: ['time-out', 'junk'],
  });
  expect(tested.report.findings.map(({ verdict }) => verdict)).toEqual(['pass', 'pass']);
  expect(said(tested)).toMatch(
    /Opens another connection when no reply comes and leaves the old one open: \d+/,
  );
});

it('a question that the client drops while another one is tested is named', async () => {
  let isStuck = false;
  const drops: Stranger = async (hands) => {
    for (let i = 0; !hands.isOver; i++) {
      const write = i % 3 === 1;
      if (!(write && isStuck)) {
        const got = await hands.ask(1, write ? [6, 0, 5, 0, 1] : (QUESTIONS[i % 3] as number[]), 1000);
        isStuck ||= write && got.kind === 'none';
      }
      await hands.sleep(250);
    }
  };
  const { report } = await testStranger(drops, 'tcp', {
    checks: ['retries', 'exception-2', 'junk', 'late-reply'],
  });
  expect(report.verdict).toBe('fail');
  expect(report.conclusions.join(' ')).toMatch(
    /The client no longer polls unit 1 write single register 5: 1 after /,
  );
});

it('a client that asks one question alone after a reconnection is not said to take no replies', async () => {
  let isFirstOnly = false;
  const forgets: Stranger = async (hands) => {
    for (let i = 0; !hands.isOver; i++) {
      const got = await hands.ask(1, QUESTIONS[isFirstOnly ? 0 : i % 3] as number[], 1000);
      isFirstOnly ||= got.kind === 'closed';
      await hands.sleep(isFirstOnly ? 750 : 250);
    }
  };
  const tested = await testStranger(forgets, 'tcp', {
    checks: ['reset-in-reply', 'closed-after-reply', 'junk'],
  });
  expect(tested.failed).not.toEqual([]);
  expect(said(tested)).not.toContain('longer accepts good replies');
});

it('a client whose pauses double is not said to stop', async () => {
  let pauseMs = 500;
  const doubles: Stranger = async (hands) => {
    for (let i = 0; !hands.isOver; i++) {
      const got = await hands.ask(1, QUESTIONS[i % 3] as number[], 1000);
      if (got.kind !== 'data') pauseMs *= 2;
      await hands.sleep(got.kind === 'data' ? 250 : pauseMs);
    }
  };
  const tested = await testStranger(doubles, 'tcp', { checks: ['noise-before', 'junk'] });
  expect(said(tested)).toMatch(/Sends nothing for half a minute or longer after /);
  expect(said(tested)).not.toMatch(/[Ss]tops/);
});

it('a client of eight coils is not said to ask for one value', async () => {
  const tested = await testStranger(inTurn({}, new Set(), [[1, 0, 0, 0, 8]]), 'tcp', {
    checks: ['fewer-registers'],
  });
  expect(tested.report.findings[0]?.summary).toBe(
    'the client requests at most eight bits, so no reply can have fewer data bytes',
  );
});
