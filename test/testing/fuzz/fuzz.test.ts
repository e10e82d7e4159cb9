import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { At } from '../../../src/common/schema/at.js';
import { Findings } from '../../../src/common/schema/findings.js';
import { type Move, type Schedule, stepOf } from '../../../src/testing/fuzz/move.js';
import { shrunk } from '../../../src/testing/fuzz/shrink.js';
import { readScenario } from '../../../src/testing/scenario/read-scenario.js';
import { TestRun } from '../../../src/testing/scenario/test-run.js';
import type { Habits, Mistake } from '../client/habits.js';
import { WRITES_BACK } from '../client/observers.js';
import { inVirtualTime, untilOver, virtualBench } from '../client/virtual-bench.js';
import { fuzzModel } from './fuzz-bench.js';
import { PLANTED } from './planted.js';
import type { Deed, Experience, Trap } from './trap.js';

/* Clients that fail at one thing, and one that does not, fuzzed in virtual time. */

inVirtualTime();

const fault = (...faults: object[]) => ({ fault: { when: { line: 'bus' }, do: faults } });
const move = (does: Move['does'], after = 0, requests = 1): Move => ({ after, requests, does });

function planted(name: string) {
  const found = PLANTED.find((each) => each.name === name);
  if (!found) throw new Error(`nobody has the mistake: ${name}`);
  return found;
}

const found = new Map<string, ReturnType<typeof fuzzModel>>();

/** What eight moves find of a client with a mistake; each is fuzzed once. */
function foundOf(on: 'serial' | 'tcp', mistake: Mistake) {
  const key = `${mistake} on ${on}`;
  const report = found.get(key) ?? fuzzModel({ on, habits: { mistakes: [mistake] } }, { mostMoves: 8 });
  found.set(key, report);
  return report;
}

it.each([
  ['serial', 'crashes at a bad reply'],
  ['tcp', 'crashes at a bad reply'],
  ['serial', 'stops after an exception'],
  ['serial', 'repeats after exceptions without end'],
  ['tcp', 'never reconnects'],
] as const)('on %s finds a client that %s, and one move that shows it', async (on, mistake) => {
  const report = await foundOf(on, mistake);
  expect(report.verdict, report.conclusions.join(' ')).toBe('fail');
  expect(report.fuzzed?.schedule, report.conclusions.join(' ')).toHaveLength(1);
});

it.each(['serial', 'tcp'] as const)(
  'on %s finds nothing wrong with a client that bears it all',
  async (on) => {
    const { verdict, conclusions } = await fuzzModel({ on, habits: {} }, { mostMoves: 100 });
    expect(verdict, conclusions.join(' ')).toBe('pass');
  },
);

it('plays the same moves again, and says the same', async () => {
  const client = { on: 'serial', habits: { mistakes: ['crashes at a bad reply'] } } as const;
  const { fuzzed } = await foundOf('serial', 'crashes at a bad reply');
  const replay = (fuzzed?.schedule ?? []) as Schedule;
  expect((await fuzzModel(client, { replay })).verdict).toBe('fail');
  expect((await fuzzModel({ on: 'serial', habits: {} }, { replay })).verdict).not.toBe('fail');
});

it('does not blame a client on TCP for a value that it was sent among damaged bytes', async () => {
  const replay = [move(fault({ insert: '6e' }), 0, 3)];
  for (const seed of [1, 2, 3]) {
    const { verdict, conclusions } = await fuzzModel(
      { on: 'tcp', habits: WRITES_BACK, isObserved: true },
      { replay, seed },
    );
    expect(verdict, conclusions.join(' ')).not.toBe('fail');
  }
});

it('blames a client that no longer shows good values once it was sent another one', async () => {
  const replay = [move(fault({ exception: 4 })), move(fault({ values: [0] }), 1, 3)];
  const report = await fuzzModel(planted('a jump after an exception: keeps an average'), { replay });
  expect(report.verdict).toBe('fail');
  expect(report.conclusions.join(' ')).toContain('no longer shows the values of good replies');
});

it('blames a client on TCP that sends bytes with a length that no frame has', async () => {
  const replay = [move(fault({ duplicate: { times: 1 } })), move(fault({ close: 'end' }), 2)];
  const report = await fuzzModel(planted('a closed connection after a late reply: sends the rest of it'), {
    replay,
  });
  expect(report.conclusions.join(' ')).toContain('sent bytes that are not a request');
});

it('lets the client rest in place of a move that does nothing else', async () => {
  const bad = fault({ crc: 'invert' });
  const schedule: Schedule = [move(bad), move(fault({ early: true }), 2, 5), move(bad, 1)];
  const simulator = (await virtualBench()).simulator;
  expect(schedule.every((each) => stepOf(each, simulator))).toBe(true);
  const fails = async (candidate: Schedule) => {
    const [first, second] = candidate.filter(({ does }) => does === bad);
    return (
      first !== undefined &&
      second !== undefined &&
      candidate.slice(1).reduce((sum, { after, requests }) => sum + after + requests, 0) > 7
    );
  };
  expect(await shrunk(schedule, [], fails, () => false)).toEqual([move(bad), move(bad, 7)]);
});

describe('the scenario that comes out', () => {
  const play = async (text: string, habits: Partial<Habits>) => {
    const { simulator, clock, client } = await virtualBench('serial');
    const findings = new Findings();
    const scenario = readScenario(new At(parse(text), findings), simulator);
    expect(findings.listed, text).toEqual([]);
    if (!scenario) throw new Error(text);
    const polling = client(habits);
    void polling.poll();
    const report = await untilOver(clock, new TestRun(simulator, scenario, () => {}, clock).run());
    polling.stop();
    return report.findings.map(({ verdict }) => verdict);
  };

  it.each([
    'crashes at a bad reply',
    'stops after an exception',
    'repeats after exceptions without end',
  ] as const)('fails on a client that %s, and passes on one that does not', async (mistake) => {
    const { fuzzed } = await foundOf('serial', mistake);
    const text = fuzzed?.scenario ?? '';
    expect(await play(text, { mistakes: [mistake] }), text).toContain('fail');
    expect(new Set(await play(text, {})), text).toEqual(new Set(['pass']));
  });
});

it('finds a client that polls on and takes no reply any more', async () => {
  const trap =
    (): Trap =>
    ({ effect }) =>
      effect === 'none' ? 'freezes' : undefined;
  const frozen = { on: 'tcp', habits: WRITES_BACK, isObserved: true, trap } as const;
  const { verdict, conclusions } = await fuzzModel(frozen, { mostMoves: 8 });
  expect(verdict, conclusions.join(' ')).toBe('fail');
  expect(conclusions.join(' ')).toContain('no longer shows the values of good replies');
});

it('does not blame the moves for what happens without any', async () => {
  let started = 0;
  const trap = (): Trap => {
    const lives = started++ === 0 ? 100 : 8;
    return ({ requests }) => (requests > lives ? 'ends' : undefined);
  };
  const { verdict, conclusions } = await fuzzModel({ on: 'tcp', habits: {}, trap }, { mostMoves: 200 });
  expect(verdict, conclusions.join(' ')).toBe('fail');
  expect(conclusions.at(-1)).toMatch(/^The client .* on its own, without any move, in 2 of 2 plays\.$/);
});

const at =
  (effect: Experience['effect'], deed: Deed, times = 1) =>
  (): Trap => {
    let felt = 0;
    return (experience) => {
      if (experience.effect === effect) felt++;
      else if (experience.effect === 'good') felt = 0;
      return felt >= times ? deed : undefined;
    };
  };

it('finds a client that polls a third more slowly for ever after one exception', async () => {
  const client = { on: 'tcp', habits: {}, trap: at('exception', 'drags') } as const;
  const { conclusions, verdict } = await fuzzModel(client, { mostMoves: 10 });
  expect(verdict, conclusions.join(' ')).toBe('fail');
  expect(conclusions.at(-1)).toMatch(
    /polls every 2\d\d ms instead of every 2\d\d ms after one move, in 2 of 2 plays: exception 2 to one request/,
  );
});

it('goes on without what the client can not bear, and finds what else breaks it', async () => {
  const trap = (): Trap => {
    const [silent, refused] = [at('none', 'ends')(), at('exception', 'dies')()];
    return (experience) => silent(experience) ?? refused(experience);
  };
  const { conclusions, parameters } = await fuzzModel({ on: 'tcp', habits: {}, trap }, { mostMoves: 12 });
  expect(conclusions.slice(0, 2)).toEqual([
    expect.stringContaining('after one move, in 2 of 2 plays: no reply to one request ({silence: true}).'),
    expect.stringContaining('after one move, in 2 of 2 plays: exception 2 to one request ({exception: 2}).'),
  ]);
  expect(parameters.find(({ name }) => name === 'left out later')?.value).toContain('silence, exception');
});

it('leaves out what is known to break the client', async () => {
  const client = { on: 'tcp', habits: {}, trap: at('exception', 'dies') } as const;
  const order = { mostMoves: 60, seed: 3, except: ['exception', 'pdu', 'catalogue'] };
  const { conclusions, verdict } = await fuzzModel(client, order);
  expect(verdict, conclusions.join(' ')).toBe('pass');
});

it('says what the client met, in its own words', async () => {
  const client = { on: 'tcp', habits: { attempts: 2 }, trap: at('none', 'ends', 4) } as const;
  const replay = [
    move(fault({ exception: 4 })),
    move(fault({ silence: true }), 1, 6),
    move(fault({ delay: 10 })),
  ];
  const { conclusions, fuzzed } = await fuzzModel(client, { replay });
  // The last move never began, and the client ended before the second was over.
  expect(fuzzed?.schedule).toHaveLength(2);
  expect(conclusions.at(-1)).toMatch(
    /after 2 moves, in 2 of 2 plays: exception 4 to one request .*; one request later, no reply to 4 requests \(\{silence: true\}\)\.$/,
  );
});

it('says last what it has found, although the limit was reached', async () => {
  const client = { on: 'tcp', habits: {}, trap: at('none', 'dies') } as const;
  const { conclusions } = await fuzzModel(client, { limitMs: 300_000 });
  expect(conclusions.join(' ')).toContain('The limit of 5 min was reached');
  expect(conclusions.at(-1)).toContain('The client sent nothing for');
});

it('tries 300 moves in ten minutes on a client that polls four times a second', async () => {
  const habits = { periodMs: 250, timeoutMs: 500, attempts: 2 };
  const { tried } = await fuzzModel({ on: 'tcp', habits }, { limitMs: 600_000 });
  expect(tried?.moves).toBeGreaterThan(300);
});
