import { describe, expect, it } from 'vitest';
import { type Lease, LineLeases } from '../../src/testing/line-leases.js';

function taken(lease: Lease | string): Lease {
  if (typeof lease === 'string') throw new Error(lease);
  return lease;
}

describe('the leases of lines', () => {
  it('give all lines to one test or examination, or none, until it ends', () => {
    const leases = new LineLeases();
    const one = taken(leases.take(['a', 'b'], 'test'));
    expect(leases.take(['c', 'b'], 'examination')).toBe('test 1 runs on line b; DELETE stops it');
    const other = taken(leases.take(['c'], 'examination'));
    one.end();
    expect(taken(leases.take(['a', 'b'], 'test')).id).toBe(3);
    expect(other.id).toBe(2);
    expect(leases.take(['c'], 'test')).toBe('examination 2 runs on line c; DELETE stops it');
  });
});
