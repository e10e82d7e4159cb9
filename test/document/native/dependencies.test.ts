import { describe, expect, it } from 'vitest';
import { orderOf } from '../../../src/document/native/dependencies.js';

describe('values that depend upon each other', () => {
  it('come after those that they need', () => {
    const needs = new Map([
      ['energy', ['power']],
      ['power', ['voltage', 'current', 'limit']],
      ['voltage', []],
      ['current', ['voltage']],
    ]);
    expect(orderOf(needs)).toEqual({ ok: true, order: ['voltage', 'current', 'power', 'energy'] });
  });

  it.each([
    [{ a: ['a'] }, 'a -> a'],
    [{ a: ['b'], b: ['a'] }, 'a -> b -> a'],
    [{ x: ['a'], a: ['plain', 'b'], b: ['other.c'], 'other.c': ['a'] }, 'a -> b -> other.c -> a'],
  ])('in a circle %o are refused with the path around', (needs: object, path) => {
    const found = orderOf(new Map(Object.entries(needs)));
    expect(found).toMatchObject({ ok: false, error: `depends on itself: ${path}` });
  });

  it('may be needed twice', () => {
    const needs = new Map([
      ['a', ['b', 'c', 'b']],
      ['b', ['d']],
      ['c', ['d']],
      ['d', []],
    ]);
    expect(orderOf(needs)).toEqual({ ok: true, order: ['d', 'b', 'c', 'a'] });
  });

  it('are refused in a chain that is too long, whatever its length, in any order', () => {
    const chain = (length: number) =>
      Array.from({ length }, (_, i) => [`v${i}`, i === 0 ? [] : [`v${i - 1}`]] as [string, string[]]);
    expect(orderOf(new Map(chain(101)))).toMatchObject({ ok: true });
    expect(orderOf(new Map(chain(102)))).toMatchObject({ ok: false, name: 'v101' });
    expect(orderOf(new Map(chain(102).reverse()))).toMatchObject({ ok: false, name: 'v101' });
    expect(orderOf(new Map(chain(50_000).reverse()))).toMatchObject({ ok: false, name: 'v49999' });
  });

  it('in a circle or a long chain are refused in the words of who asks', () => {
    expect(orderOf(new Map([['a', ['a']]]), 'follows')).toEqual({
      ok: false,
      name: 'a',
      error: 'follows itself: a -> a',
    });
    const chain = Array.from({ length: 102 }, (_, i) => [`v${i}`, [`v${i + 1}`]] as [string, string[]]);
    const message = 'a chain of more than 100 other values';
    expect(orderOf(new Map(chain))).toEqual({ ok: false, name: 'v0', error: `depends on ${message}` });
    expect(orderOf(new Map(chain), 'follows')).toEqual({
      ok: false,
      name: 'v0',
      error: `follows ${message}`,
    });
  });

  it('that are not listed depend on nothing, count in a chain, and have no place in the order', () => {
    expect(
      orderOf(
        new Map([
          ['a', ['outside', 'b']],
          ['b', []],
        ]),
      ),
    ).toEqual({ ok: true, order: ['b', 'a'] });
    const chain = Array.from({ length: 101 }, (_, i) => [`v${i}`, [`v${i + 1}`]] as [string, string[]]);
    expect(orderOf(new Map(chain))).toMatchObject({ ok: false, name: 'v0' });
    expect(orderOf(new Map(chain.slice(1)))).toMatchObject({ ok: true });
  });
});
