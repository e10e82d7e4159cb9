import type { Finding, Verdict } from '../report/report.js';
import type { Check } from './check.js';
import { framesOf } from './frames.js';
import type { Ended } from './run-check.js';

/** What became of a check, also of one that was not run. */
export type CheckEnd = Ended | { readonly verdict: Verdict; readonly summary: string };

/** What became of a check, for a report. @param durationMs how long it took */
export function findingOf(
  { id, group, title, does, matters, rule, source }: Check,
  ended: CheckEnd,
  durationMs: number,
): Finding {
  const evidence = 'evidence' in ended ? ended.evidence : [];
  return {
    id,
    title,
    verdict: ended.verdict,
    summary: ended.summary,
    // Replies to the frames may still come after the check.
    get frames() {
      return framesOf(evidence);
    },
    durationMs,
    about: { group, does, matters, rule, source },
  };
}
