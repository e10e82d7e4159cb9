import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { itimerspec, openKernelTimer } from '../../../../src/modbus/transport/port/kernel-timer.js';
import { loadLibc } from '../../../../src/modbus/transport/port/libc.js';

/** Seconds and ns of the first time. */
function firstTime(ms: number): [seconds: bigint, nanoseconds: bigint] {
  const time = Buffer.from(itimerspec(ms));
  return [time.readBigInt64LE(16), time.readBigInt64LE(24)];
}

test.each([
  [Number.MIN_VALUE, 0n, 1n],
  [1.75, 0n, 1_750_000n],
  [999.999_999, 0n, 999_999_999n],
  // timerfd_settime(2) refuses a second of ns, and nobody would be woken.
  [999.999_999_9, 1n, 0n],
  [3_600_000.5, 3600n, 500_000n],
])('a time of %d ms is %d s and %d ns', (ms, seconds, nanoseconds) => {
  expect(firstTime(ms)).toEqual([seconds, nanoseconds]);
});

test('without a poller there is no timer, and its descriptor is closed', async () => {
  vi.doMock('@serialport/bindings-cpp', () => ({
    LinuxPortBinding: class {
      constructor() {
        throw new Error('no poller');
      }
    },
  }));
  const descriptors = () => readdirSync('/proc/self/fd').length;
  // The C library is loaded first, which takes descriptors of its own.
  await loadLibc();
  const before = descriptors();
  expect(await openKernelTimer(() => {})).toBeUndefined();
  expect(descriptors()).toBe(before);
  vi.doUnmock('@serialport/bindings-cpp');
});
