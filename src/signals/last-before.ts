/** The index of the last of the ascending `times` that is not after `time`; 0 if all are after `time`. */
export function lastBefore(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= time) low = middle;
    else high = middle;
  }
  return low;
}
