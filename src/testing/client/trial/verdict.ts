import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../simulator/traffic/event.js';
import type { Verdict } from '../../report/report.js';

interface AskedPoll {
  readonly poll: string;
  readonly request: FrameEvent;
  readonly reply?: ReplyEvent | undefined;
}

/** The exchanges and events that explain a verdict. */
export type Evidence = readonly (AskedPoll | TrafficEvent)[];

/** The number of exchanges that show what a client did instead of polling. */
export const LAST_FRAMES = 4;

/** One disturbance of one poll, or one observation, and what it showed. */
export interface Trial {
  /** `unclear`: the trial showed neither of the two behaviours that the check distinguishes. */
  readonly shows: 'right' | 'wrong' | 'unclear';
  readonly text: string;
  readonly evidence: Evidence;
  /** The number of trials that this one counts as; absent: one. */
  readonly weight?: number;
  /** True if the trial saw which value the client accepted, which says more than its behaviour on the line. */
  readonly isOfValues?: boolean;
  /** True if the client was away for some time, like a program that was restarted. If so, its check never passes. */
  readonly wasAway?: boolean;
  /** True if no more trials can be made. */
  readonly isLast?: boolean;
  /** What is wrong with the client, for the first page. */
  readonly conclusion?: string;
}

export interface Judged {
  readonly verdict: 'pass' | 'fail' | 'inconclusive';
  /** How many trials show the verdict, and how many were made. */
  readonly confidence: { readonly agreeing: number; readonly trials: number };
  readonly summary: string;
  readonly evidence: Evidence;
  readonly conclusion?: string;
  /** What a trial has shown about a client that was away, as part of a sentence. */
  readonly away?: string;
  /** Absent if the client is known to have recovered. */
  readonly afterwards?: Afterwards;
}

/**
 * A client that has polled once as usual after its last trial: the next check may begin during the wait for
 * its next poll.
 */
interface Afterwards {
  /** True if that poll comes in time, whatever becomes of its reply. */
  readonly isInTime: () => Promise<boolean>;
  /** The verdict if that poll does not come in time: it depends on whether the client polls as usual later. */
  readonly later: () => Promise<Judged>;
}

/** The result of a check, even of one that was not run. */
export interface EndedCheck extends Partial<Omit<Judged, 'verdict' | 'summary'>> {
  readonly verdict: Verdict;
  readonly summary: string;
}

/** The limits for a decision by trials. */
export interface Bounds {
  /** Of the trials that show `right` or `wrong`, the fraction that must be right to pass, or wrong to fail. */
  readonly right: number;
  readonly wrong: number;
  readonly most: number;
}

/** The bounds for disturbances: at most nine trials, and four of five agree. */
export const DISTURBED: Bounds = { right: 0.8, wrong: 0.8, most: 9 };

/** How many trials decide. A trial that can't be repeated, because the client is gone, counts as this many. */
export const DECIDES = 3;

/**
 * The verdict on a client from all its trials. It passes or fails if agreeing trials have a total weight of
 * three or more. It is inconclusive if trials with a total weight of three show nothing and no other trial
 * shows anything, or if the maximum number of trials do not agree.
 * @returns undefined if another trial is needed
 */
export function verdictOf(all: readonly Trial[], bounds: Bounds = DISTURBED): Judged | undefined {
  const isTaken = all.some(({ isOfValues, shows }) => isOfValues && shows === 'wrong');
  // In that case, trials on the line in the client's favour do not count: it may repeat the request and
  // accept the value all the same.
  const trials = isTaken ? all.filter(({ isOfValues, shows }) => isOfValues || shows !== 'right') : all;
  const weigh = (shows: Trial['shows']) =>
    trials.reduce((sum, each) => sum + (each.shows === shows ? (each.weight ?? 1) : 0), 0);
  const [right, wrong, unclear] = [weigh('right'), weigh('wrong'), weigh('unclear')];
  if (wrong >= DECIDES && wrong >= bounds.wrong * (right + wrong)) return judged('fail', 'wrong', trials);
  const isPassed = right >= DECIDES && right >= bounds.right * (right + wrong);
  if (isPassed && trials.every(({ wasAway }) => !wasAway)) return judged('pass', 'right', trials);
  if (unclear >= DECIDES && right + wrong === 0) return judged('inconclusive', 'unclear', trials);
  return all.length < bounds.most ? undefined : judged('inconclusive', undefined, trials);
}

/**
 * The verdict on something that is certain once it has been seen.
 * @param conclusion as in `Trial`
 */
export function sure(
  shows: Trial['shows'],
  text: string,
  evidence: Evidence = [],
  conclusion?: string,
): Judged {
  const trial = { shows, text, evidence, weight: DECIDES, ...(conclusion !== undefined && { conclusion }) };
  return verdictOf([trial]) as Judged;
}

/**
 * Combines trials into a verdict.
 * @param shows which trials decide it; undefined if they do not agree
 */
function judged(
  verdict: Judged['verdict'],
  shows: Trial['shows'] | undefined,
  trials: readonly Trial[],
): Judged {
  const deciding = shows === undefined ? trials : trials.filter((each) => each.shows === shows);
  const confidence = { agreeing: shows === undefined ? 0 : deciding.length, trials: trials.length };
  const conclusion = deciding.find((each) => each.conclusion !== undefined)?.conclusion;
  const away = trials.find(({ wasAway }) => wasAway)?.text;
  return {
    verdict,
    confidence,
    summary: summaryOf(deciding, confidence),
    evidence: deciding.flatMap((each) => each.evidence),
    ...(verdict === 'fail' && conclusion !== undefined && { conclusion }),
    ...(away !== undefined && { away }),
  };
}

/** A number, or an observer's text, which is in quotes and left unchanged. */
const NUMBER = /"[^"]*"|\d+(?:\.\d+)?/g;

/** Merges texts that differ only in their numbers: `asked again after 9 to 13 ms`. */
function spannedText(texts: readonly string[]): string {
  const numbers = texts.map((text) => (text.match(NUMBER) ?? []).map(Number));
  let place = 0;
  return (texts[0] as string).replaceAll(NUMBER, (first) => {
    const each = numbers.map((all) => all[place] as number);
    place++;
    if (first.startsWith('"')) return first;
    const [low, high] = [Math.min(...each), Math.max(...each)];
    return low === high ? first : `${low} to ${high}`;
  });
}

/** Maximum number of different client actions in a summary. */
const MOST_KINDS = 3;

function summaryOf(deciding: readonly Trial[], { agreeing, trials }: Judged['confidence']): string {
  const byKind = new Map<string, string[]>();
  for (const { text } of deciding) {
    const kind = text.replaceAll(NUMBER, '');
    byKind.set(kind, [...(byKind.get(kind) ?? []), text]);
  }
  const texts = [...byKind.values()].slice(0, MOST_KINDS).map(spannedText).join('; ');
  if (agreeing === 0) return `the trials do not agree: ${texts}`;
  return trials === 1 ? texts : `${texts} (${agreeing} of ${trials} trials)`;
}
