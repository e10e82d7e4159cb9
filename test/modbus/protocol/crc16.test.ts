import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc16 } from '../../../src/modbus/protocol/crc16.js';
import { encodeRtu } from '../../../src/modbus/protocol/rtu.js';
import { CRC_EXAMPLE } from './application-protocol.js';
import { bytesOf, hexOf } from './hex.js';

/** The implementation of another project, bit by bit instead of by a table. */
const reference = createRequire(import.meta.url)('modbus-serial/utils/crc16.js') as (bytes: Buffer) => number;

describe('CRC-16', () => {
  it('has the value of the example in the serial line specification', () => {
    expect(crc16(bytesOf(CRC_EXAMPLE.message))).toBe(CRC_EXAMPLE.crc);
    expect(hexOf(encodeRtu(2, Uint8Array.of(7)))).toBe('02074112');
  });

  it('has the check value of CRC-16/MODBUS, 4B37 for the text 123456789', () => {
    expect(crc16(Buffer.from('123456789'))).toBe(0x4b37);
    expect(crc16(new Uint8Array())).toBe(0xffff);
  });

  it('agrees with modbus-serial for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(crc16(bytes)).toBe(reference(Buffer.from(bytes)));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes a part of a longer buffer as it takes a copy of it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), fc.nat(40), (bytes, a, b) => {
        const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)];
        expect(crc16(bytes, start, end)).toBe(crc16(bytes.slice(start, end)));
      }),
    );
  });

  it('notices every single flipped bit of a frame', () => {
    const frame = encodeRtu(17, bytesOf('03 006B 0003'));
    for (let bit = 0; bit < 8 * frame.length; bit++) {
      const damaged = frame.slice();
      damaged[bit >>> 3] = (damaged[bit >>> 3] ?? 0) ^ (1 << (bit & 7));
      expect(crc16(damaged), `bit ${bit}`).not.toBe(0);
    }
    expect(crc16(frame)).toBe(0);
  });
});
