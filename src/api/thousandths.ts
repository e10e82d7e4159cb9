/** Times as they are told: µs of ms, ms of seconds. More digits would only seem to say something. */
export function thousandths(value: number): number {
  return Math.round(1000 * value) / 1000;
}
