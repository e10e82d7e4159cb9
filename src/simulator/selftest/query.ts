import { concatBytes, packWords } from '../../protocol/bytes.js';
import { SubFunction } from '../../protocol/decode-diagnostics.js';
import { ExceptionCode } from '../../protocol/exception-code.js';
import type { AduContent } from '../../protocol/framing.js';
import { FunctionCode } from '../../protocol/function-code.js';
import { exceptionResponse } from '../../protocol/response.js';

/** A request and the only right reply to it. */
export interface Query {
  readonly request: AduContent;
  readonly reply: AduContent;
}

/** Odd, so that all words come, and neighbours differ in both bytes. */
const STEP = 40503;

/** One of so many queries is long, the second one first: they take many times longer on a slow line. */
const LONG_EVERY = 4;
const FIRST_LONG = 2;
/**
 * Makes 63 bytes in RTU. No adapter hands over so many at once (USB 62, a FIFO 8, 16 or 32), and the last piece never
 * fills it, so it comes as late as it can.
 */
const LONG_DATA_WORDS = 27;

/**
 * The n-th query of a self-test, one that every device answers alike and that changes no register. Neighbours have
 * different replies, so a late one is not taken for that of the next query.
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
 * Return query data (Application Protocol V1.1b3, 6.8): the reply is the request. The data are always other ones, so
 * that a line doesn't take the next query for an echo of its reply.
 */
function shortQuery(n: number): Pdus {
  const pdu = concatBytes([FunctionCode.diagnostics], packWords([SubFunction.returnQueryData, word(n)]));
  return { request: pdu, reply: pdu };
}

/**
 * A write of no registers with data all the same, which is refused before addresses are looked at (6.12). Return query
 * data can be as long, but RTU knows its end by silence only: the reply would come after the discard gap.
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
