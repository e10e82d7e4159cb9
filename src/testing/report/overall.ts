import type { Verdict } from './report.js';

const WORST_FIRST: readonly Verdict[] = ['error', 'fail', 'inconclusive'];

/** The verdict on all of it: the worst one. What was not run, or was nothing at all, decides nothing. */
export function overallVerdict(verdicts: readonly Verdict[]): Verdict {
  const worst = WORST_FIRST.find((verdict) => verdicts.includes(verdict));
  if (worst !== undefined) return worst;
  return verdicts.length === 0 || verdicts.includes('not run') ? 'inconclusive' : 'pass';
}
