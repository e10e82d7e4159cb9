import { describe, expect, it } from 'vitest';
import { RTU, SOCKET } from '../../src/protocol/framing.js';
import { describeReply } from '../../src/traffic/describe.js';

describe.each([RTU, SOCKET])('a reply in $name framing', (framing) => {
  it.each([
    [[3, 4, 0, 1, 1, 0], 'values 1 256'],
    [[1, 1, 0b101], 'values 1 0 1 0 0 0 0 0'],
    [[0x83, 2], 'exception 2'],
    [[6, 0, 1, 0, 5], 'done, function 6'],
  ])('%j is told as "%s"', (pdu, text) => {
    const adu = framing.encode({ transactionId: 7, unitId: 1, pdu: Uint8Array.from(pdu) });
    expect(describeReply(adu)).toBe(text);
  });
});

it('bytes that are no frame are told as such', () => {
  expect(describeReply(Uint8Array.of(1, 3, 2, 0, 1, 0, 0))).toBe('7 bytes that are no valid frame');
});
