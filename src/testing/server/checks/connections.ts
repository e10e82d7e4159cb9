import type { Result } from '../../../common/result.js';
import type { RawConnection } from '../../../modbus/client/raw.js';
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
  lossy,
  unlessLossy,
  unsupported,
  violates,
} from '../check.js';
import { ROBUSTNESS, TCP } from '../clauses.js';
import { type Exchange, heardIn, isDecisive, isTransient } from '../exchange.js';
import { didOf } from '../reading.js';
import type { ConnectionsFound } from '../words.js';
import { served } from './mbap.js';

async function split(bench: Bench): Promise<Judged> {
  const frame = bench.frameOf(undefined, undefined, 0x0405);
  const ask = (pieces: readonly Uint8Array[], waitMs: number) =>
    bench.ask(bench.goodRead, {
      transactionId: 0x0405,
      pieces: pieces.map((bytes) => ({ bytes, waitMs })),
      isExpected: true,
    });
  const bytes = await ask(
    [...frame].map((byte) => Uint8Array.of(byte)),
    20,
  );
  const halves = await ask([frame.subarray(0, 7), frame.subarray(7)], 60);
  const lost = [bytes, halves].filter((each) => !isDecisive(each));
  const [first] = lost;
  if (!first) return conforms({ code: 'pieces-taken' }, bytes, halves);
  const pieces = first === bytes ? 12 : 2;
  return unlessLossy(bench, { code: 'pieces-lost', pieces, answer: didOf(first.answer) }, ...lost);
}

/**
 * How many consecutive identifiers, beginning with `first`, appear in the bytes, each before a protocol
 * identifier 0.
 */
function transactionsIn(heard: Uint8Array, first: number, many: number): number {
  const bytes = Buffer.from(heard.buffer, heard.byteOffset, heard.length);
  const isThere = (id: number) => bytes.indexOf(Uint8Array.of(id >> 8, id & 0xff, 0, 0)) >= 0;
  return Array.from({ length: many }, (_, i) => first + i).filter(isThere).length;
}

/** Number of whole reply frames to the good read, whatever their identifiers. */
function framesIn({ goodRead }: Bench, heard: Uint8Array): number {
  let frames = 0;
  for (let at = 0; heard.length - at > 8; at += 6 + wordAt(heard, at + 4)) {
    if (wordAt(heard, at + 2) !== 0 || ((heard[at + 7] ?? 0) & 0x7f) !== goodRead[0]) break;
    if (heard.length - at >= 6 + wordAt(heard, at + 4)) frames++;
  }
  return frames;
}

const FIRST_TOGETHER = 0x5a01;

/** Sends several requests without waiting for replies, in one segment or in several. */
async function together(bench: Bench, many: number, inOne: boolean): Promise<Judged> {
  const { facts } = bench;
  if (bench.asker.isOnePerConnection) return inconclusive({ code: 'closes-each' });
  if (facts.pauseMs !== undefined) return inconclusive({ code: 'pause-in-the-way' });
  if (facts.losses !== undefined) return inconclusive(lossy(bench));
  if (bench.isOdd('protocol')) return inconclusive({ code: 'frames-odd', oddity: 'protocol' });
  if (bench.log.some(({ oddities }) => oddities.includes('transaction')))
    return inconclusive({ code: 'transactions-not-copied' });
  const frames = Array.from({ length: many }, (_, i) =>
    bench.frameOf(undefined, undefined, FIRST_TOGETHER + i),
  );
  const pieces = inOne ? [{ bytes: concatBytes(...frames) }] : frames.map((bytes) => ({ bytes }));
  const exchange = await bench.asker.send(pieces, {
    timeout: 2 * bench.asker.timeout(bench.goodRead[0] ?? 0),
    keepsOpen: true,
    look: (heard) => {
      const isAll = Math.max(framesIn(bench, heard), transactionsIn(heard, FIRST_TOGETHER, many)) >= many;
      return isAll ? 'perhaps' : 'more';
    },
  });
  await bench.asker.disconnect();
  const found = transactionsIn(heardIn(exchange), FIRST_TOGETHER, many);
  const answered = { answered: found, of: many, isOneSegment: inOne };
  const replies = framesIn(bench, heardIn(exchange));
  if (found < many && replies >= many)
    return dangerous({ code: 'together-mixed', ...answered, replies }, exchange);
  return found === many
    ? conforms({ code: 'together-answered', ...answered }, exchange)
    : violates({ code: 'together-lost', ...answered }, exchange);
}

const MOST_CONNECTIONS = 6;

/** Opens one connection after another, and sends requests on all of them. */
async function connections(bench: Bench): Promise<Judged> {
  const { asker, facts } = bench;
  await asker.disconnect();
  const opened: RawConnection[] = [];
  const ask = (connection: RawConnection) => asker.askOn(connection, bench.goodRead);
  let next: ConnectionsFound['next'] | undefined;
  try {
    for (let i = 0; i < MOST_CONNECTIONS; i++) {
      const connection = await asker.another();
      if (!connection.ok) {
        next = 'refused';
        break;
      }
      opened.push(connection.value);
      const exchange = await ask(connection.value);
      const { answer } = exchange;
      if (answer.kind === 'closed') {
        next = 'closed';
        opened.pop();
        break;
      }
      if (answer.kind === 'silent') {
        await opened[0]?.close();
        return violates({ code: 'accepted-not-answered', connection: i + 1 }, exchange);
      }
    }
    // If each reply ends its connection, all that can be shown is that each was served.
    let alive = asker.isOnePerConnection ? opened.length : 0;
    if (!asker.isOnePerConnection)
      for (const connection of opened) if ((await ask(connection)).answer.kind === 'data') alive++;
    if (alive < opened.length) next ??= 'evicts';
    facts.connections = { served: alive, next: next ?? 'untried' };
    return (alive === MOST_CONNECTIONS ? conforms : fact)({
      code: 'connections',
      ...facts.connections,
    });
  } finally {
    for (const connection of opened) await connection.close();
    asker.closed();
  }
}

/** Number of reconnections: servers have room for 4, 8, 16 or 32 connections. */
const RECONNECTS = 40;
const RECONNECT_PAUSES = [1200, 2500, 6000];
/** This many consecutive connections that are not served are enough. */
const LOST_IN_A_ROW = 3;

/** Closes, connects and reads repeatedly without a pause. After a failure, searches for a pause that helps. */
async function reconnects(bench: Bench): Promise<Judged> {
  const { asker, facts } = bench;
  const lost: Exchange[] = [];
  const again = async () => {
    await asker.disconnect();
    return bench.askGood();
  };
  let [times, inARow] = [0, 0];
  for (const most = asker.waits.reads(RECONNECTS); times < most && inARow < LOST_IN_A_ROW; times++) {
    const exchange = await again();
    inARow = isDecisive(exchange) ? 0 : inARow + 1;
    if (inARow > 0) lost.push(exchange);
  }
  if (lost.length === 0) return conforms({ code: 'reconnected', times });
  if (facts.losses !== undefined) return inconclusive(lossy(bench), ...lost);
  if (lost.length < 2) return inconclusive({ code: 'one-reconnect-lost' }, ...lost);
  const areRefused = lost.every(({ answer }) => answer.kind === 'closed');
  for (const pause of RECONNECT_PAUSES) {
    asker.reconnectPauseMs = pause;
    await asker.wait(2 * pause);
    if (!isDecisive(await again()) || !isDecisive(await again())) continue;
    if (areRefused) asker.reconnectPauseMs = 0;
    return areRefused
      ? fact({ code: 'refused-until-gone' }, ...lost.slice(0, 3))
      : counted(violates, { code: 'deaf-after-close', curedMs: pause }, lost, times);
  }
  asker.reconnectPauseMs = 0;
  const { answer } = lost[0] as Exchange;
  const served = times - inARow;
  if (inARow === LOST_IN_A_ROW && served > 0 && lost.length === inARow)
    return {
      ...dangerous({ code: 'connections-not-freed', served, answer: didOf(answer) }, ...lost),
      isOwnFate: true,
    };
  return counted(violates, { code: 'lost-after-reconnect', answer: didOf(answer) }, lost, times);
}

/** This many reads show whether a connection lasts. */
const LASTING_READS = 256;
/** If a connection was idle for this long, in ms, that is the reason for closing it. */
const IDLE_MS = 900;

/** Checks whether a server keeps the connection after an exception, and after many requests. */
async function keepsConnection(bench: Bench): Promise<Judged> {
  const { asker, log } = bench;
  if (asker.isOnePerConnection)
    return fact({ code: 'closes-after-requests', requests: 1 }, ...log.slice(0, 1));
  const afterException: { readonly exchange: Exchange; readonly end: 'closed' | 'silent' | undefined }[] = [];
  const ends: { readonly exchange: Exchange; readonly requests: number }[] = [];
  for (const [i, exchange] of log.entries()) {
    const before = log[i - 1];
    if (!before?.isPlain || before.ms === undefined) continue;
    const isIdle = exchange.startedAt - (before.chunks.at(-1)?.at ?? before.sentAt) > IDLE_MS;
    if (isIdle || before.unitId !== asker.unitId || exchange.number !== before.number + 1) continue;
    const isClosed =
      exchange.closedAfter !== undefined ||
      (exchange.isPlain && exchange.answer.kind === 'closed' && !exchange.isFirst);
    const isMute = !exchange.isFirst && exchange.answer.kind === 'silent' && isAnsweredNext(log, i);
    const end = isClosed ? 'closed' : isMute ? 'silent' : undefined;
    const isSame = !exchange.isFirst || isClosed;
    // A busy server may be silent the next time.
    if (isTransient(before.answer)) continue;
    if (before.answer.kind === 'exception' && isSame) afterException.push({ exchange, end });
    else if (isClosed) ends.push({ exchange, requests: exchange.closedAfter ?? 0 });
  }
  for (const end of ['closed', 'silent'] as const) {
    const those = afterException.filter((each) => each.end === end).map(({ exchange }) => exchange);
    const found = { code: end === 'closed' ? 'closes-after-exception' : 'mute-after-exception' } as const;
    if (those.length >= 2 && 2 * those.length > afterException.length)
      return { ...counted(violates, found, those, afterException.length), grade: 'met' };
  }
  for (let i = asker.waits.isSlow ? 0 : asker.waits.reads(LASTING_READS); i > 0; i--) {
    const exchange = await bench.askGood({
      isOneOfMany: true,
      ...(bench.facts.pauseMs === undefined && { pauseMs: 0 }),
    });
    const requests = exchange.closedAfter;
    if (requests !== undefined) ends.push({ exchange, requests });
    if (!isDecisive(exchange) && exchange.answer.kind !== 'closed') break;
  }
  const those = ends.map(({ exchange }) => exchange);
  const counts = new Set(ends.flatMap(({ requests }) => (requests > 0 ? requests : [])));
  const [requests = 0] = counts;
  if (counts.size === 1 && requests <= 2 && ends.length > 2)
    return counted(fact, { code: 'closes-after-requests', requests }, those, bench.asker.requests);
  if (ends.length === 0) return conforms({ code: 'connection-kept' });
  return counts.size === 1
    ? { ...fact({ code: 'closes-after-requests', requests }, ...those.slice(0, 2)) }
    : fact({ code: 'closes-now-and-then', times: ends.length }, ...those.slice(0, 2));
}

/** True if an unanswered request is answered when it is repeated. */
function isAnsweredNext(log: readonly Exchange[], i: number): boolean {
  const [exchange, next] = [log[i], log[i + 1]];
  if (!exchange?.pdu || !next?.pdu || !next.isFirst || !isDecisive(next)) return false;
  return Buffer.compare(exchange.pdu, next.pdu) === 0;
}

async function halfFrameElsewhere(bench: Bench): Promise<Judged> {
  const { asker } = bench;
  await asker.disconnect();
  const first = await asker.another();
  if (!first.ok) return inconclusive({ code: 'unreachable', reason: first.error });
  let second: Result<RawConnection> | undefined;
  try {
    second = await asker.another();
    if (!second.ok) return unsupported({ code: 'one-connection' });
    const before = asker.isOnePerConnection ? undefined : await asker.askOn(second.value, bench.goodRead);
    if (before && before.answer.kind !== 'data')
      return unsupported({ code: 'second-connection-deaf' }, before);
    const half = bench.frameOf(undefined, undefined, 0x0607).subarray(0, 5);
    void first.value.exchange([{ bytes: half }], { timeout: 1 });
    await asker.wait(20);
    const exchange = await asker.askOn(second.value, bench.goodRead);
    const { answer } = exchange;
    if (isDecisive(exchange)) return conforms({ code: 'not-held-up' }, exchange);
    return violates({ code: 'held-up', answer: didOf(answer) }, exchange);
  } finally {
    await first.value.close();
    if (second?.ok) await second.value.close();
    asker.closed();
  }
}

async function halfFrameAndGone(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.send(
    [{ bytes: bench.frameOf(undefined, undefined, 0x0708).subarray(0, 9) }],
    {
      timeout: 20,
    },
  );
  await bench.asker.disconnect();
  const judged = await served(bench, 'client-left', exchange);
  return judged.verdict === 'conforms' ? leftReply(bench, judged) : judged;
}

/** How many times a client leaves before its reply, and how many times the reply must reach another client. */
const LEFT = 3;
const FIRST_LEFT = 0x0a01;
const OWN = 0x0b0b;

/**
 * Closes the connection before the reply has come, and sends a different request on a new one, which must get
 * only its own reply.
 */
async function leftReply(bench: Bench, judged: Judged): Promise<Judged> {
  const { asker } = bench;
  const wrong: Exchange[] = [];
  for (let i = 0; i < LEFT; i++) {
    const bytes = bench.frameOf(undefined, undefined, FIRST_LEFT + i);
    await asker.send([{ bytes }], { timeout: 1, keepsOpen: true });
    await asker.disconnect();
    // Sent as raw pieces, so that a reply meant for another client is judged only here.
    const own = [{ bytes: bench.frameOf(undefined, undefined, OWN) }];
    const next = await bench.askGood({ transactionId: OWN, pieces: own });
    const heard = concatBytes(...next.unsolicited.map(({ bytes }) => bytes), heardIn(next));
    if (transactionsIn(heard, FIRST_LEFT, LEFT) > 0) wrong.push(next);
  }
  return wrong.length < 2 ? judged : counted(dangerous, { code: 'reply-of-other-client' }, wrong, LEFT);
}

/** Number of connections to reset: some servers have this many slots, and free none of them. */
const RESETS = 16;

async function reset(bench: Bench): Promise<Judged> {
  let judged = await resetOnce(bench);
  for (let i = bench.asker.waits.reads(RESETS); i > 1 && judged.verdict === 'conforms'; i--)
    judged = await resetOnce(bench);
  return judged.verdict === 'violates' && !(await bench.isAlive())
    ? { ...judged, grade: 'dangerous' }
    : judged;
}

async function resetOnce(bench: Bench): Promise<Judged> {
  const exchange = await bench.asker.send([{ bytes: bench.frameOf(undefined, undefined, 0x0809) }], {
    timeout: 1,
    keepsOpen: true,
  });
  await bench.asker.connection.reset();
  await bench.asker.disconnect();
  return served(bench, 'client-reset', exchange);
}

const stream =
  'Collect bytes until the frame has the length given in its header; the next byte starts the next request.';
const perConnection = 'Give each connection its own buffer and position.';

export const CONNECTIONS = checksOf({ group: 'connections', grade: 'met', on: 'tcp' }, [
  {
    ...{ id: 'tcp-split', run: split },
    title: 'Accepts a request in pieces',
    does: 'Sends a read byte by byte, 20 ms apart, and one as 7 and 5 bytes.',
    rule: 'Conforms when both are answered.',
    clause: 'RFC 9293',
    matters: 'Requests get lost over mobile networks: mesta1/nmodbus#54, valiot/modbux#20.',
    mend: stream,
  },
  {
    ...{ id: 'tcp-coalesced', run: (bench) => together(bench, 2, true) },
    title: 'Answers two requests in one segment',
    does: 'Sends two reads in one segment.',
    rule: 'Conforms when both are answered.',
    clause: `RFC 9293; ${TCP}, 4.2.1.1`,
    matters:
      'The second request of a client gets lost: thiagoralves/OpenPLC_v3#253, yaacov/node-modbus-serial#264.',
    mend: stream,
  },
  {
    ...{ id: 'tcp-pipelined', run: (bench) => together(bench, 8, false) },
    title: 'Answers eight requests sent without waiting',
    does: 'Sends eight reads without waiting for replies.',
    rule: 'Conforms when all are answered or refused with exception 06.',
    clause: `${TCP}, 4.2.1.1 and 4.4.2.2`,
    matters: 'Clients that pipeline requests lose some: libplctag/libplctag#192.',
    mend: 'Queue requests, or refuse them with exception 06.',
  },
  {
    ...{ id: 'connections', run: connections },
    title: 'Number of connections',
    does: 'Opens up to 6 connections and reads on each, then reads on all again.',
    rule: 'Reported only; but a connection that is accepted and never answered is a violation.',
    clause: `${TCP}, 4.2.1.2`,
    matters: 'A second client waits forever: brainelectronics/micropython-modbus#11, NModbus4/NModbus4#152.',
    mend: 'Refuse connections that are not served, or close the oldest.',
  },
  {
    ...{ id: 'reconnect-at-once', isSeveral: true, run: reconnects },
    title: 'Copes with clients that reconnect',
    does: 'Closes, connects and reads, 40 times without a pause.',
    rule: 'Conforms when all reads are answered.',
    clause: ROBUSTNESS,
    matters:
      'Clients that open a connection per poll get no values (catalogue: locks-up-on-fast-reconnect, first-request-lost).',
    mend: 'Free the slot of a connection when it closes.',
  },
  {
    ...{ id: 'keeps-connection', grade: 'seldom', turn: 'end', isSeveral: true, run: keepsConnection },
    title: 'Keeps a connection',
    does: 'Checks the connection after each exception, and reads 256 times on one connection.',
    rule: 'A violation if the server closes the connection after exceptions or stops answering on it. Closing it after a number of requests is only reported.',
    clause: `${ROBUSTNESS}; ${TCP}, 4.2.1.1`,
    matters:
      'A client that requests one wrong address loses its other polls as well: debevv/nanoMODBUS#67; a server that closes after each reply: alejoseb/Modbus-STM32-HAL-FreeRTOS#28.',
    mend: 'Read the whole request before refusing it, and keep the connection open for the next one.',
  },
  {
    ...{ id: 'half-frame-elsewhere', run: halfFrameElsewhere },
    title: 'Serves other clients while one is slow',
    does: 'Sends 5 bytes on one connection and a read on another.',
    rule: 'Conforms when the read is answered. Not supported if only one connection is served.',
    clause: ROBUSTNESS,
    matters: 'One client blocks all others: emelianov/modbus-esp8266#387.',
    mend: perConnection,
  },
  {
    ...{ id: 'half-frame-and-gone', run: halfFrameAndGone },
    title: 'Forgets half a request',
    does: 'Sends 9 bytes, closes the connection, connects again and reads; then does the same with a whole request, before its reply arrives.',
    rule: 'Conforms when the reads are answered, each with its own reply.',
    clause: ROBUSTNESS,
    matters: 'A crashed client breaks the next one: stephane/libmodbus#415.',
    mend: perConnection,
  },
  {
    ...{ id: 'reset', turn: 'late', run: reset },
    title: 'Bears a reset',
    does: 'Sends a read, resets the connection, connects again and reads, 16 times.',
    rule: 'Conforms when the reads after the resets are answered.',
    clause: ROBUSTNESS,
    matters: 'The write error crashes the server: NModbus4/NModbus4#7.',
    mend: 'Handle errors when writing to a connection.',
  },
]);
