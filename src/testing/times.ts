/** A range of times, in ms. */
export interface Times {
  readonly low: number;
  readonly high: number;
}

/** The fraction of times cut off at each end of the range, because these may be stalls of the machine. */
const STALLED = 0.1;
const FEWEST_TO_TRIM = 8;
/**
 * A few times span less than many would. Their range is widened at each end by this many times its width,
 * divided by the number of times.
 */
const WIDENING = 2;

/** The median: the middle number, or the mean of the middle two. NaN for an empty list. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[sorted.length % 2 === 0 ? middle - 1 : middle],
    sorted[middle],
  ];
  return (low + high) / 2;
}

/** The range of the times without the extreme ones; 0 to 0 for an empty list. */
export function usualTimes(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const left = sorted.length < FEWEST_TO_TRIM ? 0 : Math.round(STALLED * sorted.length);
  return { low: sorted[left] ?? 0, high: sorted.at(-1 - left) ?? 0 };
}

/** The range in which the next time is expected: the usual range, widened if only a few times are known. */
export function expectedTimes(times: readonly number[]): Times {
  const { low, high } = usualTimes(times);
  const more = ((high - low) * WIDENING) / Math.max(1, times.length);
  return { low: Math.max(0, low - more), high: high + more };
}

/** The width of a range of times, in ms; 0 when undefined. */
export function spanOf(times: Times | undefined): number {
  return times ? times.high - times.low : 0;
}
