import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRequest } from '../../../src/modbus/protocol/request.js';
import { SPECIFICATION_EXAMPLES } from './application-protocol.js';
import { arbitraryRequest, FUNCTIONS } from './arbitrary-request.js';
import { encodeRequest } from './encode-request.js';
import { bytesOf, hexOf } from './hex.js';

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
  ...['07', '0B', '0C', '11'],
  '08 000B 0000',
  '14 0E 06 0004 0001 0002 06 0003 0009 0002',
  '15 0D 06 0004 0007 0003 06AF 04BE 100D',
  '18 04DE',
  '2B 0E 04 FF',
];

describe('decoding a request', () => {
  it.each([...GOOD, ...SPECIFICATION_EXAMPLES.map(({ request }) => request)])(
    'understands %s and writes it again',
    (pdu) => {
      const decoded = decodeRequest(bytesOf(pdu));
      if (!decoded.ok) throw new Error(`exception ${decoded.error}`);
      expect(hexOf(encodeRequest(decoded.value))).toBe(hexOf(bytesOf(pdu)));
    },
  );

  it('gets back every request that can be encoded, in a PDU that fits', () => {
    fc.assert(
      fc.property(arbitraryRequest(), (request) => {
        const pdu = encodeRequest(request);
        expect(pdu.length).toBeLessThanOrEqual(253);
        expect(decodeRequest(pdu)).toEqual({ ok: true, value: request });
      }),
      { numRuns: 1000 },
    );
  });

  it.each(GOOD)('answers 03 to %s cut off anywhere or followed by more', (hex) => {
    const pdu = bytesOf(hex);
    for (let length = 1; length < pdu.length; length++) {
      expect(decodeRequest(pdu.slice(0, length)), `${length} bytes`).toEqual({ ok: false, error: 3 });
    }
    for (const extra of [1, 2, 253 - pdu.length]) {
      const longer = new Uint8Array(pdu.length + extra);
      longer.set(pdu);
      expect(decodeRequest(longer), `${extra} more`).toEqual({ ok: false, error: 3 });
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
    expect(decoded.ok || decoded.error).toBe(accepted ? true : 3);
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
    expect(decodeRequest(bytesOf(pdu))).toEqual({ ok: false, error: 3 });
  });

  it('takes FF00 and 0000 for a single coil, and no other value', () => {
    const accepted = Array.from({ length: 0x10000 }, (_, value) => value).filter(
      (value) => decodeRequest(Uint8Array.of(5, 0, 0, value >>> 8, value & 0xff)).ok,
    );
    expect(accepted).toEqual([0x0000, 0xff00]);
  });

  it('answers 01 to every function it does not have, whatever follows, 0 and 128 to 255 included', () => {
    for (let code = 0; code < 256; code++) {
      if (FUNCTIONS.includes(code)) continue;
      for (const rest of ['', '0000 0001', '0000 0000', octets(252)]) {
        const pdu = bytesOf(code.toString(16).padStart(2, '0') + rest);
        expect(decodeRequest(pdu), `function ${code} ${rest}`).toEqual({ ok: false, error: 1 });
      }
    }
  });

  it('answers a bare function code with 03 where more is needed', () => {
    for (const code of FUNCTIONS) {
      const bare = decodeRequest(Uint8Array.of(code));
      const expected = [7, 11, 12, 17].includes(code)
        ? { ok: true, value: { code } }
        : { ok: false, error: 3 };
      expect(bare, `function ${code}`).toEqual(expected);
    }
  });

  it('answers 01 to every sub-function of diagnostics that the specification reserves', () => {
    const known = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20];
    for (let subFunction = 0; subFunction <= 0xffff; subFunction++) {
      const decoded = decodeRequest(Uint8Array.of(8, subFunction >>> 8, subFunction & 0xff, 0, 0));
      expect(decoded.ok || decoded.error).toBe(known.includes(subFunction) ? true : 1);
    }
  });

  const diagnosticData: [pdu: string, accepted: boolean][] = [
    ['08 0000', false],
    ['08 0000 A5', false],
    ['08 0000 A537', true],
    ['08 0000 A53701', false],
    ['08 0000 A5370102', true],
    [`08 0000 ${words(125)}`, true],
    ['08 0001 0000', true],
    ['08 0001 FF00', true],
    ['08 0001 00FF', false],
    ['08 0001 0001', false],
    ['08 0001 FF00 0000', false],
    ['08 0003 0A00', true],
    ['08 0003 0A0A', false],
    ['08 0004 0001', false],
    ['08 000A FF00', false],
    ['08 0014 0001', false],
  ];
  it.each(diagnosticData)('diagnostics %s: %s', (pdu, accepted) => {
    const decoded = decodeRequest(bytesOf(pdu));
    expect(decoded.ok || decoded.error).toBe(accepted ? true : 3);
  });

  const part = '06 0001 0000 0001';
  const fileRecords: [name: string, pdu: string, accepted: boolean][] = [
    ['reading 35 parts, byte count 245', `14 F5 ${part.repeat(35)}`, true],
    ['reading 36 parts, byte count 252', `14 FC ${part.repeat(36)}`, false],
    ['reading 0 parts', '14 00', false],
    ['reading 6 bytes of a part', '14 06 06 0001 0000 00', false],
    ['reading 8 bytes, which are no whole parts', `14 08 ${part} 06`, false],
    ['a byte count that says less than there is', `14 07 ${part.repeat(2)}`, false],
    ['a byte count that says more than there is', `14 0E ${part}`, false],
    ['reading no records', '14 07 06 0001 0000 0000', false],
    ['reading no records in the second part', `14 0E ${part} 06 0001 0000 0000`, false],
    ['reading 124 records, a response of 252 bytes', '14 07 06 0001 0000 007C', true],
    ['reading 125 records, a response of 254 bytes', '14 07 06 0001 0000 007D', false],
    ['reading 62 and 61 records, a response of 252 bytes', '14 0E 06 0001 0000 003E 06 0001 0000 003D', true],
    [
      'reading 62 and 62 records, a response of 254 bytes',
      '14 0E 06 0001 0000 003E 06 0001 0000 003E',
      false,
    ],
    ['reading 65535 and 2 records, whose sum wraps', '14 0E 06 0001 0000 FFFF 06 0001 0000 0002', false],
    ['writing 122 records, byte count 251', `15 FB 06 0001 0000 007A ${words(122)}`, true],
    ['writing 0 parts', '15 00', false],
    ['writing a part without records', '15 07 06 0001 0000 0000', false],
    ['writing no records, then one', `15 10 06 0001 0000 0000 ${part} 0001`, false],
    ['writing one record, then none', `15 10 ${part} 0001 06 0001 0000 0000`, false],
    ['writing more records than there is data', '15 09 06 0001 0000 0002 0001', false],
    ['writing fewer records than there is data', '15 0B 06 0001 0000 0001 0001 0002', false],
    ['writing 65535 records with two bytes', '15 09 06 0001 0000 FFFF 0001', false],
    ['a beginning of a part behind the last one', `15 0F ${part} 0001 06 0001 0000 00`, false],
    ['a byte count that says less than is written', `15 09 ${part} 0001 00`, false],
    ['a byte count that says more than is written', `15 0A ${part} 0001`, false],
  ];
  it.each(fileRecords)('%s: %s', (_, pdu, accepted) => {
    const decoded = decodeRequest(bytesOf(pdu));
    expect(decoded.ok || decoded.error).toBe(accepted ? true : 3);
  });

  it('reads device identification with codes 1 to 4 and answers 03 to the others', () => {
    for (let access = 0; access < 256; access++) {
      const decoded = decodeRequest(Uint8Array.of(43, 14, access, 0));
      expect(decoded.ok || decoded.error, `code ${access}`).toBe(access >= 1 && access <= 4 ? true : 3);
    }
  });

  it('answers 01 to every other MEI type, whatever follows', () => {
    for (let type = 0; type < 256; type++) {
      if (type === 14) continue;
      for (const rest of [[], [1, 0], [0, 0, 0, 0, 0]]) {
        const decoded = decodeRequest(Uint8Array.of(43, type, ...rest));
        expect(decoded, `MEI type ${type}`).toEqual({ ok: false, error: 1 });
      }
    }
  });

  it('never throws, and writes again byte by byte what it accepts, up to padding bits', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 253 }), (pdu) => {
        const decoded = decodeRequest(pdu);
        if (!decoded.ok) return;
        const again = encodeRequest(decoded.value);
        expect(again.length).toBe(pdu.length);
        const end = decoded.value.code === 15 ? pdu.length - 1 : pdu.length;
        expect(hexOf(again.slice(0, end))).toBe(hexOf(pdu.slice(0, end)));
      }),
      { numRuns: 2000 },
    );
  });
});

it('a coil is written on or off', () => {
  const written = ['05 0001 FF00', '05 0001 0000'].map((pdu) => decodeRequest(bytesOf(pdu)));
  expect(written).toMatchObject([{ value: { on: true } }, { value: { on: false } }]);
});
