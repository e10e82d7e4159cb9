/** Between which times something came, in ms. */
export interface Times {
  readonly low: number;
  readonly high: number;
}

/** Of many times, this part at each end may be stalls of the machine. */
const STALLED = 0.1;
const FEWEST_TO_TRIM = 8;
/** A few times span less than many would, by about as many times their span as this, divided by their number. */
const WIDENING = 2;

/** The middle one; the mean of the two in the middle. NaN without numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[sorted.length % 2 === 0 ? middle - 1 : middle],
    sorted[middle],
  ];
  return (low + high) / 2;
}

/** Times without the extreme ones; 0 to 0 without times. */
export function usualTimes(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const left = sorted.length < FEWEST_TO_TRIM ? 0 : Math.round(STALLED * sorted.length);
  return { low: sorted[left] ?? 0, high: sorted.at(-1 - left) ?? 0 };
}

/** Between which times it will come the next time: the usual ones, and more where only a few are known. */
export function expectedTimes(times: readonly number[]): Times {
  const { low, high } = usualTimes(times);
  const more = ((high - low) * WIDENING) / Math.max(1, times.length);
  return { low: Math.max(0, low - more), high: high + more };
}

/** How far times are apart, in ms; 0 for none. */
export function spanOf(times: Times | undefined): number {
  return times ? times.high - times.low : 0;
}
