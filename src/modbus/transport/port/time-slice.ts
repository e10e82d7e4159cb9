import { getSystemErrorName } from 'node:util';
import { type LibcResult, loadLibc } from './libc.js';

/**
 * How the system schedules the thread of the lines. `realtime`: the thread has a real-time class, which
 * precedes all others; nothing was changed. `short`: the thread has slices of `SLICE_NS`, as read back.
 * `usual`: the slices are the kernel's own; `reason` says why, as the middle of a sentence.
 */
export type TimeSlice =
  | { readonly kind: 'realtime' }
  | { readonly kind: 'short' }
  | { readonly kind: 'usual'; readonly reason: string };

/** The shortest slice that Linux grants, in ns. Of the threads that wake, those with shorter slices run first. */
const SLICE_NS = 100_000n;

/** The original size of `struct sched_attr` in linux/sched/types.h, and the offsets of its fields. */
const SCHED_ATTR_BYTES = 48;
const SIZE_AT = 0;
const POLICY_AT = 4;
const FLAGS_AT = 8;
const RUNTIME_AT = 24;

/** Classes of sched(7): the default one, then SCHED_FIFO, SCHED_RR and SCHED_DEADLINE. */
const SCHED_OTHER = 0;
const REALTIME = [1, 2, 6];
/**
 * Gives the kernel's default slices to threads that this one starts later, because short slices are for the
 * lines alone.
 */
const SCHED_FLAG_RESET_ON_FORK = 1n;

/**
 * Gives the calling thread the shortest time slices (sched_setattr(2)), so that on a shared core it need not
 * wait until another thread has used up its own slice. Needs no privilege, and changes neither class nor nice
 * value. Linux has honoured the slice since 6.12; older kernels ignore it, which is detected by reading it
 * back.
 * @param load loads the C library; tests pass another one
 */
export async function shortenTimeSlice(load: () => Promise<LibcResult> = loadLibc): Promise<TimeSlice> {
  const loaded = await load();
  if (!loaded.ok) return { kind: 'usual', reason: loaded.error };
  const { libc } = loaded;
  const attributes = Buffer.alloc(SCHED_ATTR_BYTES);
  const read = libc.schedGetattr(attributes);
  if (read < 0) return usual('sched_getattr', read);
  const policy = attributes.readUInt32LE(POLICY_AT);
  if (REALTIME.includes(policy)) return { kind: 'realtime' };
  if (policy !== SCHED_OTHER)
    return { kind: 'usual', reason: 'the scheduling policy is SCHED_BATCH or SCHED_IDLE' };
  attributes.writeUInt32LE(SCHED_ATTR_BYTES, SIZE_AT);
  attributes.writeBigUInt64LE(attributes.readBigUInt64LE(FLAGS_AT) | SCHED_FLAG_RESET_ON_FORK, FLAGS_AT);
  attributes.writeBigUInt64LE(SLICE_NS, RUNTIME_AT);
  const set = libc.schedSetattr(attributes);
  if (set < 0) return usual('sched_setattr', set);
  libc.schedGetattr(attributes);
  return attributes.readBigUInt64LE(RUNTIME_AT) === SLICE_NS
    ? { kind: 'short' }
    : { kind: 'usual', reason: 'this kernel ignores it (Linux 6.12 and later honour it)' };
}

function usual(call: string, result: number): TimeSlice {
  return { kind: 'usual', reason: `${call} failed: ${getSystemErrorName(result)}` };
}

/** Describes the time slice for the log and the measurement. */
export function timeSliceText(slice: TimeSlice): string {
  switch (slice.kind) {
    case 'realtime':
      return 'real-time class';
    case 'short':
      return `normal class, time slices of ${Number(SLICE_NS) / 1e6} ms`;
    case 'usual':
      return `normal class, default time slices of the kernel: ${slice.reason}`;
  }
}
