import { concatBytes, packWords } from '../../modbus/protocol/bytes.js';
import type { AduContent } from '../../modbus/protocol/framing.js';
import { ExceptionCode, FunctionCode, SubFunction } from '../../modbus/protocol/function-code.js';
import { exceptionResponse } from '../../modbus/protocol/pdu.js';
import type { SerialTimes } from '../../modbus/transport/serial/behaviour.js';
import { ENOUGH } from './percentiles.js';

/** A request and the only right reply to it. */
export interface Query {
  readonly request: AduContent;
  readonly reply: AduContent;
}

/** The step is odd, so that all 65,536 words occur. Successive words differ in both bytes. */
const STEP = 40503;

/**
 * Every fourth query is long, beginning with the second. Long queries take many times longer on a slow line.
 */
const LONG_EVERY = 4;
const FIRST_LONG = 2;
/**
 * Makes a request of 63 bytes in RTU. No adapter delivers that many bytes at once (USB 62, a FIFO 8, 16 or
 * 32). The last piece never fills the adapter's buffer, so the adapter delivers it as late as it can.
 */
const LONG_DATA_WORDS = 27;

/**
 * The n-th query of a self-test. Every device gives the same reply, and no register changes. Successive
 * queries have different replies, so a late reply is not taken for the reply to the next query.
 */
export function query(n: number, unitId: number): Query {
  const pdus = n % LONG_EVERY === FIRST_LONG ? longQuery(n) : shortQuery(n);
  const adu = (pdu: Uint8Array): AduContent => ({ transactionId: n & 0xffff, unitId, pdu });
  return { request: adu(pdus.request), reply: adu(pdus.reply) };
}

interface Pdus {
  readonly request: Uint8Array;
  readonly reply: Uint8Array;
}

/**
 * Return query data (Application Protocol V1.1b3, 6.8): the reply equals the request. The data change with
 * each query, so that a line doesn't take the next query for an echo of its reply.
 */
function shortQuery(n: number): Pdus {
  const pdu = concatBytes([FunctionCode.diagnostics], packWords([SubFunction.returnQueryData, word(n)]));
  return { request: pdu, reply: pdu };
}

/**
 * A write of zero registers that still carries data. Devices refuse it before they check addresses (6.12).
 * Return query data could be as long, but in RTU only silence ends such a request: the reply would come after
 * the discard gap.
 */
function longQuery(n: number): Pdus {
  const data = packWords(Array.from({ length: LONG_DATA_WORDS }, (_, i) => word(n + i)));
  return {
    request: concatBytes([FunctionCode.writeMultipleRegisters], packWords([0, 0]), [data.length], data),
    reply: exceptionResponse(FunctionCode.writeMultipleRegisters, ExceptionCode.illegalDataValue),
  };
}

function word(n: number): number {
  return (n * STEP) & 0xffff;
}

/** Limits of the queries: their number, and the time in ms. */
const MOST = 500;
const USUAL_MS = 5000;
/** Time limit in ms while all requests are answered but there are fewer than `ENOUGH`. */
const LONGEST_MS = 15_000;
/** Requests that are sent however long they take: one short and one long. */
const FEWEST = 2;

/**
 * How much longer than its bytes take to wait for a reply, in ms. An adapter, the system and a busy machine
 * delay a reply by less, unless it is lost.
 */
const SLACK_MS = 3000;

/** True when another request should be sent, `elapsed` ms after the first one. */
export function asksOn(asked: number, answered: number, elapsed: number): boolean {
  if (asked < FEWEST) return true;
  if (asked >= MOST) return false;
  return elapsed < (asked === answered && asked < ENOUGH ? LONGEST_MS : USUAL_MS);
}

/**
 * How long to wait for a reply, in ms. `bytes` is the length of request and reply; only serial lines have
 * `times`.
 */
export function patience(times: SerialTimes | undefined, bytes: number): number {
  return SLACK_MS + (times ? (times.turnaround ?? 0) + bytes * times.characterTime : 0);
}

/** The pause of a client on a bus before its next request, in ms: at least t3.5. */
export function pauseBetween({ t35 }: SerialTimes): number {
  return Math.max(5, t35 + 1);
}
