import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { compact } from '../../src/common/compact.js';
import { MAX_SEED, newSeed, randomAt, seededRandom, seedOf } from '../../src/common/random.js';
import { failure, success } from '../../src/common/result.js';
import { askedHere, atOnce, inSlices, nextParts, type Work } from '../../src/common/work.js';

/* What the wing promises: the same numbers for a seed in every release, and work that lets others have their turn. */

describe('random numbers', () => {
  it('of a seed are the same in every release', () => {
    const drawn = (seed: number, use: number) => {
      const random = seededRandom(seed, use);
      return [random.below(1_000_000), random.below(1_000_000), random.below(10)];
    };
    expect([drawn(0, 1), drawn(7, 1), drawn(7, 2), drawn(MAX_SEED, 2 ** 40)]).toMatchInlineSnapshot(`
      [
        [
          957930,
          649345,
          5,
        ],
        [
          684571,
          986105,
          3,
        ],
        [
          299372,
          897108,
          3,
        ],
        [
          320163,
          898449,
          7,
        ],
      ]
    `);
    expect([
      seedOf(7, 'meter.voltage'),
      seedOf(7, 'meter.current'),
      seedOf(8, 'meter.voltage'),
    ]).toMatchInlineSnapshot(`
      [
        1505743646,
        2781261062,
        1248681314,
      ]
    `);
  });

  it('of each use begin where they begin, whatever another use has drawn', () => {
    for (const use of [0, 1, 2 ** 32, 2 ** 53 - 1]) {
      expect(randomAt(7, use)).toBe(seededRandom(7, use).next());
      expect(randomAt(7, use)).toBeLessThan(1);
    }
    expect(randomAt(7, 1)).not.toBe(randomAt(7, 1 + 2 ** 32));
  });

  it('make seeds of 32 bits', () => {
    expect([newSeed(() => 0), newSeed(() => 1 - 2 ** -53)]).toEqual([0, MAX_SEED]);
  });
});

describe('work', () => {
  /** Takes longer than a slice for each of its parts. */
  function* parts(name: string, seen: string[]): Work<string> {
    for (let i = 0; i < 3; i++) {
      const end = performance.now() + 1;
      while (performance.now() < end);
      seen.push(`${name}${i}`);
      yield;
    }
    return name;
  }

  it('in slices lets others have their turn, and shares a turn with no other work', async () => {
    const seen: string[] = [];
    const both = Promise.all([inSlices(parts('a', seen)), inSlices(parts('b', seen))]);
    expect(seen).toEqual(['a0', 'b0']);
    await turn();
    await turn();
    expect(seen.length).toBeLessThanOrEqual(4);
    expect(await both).toEqual(['a', 'b']);
    expect(seen).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
    expect(atOnce(parts('c', seen))).toBe('c');
  });

  it('of a list makes a part at least, and says which is the last', () => {
    function* slow(): Generator<number | undefined> {
      for (const each of [1, undefined, 2]) {
        const end = performance.now() + 1;
        while (performance.now() < end);
        yield each;
      }
    }
    const list = slow();
    const made = [nextParts(list), nextParts(list), nextParts(list), nextParts(list)];
    expect(made).toEqual([
      { parts: [1], isLast: false },
      { parts: [], isLast: false },
      { parts: [2], isLast: false },
      { parts: [], isLast: true },
    ]);
  });

  it('that is asked answers one question after the other', async () => {
    function* doubles(): Generator<number, number, number> {
      let asked = yield 0;
      for (;;) asked = yield 2 * asked;
    }
    const work = doubles();
    work.next();
    const { ask, end } = askedHere(work);
    expect([await ask(2), await ask(3)]).toEqual([4, 6]);
    await end();
  });
});

it('a result is a value or a reason, and a compact object has no undefined keys', () => {
  expect([success(1), failure('why')]).toEqual([
    { ok: true, value: 1 },
    { ok: false, error: 'why' },
  ]);
  expect(Object.keys(compact({ a: 0, b: undefined, c: null }))).toEqual(['a', 'c']);
});
