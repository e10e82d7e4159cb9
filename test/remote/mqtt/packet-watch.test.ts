import { describe, expect, it } from 'vitest';
import { PacketWatch } from '../../../src/remote/mqtt/packet-watch.js';

/** The packets of a stream, and the length of the longest. */
const CASES: readonly (readonly [what: string, bytes: readonly number[], longest: number])[] = [
  ['a packet without a body', [0xd0, 0], 0],
  ['a body whose bytes look like lengths', [0x30, 4, 0xff, 0xff, 0xff, 0x7f, 0x30, 1, 0xff], 4],
  ['a length of two bytes', [0x30, 0x81, 1], 129],
  ['the longest length there is', [0x30, 0xff, 0xff, 0xff, 0x7f], 268_435_455],
  ['a length that is not over yet', [0x30, 0xff, 0xff], 16_383],
  ['a length without an end', [0x30, 0xff, 0xff, 0xff, 0xff, 1], Number.POSITIVE_INFINITY],
];

describe('the lengths of packets', () => {
  it.each(CASES)('are known before the bodies have come: %s', (_, bytes, longest) => {
    expect(new PacketWatch().longestIn(Uint8Array.from(bytes))).toBe(longest);
  });

  it.each(CASES)('are known byte by byte, too: %s', (_, bytes, longest) => {
    const watch = new PacketWatch();
    expect(Math.max(...bytes.map((byte) => watch.longestIn(Uint8Array.of(byte))))).toBe(longest);
  });
});
