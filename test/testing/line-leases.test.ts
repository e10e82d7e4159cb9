import { expect, it } from 'vitest';
import { LineLeases } from '../../src/testing/line-leases.js';

it('a line is leased to one test or examination until that is over', () => {
  const leases = new LineLeases();
  const test = { name: 'test 1', isOver: false };
  const examination = { name: 'examination 1', isOver: false };
  expect(leases.take(['a', 'b'], test)).toBeUndefined();
  expect(leases.take(['c', 'b'], examination)).toEqual({ line: 'b', name: 'test 1' });
  expect(leases.take(['c'], examination)).toBeUndefined();
  test.isOver = true;
  expect(leases.take(['b'], examination)).toBeUndefined();
});
