import { describe, expect, it } from 'vitest';
import { AsciiFraming } from '../../../../src/modbus/protocol/ascii.js';
import { type Framing, RTU } from '../../../../src/modbus/protocol/framing.js';
import { ChunkStatistics } from '../../../../src/modbus/transport/serial/chunk-statistics.js';

const REQUEST = RTU.encode({ transactionId: 0, unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 1) });
const ASCII = new AsciiFraming();

/** Statistics to which pieces of bytes can be told that were discarded at these times. */
function discarding(framing: Framing = RTU) {
  const chunks = new ChunkStatistics();
  const discard = (bytes: Uint8Array, at: number) =>
    chunks.discarded(
      { bytes, startedAt: at, receivedAt: at },
      (joined) => framing.decode(joined) !== undefined,
    );
  return { chunks, discard };
}

describe('the longest pause inside a frame', () => {
  it('is that of a frame that became valid', () => {
    const { chunks } = discarding();
    chunks.chunk(4, undefined);
    chunks.chunk(4, 3);
    expect(chunks.longestPause).toBe(0);
    chunks.frame();
    expect(chunks.longestPause).toBe(3);
  });

  it('is seen in a frame whose pieces were all discarded', () => {
    const { chunks, discard } = discarding();
    discard(REQUEST.subarray(0, 3), 100);
    discard(REQUEST.subarray(3, 5), 112);
    discard(REQUEST.subarray(5), 132);
    expect(chunks.longestPause).toBe(20);
  });

  it('is seen behind noise, in single bytes, and in ASCII', () => {
    const rtu = discarding();
    rtu.discard(Uint8Array.of(0xff, 0), 0);
    for (const [i, byte] of REQUEST.entries()) rtu.discard(Uint8Array.of(byte), 500 + 20 * i);
    expect(rtu.chunks.longestPause).toBe(20);

    const ascii = discarding(ASCII);
    const message = ASCII.encode({ unitId: 1, pdu: Uint8Array.of(3, 0, 0, 0, 1) });
    ascii.discard(message.subarray(0, 7), 0);
    ascii.discard(message.subarray(7), 1200);
    expect(ascii.chunks.longestPause).toBe(1200);
  });

  it.each<[string, (discard: ReturnType<typeof discarding>) => void]>([
    [
      'noise that makes no frame',
      ({ discard }) => {
        discard(REQUEST.subarray(0, 4), 0);
        discard(REQUEST.subarray(5), 20);
      },
    ],
    [
      'a rest that comes long after the beginning',
      ({ discard }) => {
        discard(REQUEST.subarray(0, 4), 0);
        discard(REQUEST.subarray(4), 60_000);
      },
    ],
    [
      'pieces with a valid frame between them',
      ({ chunks, discard }) => {
        discard(REQUEST.subarray(0, 4), 0);
        chunks.frame();
        discard(REQUEST.subarray(4), 20);
      },
    ],
    [
      'more bytes than a frame has',
      ({ discard }) => {
        for (let i = 0; i < 100; i++) discard(new Uint8Array(1000), 20 * i);
      },
    ],
  ])('does not come from %s', (_, happen) => {
    const statistics = discarding();
    happen(statistics);
    expect(statistics.chunks.longestPause).toBe(0);
  });

  it('is found after any number of single bytes of noise', () => {
    const { chunks, discard } = discarding();
    for (let i = 0; i < 1000; i++) discard(Uint8Array.of(0), 10 * i);
    discard(REQUEST.subarray(0, 4), 10_000);
    discard(REQUEST.subarray(4), 10_030);
    expect(chunks.longestPause).toBe(30);
  });
});

describe('sizes of chunks', () => {
  it('are counted, small ones first, and large ones together', () => {
    const { chunks } = discarding();
    for (const length of [8, 1, 8, 100, 64]) chunks.chunk(length, undefined);
    expect(chunks.sizes).toEqual([
      [1, 1],
      [8, 2],
      [64, 2],
    ]);
  });
});
