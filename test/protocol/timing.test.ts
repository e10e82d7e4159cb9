import { describe, expect, it } from 'vitest';
import { characterTime, t15, t35 } from '../../src/protocol/timing.js';

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

  it('counts eleven bits to a character, whatever the baud rate', () => {
    expect(characterTime(11_000)).toBe(1);
    expect(characterTime(115200)).toBeCloseTo(0.0955, 4);
  });
});
