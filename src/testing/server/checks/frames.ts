import { concatBytes, wordAt } from '../../../modbus/protocol/bytes.js';
import type { Bench } from '../bench.js';
import {
  checksOf,
  conforms,
  counted,
  dangerous,
  fact,
  inconclusive,
  type Judged,
  once,
  violates,
} from '../check.js';
import { ROBUSTNESS, SERIAL, TCP } from '../clauses.js';
import type { OddFacts, Oddity } from '../codes/oddities.js';
import { type Exchange, heardIn } from '../exchange.js';
import type { Found } from '../found.js';
import { readPdu, writtenBy } from '../requests.js';
import { wrongShape } from '../shape.js';

/** Oddities judged by checks other than `frames`. */
const ELSEWHERE: readonly Oddity[] = ['transaction', 'earlier-transaction'];
/** Bytes after a reply are stray bytes on a network, where the frame states its length. */
const STRAY: readonly Oddity[] = ['bytes-after', 'frame-behind'];
/** Oddities that make a client accept a wrong value, or the value for another request. */
const DANGEROUS: readonly Oddity[] = ['fewer-values', 'more-values', 'frame-before'];
const rankOf = (oddity: Oddity) => (DANGEROUS.includes(oddity) ? 0 : 1);
export const FEWEST = 2;

/** How many times a read is repeated if its reply was odd once. */
const AGAIN = 3;

/** Judges the frames of all exchanges. A read whose reply was odd once is repeated. */
async function frames(bench: Bench): Promise<Judged> {
  const { judged, single } = framesSoFar(bench);
  const { pdu, isPlain } = single ?? {};
  if (!pdu || !isPlain || writtenBy(pdu)) return judged;
  for (let i = 0; i < AGAIN; i++) await bench.asker.once(pdu);
  return framesSoFar(bench).judged;
}

function framesSoFar(bench: Bench): { readonly judged: Judged; readonly single?: Exchange | undefined } {
  // A reply to a request to another unit comes from another device, and is reported as stray bytes.
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
    .sort((a, b) => rankOf(a[0]) - rankOf(b[0]) || b[1].length - a[1].length);
  const of = asked.length + bench.asker.usual;
  const [first, ...others] = often;
  if (first) {
    const [code, most] = first;
    const also = others.map(([other, shown]) => ({ code: other, ...oddFacts(other, shown) }));
    const worst = often.some(([oddity]) => DANGEROUS.includes(oddity)) ? dangerous : violates;
    const found = { code, of, ...oddFacts(code, most), ...(also.length > 0 && { also }) };
    return { judged: counted(worst, found, most, of) };
  }
  const [single] = judged;
  return single
    ? { judged: inconclusive({ code: 'odd-once', oddity: single[0] }, ...single[1]), single: single[1][0] }
    : { judged: conforms({ code: 'well-formed', of }) };
}

/** How many replies were odd in one way, and to which functions, with the missing or surplus part of each. */
function oddFacts(oddity: Oddity, those: readonly Exchange[]): OddFacts {
  const fields = new Map<number, string>();
  for (const { answer } of those) {
    const shape = answer.kind === 'data' ? wrongShape(answer.pdu) : undefined;
    if (shape?.code === oddity && !fields.has(shape.function)) fields.set(shape.function, shape.field);
  }
  const replies = [...fields].map(([code, field]) => ({ function: code, field }));
  return { times: those.length, ...(replies.length > 0 && { replies }) };
}

/** The check whose request contains another one: bytes after its reply answer the second. */
const ASKS_TWICE = 'mbap-length-is-the-frame';

/** Judges unsolicited bytes between and after the replies of all exchanges. */
function strayBytes(bench: Bench): Judged {
  const { requests: of, isSerial } = bench.asker;
  const behind =
    isSerial || bench.isOdd('length')
      ? []
      : bench.log.filter(
          ({ check, oddities }) => check !== ASKS_TWICE && oddities.some((each) => STRAY.includes(each)),
        );
  const unsolicited = bench.log.filter((each) => each.unsolicited.length > 0);
  const late = bench.log.filter(({ oddities }) => oddities.includes('earlier-transaction'));
  const all = [...new Set([...behind, ...unsolicited])];
  if (all.length >= FEWEST) {
    const seen = { times: all.length, of };
    const bytes = unsolicited[0] ? unsolicitedText(unsolicited[0]) : '';
    const found: Found =
      behind.length >= unsolicited.length
        ? { code: 'stray-behind', ...seen }
        : { code: areFrames(bench, unsolicited) ? 'unsolicited-frame' : 'unsolicited-bytes', bytes, ...seen };
    return counted(violates, found, all, of);
  }
  return all.length + late.length === 0
    ? conforms({ code: 'nothing-unsolicited', of })
    : inconclusive({ code: 'stray-once' }, ...all, ...late.slice(0, 2));
}

/** True if the unsolicited bytes are frames of another device rather than single bytes. */
function areFrames({ asker: { framing } }: Bench, those: readonly Exchange[]): boolean {
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

/** Judges the transaction identifiers of all exchanges, each of which had a different one. */
async function mbapEcho(bench: Bench): Promise<Judged> {
  const isWrong = ({ oddities }: Exchange) => oddities.includes('transaction');
  // If something was seen once, send further requests.
  for (const transactionId of [0, 1, 0xff, 0x1234, 0xffff])
    if (isWrong(await bench.askGood({ transactionId }))) await bench.askGood({ transactionId });
  // A refusal may silence a server, and in most tests an earlier request has been refused.
  if (!bench.log.some(({ answer }) => answer.kind === 'exception'))
    await bench.asker.once(readPdu(bench.good.code, 0xffff, 2), { transactionId: 0xabcd });
  const isEarlier = ({ oddities }: Exchange) => oddities.includes('earlier-transaction');
  const replies = bench.log.filter(
    (each) => each.ms !== undefined || (each.chunks.length > 0 && isEarlier(each)),
  );
  const wrong = replies.filter((each) => each.oddities.includes('transaction') || isEarlier(each));
  const of = replies.length;
  if (wrong.length === 0) return conforms({ code: 'transactions-copied', of });
  const isBehind = wrong.filter(isEarlier).length > wrong.length / 2;
  const found: Found = isBehind ? { code: 'transactions-behind' } : otherTransactions(wrong, bench.log);
  return wrong.length < FEWEST
    ? once(found, ...wrong)
    : counted(isBehind ? dangerous : violates, found, wrong, of);
}

/** Describes how reply identifiers differ from those of the requests, if all differ in the same way. */
function otherTransactions(wrong: readonly Exchange[], log: readonly Exchange[]): Found {
  const askedIn = ({ sent }: Exchange) => wordAt(concatBytes(...sent.map(({ bytes }) => bytes)), 0);
  const ids = wrong.map((exchange): [number, number] => [wordAt(heardIn(exchange), 0), askedIn(exchange)]);
  // If all requests had the same identifier, the replies to others are unknown.
  if (new Set(ids.map(([, asked]) => asked)).size === 1) return { code: 'transactions-other' };
  const firsts = wrong.map((exchange) =>
    log.slice(0, log.indexOf(exchange)).findLast(({ isFirst }) => isFirst),
  );
  if (ids.every(([id], i) => firsts[i] && askedIn(firsts[i]) === id))
    return { code: 'transactions-of-connection' };
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
  const of = replies.length;
  return pieces.length < FEWEST
    ? conforms({ code: 'one-piece', of })
    : fact({ code: 'in-pieces', times: pieces.length, of }, ...pieces.slice(0, 2));
}

export const FRAMES = checksOf({ group: 'frames', isSeveral: true }, [
  {
    ...{ id: 'frames', grade: 'met', turn: 'end', run: frames },
    title: 'Replies are well formed',
    does: 'Checks the replies to all requests.',
    rule: 'Conforms when all have the right header, unit, function, byte count, length and check value.',
    clause: `Application Protocol V1.1b3, 6; ${TCP}, 3.1.3; ${SERIAL}, 2.5.1`,
    matters:
      'Clients discard such a reply and wait for their time-out: esphome/issues#7034, Apollo3zehn/FluentModbus#84, BiancoRoyal/node-red-contrib-modbus#146.',
    mend: 'Build each reply from its own request and with its own length; do not reuse old bytes.',
  },
  {
    ...{ id: 'stray-bytes', grade: 'met', turn: 'end', run: strayBytes },
    title: 'Sends nothing unsolicited',
    does: 'Listens before each request and after each reply.',
    rule: 'Conforms when no bytes arrive. Noise on the wire looks the same.',
    clause: `${SERIAL}, 2.1`,
    matters:
      'Clients mistake the bytes for the start of the next reply: pyhys/minimalmodbus#61, jmccrohan/pysolarmanv5#62.',
    mend: 'Switch the driver off after the last stop bit. Send only whole replies, and only while the client waits.',
  },
  {
    ...{ id: 'mbap-echo', grade: 'met', on: 'tcp', turn: 'end', run: mbapEcho },
    title: 'Copies the transaction identifier',
    does: 'Checks all replies, including those to reads with the identifiers 0000, 0001, 00FF, 1234 and FFFF, and to a refused one with ABCD.',
    rule: 'Conforms when each reply, exceptions included, has the identifier of its request.',
    clause: `${TCP}, 3.1.3 and 4.4.2.5`,
    matters:
      'Clients discard the reply or assign it to another request: mesta1/nmodbus#39, dresende/node-modbus-tcp#21, grid-x/modbus#26.',
    mend: 'Copy the first two bytes of the request into its reply.',
  },
  {
    ...{ id: 'reply-in-one-piece', grade: 'seldom', on: 'tcp', turn: 'end', run: inOnePiece },
    title: 'Replies come in one piece',
    does: 'Checks all replies.',
    rule: 'Replies in pieces are allowed but reported.',
    clause: ROBUSTNESS,
    matters:
      'Some clients treat each segment as a frame: pymodbus-dev/pymodbus#1922 (SMA), aldas/modbus-tcp-client#61.',
    mend: 'Write header and PDU with one call.',
  },
]);
