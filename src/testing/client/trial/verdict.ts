import type { FrameEvent, ReplyEvent, TrafficEvent } from '../../../simulator/traffic/event.js';
import type { Verdict } from '../../report/report.js';

interface AskedPoll {
  readonly poll: string;
  readonly request: FrameEvent;
  readonly reply?: ReplyEvent | undefined;
}

/** The exchanges and events that show why a verdict is what it is. */
export type Evidence = readonly (AskedPoll | TrafficEvent)[];

/** How many exchanges show what a client did instead of polling. */
export const LAST_FRAMES = 4;

/** One disturbance of one poll, or one thing that was watched, and what it showed. */
export interface Trial {
  /** `unclear`: the trial showed neither of the two behaviours that the check distinguishes. */
  readonly shows: 'right' | 'wrong' | 'unclear';
  readonly text: string;
  readonly evidence: Evidence;
  /** How many trials this one counts as; one when absent. */
  readonly weight?: number;
  /**
   * True when the trial has seen which value the client took, which says more than what it did on the line.
   */
  readonly isOfValues?: boolean;
  /** True when the client was away for a time, as a program is that was restarted. Its check never passes. */
  readonly wasAway?: boolean;
  /** True when no more trials can be made. */
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
  /** What a trial has shown of a client that was away, as a part of a sentence. */
  readonly away?: string;
  /** Absent when it is known that the client has recovered. */
  readonly afterwards?: Afterwards;
}

/** A client that has polled once as usual after its last trial: the next check may begin while its next poll is waited for. */
interface Afterwards {
  /** True when that poll comes in time, whatever becomes of its reply. */
  readonly isInTime: () => Promise<boolean>;
  /** The verdict on a client whose poll did not: whether it polls as usual later. */
  readonly later: () => Promise<Judged>;
}

/** What became of a check, even of one that was not run. */
export interface EndedCheck extends Partial<Omit<Judged, 'verdict' | 'summary'>> {
  readonly verdict: Verdict;
  readonly summary: string;
}

/** The bounds within which trials decide. */
export interface Bounds {
  /** The fraction of the trials that show one or the other which has to be right, or wrong. */
  readonly right: number;
  readonly wrong: number;
  readonly most: number;
}

/** The bounds for disturbances: a client is disturbed nine times at most, and four of five trials agree. */
export const DISTURBED: Bounds = { right: 0.8, wrong: 0.8, most: 9 };

/**
 * How many trials decide. A trial that can't be made again, because the client is gone, counts as this many.
 */
export const DECIDES = 3;

/**
 * The verdict on a client, from everything that was tried. It passes or fails when trials agree that count as
 * three or more. It is inconclusive when trials that count as three show nothing and no other shows anything,
 * or when the most that are made do not agree.
 * @returns undefined when another trial is needed
 */
export function verdictOf(all: readonly Trial[], bounds: Bounds = DISTURBED): Judged | undefined {
  const isTaken = all.some(({ isOfValues, shows }) => isOfValues && shows === 'wrong');
  // Trials on the line that speak for the client do not count then: it may ask again and take the value all
  // the same.
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
 * The verdict on what can be seen once, and is sure then.
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
 * Sums up trials in a verdict.
 * @param shows which trials decide it; undefined when they do not agree
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

/** A number, or what an observer showed, which is quoted as it was. */
const NUMBER = /"[^"]*"|\d+(?:\.\d+)?/g;

/** Makes one text of texts that differ in their numbers only: `asked again after 9 to 13 ms`. */
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

/** How many different things that the client did stand in a summary. */
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
