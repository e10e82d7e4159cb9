import { concatBytes, NO_BYTES, wordAt } from '../../../modbus/protocol/bytes.js';
import { t15 } from '../../../modbus/protocol/timing.js';
import { median } from '../../times.js';
import { type Exchange, heardIn, isDecisive } from '../asker.js';
import type { Bench } from '../bench.js';
import {
  conforms,
  dangerous,
  fact,
  inconclusive,
  type Judged,
  notRun,
  once,
  type ServerCheck,
  unsupported,
  violates,
} from '../check.js';
import { ROBUSTNESS, SERIAL, TCP } from '../clauses.js';
import { type Found, idleText } from '../found.js';
import { didOf, hasOtherQuantity, type Oddity, tallyOf } from '../reading.js';
import { readPdu, valuesOf } from '../requests.js';
import { timeText } from '../words.js';
import { CONNECT_PAUSE_MS } from './there.js';

/** How many reads show whether a server keeps up, and how many more decide one loss. */
const READS = 20;
const MORE_READS = 50;
/** The pauses to try in ms, the shortest first. */
const PAUSES = [20, 50, 100, 250, 500, 1000, 1500];
/** How many losses by chance a row of answered reads must rule out before a pause counts as long enough. */
const SURE = 5;
const FEWEST_TRIES = 6;
/** How often each question is asked where replies get lost by chance. */
const MOST_TRIES = 5;

/** Asks the `i`-th read after a pause in ms. */
type TimedRead = (i: number, pauseMs: number) => Promise<Exchange>;

/** Reads as fast as the specification allows, one register and two in turns. */
async function backToBack(bench: Bench): Promise<Judged> {
  const { code, address } = bench.read ?? { code: 3, address: 0 };
  const hasTwo = (await bench.ask(readPdu(code, address, 2))).answer.kind === 'data';
  const reads: Exchange[] = [];
  const ask: TimedRead = (i, pauseMs) =>
    bench.asker.once(readPdu(code, address, hasTwo && i % 2 === 1 ? 2 : 1), { isExpected: true, pauseMs });
  const read = async (many: number) => {
    for (let i = 0; i < many; i++) reads.push(await ask(i, 0));
  };
  await read(READS);
  const behind = reads.filter(isBehind);
  if (behind.length > BEHIND * reads.length) {
    bench.blocked = 'its replies are those of the requests before: see back-to-back';
    return {
      ...dangerous({ code: 'one-behind' }, ...behind.slice(0, 3)),
      seen: { times: behind.length, of: reads.length },
    };
  }
  const lostOf = () => reads.filter((each) => !isDecisive(each));
  if (lostOf().length === 1) await read(MORE_READS);
  const lost = lostOf();
  if (lost.length === 0)
    return conforms(`${reads.length} reads in a row, each as soon as it may come, were answered`);
  if (lost.length === 1) {
    return inconclusive({ code: 'one-read-lost', of: reads.length }, ...lost);
  }
  const rate = lost.length / reads.length;
  const seen = { times: lost.length, of: reads.length };
  const answers = answersOf(lost);
  const pause = await pauseThatCures(bench, ask, Math.max(FEWEST_TRIES, Math.ceil(SURE / rate)));
  if (pause === undefined) {
    bench.facts.losses = rate;
    bench.asker.tries = MOST_TRIES;
    if (lost.every(({ oddities }) => oddities.length > 0))
      return { ...inconclusive({ code: 'reads-spoilt', answers }, ...lost.slice(0, 3)), seen };
    return {
      ...violates({ code: 'reads-lost', answers, longestPauseMs: PAUSES.at(-1) ?? 0 }, ...lost.slice(0, 3)),
      seen,
    };
  }
  bench.facts.pauseMs = pause;
  bench.asker.pauseMs = Math.max(bench.asker.pauseMs, 1.5 * pause);
  return { ...violates({ code: 'needs-pause', answers, pauseMs: pause }, ...lost.slice(0, 3)), seen };
}

/** True when a reply answers the request before. */
function isBehind(exchange: Exchange): boolean {
  return hasOtherQuantity(exchange) || exchange.oddities.includes('earlier-transaction');
}

/** With one and two registers in turns, all reads are wrong if a server is behind, and half if it is odd. */
const BEHIND = 0.7;

/** @returns the shortest pause with which as many reads in a row are answered as `tries` says */
async function pauseThatCures(bench: Bench, ask: TimedRead, tries: number): Promise<number | undefined> {
  for (const pauseMs of PAUSES) {
    let answered = 0;
    // After a lost request the silence was long, so the first of each row does not count.
    await ask(0, Math.max(pauseMs, bench.order.pauseMs));
    while (answered < tries && isDecisive(await ask(answered, pauseMs))) answered++;
    if (answered === tries) return pauseMs;
  }
  return undefined;
}

async function sameValue(bench: Bench): Promise<Judged> {
  return repeats(bench, READS, 1);
}

/** Reads the same registers again and again: nobody writes them, so values that don't live stay the same. */
async function repeats(bench: Bench, times: number, quantity: number): Promise<Judged> {
  const code = bench.read?.code ?? 3;
  if (code < 3) return unsupported({ code: 'no-registers' });
  const address = bench.read?.address ?? 0;
  const pdu = readPdu(code, address, quantity);
  const first = await bench.ask(pdu);
  if (first.answer.kind !== 'data')
    return inconclusive(
      { code: 'registers-not-read', quantity, address, answer: didOf(first.answer) },
      first,
    );
  const reads: Exchange[] = [];
  const read = async (many: number) => {
    for (let i = 0; i < many; i++) reads.push(await bench.asker.once(pdu, { isExpected: true }));
  };
  const lostOf = () => reads.filter((each) => !isDecisive(each) || each.answer.kind === 'exception');
  await read(times);
  // One that is lost or differs decides nothing; as many again may.
  if (lostOf().length === 1 || differing(reads) === 1) await read(times);
  const answered = reads.filter(({ answer }) => answer.kind === 'data');
  const lost = lostOf();
  if (lost.length > 1 && bench.facts.losses === undefined) {
    return {
      ...violates(
        { code: 'repeated-reads-lost', registers: quantity, answers: answersOf(lost) },
        ...lost.slice(0, 3),
      ),
      seen: { times: lost.length, of: reads.length },
    };
  }
  // A reply with another number of values is judged with the frames.
  const whole = answered.filter(({ oddities }) => oddities.length === 0 || isAlways(oddities, answered));
  return judgeValues(whole, quantity, lost, reads.length);
}

/** How many replies have not the values that most have. */
function differing(reads: readonly Exchange[]): number {
  const texts = reads.flatMap(({ answer }) => (answer.kind === 'data' ? valuesOf(answer.pdu).join(' ') : []));
  const usual = texts.filter((text) => texts.filter((each) => each === text).length > texts.length / 2);
  return texts.length - usual.length;
}

const answersOf = (those: readonly Exchange[]) => tallyOf(those.map(({ answer }) => answer));

function isAlways(oddities: readonly Oddity[], answered: readonly Exchange[]): boolean {
  return answered.every((each) => oddities.every((oddity) => each.oddities.includes(oddity)));
}

function judgeValues(
  answered: readonly Exchange[],
  quantity: number,
  lost: readonly Exchange[],
  of: number,
): Judged {
  const texts = answered.map(({ answer }) => (answer.kind === 'data' ? valuesOf(answer.pdu).join(' ') : ''));
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [usual = '', times = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const others = answered.filter((_, i) => texts[i] !== usual);
  if (others.length === 0) {
    return lost.length === 1
      ? inconclusive({ code: 'one-read-lost', of }, ...lost)
      : conforms(
          `${answered.length} reads of ${quantity} ${quantity === 1 ? 'register' : 'registers'} gave the same`,
        );
  }
  const isIsolated = texts.every((text, i) => text === usual || around(texts, i, usual));
  if (others.length >= 2 && isIsolated && times >= 0.75 * texts.length) {
    return {
      ...dangerous({ code: 'other-values', values: valuesIn(others[0]), usual }, ...others.slice(0, 3)),
      seen: { times: others.length, of: texts.length },
    };
  }
  if (others.length === 1) return inconclusive({ code: 'other-values-once', of: texts.length }, ...others);
  return inconclusive({ code: 'registers-alive' }, ...others.slice(0, 2));
}

function around(texts: readonly string[], i: number, usual: string): boolean {
  return (i === 0 || texts[i - 1] === usual) && (i === texts.length - 1 || texts[i + 1] === usual);
}

function valuesIn(exchange: Exchange | undefined): number[] {
  return exchange?.answer.kind === 'data' ? valuesOf(exchange.answer.pdu).slice(0, 4) : [];
}

/** The most registers from the good address on that one read gives, at most 20. */
async function repeatBlock(bench: Bench): Promise<Judged> {
  const judgements: Judged[] = [];
  for (const code of [3, 4] as const) {
    const address = await bench.table(code);
    if (typeof address !== 'number') continue;
    const sizes = [READS, 12, 8, 4];
    for (const quantity of sizes) {
      const pdu = readPdu(code, address, quantity);
      if ((await bench.ask(pdu)).answer.kind !== 'data') continue;
      const reads: Exchange[] = [];
      for (let i = 0; i < BLOCK_READS; i++) {
        const read = await bench.asker.once(pdu, { isExpected: true });
        reads.push(read);
        if (!isDecisive(read) && bench.facts.losses === undefined && !(await bench.isAlive())) break;
      }
      const lost = reads.filter((each) => !isDecisive(each));
      if (lost.length > 0 && bench.facts.losses === undefined) {
        const seen = { times: lost.length, of: reads.length };
        const found = {
          ...({ code: 'block-reads-lost', function: code, registers: quantity } as const),
          ...{ ...seen, answers: answersOf(lost) },
        };
        judgements.push(
          lost.length > 1
            ? { ...violates(found, ...lost.slice(0, 3)), seen }
            : { ...inconclusive(found, ...lost), but: 'a longer run decides (--soak)' },
        );
      } else
        judgements.push(
          conforms(`function ${code}: ${reads.length} reads of ${quantity} registers were answered`),
        );
      break;
    }
  }
  return (
    judgements.find(({ verdict }) => verdict === 'violates') ??
    judgements.find(({ verdict }) => verdict === 'inconclusive') ??
    judgements[0] ??
    inconclusive({ code: 'no-block' })
  );
}

const BLOCK_READS = 60;

/** Oddities that other checks than `frames` judge. */
const ELSEWHERE: readonly Oddity[] = ['transaction', 'earlier-transaction'];
/** Bytes behind a reply are stray bytes on a network, where the frame says how long it is. */
const STRAY: readonly Oddity[] = ['bytes-after', 'frame-behind'];
/** Oddities by which a client takes a wrong value, or the value of another question. */
const DANGEROUS: readonly Oddity[] = ['fewer-values', 'more-values', 'frame-before'];
export const FEWEST = 2;

/** Judges the frames of all exchanges. */
function frames(bench: Bench): Judged {
  // What comes after a request to another unit is from somebody else, and told as stray bytes.
  const asked = bench.log.filter(
    ({ isPlain, chunks, unitId }) => isPlain && chunks.length > 0 && unitId === bench.asker.unitId,
  );
  const found = new Map<Oddity, Exchange[]>();
  for (const exchange of asked) {
    for (const oddity of exchange.oddities) found.set(oddity, [...(found.get(oddity) ?? []), exchange]);
  }
  const judged = [...found].filter(
    ([oddity]) => !ELSEWHERE.includes(oddity) && !(STRAY.includes(oddity) && !bench.asker.isSerial),
  );
  const often = judged
    .filter(([, shown]) => shown.length >= FEWEST)
    .sort((a, b) => b[1].length - a[1].length);
  const of = asked.length + bench.asker.usual;
  if (often.length > 0) {
    const [[code, most], ...others] = often as [[Oddity, Exchange[]], ...typeof often];
    const seen = { times: most.length, of };
    const also = others.map(([other, { length: times }]) => ({ code: other, times }));
    const worst = often.some(([oddity]) => DANGEROUS.includes(oddity)) ? dangerous : violates;
    return {
      ...worst({ code, ...seen, ...(also.length > 0 && { also }) }, ...most.slice(0, 3)),
      seen,
    };
  }
  const [once] = judged;
  if (once) return inconclusive({ code: 'odd-once', oddity: once[0] }, ...once[1]);
  return conforms(`${of} replies: header, unit, function, byte count and length are right`);
}

/** Judges what came unsolicited between and behind the replies of all exchanges. */
function strayBytes(bench: Bench): Judged {
  const behind =
    bench.asker.isSerial || bench.isOdd('length')
      ? []
      : bench.log.filter(({ oddities }) => oddities.some((each) => STRAY.includes(each)));
  const unsolicited = bench.log.filter((each) => each.unsolicited.length > 0);
  const late = bench.log.filter(({ oddities }) => oddities.includes('earlier-transaction'));
  const all = [...new Set([...behind, ...unsolicited])];
  if (all.length >= FEWEST) {
    const seen = { times: all.length, of: bench.asker.requests };
    const bytes = unsolicited[0] ? unsolicitedText(unsolicited[0]) : '';
    const found: Found =
      behind.length >= unsolicited.length
        ? { code: 'stray-behind', ...seen }
        : { code: areFrames(bench, unsolicited) ? 'unsolicited-frame' : 'unsolicited-bytes', bytes, ...seen };
    return { ...violates(found, ...all.slice(0, 3)), seen };
  }
  if (all.length + late.length === 0)
    return conforms(`nothing came unsolicited beside ${bench.asker.requests} exchanges`);
  return inconclusive({ code: 'stray-once' }, ...all, ...late.slice(0, 2));
}

/** True when what came unsolicited are frames of somebody, and no single bytes. */
function areFrames(bench: Bench, those: readonly Exchange[]): boolean {
  const { framing } = bench.asker;
  return those.every(
    ({ unsolicited }) =>
      framing.decode(concatBytes(...unsolicited.map(({ bytes }) => bytes))) ??
      unsolicited.every(({ bytes }) => framing.decode(bytes)),
  );
}

function unsolicitedText({ unsolicited }: Exchange): string {
  return unsolicited
    .slice(0, 2)
    .map(({ bytes }) => Buffer.from(bytes).toString('hex'))
    .join(' ');
}

/** Judges the transaction identifiers of all exchanges; each exchange had another one. */
async function mbapEcho(bench: Bench): Promise<Judged> {
  for (const transactionId of [0, 1, 0xff, 0x1234, 0xffff]) await bench.askGood({ transactionId });
  // A refusal may silence a server, and most have been refused something before.
  if (!bench.log.some(({ answer }) => answer.kind === 'exception'))
    await bench.asker.once(readPdu(bench.read?.code ?? 3, 0xffff, 2), { transactionId: 0xabcd });
  const replies = bench.log.filter(
    ({ ms, chunks, oddities }) =>
      ms !== undefined || (chunks.length > 0 && oddities.includes('earlier-transaction')),
  );
  const wrong = replies.filter(
    ({ oddities }) => oddities.includes('transaction') || oddities.includes('earlier-transaction'),
  );
  if (wrong.length === 0)
    return conforms(
      `${replies.length} replies have the transaction identifier of their request, exceptions too`,
    );
  const isEarlier =
    wrong.filter(({ oddities }) => oddities.includes('earlier-transaction')).length > wrong.length / 2;
  const found: Found = isEarlier ? { code: 'transactions-behind' } : otherTransactions(wrong);
  if (wrong.length < FEWEST) return once(found, ...wrong);
  return {
    ...(isEarlier ? dangerous : violates)(found, ...wrong.slice(0, 3)),
    seen: { times: wrong.length, of: replies.length },
  };
}

/** Says how identifiers of replies differ from those of their requests, where all do so in one way. */
function otherTransactions(wrong: readonly Exchange[]): Found {
  const ids = wrong.map((exchange): [number, number] => [
    wordAt(heardIn(exchange), 0),
    wordAt(concatBytes(...exchange.sent.map(({ bytes }) => bytes)), 0),
  ]);
  const [[first] = [0]] = ids;
  if (ids.every(([id]) => id === first)) return { code: 'transactions-fixed', transaction: first };
  if (ids.every(([id, asked]) => id === ((asked + 1) & 0xffff))) return { code: 'transactions-one-more' };
  if (ids.every(([id, asked]) => id === (((asked << 8) | (asked >> 8)) & 0xffff)))
    return { code: 'transactions-swapped' };
  return { code: 'transactions-other' };
}

function inOnePiece(bench: Bench): Judged {
  const replies = bench.log.filter(({ ms, oddities }) => ms !== undefined && oddities.length === 0);
  const pieces = replies.filter(({ chunks }) => chunks.length > 1);
  if (pieces.length < FEWEST) return conforms(`${replies.length} replies came in one piece each`);
  return fact({ code: 'in-pieces', times: pieces.length, of: replies.length }, ...pieces.slice(0, 2));
}

/** A reply within t3.5 of the request: the end of the request can't have been seen. */
function replySilence(bench: Bench): Judged {
  const { t35 } = bench.asker;
  const replies = bench.log.filter(({ ms, isPlain }) => ms !== undefined && isPlain);
  // Counted from before the write, so that our own lateness can only make a reply look later.
  const early = replies.filter((each) => timeFromEnd(each) < t35 - EARLY_TOLERANCE_MS);
  const times = replies.map(timeFromEnd);
  if (early.length >= FEWEST) {
    const soonest = Math.min(...early.map(timeFromEnd));
    return {
      ...violates({ code: 'reply-too-soon', ms: Math.max(0, soonest), t35Ms: t35 }, ...early.slice(0, 3)),
      seen: { times: early.length, of: replies.length },
    };
  }
  return conforms(
    `no reply was seen before t3.5 (${timeText(t35)}); the soonest came after ${timeText(Math.min(...times))}. An adapter may hide up to its latency`,
  );
}

const EARLY_TOLERANCE_MS = 0.3;

function timeFromEnd({ ms, sentAt, chunks }: Exchange): number {
  return ms === undefined ? Number.POSITIVE_INFINITY : (chunks[0]?.at ?? sentAt) - sentAt;
}

const LONG_REPLIES = 8;

/** Reads long blocks, and looks for gaps that no adapter makes. */
async function gaps(bench: Bench): Promise<Judged> {
  const { target, connection } = bench.asker;
  if (target.kind !== 'serial') return notRun({ code: 'serial-only' });
  const code = Math.max(bench.read?.code ?? 3, 3);
  const address = bench.read?.address ?? 0;
  let quantity = 0;
  for (const most of [125, 60, 30, 10, 4, 1]) {
    quantity = most;
    if ((await bench.ask(readPdu(code, address, most))).answer.kind === 'data') break;
  }
  const long: Exchange[] = [];
  for (let i = 0; i < LONG_REPLIES; i++) long.push(await bench.ask(readPdu(code, address, quantity)));
  const character = (11 * 1000) / target.baudRate;
  const limit = t15(target.baudRate) + ADAPTER_MS;
  const { gap } = connection.times;
  const gapOf = (exchange: Exchange) => longestGap(exchange, character, connection.times.character);
  // Between a reply and a frame of somebody else there is no gap of the server.
  const replies = bench.log.filter(
    ({ ms, chunks, oddities }) =>
      ms !== undefined &&
      chunks.length > 1 &&
      !oddities.includes('frame-behind') &&
      !oddities.includes('frame-before'),
  );
  const wide = replies.filter((each) => gapOf(each).ms > limit);
  const most = Math.max(0, ...replies.map((each) => gapOf(each).ms));
  if (wide.length >= FEWEST) {
    const found = { code: 'gap-in-reply', ms: most, t15Ms: t15(target.baudRate) } as const;
    // An adapter and a busy machine make gaps anywhere; a server that makes one after the same byte of each
    // reply does it itself.
    const isAlways =
      long.every((each) => gapOf(each).ms > limit) &&
      new Set(long.map((each) => gapOf(each).after)).size === 1;
    return isAlways || most > gap - 3
      ? { ...violates(found, ...wide.slice(0, 3)), seen: { times: wide.length, of: replies.length } }
      : {
          ...inconclusive(found, ...wide.slice(0, 3)),
          but: 'the adapter may be the cause: set its latency timer to 1 ms',
        };
  }
  return conforms(
    `no gap beyond t1.5 (${timeText(t15(target.baudRate))}) was seen in replies of ${quantity} registers`,
  );
}

/** What an adapter with a latency timer of 1 ms may add to a gap, in ms. */
const ADAPTER_MS = 2.5;

/** The largest gap within a reply in ms, less the time of the characters, and how many bytes precede it. */
function longestGap(
  { chunks }: Exchange,
  character: number,
  wire: number,
): { readonly ms: number; readonly after: number } {
  let longest = { ms: 0, after: 0 };
  let passed = 0;
  for (let i = 1; i < chunks.length; i++) {
    const [before, after] = [chunks[i - 1], chunks[i]];
    if (!before || !after) continue;
    passed += before.bytes.length;
    const ms = after.at - before.at - (wire > 0 ? after.bytes.length * character : 0);
    if (ms > longest.ms) longest = { ms, after: passed };
  }
  return longest;
}

async function connectPause(bench: Bench): Promise<Judged> {
  if (bench.asker.connectPauseMs === 0) {
    const firsts = bench.log.filter(({ isFirst, pdu }) => isFirst && pdu);
    const lost = firsts.filter((each) => !isDecisive(each));
    const usual = bench.log.filter((each) => !each.isFirst && each.isExpected && !isDecisive(each));
    if (lost.length === 0 || usual.length > 0)
      return conforms('the first request of a connection is answered at once');
    // The first request of each connection got lost, and others did not.
    const [again, later] = [await freshRead(bench, 0), await freshRead(bench, CONNECT_PAUSE_MS)];
    if (isDecisive(again)) return conforms('the first request of a connection is answered at once');
    if (!isDecisive(later)) return inconclusive({ code: 'first-lost' }, again, later);
    bench.asker.connectPauseMs = CONNECT_PAUSE_MS;
    return {
      ...violates(LOST_FIRST, ...lost, again),
      seen: { times: lost.length + 1, of: firsts.length + 1 },
    };
  }
  const [at0, at0Again] = [await freshRead(bench, 0), await freshRead(bench, 0)];
  const later = await freshRead(bench, CONNECT_PAUSE_MS);
  bench.asker.connectPauseMs = CONNECT_PAUSE_MS;
  if (isDecisive(at0) || isDecisive(at0Again))
    return inconclusive({ code: 'first-lost-sometimes' }, at0, at0Again);
  return { ...violates(LOST_FIRST, at0, at0Again, later), seen: { times: 2, of: 2 } };
}

const LOST_FIRST = { code: 'deaf-after-connecting', pauseMs: CONNECT_PAUSE_MS } as const;

async function freshRead(bench: Bench, pauseMs: number): Promise<Exchange> {
  await bench.asker.disconnect();
  bench.asker.connectPauseMs = pauseMs;
  return bench.askGood();
}

async function idle(bench: Bench): Promise<Judged> {
  const { idleMs } = bench.order;
  const { asker } = bench;
  const after = async () => {
    await asker.wait(idleMs);
    return bench.askGood();
  };
  const first = await after();
  const text = idleText(idleMs);
  if (isDecisive(first)) return conforms(`${text}, the first read is answered`);
  if (bench.facts.losses !== undefined) return inconclusive({ code: 'replies-lost' }, first);
  if (first.answer.kind === 'closed') return fact({ code: 'closed-when-idle', idleMs }, first);
  let lost = 1;
  while (lost < MOST_LOST && !isDecisive(await bench.askGood())) lost++;
  const again = await after();
  if (lost < MOST_LOST && !isDecisive(again)) {
    return {
      ...violates({ code: 'deaf-after-idle', idleMs, lost }, first, again),
      seen: { times: 2, of: 2 },
    };
  }
  return inconclusive({ code: 'one-lost-after-idle', idleMs }, first, again);
}

/** A server that sleeps is woken by this many requests at most. */
const MOST_LOST = 10;

/** The times of replies in ms, as lines of the data sheet. */
interface ReplyTimes {
  readonly least: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
  /** The median of the first replies of connections, where these take longer than others. */
  readonly first?: number;
  /** How many requests got no reply, and one when they were sent again. */
  readonly lost: number;
}

/** The first reply of a connection takes longer at this many times the median, and this many ms more. */
const FIRST_TIMES = 4;
const FIRST_MS = 100;

function lostOf(log: readonly Exchange[]): number {
  const isLost = ({ isPlain, answer, pdu, unitId }: Exchange, next: Exchange | undefined) =>
    isPlain &&
    answer.kind === 'silent' &&
    next?.unitId === unitId &&
    isDecisive(next) &&
    Buffer.compare(pdu ?? NO_BYTES, next.pdu ?? NO_BYTES) === 0;
  return log.filter((each, i) => isLost(each, log[i + 1])).length;
}

export function replyTimes({ log, asker: { times } }: Bench): ReplyTimes | undefined {
  if (times.count === 0) return undefined;
  const usual = times.at(0.5);
  const first = median(log.flatMap(({ ms, isFirst }) => (isFirst && ms !== undefined ? [ms] : [])));
  const isLater = first > FIRST_TIMES * usual + FIRST_MS;
  return {
    least: times.least,
    median: usual,
    p99: times.at(0.99),
    most: times.most,
    ...(isLater && { first }),
    lost: lostOf(log),
  };
}

export const FRAMES: readonly ServerCheck[] = [
  {
    id: 'back-to-back',
    group: 'frames',
    title: 'Keeps up with reads in a row',
    does: 'Reads 20 times, each request as soon after the reply as it may come (t3.5 on a serial line).',
    rule: 'Conforms when all are answered. One lost of 20: 50 more decide.',
    clause: `${ROBUSTNESS}; ${SERIAL}, 2.5.1.1`,
    matters:
      'Clients poll at their own pace, and report time-outs now and then: eModbus/eModbus#223, home-assistant/core#50245.',
    mend: 'Listen again at the latest t3.5 after the last byte of the reply.',
    grade: 'met',
    isSeveral: true,
    run: backToBack,
  },
  {
    id: 'pause-needed',
    group: 'frames',
    title: 'The pause that it needs',
    does: 'Only after back-to-back failed: pauses from 20 ms to 1.5 s between a reply and the next request.',
    rule: 'The shortest with which 6 reads in a row are answered is told.',
    clause: ROBUSTNESS,
    matters:
      'It belongs into the data sheet, and clients need a setting for it: ioBroker/ioBroker.modbus#39.',
    mend: 'Say it in the manual until it is not needed.',
    grade: 'met',
    isSeveral: true,
    run: ({ facts: { pauseMs, losses } }) => {
      if (pauseMs !== undefined) return fact({ code: 'pause', pauseMs });
      return losses === undefined ? conforms('needs no pause') : inconclusive({ code: 'no-pause-helps' });
    },
  },
  {
    id: 'connect-pause',
    group: 'frames',
    title: 'Answers right after connecting',
    does: 'Only when a first request was not answered: connects, and asks at once and after 1.5 s.',
    rule: 'Conforms when the first request of a connection is answered.',
    clause: ROBUSTNESS,
    matters:
      'Clients that connect anew for each poll get nothing: influxdata/telegraf#11919, evcc-io/evcc#31996.',
    mend: 'Accept a connection only when requests on it are served.',
    grade: 'met',
    on: 'tcp',
    isSeveral: true,
    run: connectPause,
  },
  {
    id: 'same-value',
    group: 'frames',
    title: 'The same register gives the same value',
    does: 'Reads one register 20 times.',
    rule: 'Conforms when all values are equal. Where they move, a quiet register is needed.',
    clause: ROBUSTNESS,
    matters:
      'A client takes the odd value for a measurement (catalogue: substituted-block, zero-for-a-poll).',
    mend: 'Copy values into the reply in one step, from one place.',
    grade: 'dangerous',
    isSeveral: true,
    run: sameValue,
  },
  {
    id: 'frames',
    group: 'frames',
    title: 'Replies are well formed',
    does: 'Looks at the replies to all requests.',
    rule: 'Conforms when header, unit, function, byte count, length and check value are right in all.',
    clause: `Application Protocol V1.1b3, 6; ${TCP}, 3.1.3; ${SERIAL}, 2.5.1`,
    matters:
      'Clients discard such a reply, and wait for their time-out: esphome/issues#7034, Apollo3zehn/FluentModbus#84, BiancoRoyal/node-red-contrib-modbus#146.',
    mend: 'Build each reply from its own request and its own length; copy nothing that was there before.',
    grade: 'met',
    turn: 'end',
    isSeveral: true,
    run: frames,
  },
  {
    id: 'stray-bytes',
    group: 'frames',
    title: 'Sends nothing unsolicited',
    does: 'Listens before each request, and behind each reply.',
    rule: 'Conforms when nothing comes. Noise on a wire looks alike.',
    clause: `${SERIAL}, 2.1`,
    matters:
      'Clients take the bytes for the beginning of the next reply: pyhys/minimalmodbus#61, jmccrohan/pysolarmanv5#62.',
    mend: 'Switch the driver off after the last stop bit, and send whole replies only to requests that still wait.',
    grade: 'met',
    turn: 'end',
    isSeveral: true,
    run: strayBytes,
  },
  {
    id: 'mbap-echo',
    group: 'frames',
    title: 'Copies the transaction identifier',
    does: 'Looks at all replies, and asks with 0000, 0001, 00FF, 1234, FFFF, and for an exception with ABCD.',
    rule: 'Conforms when each reply, exceptions too, has the identifier of its request.',
    clause: `${TCP}, 3.1.3 and 4.4.2.5`,
    matters:
      'Clients discard the reply, or take it for that of another question: mesta1/nmodbus#39, dresende/node-modbus-tcp#21, grid-x/modbus#26.',
    mend: 'Copy the first two bytes of the request into its reply.',
    grade: 'met',
    on: 'tcp',
    turn: 'end',
    isSeveral: true,
    run: mbapEcho,
  },
  {
    id: 'reply-in-one-piece',
    group: 'frames',
    title: 'Replies come in one piece',
    does: 'Looks at all replies.',
    rule: 'Pieces are allowed, and told.',
    clause: ROBUSTNESS,
    matters:
      'Some clients take each segment for a frame: pymodbus-dev/pymodbus#1922 (SMA), aldas/modbus-tcp-client#61.',
    mend: 'Write header and PDU with one call.',
    grade: 'seldom',
    on: 'tcp',
    turn: 'end',
    isSeveral: true,
    run: inOnePiece,
  },
  {
    id: 'rtu-reply-silence',
    group: 'frames',
    title: 'Waits t3.5 before it replies',
    does: 'Looks at the time from the last byte of each request to the first byte of its reply.',
    rule: 'Violates when a reply begins before t3.5. An adapter that holds bytes back can hide that, never cause it.',
    clause: `${SERIAL}, 2.5.1.1`,
    matters:
      'The reply meets a client that still drives the bus, and loses its first bytes: rosenrot00/esphome_modbus_bridge#23, stephane/libmodbus#494.',
    mend: 'Begin to send t3.5 after the last stop bit of the request.',
    grade: 'met',
    on: 'rtu',
    turn: 'end',
    isSeveral: true,
    run: replySilence,
  },
  {
    id: 'rtu-gaps',
    group: 'frames',
    title: 'Sends without gaps',
    does: 'Reads 125 registers (or as many as there are) 8 times, and looks for the largest gap inside a reply.',
    rule: 'Violates when a gap is longer than t1.5 and than this adapter makes by itself.',
    clause: `${SERIAL}, 2.5.1.1`,
    matters: 'Clients take the rest for another frame: ljean/modbus-tk#13, alerighi/modbus-sniffer#9.',
    mend: 'Hand the whole frame to the UART, and let nothing interrupt it for longer than a character.',
    grade: 'met',
    on: 'rtu',
    turn: 'late',
    isSeveral: true,
    run: gaps,
  },
  {
    id: 'idle',
    group: 'frames',
    title: 'Answers after a time without requests',
    does: 'Waits 3 s (or --idle), and reads.',
    rule: 'Conforms when the first read is answered. A closed connection is allowed.',
    clause: `${TCP}, 4.2.1.1`,
    matters: 'Each slow poll begins with a time-out: node-modbus/stream#66.',
    mend: 'Wake up by the first byte, and keep it.',
    grade: 'met',
    turn: 'late',
    isSeveral: true,
    run: idle,
  },
  {
    id: 'repeat-pair',
    group: 'frames',
    title: 'Two registers read 60 times',
    does: 'Reads two registers, of which nobody writes, 60 times.',
    rule: 'Conforms with 60 equal replies. Where they move, quiet registers are needed.',
    clause: ROBUSTNESS,
    matters: 'Halves of two values become one (catalogue: last-byte-lost, zero-for-a-poll, torn-value).',
    mend: 'Copy values into the reply in one step, from one place.',
    grade: 'dangerous',
    turn: 'late',
    isSeveral: true,
    run: (bench) => repeats(bench, 60, 2),
  },
  {
    id: 'repeat-block',
    group: 'frames',
    title: 'A block read 60 times',
    does: 'Reads 20 registers (or as many as there are) 60 times, with function 3 and with function 4.',
    rule: 'Conforms with 60 replies.',
    clause: ROBUSTNESS,
    matters:
      'A server that restarts when it is polled looks like a bad line (catalogue: reboots-when-polled).',
    mend: 'Look for a leak or a watchdog in the path of a read.',
    grade: 'met',
    turn: 'late',
    isSeveral: true,
    run: repeatBlock,
  },
];
