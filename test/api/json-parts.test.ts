import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonParts } from '../../src/api/json-parts.js';

function countOf(...pieces: Uint8Array[]): number {
  const parts = new JsonParts();
  for (const piece of pieces) parts.take(piece);
  return parts.count;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Names and values, nested ones included. */
function partsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner = Object.values(value).reduce((sum: number, each) => sum + partsIn(each), 1);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}

test.each([
  ['3', 1],
  ['[]', 2],
  ['[1,2]', 3],
  ['{"a":[1]}', 4],
  ['"[{,:"', 1],
  ['"a\\"[","b"', 2],
  ['"\\\\",1', 2],
  ['"µ€😀,",1', 2],
])('%s counts as %i', (text, count) => {
  expect(countOf(bytesOf(text))).toBe(count);
});

test('any JSON text counts for no less than its names and values, and for no more than twice as many', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const count = countOf(bytesOf(text));
      expect(count).toBeGreaterThanOrEqual(partsIn(value));
      expect(count).toBeLessThanOrEqual(2 * partsIn(value));
    }),
  );
});

test('a text that arrives in pieces counts as the whole one', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, at) => {
      const bytes = bytesOf(text);
      const cut = at % (bytes.length + 1);
      expect(countOf(bytes.subarray(0, cut), bytes.subarray(cut))).toBe(countOf(bytes));
      expect(countOf(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toBe(countOf(bytes));
    }),
  );
});
