import { describe, expect, it } from 'vitest';
import { characterTime } from '../../../../src/modbus/protocol/timing.js';
import {
  createPacedQueue,
  type Pacing,
  startPacedLane,
} from '../../../../src/modbus/transport/port/pacing.js';

/** Characters of 11 bits. */
const EVEN = { dataBits: 8, parity: 'even', stopBits: 1 } as const;

const counted = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index);

/** All that comes out, taken the moment it is due: [time, bytes…] with times in character times. */
function drain(pacing: Pacing, writes: readonly [at: number, bytes: number][]): [number, number[]][] {
  const queue = createPacedQueue(pacing);
  const character = characterTime(pacing);
  const out: [number, number[]][] = [];
  const takeUntil = (end: number): void => {
    for (let due = queue.nextDue(); due !== undefined && due <= end; due = queue.nextDue()) {
      expect(queue.take(due - 0.001), 'never early').toBeUndefined();
      out.push([Math.round((due / character) * 100) / 100, [...(queue.take(due) ?? [])]]);
    }
  };
  for (const [at, bytes] of writes) {
    takeUntil(at * character);
    queue.put(counted(bytes), at * character);
  }
  takeUntil(Number.POSITIVE_INFINITY);
  return out;
}

/** 1000 characters per second. */
const baudRate = 11_000;
/** 32 bit times, in characters. */
const idle = 2.91;

describe('bytes through a UART', () => {
  it('without FIFO come one by one, a character time apart', () => {
    expect(drain({ ...EVEN, baudRate, chunk: 1 }, [[0, 3]])).toEqual([
      [1, [0]],
      [2, [1]],
      [3, [2]],
    ]);
  });

  it.each([
    ['8N1', { dataBits: 8, parity: 'none', stopBits: 1 }, 10],
    ['8E2', { dataBits: 8, parity: 'even', stopBits: 2 }, 12],
  ] as const)('take as long as their bits: %s', (_, format, bits) => {
    const queue = createPacedQueue({ ...format, baudRate: 1000, chunk: 1 });
    queue.put(counted(3), 0);
    for (const nth of [1, 2, 3]) {
      expect(queue.nextDue()).toBe(nth * bits);
      queue.take(nth * bits);
    }
  });

  it('with an 8 byte trigger come in eights, and the rest after 32 idle bit times', () => {
    expect(drain({ ...EVEN, baudRate, chunk: 8 }, [[0, 19]])).toEqual([
      [8, [0, 1, 2, 3, 4, 5, 6, 7]],
      [16, [8, 9, 10, 11, 12, 13, 14, 15]],
      [19 + idle, [16, 17, 18]],
    ]);
  });

  it('leave nothing over when the last burst is full', () => {
    expect(drain({ ...EVEN, baudRate, chunk: 16 }, [[0, 16]])).toEqual([[16, [...counted(16)]]]);
  });

  it('written in two pieces without an idle line between them count as one', () => {
    expect(
      drain({ ...EVEN, baudRate, chunk: 8 }, [
        [0, 4],
        [4, 4],
      ]),
    ).toEqual([[8, [0, 1, 2, 3, 0, 1, 2, 3]]]);
  });

  it('written while the line is busy wait for their turn', () => {
    expect(
      drain({ ...EVEN, baudRate, chunk: 1 }, [
        [0, 2],
        [0.5, 1],
      ]),
    ).toEqual([
      [1, [0]],
      [2, [1]],
      [3, [0]],
    ]);
  });

  it('keep a pause of the sender: what came before it is a chunk of its own', () => {
    expect(
      drain({ ...EVEN, baudRate, chunk: 8 }, [
        [0, 4],
        [10, 4],
      ]),
    ).toEqual([
      [4 + idle, [0, 1, 2, 3]],
      [14 + idle, [0, 1, 2, 3]],
    ]);
  });
});

describe('bytes through a USB adapter', () => {
  it('come when the latency timer ends, which runs from the first byte', () => {
    expect(drain({ ...EVEN, baudRate, chunk: 'usb' }, [[0, 8]])).toEqual([[17, [...counted(8)]]]);
  });

  it('merge two frames that fall into one timer', () => {
    expect(
      drain({ ...EVEN, baudRate, chunk: 'usb' }, [
        [0, 4],
        [10, 4],
      ]),
    ).toEqual([[17, [0, 1, 2, 3, 0, 1, 2, 3]]]);
  });

  it('are cut in the middle of a frame where the timer ends', () => {
    expect(drain({ ...EVEN, baudRate, chunk: 'usb', latency: 4 }, [[0, 8]])).toEqual([
      [5, [0, 1, 2, 3, 4]],
      [10, [5, 6, 7]],
    ]);
  });

  it('come before the timer ends when a packet of 62 bytes is full', () => {
    const fast = drain({ ...EVEN, baudRate: 110_000, chunk: 'usb' }, [[0, 100]]);
    expect(fast.map(([time, bytes]) => [time, bytes.length])).toEqual([
      [62, 62],
      [63 + 160, 38],
    ]);
  });
});

describe('a late reader', () => {
  it('gets each chunk that is due by itself', () => {
    const queue = createPacedQueue({ ...EVEN, baudRate, chunk: 8 });
    queue.put(counted(20), 0);
    const sizes = [1, 2, 3, 4].map(() => queue.take(1000)?.length);
    expect(sizes).toEqual([8, 8, 4, undefined]);
    expect(queue.pending()).toBe(0);
  });
});

describe('a long queue', () => {
  const LENGTH = 131_072;

  // Where each chunk costs as much as everything behind it this takes minutes.
  it.each([1, 8, 16, 'usb'] as const)(
    'is emptied in order, at %s bytes a chunk, at a cost that does not grow with its length',
    (chunk) => {
      const queue = createPacedQueue({ ...EVEN, baudRate, chunk });
      queue.put(counted(LENGTH), 0);
      let expected = 0;
      for (let due = queue.nextDue(); due !== undefined; due = queue.nextDue()) {
        for (const byte of queue.take(due) ?? []) if (byte === (expected & 0xff)) expected++;
      }
      expect(expected).toBe(LENGTH);
      expect(queue.pending()).toBe(0);
    },
    20_000,
  );

  it('that is emptied at once has nothing left', () => {
    const queue = createPacedQueue({ ...EVEN, baudRate, chunk: 1 });
    queue.put(counted(5), 0);
    queue.take(1);
    queue.put(counted(2), 1);
    expect([...queue.takeAll()]).toEqual([1, 2, 3, 4, 0, 1]);
    expect(queue.pending()).toBe(0);
    expect(queue.nextDue()).toBeUndefined();
  });
});

describe('a running lane', () => {
  it('delivers every byte in order, never before its time, in the bursts of the adapter', async () => {
    const chunks: { at: number; bytes: number[] }[] = [];
    const start = performance.now();
    await new Promise<void>((resolve) => {
      const lane = startPacedLane({ ...EVEN, baudRate: 9600, chunk: 8 }, (chunk) => {
        chunks.push({ at: performance.now() - start, bytes: [...chunk] });
        if (chunks.length === 3) resolve();
      });
      lane.write(counted(20));
    });
    expect(chunks.map((chunk) => chunk.bytes.length)).toEqual([8, 8, 4]);
    expect(chunks.flatMap((chunk) => chunk.bytes)).toEqual([...counted(20)]);
    expect(chunks[0]?.at).toBeGreaterThanOrEqual((8 * 11_000) / 9600);
    expect(chunks[1]?.at).toBeGreaterThanOrEqual((16 * 11_000) / 9600);
    expect(chunks[2]?.at).toBeGreaterThanOrEqual((20 * 11_000 + 32_000) / 9600);
  });

  it('delivers chunks that are overdue one by one', async () => {
    const sizes: number[] = [];
    const lane = startPacedLane({ ...EVEN, baudRate: 115_200, chunk: 8 }, (chunk) =>
      sizes.push(chunk.length),
    );
    lane.write(counted(20));
    const busyUntil = performance.now() + 20;
    while (performance.now() < busyUntil);
    await expect.poll(() => sizes).toEqual([8, 8, 4]);
  });

  it('delivers nothing more once it is stopped', async () => {
    const sizes: number[] = [];
    const lane = startPacedLane({ ...EVEN, baudRate: 115_200, chunk: 1 }, (chunk) => {
      sizes.push(chunk.length);
      lane.stop();
    });
    lane.write(counted(20));
    await expect.poll(() => sizes.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sizes).toEqual([1]);
    expect(lane.pending()).toBe(0);
  });
});
