import { describe, expect, it } from 'vitest';
import { lostBetween } from '../../src/simulator/selftest/measure.js';
import { query } from '../../src/simulator/selftest/query.js';

describe('the queries of a self-test', () => {
  it('all have other data, and neighbours differ in both bytes, so none looks like an echo of the answer before', () => {
    const words = Array.from({ length: 500 }, (_, n) => [...query(n, 1).pdu.subarray(3)] as [number, number]);
    expect(new Set(words.map(String)).size).toBe(500);
    for (const [n, [high, low]] of words.slice(1).entries()) {
      expect([high === words[n]?.[0], low === words[n]?.[1]]).toEqual([false, false]);
    }
  });

  it('are return query data', () => {
    expect([...query(7, 9).pdu.subarray(0, 3)]).toEqual([8, 0, 0]);
    expect(query(7, 9)).toMatchObject({ transactionId: 7, unitId: 9, pdu: { length: 5 } });
  });
});

describe('lost characters', () => {
  const counts = { framing: 1, overrun: 10, parity: 1, break: 1, bufferOverrun: 100 };

  it('are those of the UART and those of the full buffer of the kernel', () => {
    expect(lostBetween(counts, { ...counts, framing: 9, overrun: 12, bufferOverrun: 103 })).toBe(5);
  });

  it('are none where the driver does not count', () => {
    expect(lostBetween(undefined, undefined)).toBe(0);
  });
});
