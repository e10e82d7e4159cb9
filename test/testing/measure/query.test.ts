import { describe, expect, it } from 'vitest';
import { RTU } from '../../../src/modbus/protocol/framing.js';
import { lostBetween, query } from '../../../src/testing/measure/measure.js';

const queries = Array.from({ length: 500 }, (_, i) => query(i + 1, 9));
const short = queries.filter(({ request }) => request.pdu[0] === 8);
const long = queries.filter(({ request }) => request.pdu[0] === 16);

describe('the queries of a measurement', () => {
  it('are return query data, and each fourth is a write of 63 bytes in RTU, more than an adapter hands over at once', () => {
    expect([short.length, long.length]).toEqual([375, 125]);
    expect(queries.slice(0, 6).map(({ request }) => RTU.encode(request).length)).toEqual([
      8, 63, 8, 8, 8, 63,
    ]);
    expect(query(7, 9).request).toMatchObject({ transactionId: 7, unitId: 9, pdu: { length: 5 } });
    expect([...query(7, 9).request.pdu.subarray(0, 3)]).toEqual([8, 0, 0]);
  });

  it('that are short have other data each, and neighbours differ in both bytes, so none looks like an echo', () => {
    const words = short.map(({ request }) => [...request.pdu.subarray(3)] as [number, number]);
    expect(new Set(words.map(String)).size).toBe(short.length);
    for (const [n, [high, low]] of words.slice(1).entries()) {
      expect([high === words[n]?.[0], low === words[n]?.[1]]).toEqual([false, false]);
    }
  });

  it('that are long write no register: they say so, and are refused as an illegal data value', () => {
    for (const { request, reply } of long) {
      expect([...request.pdu.subarray(3, 6)]).toEqual([0, 0, 54]);
      expect([...reply.pdu]).toEqual([0x90, 3]);
    }
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
