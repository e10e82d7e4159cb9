/** Summary of a set of measured times, in ms. */
export interface Percentiles {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** The fewest samples of which a median is used: with fewer, one bad sample can be the median. */
export const ENOUGH = 10;

/** Summarizes times in ms; undefined for an empty list. */
export function percentiles(samples: readonly number[]): Percentiles | undefined {
  if (samples.length === 0) return undefined;
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return { count: sorted.length, min: at(0), median: at(0.5), p99: at(0.99), max: at(1) };
}
