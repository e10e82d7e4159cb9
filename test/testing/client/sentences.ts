import { type Exchange, wentWell } from '../../../src/testing/client/heard/exchange.js';
import type { ExchangeLog } from '../../../src/testing/client/heard/log.js';
import type { Finding, Report } from '../../../src/testing/report/report.js';
import { pduOf } from '../../../src/testing/tested-line.js';

/** What was on the line in a client test, for a test that compares sentences with it. */
export interface Heard {
  readonly log: ExchangeLog;
  readonly report: Report;
}

/** The exchanges of a finding that its sentence is about: from its first frame to its last one. */
interface Shown extends Heard {
  readonly finding: Finding;
  /** All exchanges between the first and the last frame of the finding. */
  readonly within: readonly Exchange[];
  /** Those of them whose requests are frames of the finding. */
  readonly own: readonly Exchange[];
}

/** What a part of a sentence says, and whether that is so. Numbers of the part are its groups. */
type Claim = readonly [says: RegExp, isSo: (shown: Shown, ...numbers: number[]) => boolean | undefined];

/** Times in sentences are rounded. */
const ROUNDED_MS = 1.1;
/** A time is "as without a reply" if it is no further from such times than this, in ms: that of the checks, and jitter. */
const ALIKE_MS = 30;

const near = (one: number, other: number, by = ROUNDED_MS) => Math.abs(one - other) <= by;
const gapsOf = (asked: readonly Exchange[]) => asked.slice(1).map(({ at }, i) => at - (asked[i]?.at ?? 0));
const sentUntil = ({ reply }: Exchange) =>
  reply?.report.steps.findLast(({ outcome }) => outcome === 'achieved')?.endedAt;
const isSilent = (each: Exchange) => each.reply !== undefined && sentUntil(each) === undefined;
const ask = (which: Exchange | undefined) => which?.poll;
const sameAs = (which: Exchange | undefined, all: readonly Exchange[]) =>
  all.filter(({ poll }) => poll === ask(which));

/** The times from each of these exchanges to the next request, rounded as in a sentence. */
const goingOn = (shown: readonly Exchange[]) =>
  shown.flatMap((each) => (each.next ? Math.round(each.next.at - each.at) : []));

const has = (times: readonly number[], ...wanted: number[]) =>
  wanted.every((ms) => times.some((time) => near(time, ms)));

/** Requests of a poll that come early after an exception, and how long after its last byte. */
function earlyAfterExceptions(asked: readonly Exchange[], periodMs: number): number[] {
  return asked.slice(1).flatMap(({ at }, i) => {
    const before = asked[i] as Exchange;
    const until = sentUntil(before);
    const isException = before.reply && ((pduOf(before.reply)?.[0] ?? 0) & 0x80) !== 0;
    return isException && until !== undefined && at - before.at < 0.5 * periodMs ? [at - until] : [];
  });
}

function periodOf({ log }: Heard, which: Exchange | undefined): number {
  const usual = sameAs(which, log.after(0)).filter((each) => each.seq <= log.usualUntil);
  const gaps = gapsOf(usual);
  return gaps.reduce((sum, ms) => sum + ms, 0) / gaps.length;
}

const events = ({ finding }: Shown, kind: string) => finding.frames.filter((each) => each.kind === kind);

const CLAIMS: readonly Claim[] = [
  [
    /\((\d+) of (\d+) trials\)/,
    ({ finding: { confidence } }, agreeing, trials) =>
      confidence?.agreeing === agreeing && confidence.trials === trials,
  ],
  [
    /sent the request (\d+) times in ([\d.]+) s and nothing else/,
    ({ within }, times, s = 0) => {
      const [first] = within;
      const last = within.at(-1)?.at ?? 0;
      return (
        within.length === times &&
        within.every((each) => ask(each) === ask(first)) &&
        last - (first?.at ?? 0) <= 1000 * s
      );
    },
  ],
  [
    /sent the request (\d+) times in ([\d.]+) m?s/,
    ({ own: [first], within, finding: { summary } }, times, s = 0) => {
      const asked = sameAs(first, within);
      const long = (asked.at(-1)?.at ?? 0) - (first?.at ?? 0);
      return asked.length === times && long <= (/\bin [\d.]+ ms/.test(summary) ? s : 1000 * s) + ROUNDED_MS;
    },
  ],
  [
    /usually (\d+) times/,
    (shown, times) => {
      const s = Number(/in ([\d.]+) s/.exec(shown.finding.summary)?.[1]);
      return near((1000 * s) / periodOf(shown, shown.own[0]), times ?? 0, 0.6 + 0.01 * (times ?? 0));
    },
  ],
  [
    /sent it again ([\d.]+)(?: to ([\d.]+))? ms after an exception, (\d+) times/,
    (shown, low = 0, high = low, times) => {
      const {
        own: [first],
        within,
      } = shown;
      // What came at about half of the period may count as early or not.
      return [1, 0.9, 1.1].some((share) => {
        const soon = earlyAfterExceptions(sameAs(first, within), share * periodOf(shown, first));
        return soon.length === times && near(Math.min(...soon), low) && near(Math.max(...soon), high || low);
      });
    },
  ],
  [
    /(?:retried|continued) after (\d+)(?: to (\d+))? ms, as without a reply/,
    ({ log, own }, low = 0, high = low) => {
      const silent = goingOn(log.after(0).filter(isSilent));
      const [first, last] = [Math.min(...silent) - ALIKE_MS, Math.max(...silent) + ALIKE_MS];
      return has(goingOn(own), low, high || low) && low >= first && (high || low) <= last;
    },
  ],
  [
    /(?:retried|continued) after (\d+)(?: to (\d+))? ms, sooner than without a reply \((\d+)(?: to \d+)? ms\)/,
    ({ log, own }, low = 0, high = low, silentMs = 0) => {
      const silent = goingOn(log.after(0).filter(isSilent));
      return (
        has(goingOn(own), low, high || low) &&
        (high || low) < silentMs &&
        silentMs >= Math.min(...silent) - ALIKE_MS
      );
    },
  ],
  [
    /(?:retried|continued|came back only|on another(?: connection)?) after (\d+)(?: to (\d+))? ms/,
    ({ own }, low = 0, high = low) => has(goingOn(own), low, high || low),
  ],
  [
    /while the previous reply was delayed by ([\d.]+) ms/,
    ({ own, finding }, ms = 0) =>
      own.some((each) => {
        const from = each.reply?.report.steps[0];
        const isPending =
          finding.summary.startsWith('sent a request while') && (each.next?.at ?? 0) - each.at < ms;
        return isPending || (from?.outcome === 'achieved' && from.achievedAt - each.at >= ms - ROUNDED_MS);
      }),
  ],
  [
    /due up to ([\d.]+) ms after the last one, but without a reply it continues after ([\d.]+) ms/,
    ({ log }, due, wait) => {
      const all = log.after(0);
      return has(goingOn(all), due ?? 0) && has(goingOn(all.filter(isSilent)), Math.round(wait ?? 0));
    },
  ],
  [
    /connected again ([\d.]+) ms after/,
    (shown, ms) => {
      const [gone, came] = [events(shown, 'client gone')[0], events(shown, 'client')[0]];
      return gone !== undefined && came !== undefined && near(came.at - gone.at, ms ?? -1);
    },
  ],
  [
    /connected ([\d.]+) ms after the line was reopened/,
    (shown, ms = -1) => {
      const came = events(shown, 'client').at(-1)?.at ?? 0;
      const opened = shown.log.othersAfter(0).findLast((each) => each.kind === 'line' && each.at <= came);
      return opened !== undefined && near(came - opened.at, ms);
    },
  ],
  [
    /opened a new connection ([\d.]+) ms after (?:the first of (\d+) requests|a request) without a reply/,
    (shown, ms, times = 1) => {
      const came = events(shown, 'client').at(-1);
      const silent = shown.within.filter((each) => isSilent(each) && each.seq < (came?.seq ?? 0));
      return silent.length === times && near((came?.at ?? 0) - (silent[0]?.at ?? 0), ms ?? -1);
    },
  ],
  [
    /polled again ([\d.]+) (ms|s) after an outage of (\d+) (?:s|min), during which it sent (\d+) requests?/,
    ({ within }, _took, _unit, seconds = 0, times) => {
      const silent = within.filter(isSilent);
      const long = (silent.at(-1)?.at ?? 0) - (silent[0]?.at ?? 0);
      return silent.length === times && long <= 1000 * seconds * (seconds === 1 ? 60 : 1);
    },
  ],
  [
    /waited for its reply until it came, (\d+) s after the request/,
    ({ own: [first] }, s = 0) => first?.next !== undefined && first.next.at - first.at >= 1000 * s,
  ],
  [
    /continues ([\d.]+) s after a request without a reply/,
    ({ own: [first] }, s = 0) => near(((first?.next?.at ?? 0) - (first?.at ?? 0)) / 1000, s, 0.1),
  ],
  [
    /did not send unit (\d+) read holding registers (\d+)–\d+ for (\d+) s, but unit (\d+) read holding registers (\d+)–\d+ (\d+) times/,
    ({ log }, unit, from, s = 0, other, otherFrom, times = 0) => {
      const of = (unitId?: number, address?: number) =>
        log.after(0).filter((each) => each.poll.startsWith(`${unitId}/3/${address}+`));
      const last = of(unit, from).at(-1)?.at ?? 0;
      return (
        of(other, otherFrom).filter(({ at }) => at > last && at <= last + 1000 * (s + 1)).length >= times
      );
    },
  ],
  [
    /sent no request for (\d+) s, until (\d+) s after an outage of (\d+) (?:s|min)/,
    ({ own }, s = 0, until = 0) =>
      s >= until && (own.at(-1)?.next?.at ?? Number.POSITIVE_INFINITY) - (own.at(-1)?.at ?? 0) >= 1000 * s,
  ],
  [
    /sent no (?:request for [\d.]+ (?:s|min)|more requests) after an outage of (\d+) s/,
    ({ own }) => own.at(-1)?.next === undefined,
  ],
  [
    /sent no request for (\d+) s after the line was reopened/,
    ({ log }) => {
      const opened = log.othersAfter(0).findLast(({ kind }) => kind === 'line');
      return opened !== undefined && log.after(opened.seq).length === 0;
    },
  ],
  [
    /sent no request for (\d+) s/,
    ({ own }, s = 0) =>
      own.length > 0 &&
      own.slice(-1).every((each) => (each.next?.at ?? Number.POSITIVE_INFINITY) - each.at >= 1000 * (s - 1)),
  ],
  [
    /sent (\d+) requests? on the dead connection within (\d+) s/,
    ({ log, own }, times) => {
      const last = own.at(-1)?.seq ?? 0;
      const before = log.after(0).filter(({ seq }) => seq <= last);
      return before.slice(before.findLastIndex((each) => !isSilent(each)) + 1).length === times;
    },
  ],
  [
    /waits (\d+) ± ([\d.]+) ms for a reply \(measured with (\d+) delays\)/,
    ({ report: { found } }, value = 0, plusMinus = 0) =>
      near(found?.timeoutMs?.value ?? 0, value) && near(found?.timeoutMs?.plusMinus ?? 0, plusMinus),
  ],
  [
    /whether the client accepted a reply after [\d.]+ ms \((\d+) % of the time-out\)/,
    (_, part = 0) => part === 90 || part === 110,
  ],
  [
    /it continued at once after a reply after [\d.]+ ms \((\d+) % of the time-out\)/,
    (_, part = 0) => part === 90 || part === 110,
  ],
  [/ at first and (\d+) times later/, (_, times = 0) => times > 0],
  [/the time-out is between ([\d.]+) and ([\d.]+) ms/, (_, low = 0, high = 0) => low < high],
  [/this client.s timing varies by up to ([\d.]+) ms/, () => true],
  [
    /accepted (\d+) of (\d+) replies at (\d+) %, gave up on (\d+) of (\d+) replies at (\d+) % of the time-out/,
    ({ finding: { confidence } }, a = 0, b = 0, _, c = 0, d = 0) =>
      confidence?.agreeing === a + c && confidence.trials === b + d,
  ],
  [
    /sent unit (\d+) read holding registers (\d+)–\d+ again although it was answered, (\d+) times/,
    ({ log }, unit, from, times = 0) => {
      const inVain = log
        .after(0)
        .filter(
          (each) =>
            wentWell(each) && each.poll.startsWith(`${unit}/3/${from}+`) && each.next?.poll === each.poll,
        );
      return times > 0 && inVain.length >= times;
    },
  ],
  [
    /sent the request (\d+) times/,
    ({ own }, times = 0) => {
      const silent = own.filter(isSilent);
      const alone = silent.length === own.length;
      return silent.length > 0 && (alone ? silent.length > times : silent.length % times === 0);
    },
  ],
  [
    /a pause of (\d+) ms after each time-out/,
    ({ report: { found } }, ms = 0) => (found?.pausesMs ?? []).every((pause) => near(pause, ms, 4)),
  ],
  [
    /every ([\d.]+) ms \(([\d.]+) to ([\d.]+) ms\)/,
    (_, middle = 0, low = 0, high = 0) => low <= middle && middle <= high,
  ],
  [
    /all (\d+) requests came over one connection/,
    ({ log }, times) =>
      new Set(
        log
          .after(0)
          .slice(0, times)
          .map(({ request }) => request.clientId),
      ).size === 1,
  ],
  [
    /, (\d+) of them opened after a disturbance/,
    ({ log }, times) =>
      log.after(0).filter(({ before, request }) => before && before.request.clientId !== request.clientId)
        .length >= (times ?? 0),
  ],
  [
    /(\d+) requests came over (\d+) connections/,
    ({ log }, times, over) =>
      new Set(
        log
          .after(0)
          .slice(0, times)
          .map(({ request }) => request.clientId),
      ).size === over,
  ],
  [
    /the shortest of (\d+) silences was ([\d.]+) ms; t3\.5 is ([\d.]+) ms(?:, and (\d+) were shorter than 80 % of it)?/,
    ({ own }, count = 0, shortest = 0, t35 = 0, short = 0) => {
      const pauses = own.flatMap(({ request: { pause } }) => pause ?? []);
      return has(pauses, shortest) && short <= count && (short === 0 || shortest < 0.8 * t35);
    },
  ],
  [/they vary by ([\d.]+) ms, so shorter ones may have looked longer/, (_, ms = 0) => ms > 0],
  [/under 80 % of it: (\d+) of (\d+), too few to decide/, (_, short = 0, all = 0) => short < all],
  [
    /the shortest wait after a broadcast was ([\d.]+) ms \((\d+) seen\)/,
    ({ log }, ms = 0, watched) => {
      const all = log
        .after(0)
        .slice(0, -1)
        .filter(({ request }) => request.kind === 'broadcast');
      return (watched ?? 0) <= all.length && has(goingOn(all), Math.round(ms));
    },
  ],
  [/its (\d+) polls are legal/, ({ log }, count) => new Set(log.after(0).map(ask)).size === count],
  [
    /while unit (\d+) was dead for ([\d.]+) s/,
    ({ within }, unit, s = 0) => {
      const silent = within.filter(isSilent);
      const long = (silent.at(-1)?.at ?? 0) - (silent[0]?.at ?? 0);
      return silent.every(({ request }) => request.unitId === unit) && long <= 1000 * s + ROUNDED_MS;
    },
  ],
  [
    /up to ([\d.]+) times slower than usual/,
    ({ own }, times = 0) => times >= 1.2 && own.some((each) => !isSilent(each)),
  ],
  [
    /the observer shows "[^"]*"(?: for [-\d.e+]+ of \w+ \d+: |, which is right for \w+ \d+|, which matches no value)/,
    ({ own }) => own.length > 0,
  ],
  [/the observer (?:(?:then|still) )?showed "[^"]*"/, ({ own }) => own.length > 0],
  [
    /polled as before after (\d+) such replies/,
    ({ own }, times) =>
      own.length === times &&
      own.every(({ reply }) => reply && pduOf(reply)?.every((byte, i) => i < 2 || byte === 0xff)),
  ],
  [
    /then it sent (\d+) requests in ([\d.]+) m?s/,
    ({ within }, times = 0, ms = 0) => {
      const burst = within.slice(-times);
      return burst.length === times && (burst.at(-1)?.at ?? 0) - (burst[0]?.at ?? 0) <= ms + ROUNDED_MS;
    },
  ],
];

/** Numbers that name something, and the exceptions of the titles. */
const NAMES =
  /unit \d+|read holding registers \d+–\d+|write single register \d+: \d+|function \d+|t3\.5|its requests arrived [\d., ]+ ms apart|growing pauses of [\d., ]+ ms|within \d+ s/g;

/** Says which parts of the sentence of a finding are not so, and which numbers nobody has compared. */
export function untrueIn(finding: Finding, heard: Heard): string[] {
  const seqs = new Set(finding.frames.map(({ seq }) => seq));
  const [first = 0, last = 0] = [Math.min(...seqs), Math.max(...seqs)];
  const all = heard.log.after(0);
  const shown: Shown = {
    ...heard,
    finding,
    own: all.filter(({ seq }) => seqs.has(seq)),
    within: all.filter(({ seq }) => seq >= first && seq <= last),
  };
  let rest = finding.summary.replaceAll(/(request|requests|exception,) once/g, '$1 1 times');
  const untrue: string[] = [];
  for (const [says, isSo] of CLAIMS) {
    for (let found = says.exec(rest); found; found = says.exec(rest)) {
      const numbers = found.slice(1).map((group) => (group === undefined ? undefined : Number(group)));
      if (!isSo(shown, ...(numbers as number[]))) untrue.push(`not so: ${found[0]}`);
      rest = rest.replace(found[0], '');
    }
  }
  const left = rest.replaceAll(NAMES, '');
  return /\d/.test(left) ? [...untrue, `compared by nobody: ${left}`] : untrue;
}
