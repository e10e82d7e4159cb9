/** Rounds a time for output: ms to µs, s to ms. More digits would suggest a precision that is not there. */
export function thousandths(value: number): number {
  return Math.round(1000 * value) / 1000;
}
