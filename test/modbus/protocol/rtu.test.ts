import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../../src/modbus/protocol/bytes.js';
import {
  bitsResponse,
  echoResponse,
  exceptionResponse,
  wordsResponse,
} from '../../../src/modbus/protocol/pdu.js';
import type { RegisterRequest } from '../../../src/modbus/protocol/request.js';
import {
  decodeRtu,
  encodeRtu,
  endsAtSilence,
  isRtuFrame,
  mayBeRequest,
  type PredictedLength,
  requestLength,
  responseLength,
} from '../../../src/modbus/protocol/rtu.js';
import { arbitraryRegisterRequest, arbitraryRequest, byte } from './arbitrary-request.js';
import { encodeRequest } from './encode-request.js';
import { bytesOf, hexOf } from './hex.js';

const arbitraryPdu = fc.uint8Array({ minLength: 1, maxLength: 253 });

/** Diagnostics with query data of several words end at the silence, whatever the prediction says. */
const predictable = arbitraryRequest().filter(({ code, ...rest }) => {
  return code !== 8 || !('data' in rest) || rest.data.length === 2;
});

/** A response PDU as a server sends it to `request`, its content of no interest. */
function responseTo(request: RegisterRequest): Uint8Array {
  switch (request.code) {
    case 1:
    case 2:
      return bitsResponse(request.code, Array<boolean>(request.quantity).fill(true));
    case 3:
    case 4:
      return wordsResponse(request.code, Array<number>(request.quantity).fill(0xa5a5));
    case 23:
      return wordsResponse(23, Array<number>(request.readQuantity).fill(0xa5a5));
    default:
      return echoResponse(encodeRequest(request));
  }
}

type Predict = (bytes: Uint8Array, start: number, end: number) => PredictedLength;

/** Byte by byte, the prediction may be late but never wrong, and it is there before the CRC is. */
function expectPrediction(predict: Predict, adu: Uint8Array): void {
  for (let length = 0; length <= adu.length + 2; length++) {
    // what stands before and behind belongs to other frames
    const bytes = concatBytes([0xff, 0x17], adu.slice(0, length), new Uint8Array(300).fill(0x17));
    const predicted = predict(bytes, 2, 2 + length);
    if (predicted !== 'more' || length >= adu.length - 2)
      expect(predicted, `${length} bytes`).toBe(adu.length);
  }
}

describe('RTU frames', () => {
  it('closes a frame with its CRC, low byte first', () => {
    expect(hexOf(encodeRtu(1, bytesOf('03 0000 000A')))).toBe('01030000000ac5cd');
  });

  it('gets back every unit identifier and PDU', () => {
    fc.assert(
      fc.property(byte, arbitraryPdu, (unitId, pdu) => {
        const adu = encodeRtu(unitId, pdu);
        expect(isRtuFrame(adu)).toBe(true);
        const decoded = decodeRtu(adu);
        expect(decoded.unitId).toBe(unitId);
        expect(hexOf(decoded.pdu)).toBe(hexOf(pdu));
      }),
    );
  });

  it('is no frame while its end has not come: for requests, by length and CRC together', () => {
    fc.assert(
      fc.property(byte, predictable, (unitId, request) => {
        const adu = encodeRtu(unitId, encodeRequest(request));
        for (let end = 0; end < adu.length; end++) {
          const whole = requestLength(adu, 0, end) === end && isRtuFrame(adu, 0, end);
          expect(whole, `${end} of ${adu.length} bytes`).toBe(false);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('takes requests that follow each other without a pause one by one', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(byte, predictable), { minLength: 2, maxLength: 4 }), (requests) => {
        const adus = requests.map(([unitId, request]) => encodeRtu(unitId, encodeRequest(request)));
        const stream = concatBytes(...adus);
        let start = 0;
        for (const adu of adus) {
          const length = requestLength(stream, start, stream.length);
          expect(length).toBe(adu.length);
          expect(isRtuFrame(stream, start, start + adu.length)).toBe(true);
          start += adu.length;
        }
      }),
    );
  });

  it('refuses frames of 3 and of 257 bytes, although their CRC is right', () => {
    expect(isRtuFrame(encodeRtu(1, new Uint8Array()))).toBe(false);
    expect(isRtuFrame(encodeRtu(1, Uint8Array.of(7)))).toBe(true);
    expect(isRtuFrame(encodeRtu(1, new Uint8Array(253)))).toBe(true);
    expect(isRtuFrame(encodeRtu(1, new Uint8Array(254)))).toBe(false);
    expect(isRtuFrame(new Uint8Array())).toBe(false);
  });

  it('refuses a frame whose CRC has its bytes the other way round', () => {
    expect(isRtuFrame(bytesOf('02 07 12 41'))).toBe(false);
    expect(isRtuFrame(bytesOf('02 07 41 12'))).toBe(true);
  });
});

describe('a frame', () => {
  it.each([
    ['a request', '03 0000 0001', true],
    ['a response', '03 02 0000', false],
    ['a confirmed write, which is a copy of its request', '06 0000 0001', true],
    ['diagnostics with more data than usual, which are returned', '08 0000 0001 0002', true],
    ['an exception', '83 02', false],
  ])('of %s may be a request: %s, %s', (_, pdu, may) => {
    expect(mayBeRequest(encodeRtu(1, bytesOf(pdu)))).toBe(may);
  });
});

describe('the predicted length of a frame', () => {
  it('is right for every request', () => {
    fc.assert(
      fc.property(byte, predictable, (unitId, request) => {
        expectPrediction(requestLength, encodeRtu(unitId, encodeRequest(request)));
      }),
      { numRuns: 300 },
    );
  });

  it('is right for the response to every request for coils and registers', () => {
    fc.assert(
      fc.property(byte, arbitraryRegisterRequest(), (unitId, request) => {
        expectPrediction(responseLength, encodeRtu(unitId, responseTo(request)));
      }),
      { numRuns: 300 },
    );
  });

  it('is 5 bytes for an exception response of any function', () => {
    for (let code = 0; code < 256; code++) {
      expectPrediction(responseLength, encodeRtu(1, exceptionResponse(code, 2)));
    }
  });

  const responses: [name: string, pdu: string][] = [
    ['exception status', '07 6D'],
    ['diagnostics', '08 000B 0001'],
    ['comm event counter', '0B 0000 0108'],
    ['an empty comm event log', '0C 06 0000 0000 0000'],
    ['a full comm event log', `0C 46 0000 0108 0121 ${'40'.repeat(64)}`],
    ['server id', '11 03 05 FF 41'],
    ['file records', '14 0C 05 06 0DFE 0020 05 06 33CD 0040'],
    ['written file records', '15 0D 06 0004 0007 0003 06AF 04BE 100D'],
    ['an empty FIFO queue', '18 0002 0000'],
    ['a full FIFO queue', `18 0040 001F ${'1234'.repeat(31)}`],
  ];
  it.each(responses)('is right for the response with %s', (_, pdu) => {
    expectPrediction(responseLength, encodeRtu(1, bytesOf(pdu)));
  });

  it('is the usual one for diagnostics, whose query data may be longer', () => {
    expect(requestLength(encodeRtu(1, bytesOf('08 0000 0001 0002')), 0, 10)).toBe(8);
    expect([8, 43, 0x88, 0xab, 100].map(endsAtSilence)).toEqual([true, true, true, true, true]);
    expect([3, 7, 11, 12, 17, 20, 21, 24, 0x83].filter(endsAtSilence)).toEqual([]);
  });

  it('is not known before the function code is there, whatever stands behind', () => {
    for (const length of [0, 1]) {
      expect(requestLength(bytesOf('01 03 0000'), 0, length)).toBe('more');
      expect(responseLength(bytesOf('01 83 0000'), 0, length)).toBe('more');
    }
    expect(requestLength(bytesOf('01 03'), 1, 2)).toBe('more');
    expect(responseLength(bytesOf('01 83'), 1, 2)).toBe('more');
  });

  it('is unknown for a function whose length the specification does not fix', () => {
    for (const code of [0, 9, 13, 14, 18, 19, 25, 100, 127]) {
      expect(requestLength(Uint8Array.of(1, code), 0, 2), `request ${code}`).toBe('unknown');
      expect(responseLength(Uint8Array.of(1, code), 0, 2), `response ${code}`).toBe('unknown');
    }
    expect(responseLength(Uint8Array.of(1, 43), 0, 2)).toBe('unknown');
    expect(requestLength(Uint8Array.of(1, 0x83), 0, 2)).toBe('unknown');
  });

  it('is not known from a function code that belongs to what comes behind', () => {
    const bytes = Uint8Array.of(9, 9, 1, 3, 0, 0, 0, 1);
    expect([requestLength(bytes, 2, 3), responseLength(bytes, 2, 3)]).toEqual(['more', 'more']);
    expect([requestLength(bytes, 2, 4), responseLength(bytes, 2, 5)]).toEqual([8, 5]);
  });
});
