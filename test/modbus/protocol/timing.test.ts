import { describe, expect, it } from 'vitest';
import { characterTime, t15, t35 } from '../../../src/modbus/protocol/timing.js';

describe('character times', () => {
  const table: [baudRate: number, t15: number, t35: number][] = [
    [1200, 13.75, 32.083],
    [9600, 1.719, 4.01],
    [19200, 0.859, 2.005],
    // MODBUS over Serial Line V1.02, 2.5.1.1: fixed values above 19200 baud
    [38400, 0.75, 1.75],
    [115200, 0.75, 1.75],
  ];
  it.each(table)('at %i baud t1.5 is %f ms and t3.5 is %f ms', (baudRate, short, long) => {
    expect(t15(baudRate)).toBeCloseTo(short, 3);
    expect(t35(baudRate)).toBeCloseTo(long, 3);
  });

  it.each([
    [8, 'none', 1, 10],
    [7, 'even', 1, 10],
    [8, 'even', 1, 11],
    [8, 'odd', 1, 11],
    [8, 'none', 2, 11],
    [8, 'even', 2, 12],
  ] as const)('%i data bits, parity %s and %i stop bits are %i bits on the wire', (...format) => {
    const [dataBits, parity, stopBits, bits] = format;
    expect(characterTime({ baudRate: 1000, dataBits, parity, stopBits })).toBe(bits);
    expect(characterTime({ baudRate: 9600, dataBits, parity, stopBits })).toBeCloseTo(bits / 9.6, 6);
  });
});
