const WHOLE = new Intl.NumberFormat('en');

/** A count: `12,345`. */
export function count(value: number): string {
  return WHOLE.format(value);
}

/** A measured value with three significant digits, but with all digits before the point: `0.859`, `20.1`, `1240`. */
export function measured(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(3, digits));
}

/** Formats a rate: `24/s`, and below once per second `12/min`. */
export function rateText(perSecond: number): string {
  return perSecond >= 0.95 ? `${Math.round(perSecond)}/s` : `${Math.max(1, Math.round(perSecond * 60))}/min`;
}

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The time of day in the browser's time zone. @param ms time in ms since 1970 */
export function timeOfDay(ms: number): string {
  return TIME.format(ms);
}
