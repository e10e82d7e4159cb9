import { lateText } from '../../lateness.js';
import { median } from '../../times.js';
import { type Exchange, repliedFrom, repliedUntil, wentWell, whyNotActed } from '../heard/exchange.js';
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

/** Consecutive requests of the client, each treated as intended, and how the client continued after them. */
export interface Chain {
  readonly asked: readonly Exchange[];
  readonly continuation: Continuation;
}

/** Explains why a chain could not be completed. */
export interface BrokenChain {
  /**
   * `gone`: the client stopped sending the poll. `stuck`: it did not poll as usual, so nothing was tried.
   * `between`: a request over another connection got the treatment meant for the next one. `waits`: it waited
   * until its reply came, and then continued.
   */
  readonly kind: 'gone' | 'stuck' | 'between' | 'waits' | 'other';
  readonly why: string;
  readonly asked: readonly Exchange[];
}

/** How long to wait for each request: this many ms, plus this many poll periods and waits for a reply. */
const NEXT_MS = 30_000;
const NEXT_TIMES = 3;
/** If timers on this machine fire this late, in ms, that may be why a trial shows nothing. */
export const LATE_MS = 25;
/** The assumed maximum wait for a reply until it is known, in ms. */
const LONG_WAIT_MS = 15_000;

/**
 * How long to wait for the client's next request, in ms.
 * @param waitMs how long the client waits for a reply, if that is not known
 */
export function patienceOf(exam: Exam, waitMs = 0): number {
  const { periodMs, client } = exam;
  if (client.facts.neverGivesUp) return soonMs(exam);
  return NEXT_MS + NEXT_TIMES * (periodMs + (client.facts.waitMs ?? waitMs));
}

/** How many times to retry a chain that a request over another connection has broken. */
const MOST_BETWEEN = 8;

/**
 * Treats consecutive requests, beginning with a poll of the target while the client polls as usual.
 * @param moreMs duration of the treatments themselves, in ms
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
  // The reply must have ended too: only then is it known whether the fault could act.
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
 * Two behaviours that a check distinguishes, given as treatments of consecutive requests. The client's
 * behaviour after `shown` is compared with its behaviour when the last reply is really missing, and when it
 * really came.
 */
export interface Contrast {
  readonly shown: readonly Treatment[];
  readonly ifTaken: readonly Treatment[];
  readonly ifLeft: readonly Treatment[];
  /** If the client continues as usual after this too, continuing as usual shows nothing. */
  readonly alsoUsual?: readonly Treatment[];
  /** Explains why these requests show nothing, as part of a sentence; undefined if they show something. */
  readonly isVoid?: (asked: readonly Exchange[]) => string | undefined;
}

/** The contrast between one altered reply, a good one, and none. */
export function spoilt(faults: readonly object[]): Contrast {
  return { shown: [faults], ifTaken: ['good'], ifLeft: [LOST] };
}

/** Faults that send a reply twice, without a pause. */
export function twice({ client: { line } }: Exam): readonly object[] {
  return [{ duplicate: { times: 1, gap: Math.max(SHORTEST_GAP_MS, 2 * line.t35) } }];
}

const SHORTEST_GAP_MS = 1;

/** Explains why a reply with pauses that RTU allows shows nothing if the pauses became longer. */
export const TOO_LONG = 'this machine paused for longer than t1.5, so the reply was not valid';

/** Explains why a reply that should come twice shows nothing; undefined if it came twice. */
export function whyNotTwice(exchange: Exchange | undefined): string | undefined {
  const ended = exchange?.reply?.report.ended;
  if (ended === 'complete') return undefined;
  const did = ended === 'disconnected' ? 'closed its connection' : 'sent another request';
  return `the client ${did} before the reply could be sent twice`;
}

/** What each reaction to `shown` says about a client. */
export type ReactionMeaning = Readonly<Record<'usual' | 'missing' | 'again', Trial['shows']>>;

/** The meaning for a reply that a client must accept. */
export const TAKES_IT: ReactionMeaning = { usual: 'right', missing: 'wrong', again: 'wrong' };
/**
 * The meaning for a reply that a client must not accept: if it continues as if the last request had been
 * answered, it has taken another reply for it.
 */
export const TAKES_NONE: ReactionMeaning = { missing: 'right', again: 'unclear', usual: 'wrong' };

export interface Blame {
  /** What the client got: `a reply with a wrong CRC`. */
  readonly what: string;
  /** What is wrong with a client whose trials show `wrong`. */
  readonly blame: string;
}

/** How many times to try each treatment whose effect must be learned. */
const LEARNT = 3;
/** How many times to try a missing reply, because that counts for all checks. */
const LEARNT_MISSING = 5;
const MOST_FAILED = 2;

/** Learns what the client does after some treatments, trying them if the traffic does not contain enough examples. */
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

/** The behaviour without a reply of a client that waits indefinitely. */
const NEVER = new Behaviour([]);

/** Applies the treatment `shown`, and reports what the client did, or why this failed. */
async function reactionIn(
  exam: Exam,
  contrast: Contrast,
): Promise<(Reaction & { asked: readonly Exchange[] }) | BrokenChain> {
  // This must be learned first, because the client's later behaviour may be a consequence of the treatment.
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
  if (exam.client.isWithoutRhythm && !isEndless && leavesGoodReplies(exam, first.seq, missing, lateMs))
    return { kind: 'unclear', text: LEAVES_GOOD, asked };
  const reaction = reactionTo(chain.continuation, compared);
  const others = contrast.alsoUsual ? behaviourAfter(exam, contrast.alsoUsual).samples : [];
  const isAlike = others.some((each) => reactionTo(each, compared).kind === 'usual');
  if (reaction.kind === 'usual' && isAlike) return { kind: 'unclear', text: ALIKE, asked };
  if (reaction.kind !== 'unclear' || lateMs < LATE_MS) return { ...reaction, asked };
  return { kind: 'unclear', text: `${lateText(lateMs)}: ${reaction.text}`, asked };
}

const LEAVES_GOOD = 'it continued after a good reply as without one, so it may accept none';

/** True if a client continued after its last good reply before an event as it does without a reply. */
function leavesGoodReplies(exam: Exam, seq: number, missing: Behaviour, lateMs: number): boolean {
  const isBefore = (each: Exchange) => each.seq < seq && each.poll === exam.target.key && wentWell(each);
  const last = exam.log.newest().findLast(isBefore);
  const continuation = last && continuationOf(last);
  const usual = behaviourAfter(exam, ['good']);
  const compared = { usual, missing, laterMs: 0, waitMs: missing.longest, lateMs };
  return continuation !== undefined && reactionTo(continuation, compared).kind === 'missing';
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
  // Unless the client continued as it does without a reply, it may have kept the bytes.
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
    // A wait this long can't be mistaken for anything else.
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
 * @param next makes one trial, given the earlier ones
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
  // Without a disturbance the check is not to blame; nor for a client that waits for each reply indefinitely.
  if (judged.verdict === 'fail' || !exam.hasDisturbed || exam.client.facts.neverGivesUp) return judged;
  return recovers(exam, judged, () => unrecovered(exam, what, trials));
}

/**
 * Waits for the client to poll as before after its last trial. Once it has polled as usual, the next check
 * may begin.
 * @param otherwise the verdict if it does not
 */
export async function recovers(exam: Exam, judged: Judged, otherwise: () => Judged): Promise<Judged> {
  const later = async () => {
    exam.client.disturb();
    if (await exam.recover()) return judged;
    const wrong = otherwise();
    if (!exam.wasSlow || exam.askedAfter(exam.lastMet?.seq ?? 0).length === 0) return wrong;
    return sure(
      'unclear',
      `${wrong.summary}; it did not poll as before even earlier, while this machine was late`,
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
  /** What a client that passes does, as part of a sentence. */
  readonly expected: string;
  readonly rule: string;
  readonly meaning: ReactionMeaning;
  /**
   * Chooses the contrast for this client.
   * @returns a contrast; a sentence if it can't be applied to the client; or the verdict, if no trial is
   * needed
   */
  readonly contrast: (exam: Exam) => Contrast | string | Judged | Promise<Contrast | Judged>;
  /** What the values shown by an observer say about a client; absent if they say nothing. */
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
      if (judged.verdict !== 'inconclusive' || !values || exam.client.values) return judged;
      const unseen = (those: Judged) => ({
        ...those,
        summary: `${those.summary}; no observer shows its values`,
      });
      const { afterwards } = judged;
      if (!afterwards) return unseen(judged);
      const later = async () => {
        const then = await afterwards.later();
        return then.verdict === 'inconclusive' ? unseen(then) : then;
      };
      return { ...unseen(judged), afterwards: { ...afterwards, later } };
    },
  };
}

/** True if the next trial looks at values. Values and the line take turns as long as the values can be seen. */
function isValuesTurn(trials: readonly Trial[]): boolean {
  const isUnseen = trials.some(({ isOfValues, shows }) => isOfValues && shows === 'unclear');
  return !isUnseen && trials.length % 2 === 0;
}
