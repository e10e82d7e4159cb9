/**
 * Rounds a time for output to thousandths: ms to µs, s to ms. More digits would suggest a precision that the
 * time does not have.
 */
export function thousandths(value: number): number {
  return Math.round(1000 * value) / 1000;
}
