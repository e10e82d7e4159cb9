import { describe, expect, it } from 'vitest';
import type { Hands, Stranger } from './strangers.js';
import { testStranger } from './test-stranger.js';
import { inVirtualTime, stalling } from './virtual-bench.js';

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
    expect(said(tested)).toContain('No longer accepts good replies after a reply preceded by noise');
    expect(tested.untrue).toEqual([]);
  });

  it('passes no check after it has left its rhythm, for it discards good replies as well', async () => {
    const asksOnce: Stranger = async (hands) => {
      hands.lax = new Set(['rest']);
      while (!hands.isOver) {
        for (const question of QUESTIONS) await hands.ask(1, question, 300);
        await hands.sleep(250);
      }
    };
    const tested = await testStranger(asksOnce, 'serial', {
      checks: ['time-out', 'extended-reply', 'junk', 'wrong-function'],
    });
    expect(tested.failed).toHaveLength(1);
    const passed = tested.report.findings.filter(({ verdict }) => verdict === 'pass');
    expect(passed.map(({ id }) => id)).toEqual(['time-out']);
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

describe('a client that waits for the rest of a reply as long as its connection is open', () => {
  /** It finds noise in the place of the length of a reply, and takes all that comes for the rest. */
  const waits = (): Stranger => async (hands) => {
    hands.lax = new Set(['rest']);
    for (let i = 0; !hands.isOver; i++) {
      const got = await hands.ask(1, QUESTIONS[i % 2] as number[], 300);
      if (got.kind === 'data' && i % 2 === 0)
        hands.shown = String(((got.pdu[2] ?? 0) << 8) | (got.pdu[3] ?? 0));
      if (i % 2 === 1) await hands.sleep(250);
    }
  };

  it('is blamed at the noise, and not at what comes after it on a late machine', async () => {
    stalling(400, 8);
    const checks = ['noise-before', 'wrong-transaction', 'wrong-unit'];
    const { report, failed } = await testStranger(waits(), 'tcp', { checks, seed: 8 }, true);
    expect(failed).toEqual(['noise-before']);
    expect(report.findings.map(({ summary }) => summary).join()).not.toContain('before the check');
  });
});

describe('retries that the line does not show are not counted', () => {
  /** A queue: each poll is due at its time, and may be due again when it has been tried twice. */
  const queue =
    (periodMs: number): Stranger =>
    async (hands) => {
      const seldom = [3, 0, 10, 0, 4];
      let due = hands.now;
      for (let i = 1; !hands.isOver; i++) {
        const question = i % 4 === 0 ? seldom : (QUESTIONS[0] as number[]);
        for (let tries = 0; tries < 2 && !hands.isOver; tries++)
          if ((await hands.ask(1, question, 300)).kind === 'data') break;
        due += question === seldom ? 0 : periodMs;
        await hands.sleep(due - hands.now);
      }
    };

  it('where a poll that is due follows the retries of the last one', async () => {
    const two: Stranger = async (hands) => {
      const tried = async (question: readonly number[]) => {
        for (let tries = 0; tries < 2 && !hands.isOver; tries++)
          if ((await hands.ask(1, question, 300)).kind === 'data') return true;
        return false;
      };
      for (let i = 0; !hands.isOver; i++) {
        const isTaken = (await tried(QUESTIONS[0] as number[])) || (await tried(QUESTIONS[0] as number[]));
        if (!isTaken || i % 4 === 0) await tried(QUESTIONS[1] as number[]);
        await hands.sleep(500);
      }
    };
    const { report } = await testStranger(two, 'tcp', { checks: ['time-out', 'retries'] });
    expect(report.conclusions.join(' ')).toMatch(/, retries 3 times at most/);
    expect(report.parameters).toContainEqual({ name: 'retries', value: '3 at most' });
  });

  it('where a poll of a queue is due before its first retry', async () => {
    const tested = await testStranger(queue(250), 'tcp', { checks: ['time-out', 'retries'] });
    expect(said(tested)).not.toMatch(/retr(y|ies)\b(?! look)/);
  });

  it('where a client on a serial line is one reply behind', async () => {
    const behind: Stranger = async (hands) => {
      hands.lax = new Set(['stray bytes']);
      await hands.ask(1, QUESTIONS[0] as number[], 0);
      await hands.sleep(50);
      for (let i = 0; !hands.isOver; i++) {
        for (let tries = 0; tries < 2 && !hands.isOver; tries++)
          if ((await hands.ask(1, QUESTIONS[i % 2] as number[], 300)).kind === 'data') break;
        await hands.sleep(250);
      }
    };
    const tested = await testStranger(behind, 'serial', { checks: ['retries'] });
    expect(tested.failed).toEqual([]);
    expect(said(tested)).not.toMatch(/not retry|once/);
  });
});

it.each([
  ['needs the header of a reply in one piece', 'header', 'split-reply', /retried|without a reply/],
  ['keeps half a reply, which spoils the next', 'half', 'truncated-reply', /Loses the next reply, too/],
  ['ends at more values than it asked for', 'more values', 'more-registers', /after a reply with too many/],
  ['ends at a value that is not a number', 'NaN', 'no-value', /after registers that stand for no value/],
] as const)('a client on TCP that %s fails the check of that', async (_, lax, check, says) => {
  const checks = [check, 'wrong-unit', 'wrong-function'];
  const tested = await testStranger(inTurn({}, new Set([lax])), 'tcp', { checks });
  expect(tested.failed).toEqual([check]);
  const [failed] = tested.report.findings.filter(({ verdict }) => verdict === 'fail');
  expect(`${said(tested)} ${failed?.summary}`).toMatch(says);
});

it('a client that sends in a burst what became due in an outage fails there', async () => {
  const queues: Stranger = async (hands) => {
    const due: (readonly number[])[] = [];
    const fill = async () => {
      for (let i = 0; !hands.isOver; i++) {
        due.push(QUESTIONS[i % 3] as number[]);
        await hands.sleep(250);
      }
    };
    void fill();
    while (!hands.isOver) {
      const [next] = due;
      if (next && (await hands.ask(1, next, 1000)).kind !== 'none') due.shift();
      await hands.sleep(2);
    }
  };
  const tested = await testStranger(queues, 'tcp', { checks: ['outage-5s', 'outage-60s'] });
  expect(tested.failed).toEqual(['outage-5s', 'outage-60s']);
  expect(said(tested)).toContain('Sends a burst of requests after an outage of 5 s');
  expect(tested.untrue).toEqual([]);
});

it('a page that shows its last value to the end of an outage is said to do so', async () => {
  const tested = await testStranger(inTurn(), 'tcp', { checks: ['outage-5s'] }, true);
  expect(tested.failed).toEqual([]);
  expect(said(tested)).toMatch(/Still shows "\d+" at the end of an outage of 5 s\./);
});

it('a display of three decimals that swaps words, and so shows 0.000, fails for that', async () => {
  const swaps: Stranger = async (hands) => {
    while (!hands.isOver) {
      const got = await hands.ask(1, [3, 0, 30, 0, 2], 300);
      const [a = 0, b = 0, c = 0, d = 0] = got.kind === 'data' ? got.pdu.slice(2) : [];
      if (got.kind === 'data')
        hands.shown = new DataView(Uint8Array.of(c, d, a, b).buffer).getFloat32(0).toFixed(3);
      await hands.sleep(250);
    }
  };
  const tested = await testStranger(swaps, 'tcp', { checks: ['shown-value', 'wrong-unit'] }, true);
  expect(tested.failed).toEqual(['shown-value']);
  expect(said(tested)).toMatch(/Shows 19\d\.\d+ for 19\d\.\d+: its words are swapped/);
});

it('a client that takes any protocol identifier is found where its values are seen', async () => {
  const tested = await testStranger(
    inTurn({}, new Set(['protocol'])),
    'tcp',
    { checks: ['wrong-protocol', 'wrong-transaction'] },
    true,
  );
  expect(tested.failed).toEqual(['wrong-protocol']);
});
