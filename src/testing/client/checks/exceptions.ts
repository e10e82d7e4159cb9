import { counted } from '../../../common/words.js';
import { lateText } from '../../lateness.js';
import { durationText, timesText } from '../../report/words.js';
import { askedAfterReply, type Exchange, readingOf } from '../heard/exchange.js';
import { spanText } from '../heard/found.js';
import type { Check, CheckText, Exam } from '../trial/exam.js';
import { notAsBefore } from '../trial/gone.js';
import { awayLongerThan, behaviourAfter, continuationOf, startedAgain } from '../trial/observation.js';
import { patienceOf, recovers } from '../trial/trial.js';
import { DECIDES, type Judged, sure, verdictOf } from '../trial/verdict.js';

/** How long the exception is sent: for this many poll periods, and for at least this many ms. */
const PERIODS = 4;
const SHORTEST_TRIAL_MS = 2_000;
/**
 * This many times the usual number of requests count as endless requests, unless the client repeats more
 * after silence.
 */
const MOST_PER_POLL = 5;
/**
 * This many early requests in a row count as endless. A request is early if it comes before this fraction of
 * the poll period.
 */
const MOST_ON_END = 8;
const BEFORE_ITS_TIME = 0.5;
/** This many times the usual number of requests, plus one, is more than polling. */
const FASTER = 1.5;

interface ExceptionRow extends Pick<CheckText, 'matters'> {
  readonly code: number;
  /** The name in the specification, in lower case. */
  readonly name: string;
  readonly source?: string;
  /** True if the server may soon have a value, so that a new request after a pause is right. */
  readonly isTemporary?: boolean;
}

const EXCEPTIONS: readonly ExceptionRow[] = [
  {
    code: 1,
    name: 'illegal function',
    matters:
      'Retries do not make the device support the function, and endless retries block the line for all other clients.',
  },
  {
    code: 2,
    name: 'illegal data address',
    matters:
      'Retries do not make the address valid, and endless retries block the line for all other clients.',
  },
  {
    code: 3,
    name: 'illegal data value',
    matters:
      'Retries do not make the request valid, and endless retries block the line for all other clients.',
  },
  {
    code: 4,
    name: 'server device failure',
    matters:
      'A failed device may recover, but not within milliseconds; a client that gives up on it for good has to be restarted by hand.',
  },
  {
    code: 5,
    name: 'acknowledge',
    isTemporary: true,
    matters: 'The device is still working on the request, and polling in a tight loop slows it down.',
    source: 'Application Protocol V1.1b3, 7: the client polls until the program is complete',
  },
  {
    code: 6,
    name: 'server device busy',
    isTemporary: true,
    matters:
      'A client that polls a busy device in a tight loop keeps it busy; one that records the answer as 0 shows a wrong value.',
    source:
      'Application Protocol V1.1b3, 7: the client repeats the request later; home-assistant issue 51103: busy recorded as 0',
  },
  {
    code: 10,
    name: 'gateway path unavailable',
    matters: 'The gateway is overloaded or misconfigured; endless retries make that worse.',
  },
  {
    code: 11,
    name: 'gateway target device failed to respond',
    matters: 'One device behind the gateway is offline; endless retries take time from all the others.',
  },
];

const ENDLESS =
  'more than five times as often as usual, or more than eight times within one poll period (or more often than without a reply, if that is more)';
const UNCLEAR =
  "inconclusive when endless retries can't be distinguished from a few retries per poll, or when the client seems to have been restarted";
const FAILS = `fails when it sends requests ${ENDLESS}, or stops polling afterwards, or when the observer shows a value that no reply carried`;

/** NaN as a float32 or float64, in every byte order, and no value in SunSpec. */
const NO_VALUE = 0xffff;
/** How many replies stand for no value. */
const WITHOUT_VALUE = 2;

const noValue: Check = {
  id: 'no-value',
  group: 'exceptions',
  title: 'Survives registers that stand for no value',
  what: 'registers that stand for no value',
  does: 'Sends two good replies with FFFF in every register: NaN as a float32 or float64, and "not implemented" in SunSpec.',
  matters:
    'Devices send this for a broken sensor or a value that they do not have. A client that stops then has to be restarted by hand.',
  fix: 'Accept the reply, and show that there is no value.',
  expected: 'the client polls as before',
  rule: 'Passes when the client then polls as before; fails when it stops or does not poll as before.',
  source:
    'IEEE 754, 6.2; SunSpec Device Information Model, unimplemented values; openhab-addons issue 5476, thingsboard issue 1901',
  beside: 'one poll',
  async run(exam) {
    const reading = readingOf(exam.target);
    if (!reading || reading.isBits) return sure('unclear', 'the client reads no registers');
    const faults = [{ values: Array.from({ length: reading.quantity }, () => NO_VALUE) }];
    const { spoilt } = await exam.disturb(
      { faults, count: WITHOUT_VALUE },
      (met) => met.spoilt[WITHOUT_VALUE - 1]?.reply,
      patienceOf(exam),
    );
    if (spoilt.length === 0) return sure('unclear', 'no request arrived for the check to disturb');
    const replies = counted(spoilt.length, 'such reply', 'such replies');
    const right = sure('right', `polled as before after ${replies}`, spoilt);
    const gone = () => {
      const then = notAsBefore(exam);
      return sure('wrong', then.text, spoilt, `${then.blame} after ${noValue.what}`);
    };
    if (!exam.isBeside) return recovers(exam, right, gone);
    return (await exam.recover()) ? right : gone();
  },
};

const ofCodes = EXCEPTIONS.map(
  ({ code, name, matters, source = 'Application Protocol V1.1b3, 7', isTemporary = false }): Check => ({
    id: `exception-${code}`,
    group: 'exceptions',
    title: `Keeps polling after exception ${code}, without a tight loop of requests`,
    what: `exception ${code}`,
    does: `Answers every request of one poll with exception ${code} (${name}) for a few poll periods.`,
    matters,
    fix: isTemporary
      ? 'Wait for at least a poll period before the next request, and keep the last value, marked as stale.'
      : 'Retry at the next poll, never in a tight loop, and show that there is no value.',
    expected: `the client ${isTemporary ? 'retries after a pause or at its next poll' : 'keeps polling at about its usual pace'}, and shows no value that no reply carried`,
    rule: `Passes when the client ${isTemporary ? 'retries after a pause or at its next poll' : 'keeps polling at about its usual pace'}, or repeats every poll the same number of times; ${FAILS}; ${UNCLEAR}. How soon it retries is reported, not judged.`,
    source,
    beside: 'one poll',
    run: (exam) => run(exam, code, isTemporary),
  }),
);

export const exceptions: readonly Check[] = [...ofCodes, noValue];

async function run(exam: Exam, code: number, isTemporary: boolean): Promise<Judged> {
  const faults = [{ exception: code }];
  const watched = await exam.client.values?.begin(exam);
  const values = watched && 'end' in watched ? watched : undefined;
  const ms = Math.max(SHORTEST_TRIAL_MS, PERIODS * exam.periodMs, values?.limitMs ?? 0);
  const { spoilt } = await exam.disturb({ faults }, () => undefined, ms);
  if (spoilt.length === 0) return sure('unclear', `did not send ${exam.target.text} in ${durationText(ms)}`);
  const last = spoilt.at(-1) as Exchange;
  const next = await exam.until(() => continuationOf(last), patienceOf(exam));
  const usual = Math.max(1, ms / mean(exam.target.intervals));
  const asked = `sent the request ${timesText(spoilt.length)} in ${durationText(ms)}; usually ${timesText(Math.round(usual))}`;
  const usually = behaviourAfter(exam, ['good']);
  const late = exam.client.lateness.between(spoilt[0]?.at ?? 0);
  const longest = Math.max(exam.periodMs, usually.longest, exam.client.facts.waitMs ?? 0) + late;
  for (const each of spoilt) {
    const continuation = continuationOf(each);
    if (!continuation) continue;
    // A pause is right if the server may soon have a value.
    const again =
      startedAgain(continuation, usually) ??
      (isTemporary ? undefined : awayLongerThan(longest, continuation));
    if (again) {
      return verdictOf([{ ...again, shows: 'unclear', evidence: spoilt, weight: DECIDES }]) as Judged;
    }
  }
  // A client that got its exceptions too late repeated its requests as if none had come.
  if (late > (exam.client.facts.waitMs ?? exam.periodMs)) {
    return sure('unclear', `${asked}; ${lateText(late)}`, spoilt);
  }
  const early = earlyIn(exam, spoilt);
  const most = usual * Math.max(MOST_PER_POLL, 1 + (exam.client.facts.retries ?? 0)) + 1;
  const mostOnEnd = Math.max(MOST_ON_END, 1 + (exam.client.facts.retries ?? 0));
  if (spoilt.length > most || isWithin(exam.periodMs, spoilt, mostOnEnd + 1)) {
    return sure('wrong', asked, spoilt, `keeps retrying in a loop after exception ${code}`);
  }
  const isFaster = spoilt.length > usual * FASTER + 1;
  const runs = runsOf(early);
  if (Math.max(...runs) > mostOnEnd || (isFaster && !isSteady(runs, usual))) {
    const either = 'which may be endless retries, or a few per poll';
    return sure('unclear', `${asked}, ${either}`, spoilt);
  }
  const text = `${asked}${againText(exam, spoilt)}`;
  // If other checks run at the same time, a request that is repeated endlessly leaves the client no time for
  // this poll.
  const isAsUsual = spoilt.length >= usual / 2 && !isFaster && !early.includes(true);
  if (exam.isBeside && !isAsUsual) return sure('unclear', text, spoilt);
  const what = `exception ${code}`;
  const seen =
    next &&
    (await values?.end(spoilt, {
      faults,
      meaning: { kept: 'right', sent: 'right', other: 'wrong' },
      what,
      blame: `shows ${what} as a value: dangerous`,
    }));
  const gone = () => {
    const then = notAsBefore(exam);
    return sure('wrong', `${text}, and then ${then.text}`, spoilt, `${then.blame} after ${what}`);
  };
  const shown = () => {
    if (seen?.shows === 'wrong') return sure('wrong', `${text}; ${seen.text}`, spoilt, seen.conclusion);
    return sure('right', seen?.shows === 'right' ? `${text}; ${seen.text}` : text, spoilt);
  };
  if (next && !exam.isBeside && seen?.shows !== 'wrong') return recovers(exam, shown(), gone);
  return next && (await exam.recover()) ? shown() : gone();
}

function mean(times: readonly number[]): number {
  return times.reduce((sum, ms) => sum + ms, 0) / times.length;
}

/** True if this many requests came within one poll period. Requests of different polls are further apart. */
function isWithin(periodMs: number, asked: readonly Exchange[], many: number): boolean {
  return asked.slice(many - 1).some(({ at }, i) => at - (asked[i] as Exchange).at < periodMs);
}

/**
 * For each request except the first, whether it came before the next poll was due and after the exception. A
 * client that sent it before the exception had given up the previous request.
 */
function earlyIn({ periodMs }: Exam, asked: readonly Exchange[]): boolean[] {
  return asked.slice(1).map((next, i) => {
    const before = asked[i] as Exchange;
    return next.at - before.at < BEFORE_ITS_TIME * periodMs && askedAfterReply(before, next) !== undefined;
  });
}

/**
 * How many early requests came in a row: before the first one in time, between each two of those, and after
 * the last one.
 */
function runsOf(early: readonly boolean[]): number[] {
  const times = early.map((isEarly) => (isEarly ? 'e' : ' ')).join('');
  return times.split(' ').map((run) => run.length);
}

/**
 * True if the client repeats each poll equally often, in about the usual number of polls. The first and last
 * poll may be incomplete.
 */
function isSteady(runs: readonly number[], usual: number): boolean {
  return runs.length >= usual / 2 && new Set(runs.slice(1, -1)).size === 1;
}

/** Returns how many times the client repeated its request early, and how long after the exception. */
function againText(exam: Exam, asked: readonly Exchange[]): string {
  const times = earlyIn(exam, asked).flatMap((isEarly, i) => {
    const [before, next] = asked.slice(i) as [Exchange, Exchange];
    return isEarly ? (askedAfterReply(before, next) ?? []) : [];
  });
  if (times.length === 0) return '';
  return `; sent it again ${spanText(times)} ms after an exception, ${timesText(times.length)}`;
}
