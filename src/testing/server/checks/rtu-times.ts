import { t15 } from '../../../modbus/protocol/timing.js';
import type { Bench } from '../bench.js';
import { checksOf, conforms, counted, inconclusive, type Judged, notRun, violates } from '../check.js';
import { SERIAL } from '../clauses.js';
import type { Exchange } from '../exchange.js';
import { readPdu } from '../requests.js';
import { FEWEST } from './frames.js';

const EARLY_TOLERANCE_MS = 0.3;

/** Finds replies within t3.5 of the request: the server can't have detected the end of the request. */
function replySilence(bench: Bench): Judged {
  const { t35: t35Ms } = bench.asker;
  const replies = bench.log.filter(({ ms, isPlain }) => ms !== undefined && isPlain);
  // Measured from before the write, so that our own lateness can only make a reply look later.
  const early = replies.filter((each) => timeFromEnd(each) < t35Ms - EARLY_TOLERANCE_MS);
  const soonestMs = Math.min(...replies.map(timeFromEnd));
  return early.length >= FEWEST
    ? counted(violates, { code: 'reply-too-soon', ms: Math.max(0, soonestMs), t35Ms }, early, replies.length)
    : conforms({ code: 't35-kept', t35Ms, soonestMs });
}

function timeFromEnd({ ms, sentAt, chunks }: Exchange): number {
  return ms === undefined ? Number.POSITIVE_INFINITY : (chunks[0]?.at ?? sentAt) - sentAt;
}

const LONG_REPLIES = 8;
/** How much an adapter with a latency timer of 1 ms may add to a gap, in ms. */
const ADAPTER_MS = 2.5;
/** A gap within this many ms of the longest adapter gap may also come from an adapter. */
const UNSURE_MS = 3;

/** Reads long blocks, and looks for gaps that no adapter causes. */
async function gaps(bench: Bench): Promise<Judged> {
  const { target, connection } = bench.asker;
  if (target.kind !== 'serial') return notRun({ code: 'serial-only' });
  const { code, address } = bench.good;
  let registers = 0;
  for (const most of [125, 60, 30, 10, 4, 1]) {
    registers = most;
    if ((await bench.ask(readPdu(Math.max(code, 3), address, most))).answer.kind === 'data') break;
  }
  const long: Exchange[] = [];
  for (let i = 0; i < LONG_REPLIES; i++)
    long.push(await bench.ask(readPdu(Math.max(code, 3), address, registers)));
  const character = (11 * 1000) / target.baudRate;
  const t15Ms = t15(target.baudRate);
  const gapOf = (exchange: Exchange) => longestGap(exchange, character, connection.times.character);
  const isWide = (exchange: Exchange) => gapOf(exchange).ms > t15Ms + ADAPTER_MS;
  // A gap between a reply and another device's frame is not the server's.
  const replies = bench.log.filter(
    ({ ms, chunks, oddities }) =>
      ms !== undefined &&
      chunks.length > 1 &&
      !oddities.includes('frame-behind') &&
      !oddities.includes('frame-before'),
  );
  const wide = replies.filter(isWide);
  if (wide.length < FEWEST) return conforms({ code: 'no-gap', t15Ms, registers });
  const ms = Math.max(0, ...replies.map((each) => gapOf(each).ms));
  const found = { code: 'gap-in-reply', ms, t15Ms } as const;
  // An adapter or a busy machine causes gaps anywhere; if the gap is after the same byte of each reply, the
  // server causes it.
  const isAlways = long.every(isWide) && new Set(long.map((each) => gapOf(each).after)).size === 1;
  return isAlways || ms > connection.times.gap - UNSURE_MS
    ? counted(violates, found, wide, replies.length)
    : { ...inconclusive(found, ...wide.slice(0, 3)), but: { code: 'adapter-in-the-way' } };
}

/** The longest gap within a reply in ms, without the time of the characters, and the number of bytes before it. */
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

export const RTU_TIMES = checksOf({ group: 'frames', isSeveral: true }, [
  {
    ...{ id: 'rtu-reply-silence', grade: 'met', on: 'rtu', turn: 'end', run: replySilence },
    title: 'Waits t3.5 before it replies',
    does: 'Measures the time from the last byte of each request to the first byte of its reply.',
    rule: 'A violation if a reply begins before t3.5. An adapter that delays bytes can hide a violation but not cause one.',
    clause: `${SERIAL}, 2.5.1.1`,
    matters:
      'The client still drives the bus, so the first bytes of the reply are lost: rosenrot00/esphome_modbus_bridge#23, stephane/libmodbus#494.',
    mend: 'Start sending t3.5 after the last stop bit of the request.',
  },
  {
    ...{ id: 'rtu-gaps', grade: 'met', on: 'rtu', turn: 'late', run: gaps },
    title: 'Sends without gaps',
    does: 'Reads 125 registers (or all, if there are fewer) 8 times and measures the largest gap inside a reply.',
    rule: 'A violation if a gap is longer than t1.5 and longer than the gaps that this adapter causes itself.',
    clause: `${SERIAL}, 2.5.1.1`,
    matters:
      'Clients treat the rest of the reply as another frame: ljean/modbus-tk#13, alerighi/modbus-sniffer#9.',
    mend: 'Hand the whole frame to the UART, and allow no interruption longer than one character.',
  },
]);
