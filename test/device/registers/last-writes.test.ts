import { expect, it } from 'vitest';
import { LastWrites } from '../../../src/device/registers/accesses.js';

const write = (client: string) => ({ writer: { by: 'line', line: 'lan', client } as const, at: new Date(0) });

it('the last write of a cell is remembered, across the borders of pages', () => {
  const writes = new LastWrites();
  writes.note(250, 10, write('a'));
  writes.note(255, 2, write('b'));
  const clients = [249, 250, 254, 255, 256, 257, 259, 260].map((cell) => writes.get(cell)?.writer.client);
  expect(clients).toEqual([undefined, 'a', 'a', 'b', 'b', 'a', 'a', undefined]);
});

it('of very many cells, those in pages that were begun first are forgotten', () => {
  const writes = new LastWrites();
  writes.note(0, 65_536, write('a'));
  expect(writes.get(65_536 - 64 * 256 - 1)).toBeUndefined();
  expect(writes.get(65_536 - 64 * 256)).toBeDefined();
  expect(writes.get(65_535)).toBeDefined();
});
