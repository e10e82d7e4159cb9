import type { RecordedReport } from '../../../../testing/report/html.js';
import type { Verdict } from '../../../../testing/report/report.js';
import { sentence } from '../../../../testing/report/words.js';

export type RecordedFinding = RecordedReport['findings'][number];

/** Maximum number of failures on the first page. */
const MOST_BLAMED = 4;

/**
 * The first page, for readers who read nothing else: what was found, what it means, and what to fix.
 * `before`: the outcome for the client; `after`: measurements.
 */
export interface FirstPage {
  readonly before: readonly string[];
  readonly blamed: readonly { readonly finding: RecordedFinding; readonly what: string }[];
  /** How many more failed; empty for none. */
  readonly more: string;
  readonly after: readonly string[];
}

export function firstPage({ kind, findings, ...report }: RecordedReport): FirstPage {
  // A fuzz run gives its result last.
  const conclusions = kind === 'fuzz' ? report.conclusions.toReversed() : report.conclusions;
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  const blames = new Set(failed.map(({ conclusion }) => conclusion && sentence(conclusion)));
  const begin = conclusions.findIndex((text) => blames.has(text));
  const before = begin < 0 ? conclusions : conclusions.slice(0, begin);
  const what = kind === 'scenario' ? 'step' : 'check';
  const count = failed.length === 1 ? `One ${what} failed:` : `${failed.length} ${what}s failed:`;
  const more = failed.length - MOST_BLAMED;
  return {
    before: before.length === 0 && failed.length > 0 ? [count] : before,
    blamed: failed.slice(0, MOST_BLAMED).map((finding) => ({ finding, what: blameOf(finding) })),
    more: more <= 0 ? '' : `${more === 1 ? `One more ${what}` : `${more} more ${what}s`} failed.`,
    after: conclusions.slice(before.length).filter((text) => !blames.has(text)),
  };
}

function blameOf({ conclusion, title }: RecordedFinding): string {
  return conclusion === undefined ? `Not passed: ${title}.` : sentence(conclusion);
}

const COUNTED: readonly (readonly [Verdict, string])[] = [
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['inconclusive', 'inconclusive: the traffic did not allow a verdict'],
  ['error', 'could not be run'],
  ['not run', 'not reached'],
];

/** How many checks have each verdict. */
export function countsOf({ counts, findings }: RecordedReport) {
  const counted = COUNTED.map(([verdict, word]) => {
    return { verdict, word, many: findings.filter((each) => each.verdict === verdict).length };
  });
  return counts ?? counted.filter(({ many }) => many > 0);
}

/** The findings by group, in the order of the first finding of each group. Steps have no group. */
export function groupsOf(
  findings: readonly RecordedFinding[],
): ReadonlyMap<string, readonly RecordedFinding[]> {
  const groups = new Map<string, RecordedFinding[]>();
  for (const finding of findings) {
    const group = finding.about?.group ?? '';
    groups.set(group, [...(groups.get(group) ?? []), finding]);
  }
  return groups;
}

/** Whether the evidence of a finding is shown. */
export function isShown({ kind }: RecordedReport, { verdict, summary, frames }: RecordedFinding): boolean {
  return verdict !== 'not run' && (kind === 'scenario' || summary !== '' || frames.length > 0);
}
