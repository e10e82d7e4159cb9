import { afterEach, describe, expect, it, vi } from 'vitest';
import { At } from '../../../src/common/schema/at.js';
import { nativeMistakes } from '../helpers.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A file with a device of these entries. */
function fileOf(entries: readonly string[]): string {
  const holding = entries.map((entry) => `        - ${entry}\n`).join('');
  return `devices:\n  m:\n    registers:\n      holding:\n${holding}lines:\n  lan: {tcp: {port: 0}, units: {1: m}}\n`;
}

/** How often the reader looks at a part of a file, by the number of its entries. */
function looksAt(entries: number, entry: (i: number) => string): number {
  const looks = vi.spyOn(At.prototype, 'key');
  nativeMistakes(fileOf(Array.from({ length: entries }, (_, i) => entry(i))));
  const { length } = looks.mock.calls;
  looks.mockRestore();
  return length;
}

describe('a device of many entries', () => {
  it.each([
    ['names', (i: number) => `{address: ${i}, name: r${i}}`],
    ['reactions', (i: number) => `{address: ${i}, name: r${i}, write: true, limits: {max: 5}}`],
    ['values that follow others', (i: number) => `{address: ${i}, name: r${i}, follows: {name: r${i + 1}}}`],
    ['names that are not there', (i: number) => `{address: ${i}, follows: {name: z${i}}}`],
    ['one name again and again', (i: number) => `{address: ${i}, name: same}`],
  ])('with %s takes four times the work for four times the entries', (_, entry) => {
    const few = looksAt(100, entry);
    expect(few).toBeGreaterThan(100);
    expect(looksAt(400, entry)).toBeLessThan(5 * few);
  });

  it('has a mistake told at its own entry, in whatever order the entries are', () => {
    const entries = [
      '{address: 10, follows: {name: nobody}}',
      '{address: 0, value: [1, 2]}',
      '{address: 5, name: b}',
    ];
    expect(nativeMistakes(fileOf(entries))).toEqual([
      'devices.m.registers.holding[0].follows: unknown name "nobody" (known: b)',
    ]);
  });
});
