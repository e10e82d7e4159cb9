import type { Measured, Measurements } from '../../report/report.js';

/** What the checks have measured so far. A check sets what it finds; later checks use it. */
export type ClientFacts = { -readonly [Name in keyof Measurements]: Measurements[Name] };

/** Puts a measured time into words: `487 ± 3 ms`. */
export function measuredText({ value, plusMinus }: Measured): string {
  return `${numberText(value)} ± ${numberText(plusMinus)} ms`;
}

/** The measurements by name, for reports. */
export function parametersOf({ pollPeriodMs, timeoutMs, attempts, pausesMs }: ClientFacts) {
  const rows: [string, string | undefined][] = [
    ['poll period', pollPeriodMs === undefined ? undefined : `${numberText(pollPeriodMs)} ms`],
    ['response time-out', timeoutMs && measuredText(timeoutMs)],
    ['attempts', attempts === undefined ? undefined : String(attempts)],
    ['pauses between attempts', pausesMs && (pausesMs.length > 0 ? pausesText(pausesMs) : undefined)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

/**
 * Puts the measurements into words: `gives up after 487 ± 3 ms, asks 3 times, waits 100, 200 ms`. Empty when
 * nothing was measured.
 */
export function foundText({ timeoutMs, attempts, pausesMs = [] }: ClientFacts): string {
  const waits = pausesMs.some((ms) => Math.round(ms) > 0);
  return [
    ...(timeoutMs ? [`gives up after ${measuredText(timeoutMs)}`] : []),
    ...(attempts === undefined ? [] : [attempts === 1 ? 'asks once' : `asks ${attempts} times`]),
    ...(waits ? [`waits ${pausesText(pausesMs)}`] : []),
  ].join(', ');
}

function pausesText(pausesMs: readonly number[]): string {
  return `${pausesMs.map((ms) => Math.round(ms)).join(', ')} ms`;
}

/** Writes the shortest and the longest of some times: `4.6 to 9`, or one number when these look alike. */
export function spanText(times: readonly number[]): string {
  const [low, high] = [Math.min(...times), Math.max(...times)].map(numberText);
  return low === high ? String(low) : `${low} to ${high}`;
}

/** Writes a time below 100 ms with one decimal, and a longer one without. */
export function numberText(ms: number): string {
  return String(Number(ms.toFixed(ms < 100 ? 1 : 0)));
}
