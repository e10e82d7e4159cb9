import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RTU, SOCKET } from '../../src/protocol/framing.js';
import { bytesOf, hexOf } from '../vectors/hex.js';
import { byte, word } from './arbitrary-request.js';

describe('framings', () => {
  it('give back the content of a frame, the transaction identifier only where there is one', () => {
    fc.assert(
      fc.property(
        word,
        byte,
        fc.uint8Array({ minLength: 1, maxLength: 253 }),
        (transactionId, unitId, pdu) => {
          const content = { transactionId, unitId, pdu };
          expect(SOCKET.fields(SOCKET.encode(content))).toEqual(content);
          expect(RTU.fields(RTU.encode(content))).toEqual({ ...content, transactionId: 0 });
        },
      ),
    );
  });

  it('read an RTU frame although its CRC is wrong', () => {
    const fields = RTU.fields(bytesOf('01 83 02 0000'));
    expect(fields && [fields.unitId, hexOf(fields.pdu)]).toEqual([1, '8302']);
    expect(RTU.fields(bytesOf('01 83 02'))).toBeUndefined();
  });
});
