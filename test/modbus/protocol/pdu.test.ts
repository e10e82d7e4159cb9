import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionOf } from '../../../src/modbus/protocol/function-table.js';
import {
  addressRanges,
  dataOffset,
  fieldValues,
  hasByteCount,
  hasQuantityOf,
  wordsResponse,
} from '../../../src/modbus/protocol/pdu.js';
import type { RegisterRequest } from '../../../src/modbus/protocol/request.js';
import { arbitraryRegisterRequest } from './arbitrary-request.js';
import { encodeRequest } from './encode-request.js';
import { bytesOf, hexOf } from './hex.js';

type Range = ReturnType<typeof addressRanges>[number];

function rangesOf(request: RegisterRequest): Range[] {
  switch (request.code) {
    case 15:
      return [{ address: request.address, quantity: request.bits.length }];
    case 16:
      return [{ address: request.address, quantity: request.words.length }];
    case 23:
      return [
        { address: request.readAddress, quantity: request.readQuantity },
        { address: request.writeAddress, quantity: request.words.length },
      ];
    default:
      return [{ address: request.address, quantity: 'quantity' in request ? request.quantity : 1 }];
  }
}

describe('the addresses that a request names', () => {
  it('are the ones it was made with, for every function', () => {
    fc.assert(
      fc.property(arbitraryRegisterRequest(), (request) => {
        expect(addressRanges(encodeRequest(request))).toEqual(rangesOf(request));
      }),
      { numRuns: 500 },
    );
  });

  it('are the pointer of the queue for function 24', () => {
    expect(addressRanges(Uint8Array.of(24, 0x04, 0xde))).toEqual([{ address: 0x04de, quantity: 1 }]);
  });

  it('are none for other functions', () => {
    for (const code of [0, 7, 8, 11, 12, 17, 20, 21, 43, 100, 131, 255]) {
      expect(addressRanges(Uint8Array.of(code, 0, 1, 0, 1)), `function ${code}`).toEqual([]);
    }
  });
});

describe('the parts of a response', () => {
  it.each([
    ['03 04 0001 0002', 2, true],
    ['01 01 05', 2, true],
    ['06 0000 0001', 3, false],
    ['08 0000 1234', 3, false],
    ['18 0006 0002 01B8 1284', 5, false],
    ['83 02', 2, false],
    ['03', 1, true],
    ['64 01 02', 1, false],
  ])('%s: data from byte %i on, a byte count: %s', (pdu, offset, hasCount) => {
    expect([dataOffset(bytesOf(pdu)), hasByteCount(bytesOf(pdu))]).toEqual([offset, hasCount]);
  });

  it.each([
    ['03 04 0001 0002', '03 0000 0002', true],
    ['03 04 0001 0002', '03 0000 0001', false],
    ['01 02 0500', '01 0000 0009', true],
    ['01 02 0500', '01 0000 0008', false],
    ['06 0000 0001', '06 0000 0002', true],
    ['83 02', '03 0000 0001', true],
    ['03 02 0001', '07', true],
  ])('%s may be the one to %s: %s', (response, request, may) => {
    expect(hasQuantityOf(bytesOf(response), bytesOf(request))).toBe(may);
  });

  it('words come after their byte count, and nothing behind them', () => {
    expect(hexOf(wordsResponse(3, [1, 2]))).toBe('030400010002');
  });
});

it('the fields of a PDU have their values, and those that are cut off are 0', () => {
  const { request } = functionOf(16) ?? expect.fail('function 16 is not in the table');
  expect(fieldValues(bytesOf('10 0102 0003 06'), request)).toEqual([0x0102, 3, 6]);
  expect(fieldValues(bytesOf('10 0102'), request)).toEqual([0x0102, 0, 0]);
});
