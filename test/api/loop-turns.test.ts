import { expect, test } from 'vitest';
import { LoopTurns } from '../../src/api/loop-turns.js';

/** Lines on which something passes all the time. */
let passed = 0;
const busy = () => ++passed;

/** The number of turns of the event loop since the call. */
function countTurns(): { count: number } {
  const turns = { count: 0 };
  const next = () => {
    turns.count++;
    if (turns.count < 100) setImmediate(next);
  };
  setImmediate(next);
  return turns;
}

test('each piece of work has a turn of the event loop of its own, in the order of asking', async () => {
  const loop = new LoopTurns(busy);
  const turns = countTurns();
  const done: { piece: number; turn: number }[] = [];
  await new Promise<void>((resolve) => {
    for (let piece = 0; piece < 5; piece++) loop.take(() => done.push({ piece, turn: turns.count }));
    loop.take(resolve);
  });
  expect(done.map(({ piece }) => piece)).toEqual([0, 1, 2, 3, 4]);
  expect(new Set(done.map(({ turn }) => turn)).size).toBe(5);
});

test('work asked for by a piece of work has a later turn', async () => {
  const loop = new LoopTurns(busy);
  const turns = countTurns();
  const [first, second] = await new Promise<[number, number]>((resolve) => {
    loop.take(() => {
      const turn = turns.count;
      loop.take(() => resolve([turn, turns.count]));
    });
  });
  expect(second).toBeGreaterThan(first);
});

/** Runs for so long, in ms. */
function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** What `first` and pieces that wait behind it do, in the order of doing; each with the turn. */
async function orderOf(first: (loop: LoopTurns, note: (what: string) => void) => void) {
  const loop = new LoopTurns(() => 0);
  const turns = countTurns();
  const noted: { what: string; turn: number }[] = [];
  const note = (what: string) => noted.push({ what, turn: turns.count });
  await new Promise<void>((resolve) => {
    loop.take(() => {
      note('first');
      first(loop, note);
    });
    loop.take(() => note('behind'));
    loop.take(() => setImmediate(resolve));
  });
  return noted;
}

test('a request goes on in a turn that has room', async () => {
  // A turn may begin late on a busy machine, but not so often.
  for (let attempt = 0; ; attempt++) {
    const noted = await orderOf((loop, note) => loop.goOn(() => note('second')));
    expect(noted.map(({ what }) => what)).toEqual(['first', 'second', 'behind']);
    if (noted[0]?.turn === noted[1]?.turn) return;
    expect(attempt).toBeLessThan(20);
  }
});

test('a request goes on in the next turn when its turn has no room left, before those behind it', async () => {
  const noted = await orderOf((loop, note) => {
    burn(1);
    loop.goOn(() => note('second'));
    loop.goOn(() => note('third'));
  });
  expect(noted.map(({ what }) => what)).toEqual(['first', 'second', 'third', 'behind']);
  expect(new Set(noted.map(({ turn }) => turn)).size).toBe(4);
});

test('between two turns, a request goes on behind those that wait', async () => {
  const loop = new LoopTurns(() => 0);
  const done: string[] = [];
  await new Promise<void>((resolve) => {
    loop.take(() => done.push('waiting'));
    loop.goOn(() => {
      done.push('going on');
      resolve();
    });
  });
  expect(done).toEqual(['waiting', 'going on']);
});

test('a long piece of work is followed by a rest of at least its own length', async () => {
  const loop = new LoopTurns(busy);
  const [endedAt, nextAt] = await new Promise<[number, number]>((resolve) => {
    let endedAt = 0;
    loop.take(() => {
      burn(20);
      endedAt = performance.now();
    });
    loop.take(() => resolve([endedAt, performance.now()]));
  });
  expect(nextAt - endedAt).toBeGreaterThanOrEqual(20);
});

/** How long `count` pieces take together, in ms. */
function timeOf(count: number, work: () => void, laterMs?: number, traffic = busy): Promise<number> {
  const loop = new LoopTurns(traffic);
  const startedAt = performance.now();
  return new Promise((resolve) => {
    for (let piece = 0; piece < count; piece++) loop.take(work, laterMs);
    loop.take(() => resolve(performance.now() - startedAt));
  });
}

test('many short pieces of work together take a third of the time at most', async () => {
  // 25 ms of work and the rest for all of it but the last ms; a timer may end 1 ms early.
  expect(await timeOf(100, () => burn(0.25))).toBeGreaterThanOrEqual(70);
});

test('what a piece causes at other times is rested for, too', async () => {
  expect(await timeOf(50, () => {}, 0.5)).toBeGreaterThanOrEqual(45);
});

test('while nothing passes the lines, nobody rests', async () => {
  const quiet = () => 0;
  // With rests this would take 200 s, more than the time limit of a test.
  expect(await timeOf(100, () => {}, 1000, quiet)).toBeLessThan(100_000);
});
