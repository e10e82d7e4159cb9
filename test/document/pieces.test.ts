import { expect, test } from 'vitest';
import { parseText } from '../../src/document/text/parse-text.js';
import { Assembly, piecesOf } from '../../src/document/text/pieces.js';

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + sizeOf(each), 1);
}

test('a file of any size passes from one thread to another in small pieces, and is the same afterwards', () => {
  const holding = Array.from({ length: 3000 }, (_, address) => ({
    address,
    name: `n${address}`,
    value: [1, 2],
  }));
  const whole = {
    devices: { a: { registers: { holding, coils: [] } }, __proto__of: {}, none: null },
    big: 2n ** 60n,
    lines: {},
  };
  const assembly = new Assembly();
  for (const piece of piecesOf(whole)) {
    expect(sizeOf(piece.value)).toBeLessThan(1000);
    assembly.add(structuredClone(piece));
  }
  expect(assembly.value).toEqual(whole);
});

test('a name that has a meaning in JavaScript is just a name', () => {
  const entries = Array.from({ length: 500 }, (_, i) => `k${i}: 1`).join('\n  ');
  const parsed = parseText(`devices:\n  __proto__: {constructor: 1}\n  ${entries}\n`);
  const assembly = new Assembly();
  if (parsed.ok) for (const piece of piecesOf(parsed.source.value)) assembly.add(structuredClone(piece));
  const { devices } = assembly.value as { devices: object };
  expect(Object.keys(devices)[0]).toBe('__proto__');
  expect(({} as { constructor: unknown }).constructor).toBe(Object);
});
