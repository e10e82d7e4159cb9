import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRequest, encodeRequest } from '../../src/protocol/request.js';
import { SPECIFICATION_EXAMPLES } from '../vectors/application-protocol.js';
import { bytesOf, hexOf } from '../vectors/hex.js';
import { arbitraryRequest } from './arbitrary-request.js';

const words = (quantity: number): string => '0000'.repeat(quantity);
const octets = (quantity: number): string => '00'.repeat(quantity);

/** One right request per function. */
const GOOD: readonly string[] = [
  ...['01', '02', '03', '04'].map((code) => `${code} 0000 0001`),
  '05 0000 FF00',
  '06 0000 FFFF',
  '0F 0000 0009 02 FF01',
  '10 0000 0002 04 00010002',
  '16 0000 0000 FFFF',
  '17 0000 0001 0000 0002 04 00010002',
];

describe('decoding a request', () => {
  it.each([...GOOD, ...SPECIFICATION_EXAMPLES.map(({ request }) => request)])(
    'understands %s and writes it again',
    (pdu) => {
      const decoded = decodeRequest(bytesOf(pdu));
      if (!decoded.ok) throw new Error(`exception ${decoded.exception}`);
      expect(hexOf(encodeRequest(decoded.request))).toBe(hexOf(bytesOf(pdu)));
    },
  );

  it('gets back every request that can be encoded, in a PDU that fits', () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const pdu = encodeRequest(request);
        expect(pdu.length).toBeLessThanOrEqual(253);
        expect(decodeRequest(pdu)).toEqual({ ok: true, request });
      }),
      { numRuns: 1000 },
    );
  });

  it.each(GOOD)('answers 03 to %s cut off anywhere or followed by more', (hex) => {
    const pdu = bytesOf(hex);
    for (let length = 1; length < pdu.length; length++) {
      expect(decodeRequest(pdu.slice(0, length)), `${length} bytes`).toEqual({ ok: false, exception: 3 });
    }
    for (const extra of [1, 2, 253 - pdu.length]) {
      const longer = new Uint8Array(pdu.length + extra);
      longer.set(pdu);
      expect(decodeRequest(longer), `${extra} more`).toEqual({ ok: false, exception: 3 });
    }
  });

  const limits: [name: string, pdu: string, accepted: boolean][] = [
    ['0 coils', '01 0000 0000', false],
    ['2000 coils', '01 0000 07D0', true],
    ['2001 coils', '01 0000 07D1', false],
    ['65535 coils', '01 0000 FFFF', false],
    ['0 discrete inputs', '02 0000 0000', false],
    ['2000 discrete inputs', '02 0000 07D0', true],
    ['2001 discrete inputs', '02 0000 07D1', false],
    ['0 holding registers', '03 0000 0000', false],
    ['125 holding registers', '03 0000 007D', true],
    ['126 holding registers', '03 0000 007E', false],
    ['0 input registers', '04 0000 0000', false],
    ['125 input registers', '04 0000 007D', true],
    ['126 input registers', '04 0000 007E', false],
    ['65535 input registers', '04 0000 FFFF', false],
    ['writing 0 coils', '0F 0000 0000 00', false],
    ['writing 1968 coils', `0F 0000 07B0 F6 ${octets(246)}`, true],
    ['writing 1969 coils', `0F 0000 07B1 F7 ${octets(247)}`, false],
    ['writing 0 registers', '10 0000 0000 00', false],
    ['writing 123 registers', `10 0000 007B F6 ${words(123)}`, true],
    ['writing 124 registers', `10 0000 007C F8 ${words(124)}`, false],
    ['reading 0 and writing 1', '17 0000 0000 0000 0001 02 0000', false],
    ['reading 125 and writing 1', '17 0000 007D 0000 0001 02 0000', true],
    ['reading 126 and writing 1', '17 0000 007E 0000 0001 02 0000', false],
    ['reading 1 and writing 0', '17 0000 0001 0000 0000 00', false],
    ['reading 1 and writing 121', `17 0000 0001 0000 0079 F2 ${words(121)}`, true],
    ['reading 1 and writing 122', `17 0000 0001 0000 007A F4 ${words(122)}`, false],
  ];
  it.each(limits)('%s: %s', (_, pdu, accepted) => {
    const decoded = decodeRequest(bytesOf(pdu));
    expect(decoded.ok || decoded.exception).toBe(accepted ? true : 3);
  });

  const byteCounts: [name: string, pdu: string][] = [
    ['9 coils said to be in 1 byte', '0F 0000 0009 01 FF'],
    ['9 coils said to be in 1 byte, sent in 2', '0F 0000 0009 01 FF01'],
    ['9 coils said to be in 2 bytes, sent in 1', '0F 0000 0009 02 FF'],
    ['8 coils said to be in 2 bytes', '0F 0000 0008 02 FF00'],
    ['8 coils in 0 bytes', '0F 0000 0008 00'],
    ['2048 coils, whose byte count 256 wraps to 0', '0F 0000 0800 00'],
    ['2 registers in 2 bytes', '10 0000 0002 02 0000'],
    ['2 registers in 3 bytes', '10 0000 0002 03 000000'],
    ['1 register in 4 bytes', '10 0000 0001 04 00000000'],
    ['2 registers said to be in 4 bytes, sent in 2', '10 0000 0002 04 0000'],
    ['128 registers, whose byte count 256 wraps to 0', '10 0000 0080 00'],
    ['129 registers, whose byte count 258 wraps to 2', '10 0000 0081 02 0000'],
    ['read/write of 2 registers in 2 bytes', '17 0000 0001 0000 0002 02 0000'],
    ['read/write of 1 register said to be in 4 bytes', '17 0000 0001 0000 0001 04 0000'],
    ['read/write of 128 registers, whose byte count wraps to 0', '17 0000 0001 0000 0080 00'],
  ];
  it.each(byteCounts)('answers 03 to a byte count that does not fit: %s', (_, pdu) => {
    expect(decodeRequest(bytesOf(pdu))).toEqual({ ok: false, exception: 3 });
  });

  it('takes FF00 and 0000 for a single coil, and no other value', () => {
    const accepted = Array.from({ length: 0x10000 }, (_, value) => value).filter(
      (value) => decodeRequest(Uint8Array.of(5, 0, 0, value >>> 8, value & 0xff)).ok,
    );
    expect(accepted).toEqual([0x0000, 0xff00]);
  });

  it('answers 01 to every function it does not have, whatever follows, 0 and 128 to 255 included', () => {
    const known = [1, 2, 3, 4, 5, 6, 15, 16, 22, 23];
    for (let code = 0; code < 256; code++) {
      if (known.includes(code)) continue;
      for (const rest of ['', '0000 0001', '0000 0000', octets(252)]) {
        const pdu = bytesOf(code.toString(16).padStart(2, '0') + rest);
        expect(decodeRequest(pdu), `function ${code} ${rest}`).toEqual({ ok: false, exception: 1 });
      }
    }
  });

  it('answers a bare known function code with 03', () => {
    for (const code of [1, 2, 3, 4, 5, 6, 15, 16, 22, 23]) {
      expect(decodeRequest(Uint8Array.of(code)), `function ${code}`).toEqual({ ok: false, exception: 3 });
    }
  });

  it('never throws, and writes again byte by byte what it accepts, up to padding bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 253 }), (pdu) => {
        const decoded = decodeRequest(pdu);
        if (!decoded.ok) return;
        const again = encodeRequest(decoded.request);
        expect(again.length).toBe(pdu.length);
        const end = decoded.request.code === 15 ? pdu.length - 1 : pdu.length;
        expect(hexOf(again.slice(0, end))).toBe(hexOf(pdu.slice(0, end)));
      }),
      { numRuns: 2000 },
    );
  });
});
