import { lateText } from '../../lateness.js';
import { median } from '../../times.js';
import { type Exchange, repliedFrom, repliedUntil, whyNotActed } from '../heard/exchange.js';
import { type Check, type CheckPlace, type CheckText, type Exam, LOST, SLOWEST_MS } from './exam.js';
import { answeredAtLast, notAsBefore, secondsSince, soonMs, stopped } from './gone.js';
import {
  ALIKE,
  Behaviour,
  behaviourAfter,
  type Continuation,
  continuationOf,
  type Reaction,
  reactionTo,
  type Treatment,
} from './observation.js';
import type { ValueMeaning } from './values.js';
import { type Bounds, DECIDES, DISTURBED, type Judged, sure, type Trial, verdictOf } from './verdict.js';

/**
 * Requests that the client sent one after the other, each treated as wanted, and how it went on after them.
 */
export interface Chain {
  readonly asked: readonly Exchange[];
  readonly continuation: Continuation;
}

/** Says why a chain did not come about. */
export interface BrokenChain {
  /**
   * `gone`: the client sent the poll no more. `stuck`: it did not poll as usual, so nothing was tried.
   * `between`: a request over another connection met what was meant for the next one. `waits`: it waited for its
   * reply until that came, and then went on.
   */
  readonly kind: 'gone' | 'stuck' | 'between' | 'waits' | 'other';
  readonly why: string;
  readonly asked: readonly Exchange[];
}

/** How long to wait for each request: this many ms, and this many poll periods and waits for a reply more. */
const NEXT_MS = 30_000;
const NEXT_TIMES = 3;
/** A machine that is late by this may be why a trial shows nothing, in ms. */
export const LATE_MS = 25;
/** How long a client may wait for a reply while that is not known, in ms. */
const LONG_WAIT_MS = 15_000;

/**
 * How long to wait for the next request of the client, in ms.
 * @param waitMs how long the client waits for a reply, where that is not known
 */
export function patienceOf(exam: Exam, waitMs = 0): number {
  const { periodMs, client } = exam;
  if (client.facts.neverGivesUp) return soonMs(exam);
  return NEXT_MS + NEXT_TIMES * (periodMs + (client.facts.waitMs ?? waitMs));
}

/** How often a chain is tried that a request over another connection has broken. */
const MOST_BETWEEN = 8;

/**
 * Treats requests that follow each other, beginning with a poll of the target while the client polls as
 * usual.
 * @param moreMs how long the treatments themselves may take, in ms
 */
export async function runChain(
  exam: Exam,
  treatments: readonly Treatment[],
  moreMs = 0,
): Promise<Chain | BrokenChain> {
  for (let tried = 1; ; tried++) {
    const chain = await oneChain(exam, treatments, moreMs);
    if (!isBroken(chain) || chain.kind !== 'between' || tried === MOST_BETWEEN) return chain;
  }
}

async function oneChain(
  exam: Exam,
  treatments: readonly Treatment[],
  moreMs: number,
): Promise<Chain | BrokenChain> {
  const broken = (why: string, kind: BrokenChain['kind'] = 'other'): BrokenChain => ({ kind, why, asked });
  const asked: Exchange[] = [];
  if (!(await exam.recover(1))) return broken('did not poll as usual', 'stuck');
  const limit = patienceOf(exam, LONG_WAIT_MS) + moreMs;
  const { last } = exam.log;
  const find = () => {
    const before = asked.at(-1);
    return before ? before.next : exam.askedAfter(last)[0];
  };
  const ended = async () => {
    const before = asked.at(-1);
    if (!before) return broken('did not poll as usual', 'stuck');
    if (exam.askedAfter(before.seq).length > 0) return broken('continued on another open connection');
    const { text } = stopped(exam, before);
    if (!(await answeredAtLast(exam, before))) return broken(text, 'gone');
    return broken(
      `waited for its reply until it came, ${secondsSince(exam, before.at)} after the request`,
      'waits',
    );
  };
  for (const treatment of treatments) {
    const scope = asked.length === 0 ? 'poll' : 'line';
    const done =
      treatment === 'good'
        ? undefined
        : await exam.disturb({ faults: treatment, count: 1, scope }, ({ spoilt: [first] }) => first, limit);
    const request = await exam.until(find, done ? 0 : limit);
    if (done?.result && done.result !== request) {
      return broken('it sent a request on another connection in between', 'between');
    }
    if (!request) return ended();
    asked.push(request);
  }
  const of = asked.at(-1) as Exchange;
  // The reply must be over, too: only then it is known whether the fault could act.
  const isOver = () => (of.reply ? continuationOf(of) : undefined);
  const continuation = await exam.until(isOver, limit);
  const failed = asked.flatMap((each) => whyNotActed(each) ?? []);
  if (failed[0] !== undefined) return broken(`the fault could not act: ${failed[0]}`);
  return continuation ? { asked, continuation } : ended();
}

export function isBroken<Whole extends object>(chain: Whole | BrokenChain): chain is BrokenChain {
  return 'why' in chain;
}

/**
 * Two behaviours that a check distinguishes, by how requests that follow each other are treated. What the
 * client does after `shown` is compared with what it does when the last reply is truly missing, and when it
 * truly came.
 */
export interface Contrast {
  readonly shown: readonly Treatment[];
  readonly ifTaken: readonly Treatment[];
  readonly ifLeft: readonly Treatment[];
  /** If the client goes on as usual after this, too, going on as usual shows nothing. */
  readonly alsoUsual?: readonly Treatment[];
  /** Says why these requests show nothing, as a part of a sentence; undefined when they show something. */
  readonly isVoid?: (asked: readonly Exchange[]) => string | undefined;
}

/** The contrast between one spoilt reply, a good one, and none. */
export function spoilt(faults: readonly object[]): Contrast {
  return { shown: [faults], ifTaken: ['good'], ifLeft: [LOST] };
}

/** Faults that send a reply twice, one right behind the other. */
export function twice({ client: { line } }: Exam): readonly object[] {
  return [{ duplicate: { times: 1, gap: Math.max(SHORTEST_GAP_MS, 2 * line.t35) } }];
}

const SHORTEST_GAP_MS = 1;

/** Says why a reply with pauses that RTU allows shows nothing, where they became longer than that. */
export const TOO_LONG = 'this computer paused longer than t1.5, so the reply was not valid';

/** Says why a reply that was to come twice shows nothing; undefined when it came twice. */
export function whyNotTwice(exchange: Exchange | undefined): string | undefined {
  const ended = exchange?.reply?.report.ended;
  if (ended === 'complete') return undefined;
  const did = ended === 'disconnected' ? 'closed its connection' : 'sent another request';
  return `the client ${did} before the reply could be sent twice`;
}

/** What each reaction to `shown` says of a client. */
export type ReactionMeaning = Readonly<Record<'usual' | 'missing' | 'again', Trial['shows']>>;

/** The meaning when a client has to take the reply. */
export const TAKES_IT: ReactionMeaning = { usual: 'right', missing: 'wrong', again: 'wrong' };
/**
 * The meaning when a client must not take the reply: one that goes on as if the last request had been
 * answered has taken another reply for it.
 */
export const TAKES_NONE: ReactionMeaning = { missing: 'right', again: 'unclear', usual: 'wrong' };

export interface Blame {
  /** What the client was shown: `a reply with a wrong CRC`. */
  readonly what: string;
  /** What is wrong with a client whose trials show `wrong`. */
  readonly blame: string;
}

/** How often to try what a client does after some treatments. */
const LEARNT = 3;
/** How often to try what a client does without a reply, because that counts for all checks. */
const LEARNT_MISSING = 5;
const MOST_FAILED = 2;

/**
 * Learns what the client does after some treatments, and tries them when they were not heard often enough.
 */
export async function learn(
  exam: Exam,
  treatments: readonly Treatment[],
  { times = LEARNT, polls }: { readonly times?: number; readonly polls?: readonly string[] | undefined } = {},
): Promise<Behaviour | BrokenChain> {
  const isLoss = treatments.length === 1 && treatments[0] === LOST;
  const wanted = isLoss ? Math.max(times, LEARNT_MISSING) : times;
  let failed = 0;
  for (;;) {
    const behaviour = behaviourAfter(exam, treatments, polls);
    const known = behaviour.samples.length;
    if (isLoss && known > 0) exam.client.learn({ waitMs: behaviour.longest });
    // Nothing else takes as long, so once is enough.
    const isSlow = known > 0 && behaviour.shortest > SLOWEST_MS + exam.periodMs;
    if (known >= wanted || isSlow) return behaviour;
    const chain = await runChain(exam, treatments);
    const isMore = behaviourAfter(exam, treatments, polls).samples.length > known;
    if (isBroken(chain) && chain.kind !== 'other' && chain.kind !== 'between') return chain;
    if (!isMore && ++failed > MOST_FAILED) return behaviour;
  }
}

/** What a client does without a reply that waits for one without end. */
const NEVER = new Behaviour([]);

/** Shows the client something, and says what it did, or why that came to nothing. */
async function reactionIn(
  exam: Exam,
  contrast: Contrast,
): Promise<(Reaction & { asked: readonly Exchange[] }) | BrokenChain> {
  // This is learned before the client is shown anything, because what it does afterwards may come from that.
  const missing = exam.client.facts.neverGivesUp ? NEVER : await learn(exam, [LOST]);
  if (isBroken(missing) && missing.kind !== 'waits') return missing;
  const chain = await runChain(exam, contrast.shown);
  const isWaiting = isBroken(chain) && (chain.kind === 'waits' || exam.client.facts.neverGivesUp);
  if (isWaiting) {
    return { kind: 'missing', text: 'kept waiting, as without a reply', asked: chain.asked };
  }
  if (isBroken(chain)) return chain;
  const asked = [...chain.asked, chain.continuation.next];
  const why = contrast.isVoid?.(chain.asked);
  if (why !== undefined) return { kind: 'unclear', text: why, asked };
  const polls = chain.asked.map(({ poll }) => poll);
  const isEndless = isBroken(missing) || missing === NEVER;
  const left = isEndless ? NEVER : await learn(exam, contrast.ifLeft, { polls });
  if (isBroken(left)) return left;
  const taken = await learn(exam, contrast.ifTaken, { polls });
  if (isBroken(taken)) return taken;
  const sent = sentFor(chain.continuation.of) - median(taken.samples.map(({ of }) => sentFor(of)));
  const laterMs = Math.max(0, sent || 0);
  const { of: first, next } = chain.continuation;
  const lateMs = exam.client.lateness.between(first.at, next.at);
  const compared = {
    usual: taken,
    missing: left,
    laterMs,
    waitMs: isEndless ? Number.POSITIVE_INFINITY : missing.longest,
    lateMs,
  };
  const reaction = reactionTo(chain.continuation, compared);
  const others = contrast.alsoUsual ? behaviourAfter(exam, contrast.alsoUsual).samples : [];
  const isAlike = others.some((each) => reactionTo(each, compared).kind === 'usual');
  if (reaction.kind === 'usual' && isAlike) return { kind: 'unclear', text: ALIKE, asked };
  if (reaction.kind !== 'unclear' || lateMs < LATE_MS) return { ...reaction, asked };
  return { kind: 'unclear', text: `${lateText(lateMs)}: ${reaction.text}`, asked };
}

/** Makes one trial on the line. */
export async function lineTrial(
  exam: Exam,
  contrast: Contrast,
  meaning: ReactionMeaning,
  { what, blame }: Blame,
): Promise<Trial> {
  const seen = await reactionIn(exam, contrast);
  if ('why' in seen) {
    const { kind, why: text, asked: evidence } = seen;
    if (kind !== 'gone') return { shows: 'unclear', text, evidence, isLast: kind === 'stuck' };
    const isShown = contrast.shown.length > 0 && evidence.some(({ rule }) => rule && rule.faults !== LOST);
    const stopped = `sends nothing for half a minute or longer after ${isShown ? what : 'a request without a reply'}`;
    return { shows: 'wrong', text, evidence, weight: DECIDES, conclusion: stopped };
  }
  const { kind, text, wasAway = false, isAlike = false, asked: evidence } = seen;
  const shows = kind === 'unclear' ? kind : meaning[kind];
  // A client that did anything else than going on as without a reply may have kept what was sent.
  const { neverGivesUp, waitMs = 0 } = exam.client.facts;
  const isWhole = kind === 'usual' && meaning === TAKES_IT;
  const mayKeep = kind !== 'missing' && !isWhole && !neverGivesUp;
  if (mayKeep && hasSpoiltBytes(evidence)) await exam.suppressReplies(1);
  const more =
    kind !== 'usual' || shows === 'right'
      ? ''
      : shows === 'unclear'
        ? ', so the line does not show whether it accepted the reply'
        : contrast.shown.length > 1
          ? ', although its last request got no reply of its own'
          : '';
  return {
    shows,
    text: `${text}${more}`,
    evidence,
    wasAway,
    // A wait of that length can't be mistaken.
    ...((isAlike || (kind === 'missing' && (neverGivesUp || waitMs > SLOWEST_MS + exam.periodMs))) && {
      weight: DECIDES,
    }),
    ...(shows === 'wrong' && { conclusion: blame }),
  };
}

function hasSpoiltBytes(exchanges: readonly Exchange[]): boolean {
  return exchanges.some((each) => each.rule && repliedFrom(each) !== undefined);
}

/** How long sending the reply took, in ms. */
function sentFor(exchange: Exchange): number {
  return (repliedUntil(exchange) ?? 0) - (repliedFrom(exchange) ?? 0);
}

/** Bounds that allow no more trials. */
const LAST: Bounds = { ...DISTURBED, most: 0 };

/**
 * Makes trials until they decide, and then waits for the client to poll as before. A client that does not has
 * failed, whatever it did at first.
 * @param next makes one trial, given those that were made
 */
export async function decide(
  exam: Exam,
  { what }: Pick<Blame, 'what'>,
  next: (trials: readonly Trial[]) => Promise<Trial>,
): Promise<Judged> {
  const trials: Trial[] = [];
  let judged: Judged | undefined;
  while (!judged) {
    const trial = await next(trials);
    trials.push(trial);
    if (trial.shows === 'wrong') exam.suspicion = trial.text;
    judged = verdictOf(trials, trial.isLast ? LAST : DISTURBED);
  }
  // What was not disturbed is not to blame, nor what a client does that waits for each reply without end.
  if (judged.verdict === 'fail' || !exam.hasDisturbed || exam.client.facts.neverGivesUp) return judged;
  return recovers(exam, judged, () => unrecovered(exam, what, trials));
}

/**
 * Waits for the client to poll as before after its last trial. Once it has polled as usual, the next check may begin.
 * @param otherwise the verdict on a client that does not
 */
export async function recovers(exam: Exam, judged: Judged, otherwise: () => Judged): Promise<Judged> {
  const later = async () => {
    exam.client.disturb();
    if (await exam.recover()) return judged;
    const wrong = otherwise();
    if (!exam.wasSlow || exam.askedAfter(exam.lastMet?.seq ?? 0).length === 0) return wrong;
    return sure(
      'unclear',
      `${wrong.summary}; nor did it before, while this machine was late`,
      wrong.evidence,
    );
  };
  if (exam.client.isWithoutRhythm || !(await exam.recover(1))) return later();
  exam.client.recovered(false);
  return { ...judged, afterwards: { isInTime: () => exam.comesAgain(), later } };
}

/** The verdict on a client that does not poll as before after its trials. */
function unrecovered(exam: Exam, what: string, trials: readonly Trial[]): Judged {
  const last = trials.at(-1) as Trial;
  const then = notAsBefore(exam);
  const text = `${last.text}, and then ${then.text}`;
  const wrong: Trial = {
    ...last,
    shows: 'wrong',
    text,
    weight: DECIDES,
    conclusion: `${then.blame} after ${what}`,
  };
  return verdictOf([wrong]) as Judged;
}

/** A row of a table: a disturbance, and the two behaviours that it distinguishes. */
export interface ContrastRow extends CheckText, CheckPlace, Blame {
  readonly rule: string;
  readonly meaning: ReactionMeaning;
  /**
   * Chooses what this client is shown.
   * @returns a contrast; a sentence when the client can't be shown it; or the verdict, when nothing need be
   *   shown
   */
  readonly contrast: (exam: Exam) => Contrast | string | Judged | Promise<Contrast | Judged>;
  /** What the values that an observer shows say of a client; absent when they say nothing. */
  readonly values?: ValueMeaning;
}

/** Makes the check that a row describes. */
export function contrastCheck(group: Check['group'], row: ContrastRow): Check {
  const { meaning, contrast: contrastFor, values, blame, ...described } = row;
  return {
    ...described,
    group,
    async run(exam) {
      const contrast = await contrastFor(exam);
      if (typeof contrast === 'string') return sure('unclear', contrast);
      if ('verdict' in contrast) return contrast;
      const [faults] = contrast.shown;
      const judged = await decide(exam, row, (trials) =>
        values && exam.client.values && typeof faults === 'object' && isValuesTurn(trials)
          ? exam.client.values.trial(exam, { ...row, faults, meaning: values })
          : lineTrial(exam, contrast, meaning, row),
      );
      const isUnseen = judged.verdict === 'inconclusive' && values && !exam.client.values;
      return isUnseen ? { ...judged, summary: `${judged.summary}; no observer shows its values` } : judged;
    },
  };
}

/**
 * True when the next trial looks at values. Values and the line take turns, as long as the values can be
 * seen.
 */
function isValuesTurn(trials: readonly Trial[]): boolean {
  const isUnseen = trials.some(({ isOfValues, shows }) => isOfValues && shows === 'unclear');
  return !isUnseen && trials.length % 2 === 0;
}
