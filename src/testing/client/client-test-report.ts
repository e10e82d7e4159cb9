import { compact } from '../../common/compact.js';
import type { TrafficEvent } from '../../simulator/traffic/event.js';
import { type Finding, overallVerdict, type Report, STOPPED, versions } from '../report/report.js';
import { durationText, sentence } from '../report/words.js';
import { foundText, measurementsOf, parametersOf } from './heard/found.js';
import type { Check } from './trial/exam.js';
import type { EndedCheck, Evidence } from './trial/verdict.js';
import type { ClientOrder, WatchedClient } from './watched-client.js';

interface KnownByNow extends Pick<Report, 'findings'> {
  /** Sentences about the client's fate: it crashed, is gone, or was away. */
  readonly fates: readonly string[];
  /** True if the client exited or stopped sending a poll, and no check is to blame. */
  readonly isGone: boolean;
}

/**
 * If this fraction of the checks is inconclusive, the first sentence says so. If this fraction did not run at
 * all and no check failed, the verdict is `error`.
 */
const TOO_MANY = 0.5;
/** A client that has left this many connections open is reported as leaking them. */
const LEAK = 3;

/** Makes the report on what a client test has found so far. */
export function clientTestReport(
  { line, seed, about, checks }: ClientOrder & { readonly checks: readonly Check[] },
  { course, facts: found, log: { leftOpen } }: Pick<WatchedClient, 'course' | 'facts' | 'log'>,
  { fates, findings, isGone }: KnownByNow,
): Report {
  const { keptInOutage: kept } = found;
  const { startedAt, durationMs, refusal, isOver, isStopped, suspended = '' } = course;
  const verdicts = findings.map(({ verdict }) => verdict);
  const [notRun, open] = ['not run', 'inconclusive'].map(
    (wanted) => verdicts.filter((verdict) => verdict === wanted).length,
  ) as [number, number];
  const overall = refusal !== undefined ? 'error' : isGone ? 'fail' : overallVerdict(verdicts);
  const tooMany = TOO_MANY * Math.max(1, checks.length);
  const isTooLittle = isOver && overall !== 'fail' && notRun >= tooMany;
  const counts = [
    ...(open > 0 ? [`${open} inconclusive`] : []),
    ...(notRun > 0 ? [`${notRun} not run`] : []),
  ];
  const undecided =
    isOver && notRun + open >= tooMany
      ? `${notRun + open} of ${checks.length} checks undecided: ${counts.join(', ')}`
      : undefined;
  const [fate, ...others] = refusal === undefined ? fates : [];
  const first = [fate, undecided].filter((text) => text !== undefined).join('; ');
  // The seed decides the order in which checks run. The report lists them, and the sentences about them, in
  // the order of the table.
  const inOrder = findings.toSorted((a, b) => checkIndex(checks, a) - checkIndex(checks, b));
  const conclusions = inOrder.flatMap(({ verdict, conclusion }) => (verdict === 'fail' && conclusion) || []);
  return {
    kind: 'client',
    name: `the client on line ${line.name}`,
    startedAt,
    durationMs,
    verdict: isTooLittle ? 'error' : overall,
    isStopped,
    line: line.name,
    seed,
    ...(about && { about }),
    conclusions: [
      ...(isStopped ? [STOPPED] : []),
      ...(refusal === undefined ? [first, ...others] : [refusal, undecided ?? '', ...fates]),
      ...new Set(conclusions),
      leftOpen < LEAK
        ? ''
        : `opens another connection when no reply comes and leaves the old one open: ${leftOpen} such connections are open`,
      found.shownForNothing === undefined
        ? ''
        : `shows ${JSON.stringify(found.shownForNothing)} when no reply comes, as if it were a value`,
      kept && `still shows ${JSON.stringify(kept.text)} at the end of an outage of ${durationText(kept.ms)}`,
      ...(refusal === undefined
        ? [foundText(found) || (isOver ? 'Neither its time-out nor its retries were measured' : '')]
        : []),
      suspended,
    ].flatMap((text) => (text ? sentence(text) : [])),
    parameters: parametersOf(found),
    found: measurementsOf(found),
    findings: inOrder,
    versions: versions(),
  };
}

function checkIndex(checks: readonly Check[], { id }: Finding): number {
  return checks.findIndex((check) => check.id === id);
}

/**
 * Makes the finding for a check.
 * @param durationMs duration of the check, in ms
 */
export function findingOf(
  { id, group, title, expected, does, matters, rule, fix, source, beside, isDecidedByMany }: Check,
  { verdict, summary, conclusion, confidence, evidence = [] }: EndedCheck,
  durationMs: number,
): Finding {
  const last = isDecidedByMany || beside === 'watches' ? undefined : evidence.at(-1);
  const decides = last && 'poll' in last ? last.request : last?.kind === 'reply' ? last : undefined;
  const frame = decides?.seq;
  const missed = verdict === 'fail' ? compact({ expected, received: summary, frame }) : undefined;
  return {
    ...compact({ id, title, verdict, summary, missed, conclusion, confidence }),
    // Replies to the frames may still come after the check.
    get frames() {
      return framesOf(evidence);
    },
    durationMs,
    about: { group, does, matters, rule, fix, source },
  };
}

/** Maximum number of frames in a finding. The first and last ones show the most. */
const MOST_FRAMES = 60;

/** The events that support a finding, in order. An exchange contributes its request and its reply. */
export function framesOf(evidence: Evidence): TrafficEvent[] {
  const events = new Map<number, TrafficEvent>();
  for (const each of evidence) {
    for (const event of 'poll' in each ? [each.request, each.reply] : [each]) {
      if (event) events.set(event.seq, event);
    }
  }
  const frames = [...events.values()].sort((a, b) => a.seq - b.seq);
  if (frames.length <= MOST_FRAMES) return frames;
  return [...frames.slice(0, MOST_FRAMES / 2), ...frames.slice(-MOST_FRAMES / 2)];
}
