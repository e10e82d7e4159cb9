import { expect, it } from 'vitest';
import { printable, printableLine } from '../../../src/common/rest-client/printable.js';

it.each([
  ['an escape of a terminal', 'a\u001b[31mb', 'a?[31mb'],
  ['the 8-bit form of one', 'a\u009b31mb', 'a?31mb'],
  ['an override of the direction', 'a\u202eb\u2066c', 'a?b?c'],
  ['characters without width', 'a\u200bb\u200f', 'a?b?'],
  ['separators of lines', 'a\u2028b\u2029', 'a?b?'],
  ['a carriage return', 'good\rbad', 'good?bad'],
  ['letters of any script, lines and tabs', 'größe 温度\n\tx', 'größe 温度\n\tx'],
])('%s', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printableLine(text)).toBe(shown.replace(/[\n\t]/g, '?'));
});
