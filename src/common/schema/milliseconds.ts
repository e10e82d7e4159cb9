/** How many milliseconds each unit of a duration has. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export const DAY_MS = 86_400_000;

/** Matches a duration. A run of digits matches in only one way, so that a long text does not cause backtracking. */
export const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** Returns the milliseconds of `250ms`, `20s`, `5m` or `1.5h`; NaN for other texts. */
export function milliseconds(text: string): number {
  const [, digits, unit = ''] = DURATION.exec(text) ?? [];
  // Rounding to a millionth of a millisecond removes the error of the multiplication: 1.1s is 1100.
  return Math.round(Number(digits) * (UNITS[unit] ?? Number.NaN) * 1e6) / 1e6;
}

/** Matches an ISO 8601 time. Digits after the milliseconds are captured. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3}(\d*))?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Returns a moment, written as a time or as a duration before now, in ms since 1970; NaN for other texts.
 * @param now if absent, only times are accepted
 */
export function momentOf(text: string, now = Number.NaN): number {
  if (DURATION.test(text)) return now - milliseconds(text);
  const [isTime, micro] = ISO_TIME.exec(text) ?? [];
  const time = isTime === undefined ? Number.NaN : Date.parse(text);
  return micro ? time + Number(`0.${micro}`) : time;
}
