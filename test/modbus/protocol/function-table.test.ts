import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FunctionCode } from '../../../src/modbus/protocol/function-code.js';
import { functionOf } from '../../../src/modbus/protocol/function-table.js';
import { decodeRequest } from '../../../src/modbus/protocol/request.js';
import { encodeRtu, endsAtSilence, requestLength } from '../../../src/modbus/protocol/rtu.js';
import { arbitraryOtherRequest, arbitraryRegisterRequest, FUNCTIONS } from './arbitrary-request.js';
import { encodeRequest } from './encode-request.js';

describe('the table of functions', () => {
  it('has a row for each of the nineteen functions, and no others', () => {
    const codes = Array.from({ length: 256 }, (_, code) => code);
    expect(codes.filter((code) => functionOf(code))).toEqual(FUNCTIONS);
    expect(functionOf(undefined)).toBeUndefined();
  });

  it('decodes a request as one of its own function, and knows its length', () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryRegisterRequest(), arbitraryOtherRequest()), (request) => {
        const pdu = encodeRequest(request);
        expect(decodeRequest(pdu)).toEqual({ ok: true, value: request });
        const adu = encodeRtu(1, pdu);
        const varies = endsAtSilence(request.code);
        expect(varies || requestLength(adu, 0, adu.length) === adu.length).toBe(true);
      }),
    );
  });

  it('lets those be broadcast that write, and diagnostics', () => {
    expect(FUNCTIONS.filter((code) => functionOf(code)?.broadcast)).toEqual([5, 6, 8, 15, 16, 21, 22, 23]);
  });

  it('knows which responses are copies of their requests', () => {
    expect(FUNCTIONS.filter((code) => functionOf(code)?.request === functionOf(code)?.response)).toEqual([
      5, 6, 8, 21, 22,
    ]);
  });

  it('knows which functions end at the silence only', () => {
    const { diagnostics, encapsulatedInterfaceTransport } = FunctionCode;
    expect(FUNCTIONS.filter(endsAtSilence)).toEqual([diagnostics, encapsulatedInterfaceTransport]);
    expect(endsAtSilence(0x83)).toBe(false);
    expect(endsAtSilence(0x41)).toBe(true);
  });
});
