import { constants, release } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type Libc, loadLibc } from '../../../../src/modbus/transport/port/libc.js';
import { shortenTimeSlice, timeSliceText } from '../../../../src/modbus/transport/port/time-slice.js';

const POLICY_AT = 4;
const FLAGS_AT = 8;
const NICE_AT = 16;
const RUNTIME_AT = 24;

/** A kernel that schedules the thread by `now`, and takes over what `takes` lets it. */
function kernel({
  policy = 0,
  nice = 0,
  runtime = 0n,
  takes = (): number => 0,
}: {
  policy?: number;
  nice?: number;
  runtime?: bigint;
  takes?: (asked: Uint8Array, now: Buffer) => number;
}) {
  const now = Buffer.alloc(48);
  now.writeUInt32LE(48, 0);
  now.writeUInt32LE(policy, POLICY_AT);
  now.writeInt32LE(nice, NICE_AT);
  now.writeBigUInt64LE(runtime, RUNTIME_AT);
  const asked: Buffer[] = [];
  const libc = {
    schedGetattr: (attributes: Uint8Array) => now.copy(attributes) && 0,
    schedSetattr: (attributes: Uint8Array) => {
      asked.push(Buffer.from(attributes));
      return takes(attributes, now);
    },
  } as unknown as Libc;
  return { asked, load: async () => ({ ok: true, libc }) as const };
}

const honours = (attributes: Uint8Array, now: Buffer) => now.set(attributes) ?? 0;

describe('the time slice of the thread of the lines', () => {
  it('is the shortest there is, and class and nice value stay', async () => {
    const { asked, load } = kernel({ nice: 5, runtime: 2_800_000n, takes: honours });
    expect(timeSliceText(await shortenTimeSlice(load))).toBe('normal class, time slices of 0.1 ms');
    const [attributes] = asked;
    expect(attributes?.readUInt32LE(POLICY_AT)).toBe(0);
    expect(attributes?.readInt32LE(NICE_AT)).toBe(5);
    expect(attributes?.readBigUInt64LE(RUNTIME_AT)).toBe(100_000n);
  });

  it('is not that of threads that are started later', async () => {
    const { asked, load } = kernel({ takes: honours });
    await shortenTimeSlice(load);
    // SCHED_FLAG_RESET_ON_FORK
    expect(asked.map((attributes) => attributes.readBigUInt64LE(FLAGS_AT))).toEqual([1n]);
  });

  it.each([
    ['SCHED_FIFO', 1],
    ['SCHED_RR', 2],
    ['SCHED_DEADLINE', 6],
  ])('is left alone under %s', async (_, policy) => {
    const { asked, load } = kernel({ policy, takes: honours });
    expect(await shortenTimeSlice(load)).toEqual({ kind: 'realtime' });
    expect(asked).toEqual([]);
  });

  it.each([
    ['SCHED_BATCH', 3],
    ['SCHED_IDLE', 5],
  ])('is left alone under %s, which somebody has chosen', async (_, policy) => {
    const { asked, load } = kernel({ policy, takes: honours });
    expect(await shortenTimeSlice(load)).toMatchObject({ kind: 'usual' });
    expect(asked).toEqual([]);
  });

  it('is told to be that of the kernel where an older one ignores it', async () => {
    expect(timeSliceText(await shortenTimeSlice(kernel({}).load))).toBe(
      'normal class, default time slices of the kernel: this kernel ignores it (Linux 6.12 and later honour it)',
    );
  });

  it('is told to be that of the kernel where a filter of system calls refuses it', async () => {
    const { load } = kernel({ takes: () => -constants.errno.EPERM });
    expect(timeSliceText(await shortenTimeSlice(load))).toBe(
      'normal class, default time slices of the kernel: sched_setattr failed: EPERM',
    );
  });

  it('is told to be that of the kernel where koffi can not be had', async () => {
    const load = async () => ({ ok: false, error: 'koffi did not load (no binary)' }) as const;
    expect(timeSliceText(await shortenTimeSlice(load))).toBe(
      'normal class, default time slices of the kernel: koffi did not load (no binary)',
    );
  });

  it('can be read from the kernel that runs, which honours what it should', async () => {
    const loaded = await loadLibc();
    if (!loaded.ok) throw new Error(loaded.error);
    const read = () => {
      const attributes = Buffer.alloc(48);
      expect(loaded.libc.schedGetattr(attributes)).toBe(0);
      return attributes;
    };
    const before = read();
    const slice = await shortenTimeSlice();
    const after = read();
    expect(after.readInt32LE(NICE_AT)).toBe(before.readInt32LE(NICE_AT));
    expect(after.readUInt32LE(POLICY_AT)).toBe(before.readUInt32LE(POLICY_AT));
    if (slice.kind === 'short') expect(after.readBigUInt64LE(RUNTIME_AT)).toBe(100_000n);
    const [major = 0, minor = 0] = release().split('.').map(Number);
    if (timeSliceText(slice).includes('ignores it')) expect(major + minor / 100).toBeLessThan(6.12);
  });
});
