import type { Clock } from '../../../modbus/transport/clock.js';
import type { Line } from '../../../simulator/line.js';
import { timesText } from '../../report/words.js';
import { type Outage, type PolledLine, pduOf } from '../../tested-line.js';
import { type Exchange, type Poll, pollsIn, transactionOf, wentWell } from '../heard/exchange.js';
import type { ClientFacts } from '../heard/found.js';
import type { ExchangeLog } from '../heard/log.js';
import { askedInVain } from './observation.js';
import { type Judged, LAST_FRAMES, sure } from './verdict.js';

/** The part of a check's `Exam` that is needed here. */
interface Asking {
  readonly clock: Clock;
  readonly periodMs: number;
  readonly target: Poll;
  readonly lastMet: Exchange | undefined;
  readonly hasDisturbed: boolean;
  readonly suspicion: string | undefined;
  readonly log: ExchangeLog;
  readonly client: {
    readonly facts: ClientFacts;
    readonly polls: readonly Poll[];
    readonly disturbedUntil: number;
    readonly line: PolledLine;
    readonly order: { readonly line: Pick<Line, 'sendUnsolicited'> };
    readonly outage: Pick<Outage, 'begin' | 'end'>;
    learn(facts: ClientFacts): void;
  };
  askedAfter(seq: number): readonly Exchange[];
  until<Result>(find: () => Result | undefined, limitMs: number): Promise<Result | undefined>;
}

/**
 * A poll counts as stopped if it has not come for this many ms, or this many poll periods or waits for a
 * reply, whichever is longest. Some clients try again after a minute.
 */
const GONE_MS = 75_000;
const GONE_TIMES = 5;
/** Other polls count as stopped if they have not come for this many ms and this many of their periods. */
const OVERDUE_MS = 10_000;
const OVERDUE_PERIODS = 3;
/** How long a client must be silent, in ms, to fail a check that is aborted. */
const SILENT_MS = 30_000;
/** Maximum number of polls named in a sentence. */
const MOST_NAMED = 2;

/** What a client has stopped sending: everything, or one poll while it sends others. */
export interface StoppedPolls {
  readonly what: 'everything' | 'poll';
  /** The same as part of a sentence, with its duration. */
  readonly text: string;
  /** A short description of the fault, before `after exception 4`. */
  readonly blame: string;
}

/** How long ago that was, in whole seconds, rounded down. */
export function secondsSince({ clock }: Pick<Asking, 'clock'>, at: number): string {
  return `${Math.floor(Math.max(0, clock.now() - at) / 1000)} s`;
}

/** True if a poll is overdue, given its usual period. */
function isOver({ clock, client }: Asking, { key, asked, periodMs: late = 0 }: Poll): boolean {
  const { periodMs = late } = client.polls.find((each) => each.key === key) ?? {};
  return clock.now() - (asked.at(-1)?.at ?? 0) > Math.max(OVERDUE_MS, OVERDUE_PERIODS * periodMs);
}

/**
 * Says what the client has stopped sending since an exchange: everything, or the disturbed poll.
 * @param since the last exchange of that poll; absent: the newest one
 */
export function stopped(exam: Asking, since: Exchange | undefined = exam.askedAfter(0).at(-1)): StoppedPolls {
  const { log, target } = exam;
  const others = log.after(since?.seq ?? 0);
  const newest = others.at(-1) ?? since;
  const asked = pollsIn(others);
  if (asked.every((poll) => isOver(exam, poll))) {
    const text = `sent no request for ${secondsSince(exam, newest?.at ?? exam.clock.now())}`;
    return { what: 'everything', text, blame: 'stops polling' };
  }
  const named = asked.map(({ text, asked }) => `${text} ${timesText(asked.length)}`);
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} other polls` : '';
  const instead = `${named.slice(0, MOST_NAMED).join(', ')}${more}`;
  const text = `did not send ${target.text} for ${secondsSince(exam, since?.at ?? 0)}, but ${instead}`;
  return { what: 'poll', text, blame: `no longer polls ${target.text}` };
}

/** Says that the client did not poll as before after this check's disturbance, and what it stopped sending. */
export function notAsBefore(exam: Asking): { readonly text: string; readonly blame: string } {
  const { lastMet, client } = exam;
  const asked = exam.askedAfter(lastMet?.seq ?? client.disturbedUntil);
  if (asked.length === 0) return stopped(exam);
  const inVain = askedInVain(exam, asked);
  if (inVain.length > 0) {
    const text = `sent ${exam.target.text} again although it was answered, ${timesText(inVain.length)}`;
    return { text, blame: 'no longer accepts good replies' };
  }
  return { text: `polled ${exam.target.text}, but not as before`, blame: 'does not poll as before' };
}

/** How long a client may take to continue once its reply comes, in ms and in poll periods. */
const AT_LAST_MS = 5_000;
const AT_LAST_PERIODS = 3;

/** How long it takes to see that a client does not continue, in ms, if it is known to wait for a reply indefinitely. */
export function soonMs({ periodMs }: Asking): number {
  return AT_LAST_MS + AT_LAST_PERIODS * periodMs;
}

/**
 * Sends the missing reply late, for a client that waits for it indefinitely. If that does not wake a client
 * that is known to wait this way, its connection is closed.
 * @returns true if the client continues
 */
export async function answeredAtLast(exam: Asking, of: Exchange): Promise<boolean> {
  const { log, client } = exam;
  const reply = log.newest().findLast((each) => each.poll === of.poll && wentWell(each))?.reply;
  const pdu = reply && pduOf(reply);
  if (!pdu) return false;
  const { framing, unitId } = of.request;
  const giveUp = client.order.line.sendUnsolicited(
    framing.encode({ transactionId: transactionOf(of), unitId, pdu }),
  );
  const next = () => log.after(of.seq)[0];
  const isAwake = (await exam.until(next, soonMs(exam))) !== undefined;
  giveUp?.();
  if (isAwake) client.learn({ neverGivesUp: true });
  const { line, outage } = client;
  if (isAwake || !client.facts.neverGivesUp || !(line.kind === 'tcp' || line.kind === 'tls')) return isAwake;
  await outage.begin();
  return (await outage.end()) === undefined && (await exam.until(next, soonMs(exam))) !== undefined;
}

/**
 * Waits for the client to send the disturbed poll after a check.
 * @returns what it has stopped sending; undefined if it sends that poll
 */
export async function stoppedAfter(exam: Asking): Promise<StoppedPolls | undefined> {
  const { last } = exam.log;
  const [newest] = exam.askedAfter(0).slice(-1);
  const longest = exam.client.facts.neverGivesUp ? soonMs(exam) : longestSilence(exam, GONE_MS);
  const limit = longest - (exam.clock.now() - (newest?.at ?? exam.clock.now()));
  const isAsked = () => exam.askedAfter(last)[0];
  if (await exam.until(isAsked, Math.max(0, limit))) return undefined;
  const silent = exam.log.newest().at(-1);
  if (silent && (await answeredAtLast(exam, silent)) && (await exam.until(isAsked, soonMs(exam))))
    return undefined;
  return stopped(exam, newest);
}

/** How long a client may send nothing, in ms. @param leastMs the minimum */
function longestSilence({ periodMs, client: { facts } }: Asking, leastMs: number): number {
  return Math.max(leastMs, GONE_TIMES * Math.max(periodMs, facts.waitMs ?? 0));
}

/** How long the client has sent nothing, in ms. */
function silenceOf({ clock, log }: Asking): number {
  return clock.now() - (log.newest().at(-1)?.at ?? clock.now());
}

/** The verdict on an aborted check, from what is known so far; undefined if nothing is. */
export function soFar<Of extends Asking>(
  check: { readonly what: string; readonly soFar?: (exam: Of) => Judged },
  exam: Of,
  why: string,
): Judged | undefined {
  if (check.soFar) return check.soFar(exam);
  const silence = silenceOf(exam);
  if (exam.hasDisturbed && silence > longestSilence(exam, SILENT_MS)) {
    const { text, blame } = stopped(exam);
    const evidence = exam.log.newest().slice(-LAST_FRAMES);
    return sure(
      'wrong',
      `${text} after ${check.what}, until ${why}`,
      evidence,
      `${blame} after ${check.what}`,
    );
  }
  if (exam.suspicion === undefined) return undefined;
  return sure('unclear', `${why}; before that, one trial showed: ${exam.suspicion}`);
}
