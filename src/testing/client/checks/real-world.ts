import { includesNumber } from '../../../device/faults/condition.js';
import { type Misbehaviour, readCatalogue } from '../../../document/catalogue.js';
import { durationText } from '../../report/words.js';
import { type Exchange, isAlike, isReading, type OwnRule, repliedUntil } from '../heard/exchange.js';
import {
  EntryPlayer,
  gotText,
  isDropped,
  isForeign,
  isLate,
  isMet,
  isTrue,
  latestReplies,
  type Played,
} from '../trial/entry-player.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import { notAsBefore } from '../trial/gone.js';
import {
  BEFORE_ITS_TIME,
  behaviourAfter,
  continuationOf,
  type Reaction,
  reactionTo,
} from '../trial/observation.js';
import { isBroken, learn } from '../trial/trial.js';
import type { ValueOracle } from '../trial/values.js';
import { SEEN } from '../trial/values.js';
import { type Bounds, DECIDES, type Judged, sure, type Trial, verdictOf } from '../trial/verdict.js';

/** The group of these checks, and the prefix of their names. */
export const REAL_WORLD = 'real-world';

/** The number of requests that must meet a misbehaviour, unless it ends earlier. */
const ENOUGH = 4;
/**
 * How long a misbehaviour is active, in ms and in poll periods: the minimum, and the maximum if the client
 * does not meet it.
 */
const SHORTEST_PLAY_MS = 2_000;
const SHORTEST_PERIODS = 2;
const LONGEST_MS = 10_000;
const LONGEST_PERIODS = 45;
/** How long to wait for late replies, in ms. */
const LATE_MS = 5_000;
const BOUNDS: Bounds = { right: 0.8, wrong: 0.8, most: 6 };

const RULE =
  'Passes when the client continues correctly, or retries, and then polls as before; fails when the observer shows a \
value that no good reply carried, twice, or when the client stops or does not poll as before; inconclusive when the \
misbehaviour does not fit the line, never affected the client, or led to replies that the client may or may not have accepted.';

let known: readonly Check[] | undefined;

/** Makes a check for each catalogue entry. These run only when named. */
export function realWorldChecks(): readonly Check[] {
  known ??= readCatalogue().map((entry) => ({
    id: `${REAL_WORLD}.${entry.id}`,
    group: REAL_WORLD,
    title: entry.title,
    what: `the misbehaviour ${entry.id}`,
    does: `Makes the devices misbehave as reported for ${entry.devices.join('; ') || 'others'}.`,
    matters: `Clients saw: ${entry.sees}`,
    fix: `A robust client: ${entry.robust}`,
    expected: 'the client continues correctly or retries, and then polls as before',
    rule: RULE,
    source: entry.sources.map(({ url }) => url).join(' '),
    run: (exam) => run(exam, entry),
  }));
  return known;
}

async function run(exam: Exam, entry: Misbehaviour): Promise<Judged> {
  const player = new EntryPlayer(entry, exam.client.order.line, exam.client.order.unitId);
  const why = player.whyNot ?? whyNever(exam, entry, player);
  if (why !== undefined) return sure('unclear', `does not apply: ${why}`);
  const trials: Trial[] = [];
  for (;;) {
    // Each trial begins at a different point of the client's polling cycle.
    if (trials.length > 0) await exam.watch(exam.random.next() * exam.periodMs);
    const trial = await play(exam, entry, player);
    trials.push(trial);
    if (trial.shows === 'wrong') exam.suspicion = trial.text;
    const judged = verdictOf(trials, BOUNDS);
    if (judged) return judged;
  }
}

/** Explains why this client can't meet a misbehaviour, as far as its polls show; undefined if it may. */
function whyNever(
  { log, client: { polls } }: Exam,
  entry: Misbehaviour,
  { rules }: EntryPlayer,
): string | undefined {
  const { writes, sleeps } = entry.manners ?? {};
  const functions = [...new Set(polls.map(({ functionCode }) => functionCode))].sort((a, b) => a - b);
  const isMet = rules.some(({ when }) => functions.some((code) => includesNumber(when.function, code)));
  if (rules.length > 0 && !isMet)
    return `it does not affect function ${functions.join(', ')}, which the client uses`;
  if (writes !== undefined && polls.every(isReading)) return 'it affects writes, but the client only reads';
  const times = log.newest().map(({ at }) => at);
  const longest = Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] as number)));
  if (sleeps && longest < sleeps.after) {
    const most = durationText(Math.round(longest));
    return `it needs ${durationText(sleeps.after)} without a request, but the client was silent for at most ${most}`;
  }
  return undefined;
}

/** Makes the devices misbehave once, and reports what the client did. */
async function play(exam: Exam, entry: Misbehaviour, player: EntryPlayer): Promise<Trial> {
  const { clock, client, log, periodMs } = exam;
  const { values } = client;
  // A stale reply carries a value that the register really had.
  const isStale = player.rules.some(({ faults }) => faults.some(({ kind }) => kind === 'stale'));
  const mark = isStale ? undefined : await settle(exam);
  const isWatched = mark !== undefined;
  const before = latestReplies(exam);
  const [since, begun] = [log.last, clock.now()];
  const met = (rules: readonly OwnRule[]) =>
    log.after(since).filter((each) => isMet(each, { rules, entry, before }));
  const counts = player.rules.map(({ when }) => when.count ?? ENOUGH);
  const enough = entry.manners ? ENOUGH : Math.min(ENOUGH, Math.max(...counts));
  const shortest = Math.max(SHORTEST_PLAY_MS, SHORTEST_PERIODS * periodMs);
  const isEnough = () => (clock.now() - begun >= shortest && met(rules).length >= enough) || undefined;
  const observer = values && isWatched ? watchValues(exam, values, mark) : undefined;
  let rules: readonly OwnRule[] = [];
  const begin = () => {
    const begun = player.begin(exam.client.rules, `${REAL_WORLD}.${entry.id}`, exam.random);
    rules = begun.rules;
    return begun.end;
  };
  await exam.change(begin, isEnough, Math.max(LONGEST_MS, LONGEST_PERIODS * periodMs));
  const { last } = log;
  const all = met(rules).filter(({ seq }) => seq <= last);
  await exam.until(() => all.every(({ reply }) => reply) || undefined, LATE_MS);
  // Sometimes only the reply shows that a fault could not act.
  const acted = all.filter((each) => isMet(each, { rules, entry, before }));
  for (const each of acted) each.rule ??= { name: entry.id, faults: [], isSpoiling: true };
  const isBack = await exam.recover();
  const wrong = await observer?.();
  const follows = !isBack || !isWatched || (await values?.follows(exam)) === true;
  exam.mark();
  const ms = Math.round(clock.now() - begun);
  return trialOf(exam, acted, {
    entry,
    rules,
    before,
    player,
    since,
    last,
    ms,
    isBack,
    follows,
    isWatched,
    wrong,
  });
}

interface EntryOutcome extends Played {
  /** Sequence numbers of the last event before the misbehaviour began, and of the last event during it. */
  readonly since: number;
  readonly last: number;
  readonly ms: number;
  readonly player: EntryPlayer;
  readonly isBack: boolean;
  /** True if the observer shows the values of good replies, or was not used. */
  readonly follows: boolean;
  readonly isWatched: boolean;
  /** A value that the observer showed but no good reply carried; undefined if there was none. */
  readonly wrong: string | undefined;
}

/**
 * Judges the client by an outcome.
 * @param acted the requests that met the misbehaviour
 */
async function trialOf(exam: Exam, acted: readonly Exchange[], outcome: EntryOutcome): Promise<Trial> {
  const { entry, last, isBack, follows, isWatched, wrong } = outcome;
  const evidence = acted.slice(0, ENOUGH);
  if (acted.length === 0) {
    const asked = exam.log.after(outcome.since);
    const text = `it never acted${whyNotMet(exam, asked, outcome)}`;
    return { shows: 'unclear', text, evidence: asked.slice(-2), weight: DECIDES };
  }
  const got = gotText(acted);
  if (!isBack || !follows) {
    const after = exam.log.after(last);
    const text = isBack
      ? `stopped: after ${got}, the observer no longer followed the good replies`
      : `stopped: after ${got}, it ${notAsBefore(exam).text}`;
    const shown = [...evidence, ...after.slice(-2)];
    const conclusion = `does not recover from ${entry.id}`;
    return { shows: 'wrong', text, evidence: shown, weight: DECIDES, conclusion };
  }
  if (wrong !== undefined) {
    const text = `took a wrong value: the observer showed ${JSON.stringify(wrong)}, which matches no good reply to that request`;
    const conclusion = `takes a wrong value after ${entry.id}`;
    return { shows: 'wrong', text, evidence, weight: SEEN, isOfValues: true, conclusion };
  }
  const open = await openPoll(exam, acted, outcome);
  if (open !== undefined) {
    return { shows: 'unclear', text: `${got}: ${open}`, evidence, weight: isWatched ? 1 : DECIDES };
  }
  const again = acted.filter((each) => isAskedAgain(exam, each)).length;
  const how = again > 0 ? `retried after ${again} of` : 'continued correctly after';
  const seen = isWatched ? '; the observer showed no wrong value' : '';
  const text = `${how} ${got}, and then polled as before${seen}`;
  return { shows: 'right', text, evidence, weight: DECIDES, isOfValues: isWatched };
}

function whyNotMet({ log }: Exam, asked: readonly Exchange[], { player, since, ms }: EntryOutcome): string {
  if (player.needsConnections && !log.clientEvent(since, 'client'))
    return ': the client did not connect again after its connection was closed';
  if (asked.some(isDropped))
    return ': the client sent its next request before the late replies were due, so none was sent';
  return ` on any of the ${asked.length} requests in ${durationText(ms)}`;
}

/**
 * Gives all good replies the same value.
 * @returns the mark of that value; undefined if the observer does not show it
 */
export async function settle(exam: Exam): Promise<number | undefined> {
  const { values } = exam.client;
  if (!values || (await values.ready(exam)) !== undefined || !values.isFollowing) return undefined;
  const [mark] = values.threeMarks();
  if (await values.settles(exam, mark)) return mark;
  exam.mark();
  return undefined;
}

/**
 * Looks for a value that no good reply carries.
 * @returns a function that ends the search, and resolves with the value, or undefined
 */
export function watchValues(
  exam: Exam,
  values: ValueOracle,
  mark: number,
): () => Promise<string | undefined> {
  let isOver = false;
  const watch = async (): Promise<string | undefined> => {
    const isLast = isOver;
    const { kind, text } = await values.watch(exam, { before: mark, sent: mark }, values.patienceMs);
    if (kind === 'other') return text;
    return isLast ? undefined : watch();
  };
  const seen = watch();
  return () => {
    isOver = true;
    return seen;
  };
}

/**
 * Explains why it is unknown whether the client accepted a wrong reply as a value; undefined if it is certain
 * that it did not.
 */
async function openPoll(
  exam: Exam,
  acted: readonly Exchange[],
  { isWatched, ...played }: EntryOutcome,
): Promise<string | undefined> {
  const { target } = exam;
  const isOfTarget = ({ poll }: Exchange) => poll === target.key;
  // The observer shows the value of one poll. It would also show a late reply to a similar poll that the
  // client mistakes for the target's.
  const isForTarget = (each: Exchange) =>
    !isOfTarget(each) && isAlike(each, target) && each.next?.poll === target.key;
  if (acted.some((each) => isForeign(each, played)))
    return 'the replies were valid, but with values of other registers, which no client can detect';
  const late = acted.filter((each) => isLate(each));
  if (late.length > 0 && !(isWatched && late.some(isForTarget)))
    return 'the line does not show whether it mistook a late reply for the next one; the check late-reply tests that';
  const ofTarget = acted.filter(isOfTarget);
  const spoilt = (ofTarget.length > 0 ? ofTarget : acted).filter(
    (each) => !late.includes(each) && !isTrue(each, played),
  );
  if (spoilt.length === 0 || (isWatched && ofTarget.length > 0)) return undefined;
  const missing = ofTarget.length > 0 ? await learn(exam, [LOST]) : undefined;
  const usual = behaviourAfter(exam, ['good']);
  const reactions = spoilt.flatMap((each) => {
    const continuation = continuationOf(each);
    if (!continuation || !missing || isBroken(missing)) return [];
    const laterMs = Math.max(0, (repliedUntil(each) ?? each.at) - each.at - usual.replyMs);
    const lateMs = exam.client.lateness.between(each.at, continuation.next.at);
    return [reactionTo(continuation, { usual, missing, laterMs, waitMs: missing.longest, lateMs })];
  });
  const isThrownAway = ({ kind }: Reaction) => kind === 'again' || kind === 'missing';
  if (reactions.length >= DECIDES && reactions.every(isThrownAway)) return undefined;
  const { text = 'it kept polling' } = reactions.find((each) => !isThrownAway(each)) ?? {};
  return `${text}, so the line does not show whether it accepted them${isWatched ? '' : ', and there is no observer to show it'}`;
}

/** True if the client repeated the request, or came back over another connection. */
function isAskedAgain(exam: Exam, exchange: Exchange): boolean {
  const continuation = continuationOf(exchange);
  if (!continuation) return false;
  const { isAnew, next, afterMs } = continuation;
  const isEarly = exam.client.polls.length > 1 || afterMs < BEFORE_ITS_TIME * exam.periodMs;
  return isAnew || (next.poll === exchange.poll && isEarly);
}
