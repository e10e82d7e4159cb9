import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RTU, SOCKET } from '../../../src/modbus/protocol/framing.js';
import { FRAMINGS } from '../../../src/modbus/protocol/framings.js';
import { byte, word } from './arbitrary-request.js';
import { bytesOf, hexOf } from './hex.js';

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

  it('decode exactly one TCP frame', () => {
    const frame = bytesOf('0001 0000 0002 01 07');
    expect(SOCKET.decode(frame)).toEqual({ transactionId: 1, unitId: 1, pdu: bytesOf('07') });
    for (const wrong of ['0001 0000 0002 01', '0001 0000 0002 01 07 00', '0001 0001 0002 01 07'])
      expect(SOCKET.decode(bytesOf(wrong)), wrong).toBeUndefined();
    expect([SOCKET.fields(frame.subarray(0, 7)), SOCKET.fields(frame)?.unitId]).toEqual([undefined, 1]);
  });

  it('change the CRC of an RTU frame, and of nothing shorter than a CRC', () => {
    const swapped = RTU.recheck?.(bytesOf('01 02 03'), ([low, high]) => [high as number, low as number]);
    expect(swapped && hexOf(swapped)).toBe('010302');
    expect(RTU.recheck?.(bytesOf('02 03'), () => [4, 5])).toEqual(bytesOf('04 05'));
    expect(RTU.recheck?.(bytesOf('02'), () => [4, 5])).toBeUndefined();
  });
});

it('each framing is found by its name, and broadcasts are for serial lines', () => {
  const found = (['rtu', 'ascii', 'socket'] as const).map((name) => FRAMINGS[name]);
  expect(found.map(({ name, broadcasts }) => [name, broadcasts])).toEqual([
    ['rtu', true],
    ['ascii', true],
    ['socket', false],
  ]);
});
