import { describe, expect, it } from 'vitest';
import { AsciiFraming } from '../../src/protocol/ascii.js';
import { concatBytes } from '../../src/protocol/bytes.js';
import { type Framing, RTU, SOCKET } from '../../src/protocol/framing.js';
import { describeReply } from '../../src/traffic/describe.js';

function asked(framing: Framing, pdu: readonly number[]) {
  return { framing, requestPdu: Uint8Array.from(pdu) };
}

describe.each([RTU, SOCKET, new AsciiFraming()])('a reply in $name framing', (framing) => {
  it.each([
    [[3, 0, 0, 0, 2], [3, 4, 0, 1, 1, 0], 'values 1 256'],
    [[3, 0, 0, 0, 1], [0x83, 2], 'exception 2'],
    [[6, 0, 1, 0, 5], [6, 0, 1, 0, 5], 'done, function 6'],
    // The bits that fill up the last byte are no values.
    [[1, 0, 0, 0, 3], [1, 1, 0b101], 'values 1 0 1'],
    [[2, 0, 0, 0, 10], [2, 2, 0xff, 0x02], 'values 1 1 1 1 1 1 1 1 0 1'],
    // Fewer than were asked for, or another function: what is there is told.
    [[1, 0, 0, 0, 9], [1, 1, 0b101], 'values 1 0 1 0 0 0 0 0'],
    [[3, 0, 0, 0, 1], [1, 1, 0b101], 'values 1 0 1 0 0 0 0 0'],
  ])('to %j, %j, is told as "%s"', (request, pdu, text) => {
    const adu = framing.encode({ transactionId: 7, unitId: 1, pdu: Uint8Array.from(pdu) });
    expect(describeReply(adu, asked(framing, request))).toBe(text);
  });

  it('is no frame when it has the framing of another line', () => {
    const other = framing === RTU ? SOCKET : RTU;
    const adu = other.encode({ transactionId: 7, unitId: 1, pdu: Uint8Array.of(3, 2, 0, 1) });
    const text = `${adu.length} bytes that are no valid frame`;
    expect(describeReply(adu, asked(framing, [3, 0, 0, 0, 1]))).toBe(text);
  });
});

it('a damaged RTU reply is not taken for one of Modbus TCP', () => {
  // An RTU frame that reads as MBAP too: protocol identifier 0 and a length of 2.
  const adu = Uint8Array.of(1, 3, 0, 0, 0, 2, 0xc4, 0x0b);
  const damaged = concatBytes(adu.subarray(0, -1), [0]);
  expect(describeReply(damaged, asked(RTU, [3, 0, 0, 0, 1]))).toBe('8 bytes that are no valid frame');
});
