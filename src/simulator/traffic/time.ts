/** Converts ms to whole µs. */
export function micros(ms: number): number {
  return Math.round(1000 * ms);
}

/** A moment in ms since 1970 as ISO 8601 with µs: `2026-03-01T12:00:00.123456Z`. */
export function isoTime(ms: number): string {
  const us = micros(ms);
  const toMs = new Date(Math.floor(us / 1000)).toISOString();
  return `${toMs.slice(0, -1)}${String(us % 1000).padStart(3, '0')}Z`;
}

/**
 * Rounds a time for output to thousandths: ms to µs, s to ms. More digits would suggest a precision that the
 * time does not have.
 */
export function thousandths(value: number): number {
  return Math.round(1000 * value) / 1000;
}
