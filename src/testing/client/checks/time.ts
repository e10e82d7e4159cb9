import { counted } from '../../../common/words.js';
import { durationText } from '../../report/words.js';
import { median } from '../../times.js';
import { type Exchange, isReading, longestPauseIn, type Poll, pollsIn, wentWell } from '../heard/exchange.js';
import type { Silence } from '../heard/found.js';
import { type Check, type Exam, LOST } from '../trial/exam.js';
import { secondsSince, stopped } from '../trial/gone.js';
import {
  type ContrastRow,
  contrastCheck,
  isBroken,
  LATE_MS,
  learn,
  type ReactionMeaning,
  recovers,
  spoilt,
  TAKES_IT,
  TOO_LONG,
} from '../trial/trial.js';
import { USUAL_RETRIES } from '../trial/values.js';
import { sure } from '../trial/verdict.js';

/**
 * How long the client may take after an outage: as long as the outage, this many ms, or this many of its
 * polling cycles, whichever is longest.
 */
const BACK_MS = 10_000;
const BACK_ROUNDS = 2;
/**
 * A silence from another check can stand in for the outage if it lasted at least as long, and at most this
 * many times as long.
 */
const MOST_LONGER = 2;
/** The longest wait for the client after an outage, in ms, unless the client may take longer. */
const LONGEST_BACK_MS = 120_000;
/** A client's time-out in ms, and its number of requests per poll, if they are unknown. */
const USUAL_WAIT_MS = 1_000;

/** How long a client takes for this many polls if none gets a reply, in ms. */
function roundOf({ client: { facts } }: Exam, polls: number): number {
  const known = facts.neverGivesUp ? undefined : (facts.waitMs ?? facts.timeoutMs?.value);
  const wait = known ?? USUAL_WAIT_MS;
  return polls * (1 + (facts.retries ?? USUAL_RETRIES)) * wait;
}

async function silent(exam: Exam, ms: number): Promise<Silence> {
  const fault = { faults: [{ silence: true }], scope: 'line' } as const;
  const { at, since, spoilt } = await exam.disturb(fault, () => undefined, ms);
  const silence = { at, spoilt, endedAt: exam.clock.now(), last: exam.log.last };
  const connection = exam.log.clientEvent(since, 'client');
  if (connection) exam.client.learn({ opened: { ...silence, connection } });
  return silence;
}

function outage(seconds: number, needs?: readonly string[]): Check {
  const lastsMs = seconds * 1000;
  return {
    id: `outage-${seconds}s`,
    group: 'time',
    title: `Resumes polling after an outage of ${seconds} s`,
    what: `an outage of ${seconds} s`,
    does: `Answers no request on the line for ${seconds} s, then waits until the client polls again.`,
    matters:
      'After a power cut or a pulled plug, clients should recover without a manual restart. Devices that have just started lose requests that come in a burst.',
    fix: 'Keep polling for as long as the client runs, whatever has failed before, and drop polls that are overdue.',
    expected:
      'the client polls again within 10 s, the length of the outage or two poll cycles, whichever is longest, and sends no burst',
    rule: 'Passes when the client polls again within the longest of 10 s, the length of the outage and two of its rounds; fails when it takes longer or never polls again, or when it then sends more than eight requests of its polls, and more than five times as many as usual, within one poll period (1 s at most).',
    source: 'Common practice',
    lastsMs,
    isDecidedByMany: true,
    ...(needs && { needs }),
    async run(exam) {
      const { silence } = exam.client.facts;
      const lastedMs = silence === undefined ? 0 : Math.round(silence.endedAt - silence.at);
      const isKnown = silence !== undefined && lastedMs >= lastsMs && lastedMs <= MOST_LONGER * lastsMs;
      const { spoilt, at, endedAt, last } = isKnown ? silence : await silent(exam, lastsMs);
      const shownNow = isKnown ? undefined : await exam.client.values?.shownByNow();
      // A good reply may have come before the observer was read.
      const kept = exam.askedAfter(last).some(wentWell) ? undefined : shownNow;
      if (kept !== undefined) exam.client.learn({ keptInOutage: { text: kept, ms: lastsMs } });
      const shown =
        kept === undefined ? '' : `; at its end the observer still showed ${JSON.stringify(kept)}`;
      if (spoilt.length === 0) return sure('unclear', 'no request came during the outage');
      const most = Math.max(
        BACK_MS,
        endedAt - at,
        BACK_ROUNDS * (exam.periodMs + roundOf(exam, exam.client.polls.length)),
      );
      const longest = Math.max(most, Math.min(LONGEST_BACK_MS, 2 * most));
      const what = `an outage of ${durationText(Math.round((endedAt - at) / 1000) * 1000)}`;
      const first = await exam.until(() => exam.askedAfter(last).find(wentWell), longest);
      const evidence = [...spoilt.slice(0, 4), ...spoilt.slice(4).slice(-4), ...(first ? [first] : [])];
      if (!first) {
        const isAsked = exam.askedAfter(last).length > 0;
        const did = isAsked ? `accepted no good reply to ${exam.target.text}` : stopped(exam).text;
        const text = `${did}, until ${secondsSince(exam, endedAt)} after ${what}`;
        const within = durationText(Math.round(longest));
        return sure(
          'wrong',
          text,
          evidence,
          `does not poll again within ${within} after an outage of ${seconds} s`,
        );
      }
      const took = durationText(first.at - endedAt);
      const text = `polled again ${took} after ${what}, during which it sent ${counted(spoilt.length, 'request')}${shown}`;
      if (first.at - endedAt > most)
        return sure('wrong', text, evidence, `polls again only ${took} after an outage of ${seconds} s`);
      const right = sure('right', text, evidence);
      const burst = await burstAfter(exam, first);
      if (!burst) return recovers(exam, right, () => right);
      const asked = `${text}; then it sent ${burst.length} requests in ${durationText((burst.at(-1) as Exchange).at - first.at)}`;
      return sure(
        'wrong',
        asked,
        [...evidence, ...burst.slice(0, BURST), ...burst.slice(BURST).slice(-1)],
        `sends a burst of requests after an outage of ${seconds} s`,
      );
    },
  };
}

/** For how long requests after an outage are counted at most, in ms. */
const BURST_MS = 1_000;
/** A burst has more requests than this, and more than this many times as many as usual in one poll period. */
const BURST = 8;
const BURST_TIMES = 5;
/** A burst is over when no request has come for this long, in ms. */
const QUIET_MS = 100;

/** The requests of a client that sends at once what became due while nothing came; undefined of any other. */
async function burstAfter(exam: Exam, first: Exchange): Promise<readonly Exchange[] | undefined> {
  const { client, log, periodMs } = exam;
  const usual = client.polls.reduce((sum, each) => sum + periodMs / (each.periodMs ?? periodMs), 0);
  const known = new Set(client.polls.map(({ key }) => key));
  const asked = () =>
    log
      .after(first.seq)
      .filter(({ at, poll }) => known.has(poll) && at - first.at < Math.min(periodMs, BURST_MS));
  const isBurst = () => asked().length > Math.max(BURST, BURST_TIMES * usual);
  for (let heard = -1; !isBurst() && heard < asked().length; ) {
    heard = asked().length;
    await exam.watch(QUIET_MS);
  }
  // If this machine stalled, requests that arrived one by one look like a burst.
  const isLate = client.lateness.between(first.at, asked().at(-1)?.at ?? first.at) >= LATE_MS;
  return isBurst() && !isLate ? asked() : undefined;
}

/**
 * How long the unit is dead: this many of its poll periods or this many cycles with all retries, and at least
 * this many ms.
 */
const DEAD_PERIODS = 10;
const DEAD_ROUNDS = 4;
const SHORTEST_DEAD_MS = 5_000;
const LONGEST_DEAD_MS = 180_000;
/** The check ends early once each other poll has come this many times. */
const ENOUGH_ASKED = 2;

const deadUnit: Check = {
  id: 'dead-unit',
  group: 'time',
  title: 'Polls the other units while one is dead',
  what: 'a dead unit',
  does: 'Silences one unit and measures how often the client reads the others in that time.',
  matters: 'One dead device must not block all others.',
  fix: 'After the last retry, continue with the other units, and poll a dead one less often.',
  expected: 'every poll of the other units at least twice',
  rule: 'Passes when every poll of the other units comes at least twice in that time; fails when one does not; how much slower they are is reported; inconclusive when the client reads from one unit only.',
  source: 'node-red-contrib-modbus issue 446: one dead unit stalls all',
  needs: ['time-out', 'retries'],
  isDecidedByMany: true,
  lastsMs: SHORTEST_DEAD_MS,
  async run(exam) {
    // Writes are ignored: a write may pass on a value read from the dead unit, and without that value there
    // is nothing to write.
    const others = exam.client.polls.filter((poll) => {
      const { unitId, periodMs, isAnswered } = poll;
      return unitId !== exam.target.unitId && periodMs !== undefined && isAnswered && isReading(poll);
    });
    if (others.length === 0) return sure('unclear', 'the client reads from one unit only');
    const missing = await learn(exam, [LOST]);
    if (isBroken(missing)) return sure('unclear', missing.why, missing.asked);
    const longest = deadFor(exam, others);
    const begin = exam.clock.now();
    const { spoilt, since } = await exam.disturb(
      { faults: [{ silence: true }], scope: 'unit' },
      ({ spoilt: [first] }) => {
        if (!first?.next || exam.clock.now() - begin < SHORTEST_DEAD_MS) return undefined;
        const asked = exam.log.after(first.seq);
        const times = (poll: Poll) => asked.filter((each) => each.poll === poll.key).length;
        return others.every((each) => times(each) >= ENOUGH_ASKED) || undefined;
      },
      longest,
    );
    if (spoilt.length === 0) return sure('unclear', 'no request arrived for the check to disturb');
    const { unitId } = exam.target;
    const meanwhile = exam.log.after(since);
    const evidence = meanwhile.slice(0, 24);
    const asked = new Map(pollsIn(meanwhile).map((poll) => [poll.key, poll]));
    const slower = others.map((poll) => ({
      poll,
      times: slowdown(poll, asked.get(poll.key)),
    }));
    const left = slower.find(({ times }) => times === undefined)?.poll;
    if (left) {
      const took = durationText(Math.round(exam.clock.now() - begin));
      const text = `while unit ${unitId} was dead for ${took}, ${left.text} came fewer than two times`;
      return sure('wrong', text, evidence, 'one dead unit stalls the others');
    }
    const most = Math.max(...slower.map(({ times = 1 }) => times));
    const pace = most < 1.2 ? 'at the usual pace' : `up to ${most.toFixed(1)} times slower than usual`;
    return sure('right', `while unit ${unitId} was dead, the others were polled ${pace}`, evidence);
  },
};

/** The longest time that the unit is dead, in ms. */
function deadFor(exam: Exam, others: readonly Poll[]): number {
  const { client, target } = exam;
  const asked = client.polls.filter(({ unitId }) => unitId === target.unitId).length;
  const longest = Math.max(...[target, ...others].map(({ periodMs = 0 }) => periodMs));
  const rounds = DEAD_ROUNDS * (longest + roundOf(exam, asked));
  return Math.min(LONGEST_DEAD_MS, Math.max(SHORTEST_DEAD_MS, DEAD_PERIODS * exam.periodMs, rounds));
}

/** The factor by which the intervals have grown; undefined if the poll did not come twice. */
function slowdown({ periodMs = 0 }: Poll, meanwhile: Poll | undefined): number | undefined {
  if (!meanwhile || meanwhile.intervals.length === 0) return undefined;
  return median(meanwhile.intervals) / periodMs;
}

/** Pauses within a frame, as multiples of t1.5 and t3.5. */
const WITHIN_T15 = 0.8;
const OVER_T35 = 2;
const EITHER: ReactionMeaning = { usual: 'right', missing: 'right', again: 'right' };

const TRICKLES: readonly ContrastRow[] = [
  {
    id: 'trickle-slow',
    title: 'Accepts a reply whose bytes arrive slowly',
    what: 'a reply whose bytes arrive slowly',
    does: 'Sends replies byte by byte with pauses of 80 % of t1.5.',
    matters: 'Small devices and radio links send this way, and the specification allows it.',
    fix: 'Treat bytes with pauses up to t1.5 as one frame, and stop the time-out at the first byte.',
    expected: 'the client continues as after a good reply',
    rule: 'Passes when the client continues as after a good reply, in three trials that agree; fails when it retries, continues as without a reply, or stops; inconclusive when the trials do not agree or show neither.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.1: pauses up to 1.5 characters inside a frame',
    transports: ['serial'],
    blame: 'does not accept replies whose bytes arrive slowly',
    meaning: TAKES_IT,
    contrast: ({ client: { line } }) => ({
      ...spoilt([{ split: { at: 'each', gap: WITHIN_T15 * line.t15 } }]),
      isVoid: ([first]) =>
        line.framing === 'rtu' && longestPauseIn(first) > line.t15 ? TOO_LONG : undefined,
    }),
  },
  {
    id: 'trickle-gaps',
    title: 'Survives pauses over t3.5 in a reply',
    what: 'pauses in a reply',
    does: 'Sends replies with a pause of twice t3.5 before each byte.',
    matters:
      'USB adapters and gateways cause such pauses. The client may accept the reply or retry, but must stay in sync.',
    fix: 'After a pause that ends a frame, discard the received bytes, and wait for silence before the next request.',
    expected: 'the client accepts the reply or retries, and then polls as before',
    rule: 'Passes when the client accepts the reply or retries, in three trials, and then polls as before; fails when it stops or does not poll as before; inconclusive when the trials show neither.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.1: a frame with such a pause must be discarded',
    transports: ['serial'],
    blame: 'gets out of sync at pauses in a reply',
    meaning: EITHER,
    contrast: ({ client: { line } }) => spoilt([{ split: { at: 'each', gap: OVER_T35 * line.t35 } }]),
  },
];

/** The long outage comes after the short one: a client that does not survive the short one needs no long one. */
export const outages: readonly Check[] = [outage(5), outage(60, ['outage-5s'])];

export const slowness: readonly Check[] = [deadUnit, ...TRICKLES.map((row) => contrastCheck('time', row))];
