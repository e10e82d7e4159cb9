import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressRanges } from '../../src/protocol/pdu.js';
import type { RegisterRequest } from '../../src/protocol/request.js';
import { arbitraryRegisterRequest } from './arbitrary-request.js';
import { encodeRequest } from './encode-request.js';

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
