import { EXCEPTION_FLAG, ExceptionCode } from '../../../modbus/protocol/function-code.js';
import { ADDRESS_SPACE } from '../../../modbus/protocol/limits.js';
import { addressRanges } from '../../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../../modbus/protocol/request.js';
import { lateText } from '../../lateness.js';
import { pduOf } from '../../tested-line.js';
import { median } from '../../times.js';
import { type Exchange, wentWell } from '../heard/exchange.js';
import { numberText } from '../heard/found.js';
import type { Check, Exam } from '../trial/exam.js';
import { type Bounds, type Judged, sure, type Trial, verdictOf } from '../trial/verdict.js';

/** A check that only watches the traffic: a row of a table. */
interface WatchRow extends Omit<Check, 'group' | 'beside' | 'run'> {
  /** True if there is enough traffic for a verdict. Until then the check watches, for at most `longestMs`. */
  readonly isEnough: (exam: Exam) => boolean;
  readonly longestMs: number;
  readonly judge: (exam: Exam) => Judged;
}

const LONGEST_MS = 30_000;
/** The longest watch for a rhythm, in ms: while other checks disturb the same poll, few of its intervals count. */
const LONGEST_RHYTHM_MS = 120_000;
/** Interval between looks at the traffic, in ms. A look at all of it takes up to a millisecond. */
const LOOK_EVERY_MS = 250;
const MOST_SHOWN = 4;
const ENOUGH_POLLS = 8;

/** How far an interval may differ from the median, as a fraction of it or in ms, whichever is greater. */
const UNEVEN = 0.25;
const UNEVEN_MS = 25;
/** Minimum number of intervals for a rhythm. */
const FEWEST_INTERVALS = 4;
/**
 * With fewer intervals than this, the allowed deviation shrinks in proportion, because a few intervals may be
 * regular by chance.
 */
const MANY_INTERVALS = 24;
/**
 * `right`: the fraction of intervals that must be regular in a rhythm. `wrong`: the fraction of intervals
 * that must be off by more than both `FAR_OFF` of the median and `FAR_OFF_MS` for there to be no rhythm.
 */
const RHYTHM: Bounds = { right: 0.9, wrong: 0.4, most: 0 };
const FAR_OFF = 0.4;
const FAR_OFF_MS = 100;

/** A pause is certainly too short below this fraction of t3.5, because it is measured from user space. */
const SURELY_SHORT = 0.8;
/**
 * How many pauses, and what fraction of all, must be too short. If the machine stalls between a reply and its
 * time stamp, one pause looks shorter than it was.
 */
const FEWEST_SHORT = 3;
const SHORT_PART = 0.25;
/**
 * How much shorter the true pause may be than the shortest one measured, in multiples of the spread of the
 * shortest quarter.
 */
const MARGIN = { few: 3, many: 1.5 };
const MANY_PAUSES = 60;

/** The specification allows devices 100 ms to 200 ms to execute a broadcast at 9600 baud. */
const TYPICAL_MS = 100;
/** A shorter pause is too short for a broadcast: no typical device has executed it by then. */
const TOO_SHORT_MS = 20;

/** Connections count as reused if they carry this many requests on average. */
const REUSED = 5;
const ENOUGH_REQUESTS = 20;
const FEWEST_REQUESTS = 6;

const WATCHED: readonly WatchRow[] = [
  {
    id: 'poll-period',
    title: 'Polls in a regular rhythm',
    what: 'no disturbance',
    does: 'Watches the requests and measures the time from one request of a poll to the next.',
    matters: 'The poll period determines how old a value may be.',
    fix: 'Poll from a timer that does not wait for replies, and give each value its own period.',
    expected: 'a regular rhythm',
    rule: 'Passes when nine of ten intervals are within 25 % or 25 ms of the median. With fewer than 24 intervals, these limits shrink in proportion. Fails when there are at least 24 intervals and 40 % of them are off by more than both 40 % and 100 ms. Inconclusive in between, and with fewer than four intervals.',
    source: 'Common practice; no specification sets a period.',
    isEnough: (exam) => intervalsOf(exam).length >= ENOUGH_POLLS && rhythm(exam).verdict !== 'inconclusive',
    longestMs: LONGEST_RHYTHM_MS,
    judge: rhythm,
  },
  {
    id: 'legal-requests',
    title: 'Sends only valid requests',
    what: 'no disturbance',
    does: 'Checks the quantity, byte count and function of every request, and whether its addresses exist.',
    matters: 'A device may give any reply to an illegal request, or none.',
    fix: 'Use only functions and addresses that the device has, and quantities within the specification.',
    expected: 'only valid requests',
    rule: 'Passes when every request is valid; fails when one breaks a limit of the specification, or uses a function or address that its device does not have; inconclusive when frames with a wrong check value came and their sender is unknown.',
    source: 'Application Protocol V1.1b3, 6 and 7',
    isEnough: ({ clock, target, periodMs }) =>
      clock.now() - (target.asked.at(-1)?.at ?? 0) > Math.max(2_000, 4 * periodMs),
    longestMs: LONGEST_MS,
    judge: legality,
  },
  {
    id: 'silence-before-requests',
    title: 'Keeps t3.5 before its requests',
    what: 'no disturbance',
    does: 'Measures the silence between the last reply and the next request.',
    matters:
      'A device detects the start of a frame by this silence; without it, the device may miss the request.',
    fix: 'Wait for 3.5 character times after a reply before the next request.',
    expected: 'at least t3.5 of silence before each request',
    rule: 'Passes when the shortest silence exceeds t3.5 by at least 1.5 times the spread of the shortest quarter of the silences (three times the spread if there are fewer than 60). Fails when three silences, and a quarter of all, are shorter than 80 % of t3.5. Inconclusive in between, with fewer than eight silences, and on ASCII lines.',
    source: 'Modbus over Serial Line V1.02, 2.5.1.1',
    transports: ['serial'],
    isEnough: (exam) => pausesIn(exam).length >= MANY_PAUSES,
    longestMs: LONGEST_MS,
    judge: silences,
  },
  {
    id: 'broadcast-pause',
    title: 'Waits after broadcasts',
    what: 'no disturbance',
    does: 'Measures the time from each broadcast to the next request.',
    matters:
      'Broadcasts have no reply, so a client that continues immediately reaches devices that are still busy.',
    fix: 'Wait for at least 100 ms after a broadcast.',
    expected: 'at least 100 ms after each broadcast',
    rule: 'Passes when at least 100 ms pass after each broadcast; fails when less than 20 ms pass after at least three of them and a quarter of all; inconclusive in between, and with fewer than three broadcasts.',
    source: 'Modbus over Serial Line V1.02, 2.4.1: turnaround delay, typically 100 ms to 200 ms at 9600 baud',
    transports: ['serial'],
    isEnough: (exam) => broadcastPausesIn(exam).length >= ENOUGH_POLLS,
    longestMs: 10_000,
    judge: broadcasts,
  },
  {
    id: 'connections-reused',
    title: 'Reuses its connection',
    what: 'no disturbance',
    does: 'Counts the connections and the requests on them.',
    matters:
      'Many devices accept few connections and free old ones slowly; a new connection per poll exhausts them.',
    fix: 'Keep one connection open, and send all requests to a device over it.',
    expected: 'at least five requests per connection',
    rule: 'Passes when a connection carries at least five requests on average, or there is only one connection; fails otherwise; inconclusive with fewer than six requests. Connections opened after a disturbance do not count.',
    source: 'Messaging on TCP/IP Implementation Guide V1.0b, 4.2.1',
    transports: ['tcp', 'tls'],
    isEnough: ({ log }) => log.after(0).length >= ENOUGH_REQUESTS,
    longestMs: LONGEST_MS,
    judge: reuse,
  },
];

function watchCheck({ isEnough, longestMs, judge, ...described }: WatchRow): Check {
  return {
    ...described,
    group: 'watching',
    beside: 'watches',
    soFar: judge,
    async run(exam) {
      const begin = exam.clock.now();
      while (!isEnough(exam) && exam.clock.now() - begin < longestMs) await exam.watch(LOOK_EVERY_MS);
      return judge(exam);
    },
  };
}

/** How many requests after a fault may be retries, or polls that catch up. */
const UNSETTLED = 2;

/** The time from one request of a poll to the next, in ms. */
interface Interval {
  readonly ms: number;
  readonly shown: readonly [Exchange, Exchange];
}

/** The times between consecutive requests of a poll, without those during or shortly after a disturbance. */
function intervalsOf(exam: Exam, poll = exam.target.key) {
  const asked = exam.log.newest();
  const intervals: Interval[] = [];
  let before: Exchange | undefined;
  let unsettled = 0;
  const closed = exam.log.othersAfter(0).filter(({ kind }) => kind === 'line');
  for (const each of asked) {
    if (closed[0] && closed[0].seq < each.seq) {
      while (closed[0] && closed[0].seq < each.seq) closed.shift();
      before = undefined;
    }
    if (each.rule) [before, unsettled] = [undefined, UNSETTLED];
    else if (each.poll === poll && --unsettled < 0) {
      if (before) intervals.push({ ms: each.at - before.at, shown: [before, each] });
      before = each;
    }
  }
  return intervals;
}

function rhythm(exam: Exam): Judged {
  const own = intervalsOf(exam);
  if (own.length < FEWEST_INTERVALS) {
    return sure('unclear', 'too few polls to determine their rhythm', exam.target.asked);
  }
  exam.client.learn({ pollPeriodMs: median(own.map(({ ms }) => ms)) });
  const judged = exam.client.polls
    .map(({ key, text }) => ({ text, intervals: intervalsOf(exam, key) }))
    .filter(({ intervals }) => intervals.length >= FEWEST_INTERVALS)
    .map(({ text, intervals }) => evenness(exam, text, intervals));
  const worst = (verdict: Judged['verdict']) => judged.filter((each) => each.verdict === verdict);
  const shown = [worst('fail'), worst('inconclusive'), judged].find(({ length }) => length > 0) ?? [];
  const [first] = shown;
  const summary = shown.slice(0, MOST_SHOWN).map((each) => each.summary);
  return { ...(first as Judged), summary: summary.join('; ') };
}

/** How long before and after an interval this machine must have been on time, in ms. */
const ON_TIME_AROUND_MS = 1_000;

/** How late this machine was around an interval, in ms. */
function lateAround({ client: { lateness } }: Exam, { shown: [from, to] }: Interval): number {
  return lateness.between(from.at - ON_TIME_AROUND_MS, to.at + ON_TIME_AROUND_MS);
}

function evenness(exam: Exam, text: string, intervals: readonly Interval[]): Judged {
  const times = intervals.map(({ ms }) => ms);
  const period = median(times);
  const many = Math.min(1, times.length / MANY_INTERVALS);
  const tolerance = many * Math.max(period * UNEVEN, UNEVEN_MS);
  const spread = `${numberText(Math.min(...times))} to ${numberText(Math.max(...times))} ms`;
  const trials = intervals.map(({ ms, shown }): Trial => {
    const shows = Math.abs(ms - period) <= tolerance ? 'right' : 'wrong';
    return { shows, text: '', evidence: shown, conclusion: 'polls in an uneven rhythm' };
  });
  const judged = verdictOf(trials, RHYTHM) as Judged;
  const summary = `${text} every ${numberText(period)} ms (${spread})`;
  if (judged.verdict === 'pass') return { ...judged, summary };
  const isFar = (ms: number) => Math.abs(ms - period) > Math.max(FAR_OFF * period, FAR_OFF_MS);
  const isUneven = (some: readonly Interval[]) =>
    some.length >= MANY_INTERVALS && some.filter(({ ms }) => isFar(ms)).length >= RHYTHM.wrong * some.length;
  // A deviation that this machine may have caused says nothing about the client.
  const late = intervals.map((each) => lateAround(exam, each));
  const mostLate = Math.max(...late);
  if (judged.verdict === 'fail' && isUneven(intervals.filter((_, i) => (late[i] ?? 0) <= UNEVEN_MS)))
    return { ...judged, summary };
  const { conclusion: _, ...unsure } = judged;
  const cause = mostLate > UNEVEN_MS ? `; ${lateText(mostLate)} meanwhile` : '';
  return { ...unsure, verdict: 'inconclusive', summary: `${summary}${cause}` };
}

const MISTAKES: ReadonlyMap<number | undefined, string> = new Map([
  [ExceptionCode.illegalFunction, 'a function that its device does not have'],
  [ExceptionCode.illegalDataAddress, 'addresses that its device does not have'],
  [ExceptionCode.illegalDataValue, 'a quantity, byte count or value that is not allowed'],
]);

function legality({ log }: Exam): Judged {
  const asked = log.after(0);
  // The newest reply to each poll shows what its device has, unless we disturbed it.
  const answered = asked.filter(({ rule, reply }) => reply && !rule);
  const first = new Map([...asked, ...answered].map((each) => [each.poll, each]));
  const read = [...first.values()].map((exchange) => ({ exchange, why: mistakeIn(exchange) }));
  const illegal = read.filter(({ why }) => why !== undefined);
  if (illegal.length > 0) {
    const shown = illegal.slice(0, MOST_SHOWN);
    const more = illegal.length > shown.length ? `; and ${illegal.length - shown.length} more` : '';
    const texts = shown.map(({ exchange, why }) => {
      return `unit ${exchange.request.unitId} function ${exchange.pdu[0]}: ${why}`;
    });
    const evidence = shown.map(({ exchange }) => exchange);
    return sure('wrong', `${texts.join('; ')}${more}`, evidence, 'sends invalid requests');
  }
  const damaged = log.othersAfter(0).filter(({ kind }) => kind === 'damaged');
  if (damaged.length > 0) {
    const times = damaged.length === 1 ? 'one frame' : `${damaged.length} frames`;
    const text = `${times} arrived with a wrong check value; the line does not show where they were damaged`;
    return sure('unclear', text, damaged.slice(0, MOST_SHOWN));
  }
  const count = first.size === 1 ? 'its one poll is' : `its ${first.size} polls are`;
  return sure('right', `${count} legal`, [...first.values()].slice(0, MOST_SHOWN));
}

/** Returns what is wrong with a request; undefined if nothing is. */
function mistakeIn({ pdu, request, reply }: Exchange): string | undefined {
  const decoded = decodeRequest(pdu);
  // Another device on the bus may have its own functions.
  if (!decoded.ok && (request.kind === 'request' || decoded.error !== ExceptionCode.illegalFunction)) {
    return MISTAKES.get(decoded.error);
  }
  if (addressRanges(pdu).some(({ address, quantity }) => address + quantity > ADDRESS_SPACE)) {
    return 'addresses beyond 65535';
  }
  const [code = 0, exception] = (reply?.acted.length === 0 && pduOf(reply)) || [];
  return (code & EXCEPTION_FLAG) === 0 ? undefined : MISTAKES.get(exception);
}

/**
 * The pauses between a good reply and the next request. Only after a good reply does the client know when the
 * line fell silent.
 */
function pausesIn({ log }: Exam) {
  const exchanges = log.newest();
  return exchanges.flatMap((exchange, i) => {
    const before = exchanges[i - 1];
    const { pause } = exchange.request;
    return before && wentWell(before) && pause !== undefined ? [{ pause, shown: [before, exchange] }] : [];
  });
}

function silences(exam: Exam): Judged {
  const { t35, framing } = exam.client.line;
  if (framing !== 'rtu') return sure('unclear', 'ASCII frames need no silence before them');
  const pauses = pausesIn(exam).sort((a, b) => a.pause - b.pause);
  if (pauses.length < ENOUGH_POLLS) return sure('unclear', 'too few requests came after a reply');
  const shortest = pauses[0]?.pause ?? 0;
  const text = `the shortest of ${pauses.length} silences was ${numberText(shortest)} ms; t3.5 is ${numberText(t35)} ms`;
  const evidence = pauses.slice(0, MOST_SHOWN).flatMap(({ shown }) => shown);
  const short = pauses.filter(({ pause }) => pause < SURELY_SHORT * t35).length;
  if (short >= FEWEST_SHORT && short >= SHORT_PART * pauses.length) {
    const blame = 'does not leave t3.5 before its requests';
    return sure('wrong', `${text}, and ${short} were shorter than 80 % of it`, evidence, blame);
  }
  // On a busy machine, pauses look longer than they are, and so the short ones vary too.
  const fourth = pauses[pauses.length >> 2]?.pause ?? 0;
  const margin = pauses.length < MANY_PAUSES ? MARGIN.few : MARGIN.many;
  if (shortest - margin * (fourth - shortest) >= t35) return sure('right', text, evidence);
  const why =
    shortest >= t35
      ? `; they vary by ${numberText(fourth - shortest)} ms, so shorter ones may have looked longer`
      : short > 0
        ? `; under 80 % of it: ${short} of ${pauses.length}, too few to decide`
        : ', too close to decide';
  return sure('unclear', `${text}${why}`, evidence);
}

function broadcastPausesIn({ log }: Exam) {
  const exchanges = log.newest();
  return exchanges.slice(1).flatMap((next, i) => {
    const before = exchanges[i] as Exchange;
    if (before.request.kind !== 'broadcast') return [];
    return [{ ms: next.request.startedAt - before.at, shown: [before, next] }];
  });
}

function broadcasts(exam: Exam): Judged {
  const pauses = broadcastPausesIn(exam).sort((a, b) => a.ms - b.ms);
  const [shortest] = pauses;
  if (!shortest) return sure('unclear', 'the client sent no broadcast');
  const text = `the shortest wait after a broadcast was ${numberText(shortest.ms)} ms (${pauses.length} seen)`;
  const evidence = pauses.slice(0, MOST_SHOWN).flatMap(({ shown }) => shown);
  if (pauses.length < FEWEST_SHORT) return sure('unclear', `${text}, too few to judge`, evidence);
  if (shortest.ms >= TYPICAL_MS) return sure('right', text, evidence);
  const short = pauses.filter(({ ms }) => ms < TOO_SHORT_MS).length;
  if (short >= FEWEST_SHORT && short >= SHORT_PART * pauses.length) {
    return sure('wrong', text, evidence, 'does not wait after broadcasts');
  }
  return sure('unclear', `${text}, enough for fast devices only`, evidence);
}

/** True if the client reconnected because of something that we did. */
function isProvoked({ before, request }: Exchange): boolean {
  return before !== undefined && before.request.clientId !== request.clientId && !wentWell(before);
}

function reuse({ log }: Exam): Judged {
  const requests = log.after(0);
  if (requests.length < FEWEST_REQUESTS) return sure('unclear', 'too few requests to count connections');
  const all = new Set(requests.map(({ request }) => request.clientId)).size;
  const provoked = requests.filter(isProvoked).length;
  const isOne = all === 1;
  const over = isOne ? 'one connection' : `${all} connections`;
  const because = provoked > 0 ? `, ${provoked} of them opened after a disturbance` : '';
  const text = `${isOne ? 'all ' : ''}${requests.length} requests came over ${over}${because}`;
  if (isOne || requests.length >= REUSED * (all - provoked)) return sure('right', text, requests.slice(-2));
  const opened = log.othersAfter(0).filter(({ kind }) => kind === 'client');
  const evidence = [...requests.slice(-6), ...opened.slice(-6)];
  return sure('wrong', text, evidence, 'keeps opening new connections');
}

export const watched: readonly Check[] = WATCHED.map(watchCheck);
