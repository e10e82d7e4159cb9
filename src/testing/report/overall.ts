import type { Verdict } from './report.js';

const WORST_FIRST: readonly Verdict[] = ['error', 'fail', 'inconclusive'];

/**
 * The worst of the verdicts. When none is bad, the result is `inconclusive` if anything was not run or there
 * are no verdicts at all, otherwise `pass`.
 */
export function overallVerdict(verdicts: readonly Verdict[]): Verdict {
  const worst = WORST_FIRST.find((verdict) => verdicts.includes(verdict));
  if (worst !== undefined) return worst;
  return verdicts.length === 0 || verdicts.includes('not run') ? 'inconclusive' : 'pass';
}
