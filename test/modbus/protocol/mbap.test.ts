import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/modbus/protocol/bytes.js';
import { decodeMbap, encodeMbap, type MbapFrame } from '../../../src/modbus/protocol/mbap.js';
import { arbitraryRequest, byte, word } from './arbitrary-request.js';
import { encodeRequest } from './encode-request.js';
import { bytesOf, hexOf } from './hex.js';

const arbitraryFrame: fc.Arbitrary<MbapFrame> = fc.record({
  transactionId: word,
  unitId: byte,
  pdu: fc.oneof(arbitraryRequest().map(encodeRequest), fc.uint8Array({ minLength: 1, maxLength: 253 })),
});

describe('Modbus TCP frames', () => {
  it('puts header fields most significant byte first, with a length that counts the unit identifier', () => {
    // Modbus Messaging on TCP/IP V1.0b, 4.2: transaction 1501, unit FF, read one register at 4
    const adu = encodeMbap({ transactionId: 0x1501, unitId: 0xff, pdu: bytesOf('03 0004 0001') });
    expect(hexOf(adu)).toBe('150100000006ff0300040001');
  });

  it('gets back every frame, whole', () => {
    fc.assert(
      fc.property(arbitraryFrame, (frame) => {
        const adu = encodeMbap(frame);
        expect(adu.length).toBe(frame.pdu.length + 7);
        expect(decodeMbap(adu)).toEqual({ kind: 'frame', frame, length: adu.length });
      }),
    );
  });

  it('waits for more at every byte of a frame but the last, also behind other frames', () => {
    fc.assert(
      fc.property(arbitraryFrame, (frame) => {
        const adu = encodeMbap(frame);
        const behind = concatBytes(adu, adu);
        for (let length = 0; length < adu.length; length++) {
          expect(decodeMbap(adu.subarray(0, length)).kind, `${length} bytes`).toBe('more');
          expect(decodeMbap(behind, adu.length, adu.length + length).kind, `${length} bytes`).toBe('more');
        }
      }),
      { numRuns: 30 },
    );
  });

  it('takes pipelined frames one by one, in order', () => {
    fc.assert(
      fc.property(fc.array(arbitraryFrame, { minLength: 2, maxLength: 5 }), (frames) => {
        let rest = concatBytes(...frames.map(encodeMbap));
        for (const frame of frames) {
          const decoded = decodeMbap(rest);
          expect(decoded).toMatchObject({ kind: 'frame', frame });
          rest = rest.subarray(decoded.kind === 'frame' ? decoded.length : 0);
        }
        expect(decodeMbap(rest).kind).toBe('more');
      }),
    );
  });

  const invalid: [name: string, bytes: string, reason: RegExp][] = [
    ['HTTP', '474554202F20', /protocol identifier 21536/],
    ['protocol identifier 1 and a length of 255', '0001 0001 00FF', /protocol identifier 1\b/],
    ['length 0', '0001 0000 0000', /length 0,/],
    ['length 1, no room for a function code', '0001 0000 0001 01', /length 1,/],
    ['length 255', '0001 0000 00FF', /length 255,/],
    ['length 65535', '0001 0000 FFFF 01 03', /length 65535,/],
  ];
  it.each(invalid)('refuses %s at once', (_, bytes, reason) => {
    expect(decodeMbap(bytesOf(bytes))).toEqual({
      kind: 'invalid',
      reason: expect.stringMatching(reason) as string,
    });
  });

  it('knows the end of a frame of another protocol', () => {
    const bytes = bytesOf('0001 0001 0006 01 03 0000 0001 0002');
    const found = { kind: 'other protocol', length: 12, reason: 'protocol identifier 1, expected 0' };
    expect(decodeMbap(bytes)).toEqual(found);
    for (let length = 0; length < 12; length++) expect(decodeMbap(bytes, 0, length).kind).toBe('more');
  });

  it.each([2, 254])('accepts length %i', (length) => {
    const bytes = new Uint8Array(6 + length);
    bytes[5] = length;
    bytes[7] = 3;
    expect(decodeMbap(bytes)).toMatchObject({ kind: 'frame', length: 6 + length });
    expect(decodeMbap(bytes.subarray(0, -1)).kind).toBe('more');
  });
});

it('a length that can not be says what would be', () => {
  expect(decodeMbap(bytesOf('0001 0000 0001 FF'))).toEqual({
    kind: 'invalid',
    reason: 'length 1, expected 2 to 254',
  });
});
