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
  violates,
} from '../check.js';
import { ROBUSTNESS, SERIAL, TCP } from '../clauses.js';
import { type Exchange, isBusy, isDecisive } from '../exchange.js';
import { hasOtherQuantity, tallyOf } from '../reading.js';
import { readPdu } from '../requests.js';
import { CONNECT_PAUSE_MS } from './there.js';

/** How many reads show whether a server keeps up, and how many more decide after one loss. */
const READS = 20;
const MORE_READS = 50;
/** The pauses to try in ms, shortest first. */
const PAUSES = [20, 50, 100, 250, 500, 1000, 1500];
const LONGEST_PAUSE_MS = 1500;
/** A pause counts as long enough after enough answered reads in a row to rule out this many random losses. */
const SURE = 5;
const FEWEST_TRIES = 6;
/** Maximum number of times to send each request if replies get lost by chance. */
const MOST_TRIES = 5;

/** Sends the `i`-th read after a pause in ms. */
type TimedRead = (i: number, pauseMs: number) => Promise<Exchange>;

/** Reads as fast as the specification allows, alternately one register and two. */
async function backToBack(bench: Bench): Promise<Judged> {
  const { code, address } = bench.good;
  const hasTwo = (await bench.ask(readPdu(code, address, 2))).answer.kind === 'data';
  const reads: Exchange[] = [];
  const ask: TimedRead = (i, pauseMs) =>
    bench.asker.once(readPdu(code, address, hasTwo && i % 2 === 1 ? 2 : 1), { isExpected: true, pauseMs });
  const read = async (many: number) => {
    for (let i = 0; i < many; i++) reads.push(await ask(i, 0));
  };
  await read(bench.asker.waits.reads(READS));
  if (isClosedEachTime(reads)) {
    bench.asker.isOnePerConnection = true;
    await bench.asker.disconnect();
    reads.length = 0;
    await read(bench.asker.waits.reads(READS));
  }
  const behind = reads.filter(isBehind);
  if (behind.length > BEHIND * reads.length) {
    bench.blocked = { code: 'replies-behind' };
    return counted(dangerous, { code: 'one-behind' }, behind, reads.length);
  }
  const lostOf = () => reads.filter((each) => !isDecisive(each));
  if (lostOf().length === 1) await read(bench.asker.waits.reads(MORE_READS));
  const lost = lostOf();
  const of = reads.length;
  if (lost.length === 0) return conforms({ code: 'reads-answered', of });
  if (lost.length === 1) return inconclusive({ code: 'one-read-lost', of }, ...lost);
  const rate = lost.length / of;
  const answers = tallyOf(lost.map(({ answer }) => answer));
  const areBusy = lost.every(({ answer }) => isBusy(answer));
  const pauseMs = await pauseThatCures(bench, ask, Math.max(FEWEST_TRIES, Math.ceil(SURE / rate)));
  if (pauseMs !== undefined) {
    bench.facts.pauseMs = pauseMs;
    bench.asker.pauseMs = Math.max(bench.asker.pauseMs, 1.5 * pauseMs);
    return areBusy
      ? counted(fact, { code: 'busy-in-a-row', answers, pauseMs }, lost, of)
      : counted(violates, { code: 'needs-pause', answers, pauseMs }, lost, of);
  }
  bench.facts.losses = rate;
  bench.asker.tries = MOST_TRIES;
  if (areBusy) {
    bench.facts.isBusy = true;
    return counted(fact, { code: 'busy-in-a-row', answers }, lost, of);
  }
  return lost.every(({ oddities }) => oddities.length > 0)
    ? counted(inconclusive, { code: 'reads-spoilt', answers }, lost, of)
    : counted(violates, { code: 'reads-lost', answers, longestPauseMs: LONGEST_PAUSE_MS }, lost, of);
}

/** True if every loss is due to a connection that was closed after one reply. */
function isClosedEachTime(reads: readonly Exchange[]): boolean {
  const lost = reads.flatMap((each, i) => (isDecisive(each) ? [] : [{ each, before: reads[i - 1] }]));
  const isClosed = ({ each, before }: (typeof lost)[number]) =>
    each.answer.kind === 'closed' && !each.isFirst && before?.isFirst !== false;
  return lost.length > 1 && lost.every(isClosed);
}

/** True if a reply answers the previous request. */
function isBehind(exchange: Exchange): boolean {
  return hasOtherQuantity(exchange) || exchange.oddities.includes('earlier-transaction');
}

/** With one and two registers alternately, all reads are wrong if a server is behind, and half if it is odd. */
const BEHIND = 0.7;

/** @returns the shortest pause that gets `tries` reads in a row answered */
async function pauseThatCures(bench: Bench, ask: TimedRead, tries: number): Promise<number | undefined> {
  for (const pauseMs of PAUSES) {
    let answered = 0;
    // The silence after a lost request was long, so the first read in each row does not count.
    await ask(0, Math.max(pauseMs, bench.order.pauseMs));
    while (answered < tries && isDecisive(await ask(answered, pauseMs))) answered++;
    if (answered === tries) return pauseMs;
  }
  return undefined;
}

const LOST_FIRST = { code: 'deaf-after-connecting', pauseMs: CONNECT_PAUSE_MS } as const;

async function connectPause(bench: Bench): Promise<Judged> {
  const { asker } = bench;
  if (asker.connectPauseMs === 0) {
    const firsts = bench.log.filter(({ isFirst, pdu }) => isFirst && pdu);
    const lost = firsts.filter((each) => !isDecisive(each));
    const usual = bench.log.filter((each) => !each.isFirst && each.isExpected && !isDecisive(each));
    if (lost.length === 0 || usual.length > 0) return conforms({ code: 'first-answered' });
    // The first request on each connection got lost, and others did not.
    const [again, later] = [await freshRead(bench, 0), await freshRead(bench, CONNECT_PAUSE_MS)];
    if (isDecisive(again)) return conforms({ code: 'first-answered' });
    if (!isDecisive(later)) return inconclusive({ code: 'first-lost' }, again, later);
    asker.connectPauseMs = CONNECT_PAUSE_MS;
    return counted(violates, LOST_FIRST, [...lost, again], firsts.length + 1);
  }
  const reads = [await freshRead(bench, 0), await freshRead(bench, 0)];
  const later = await freshRead(bench, CONNECT_PAUSE_MS);
  asker.connectPauseMs = CONNECT_PAUSE_MS;
  return reads.some(isDecisive)
    ? inconclusive({ code: 'first-lost-sometimes' }, ...reads)
    : { ...violates(LOST_FIRST, ...reads, later), seen: { times: 2, of: 2 } };
}

async function freshRead(bench: Bench, pauseMs: number): Promise<Exchange> {
  await bench.asker.disconnect();
  bench.asker.connectPauseMs = pauseMs;
  return bench.askGood();
}

/** Maximum number of requests that it takes to wake a sleeping server. */
const MOST_LOST = 10;

async function idle(bench: Bench): Promise<Judged> {
  const { idleMs } = bench.order;
  const after = async () => {
    await bench.asker.wait(idleMs);
    return bench.askGood();
  };
  const first = await after();
  if (isDecisive(first)) return conforms({ code: 'answered-after-idle', idleMs });
  if (bench.facts.losses !== undefined) return inconclusive(lossy(bench), first);
  if (first.answer.kind === 'closed') return fact({ code: 'closed-when-idle', idleMs }, first);
  let lost = 1;
  while (lost < MOST_LOST && !isDecisive(await bench.askGood())) lost++;
  const again = await after();
  return lost < MOST_LOST && !isDecisive(again)
    ? counted(violates, { code: 'deaf-after-idle', idleMs, lost }, [first, again], 2)
    : inconclusive({ code: 'one-lost-after-idle', idleMs }, first, again);
}

export const PACE = checksOf({ group: 'frames', isSeveral: true }, [
  {
    ...{ id: 'back-to-back', grade: 'met', run: backToBack },
    title: 'Keeps up with consecutive reads',
    does: 'Reads 20 times, each request as early as allowed after the reply (t3.5 on a serial line).',
    rule: 'Conforms when all are answered. If one of 20 is lost, 50 more decide.',
    clause: `${ROBUSTNESS}; ${SERIAL}, 2.5.1.1`,
    matters:
      'Clients that poll fast report occasional time-outs: eModbus/eModbus#223, home-assistant/core#50245.',
    mend: 'Listen again no later than t3.5 after the last byte of the reply.',
  },
  {
    ...{ id: 'pause-needed', grade: 'met' },
    title: 'Pause needed between requests',
    does: 'Run only if back-to-back failed. Tries pauses from 20 ms to 1.5 s between a reply and the next request.',
    rule: 'Reports the shortest pause with which 6 consecutive reads are answered.',
    clause: ROBUSTNESS,
    matters:
      'The data sheet must state the pause, and clients need a setting for it: ioBroker/ioBroker.modbus#39.',
    mend: 'State the pause in the manual until it is no longer needed.',
    run: ({ facts: { pauseMs, losses, isBusy } }) => {
      if (pauseMs !== undefined) return fact({ code: 'pause', pauseMs });
      if (isBusy) return inconclusive({ code: 'busy-now-and-then' });
      return losses === undefined ? conforms({ code: 'no-pause' }) : inconclusive({ code: 'no-pause-helps' });
    },
  },
  {
    ...{ id: 'connect-pause', grade: 'met', on: 'tcp', run: connectPause },
    title: 'Answers right after connecting',
    does: 'Run only if a first request was not answered. Connects and sends a request, once immediately and once after 1.5 s.',
    rule: 'Conforms when the first request of a connection is answered.',
    clause: ROBUSTNESS,
    matters:
      'Clients that open a connection per poll get no values: influxdata/telegraf#11919, evcc-io/evcc#31996.',
    mend: 'Accept a connection only when you can serve requests on it.',
  },
  {
    ...{ id: 'idle', grade: 'met', turn: 'late', run: idle },
    title: 'Answers after an idle time',
    does: 'Waits 3 s (or --idle), then reads.',
    rule: 'Conforms when the first read is answered. A closed connection is allowed.',
    clause: `${TCP}, 4.2.1.1`,
    matters: 'Each slow poll begins with a time-out: node-modbus/stream#66.',
    mend: 'Wake up on the first byte and keep it.',
  },
]);
