import { expect, test } from 'vitest';
import { itimerspec } from '../../../src/transport/port/kernel-timer.js';

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
