import { wordAt } from '../../modbus/protocol/bytes.js';
import type { AduContent, Framing } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { COLON, MBAP_LENGTH } from '../../modbus/protocol/limits.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import { hasByteCount, hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { isRtuFrame, repeatsRequest, responseLength } from '../../modbus/protocol/rtu.js';
import type { Oddity } from './codes/oddities.js';
import { wrongShape } from './shape.js';

/** The server's reaction to a request. */
export type ServerAnswer =
  | { readonly kind: 'data'; readonly pdu: Uint8Array }
  /** `code` is 0 if the exception has none. */
  | { readonly kind: 'exception'; readonly code: number }
  /** Bytes came, but no reply is among them. */
  | { readonly kind: 'garbled' }
  | { readonly kind: 'silent' }
  /** The connection was closed, or could not be opened. */
  | { readonly kind: 'closed'; readonly reason: string };

/** A server's reaction, as plain data: an exception with its code, data with the function of the reply. */
export type Did =
  | { readonly kind: 'data'; readonly function: number }
  | { readonly kind: 'exception'; readonly exception: number }
  | { readonly kind: 'garbled' | 'silent' | 'closed' };

export function didOf(answer: ServerAnswer): Did {
  if (answer.kind === 'data') return { kind: 'data', function: answer.pdu[0] ?? 0 };
  if (answer.kind === 'exception') return { kind: 'exception', exception: answer.code };
  return { kind: answer.kind };
}

/** A server's reaction, and how many times it was seen. */
export type DidOften = Did & { readonly times: number };

/** Counts a server's reactions, in order of first occurrence. */
export function tallyOf(answers: readonly ServerAnswer[]): DidOften[] {
  const kinds = new Map<string, DidOften>();
  for (const did of answers.map(didOf)) {
    const key = JSON.stringify(did);
    kinds.set(key, { ...did, times: (kinds.get(key)?.times ?? 0) + 1 });
  }
  return [...kinds.values()];
}

export interface ReplyReading {
  readonly answer: ServerAnswer;
  readonly oddities: readonly Oddity[];
  /** True if nothing is odd, so that there is nothing more to wait for. */
  readonly isClean: boolean;
}

/** A frame found in the received bytes. */
interface Candidate {
  readonly content: AduContent;
  readonly oddities: readonly Oddity[];
}

/** The request, and the transaction identifiers of earlier requests on the same connection. */
export interface Asked extends AduContent {
  readonly earlier?: ReadonlySet<number>;
  /** True if the request is known to be echoed before each reply. */
  readonly hasEcho?: boolean;
}

/** A damaged reply begins within this many bytes. The search is limited, because there may be a lot of garbage. */
const LATEST_START = 300;
/** No frame is longer, even from a server that sends four bytes per register. */
const LONGEST_FRAME = 600;
/** The highest exception code in the specification. */
const HIGHEST_CODE = 11;

/**
 * Finds the reply to a request, even in bytes that no client would understand: the frame with the fewest
 * oddities. A server that is odd in one way can therefore still be tested for all others. Pure.
 */
export function readReply(framing: Framing, asked: Asked, heard: Uint8Array): ReplyReading {
  const request = framing.encode(asked);
  let best: Candidate | undefined;
  const code = (asked.pdu[0] as number) & ~EXCEPTION_FLAG;
  const isEchoed = asked.hasEcho === true && startsWith(heard, request);
  for (let start = isEchoed ? request.length : 0; start < Math.min(heard.length, LATEST_START); start++) {
    const found = candidateAt(framing, heard, start, asked);
    if (!found || ((found.content.pdu[0] as number) & ~EXCEPTION_FLAG) !== code) continue;
    const oddities = [
      ...before(framing, heard, start, request),
      ...found.oddities,
      ...contentOddities(asked, found.content),
    ];
    if (start === 0 && isEchoOnly(framing, heard, request, found)) continue;
    const isBetter = !best || oddities.length < best.oddities.length;
    const isBehindEcho =
      best !== undefined && oddities.includes('echo') && oddities.length === best.oddities.length;
    if (isBetter || isBehindEcho) best = { content: found.content, oddities };
    if (best?.oddities.length === 0) break;
  }
  if (!best) return unread(framing, asked, heard);
  const { oddities } = best;
  if (oddities.includes('earlier-transaction'))
    return { answer: { kind: 'silent' }, oddities, isClean: false };
  const [first = 0, second = 0] = best.content.pdu;
  const isException = first === (code | EXCEPTION_FLAG) && (asked.pdu[0] as number) <= 0x7f;
  const answer: ServerAnswer = isException
    ? { kind: 'exception', code: second }
    : { kind: 'data', pdu: best.content.pdu };
  return { answer, oddities, isClean: oddities.length === 0 };
}

/**
 * True if a frame is an echo of the request, and no valid reply to that request can look the same. On a
 * network only the server can send a request back, so there it is a reply, and too long.
 */
function isEchoOnly(
  { name }: Framing,
  heard: Uint8Array,
  request: Uint8Array,
  { content }: Candidate,
): boolean {
  const isOfNetwork = name === 'socket' && wrongShape(content.pdu)?.code === 'reply-long';
  return (
    startsWith(heard, request) &&
    !repeatsRequest(Uint8Array.of(content.unitId, ...content.pdu)) &&
    !(isOfNetwork && heard.length === request.length)
  );
}

function startsWith(heard: Uint8Array, request: Uint8Array): boolean {
  const { length } = request;
  return heard.length >= length && Buffer.compare(heard.subarray(0, length), request) === 0;
}

/** What comes before a frame. */
function before(framing: Framing, heard: Uint8Array, start: number, request: Uint8Array): Oddity[] {
  if (start === 0) return [];
  const bytes = heard.subarray(0, start);
  if (Buffer.compare(bytes, request) === 0) return ['echo'];
  return [framing.decode(bytes) ? 'frame-before' : 'bytes-before'];
}

function contentOddities({ transactionId, unitId, pdu, earlier }: Asked, content: AduContent): Oddity[] {
  const found: Oddity[] = [];
  if (content.transactionId !== transactionId) {
    found.push(earlier?.has(content.transactionId) ? 'earlier-transaction' : 'transaction');
  }
  if (content.unitId !== unitId) found.push('unit');
  const [code = 0, second] = content.pdu;
  const isException = code > 0x7f && (pdu[0] as number) <= 0x7f;
  if (isException && second === undefined) found.push('no-exception-code');
  else if (isException && (second === 0 || (second as number) > HIGHEST_CODE)) found.push('exception-code');
  else if (isException && content.pdu.length > 2) found.push('exception-long');
  if (isException) return found;
  if (!hasQuantityOf(content.pdu, pdu) && isWhole(content.pdu))
    found.push(
      second === 0 ? 'no-values' : (second ?? 0) < byteCountOf(pdu) ? 'fewer-values' : 'more-values',
    );
  const shape = wrongShape(content.pdu);
  if (isFlagless(content.pdu)) found.push('no-exception-flag');
  else if (shape && code === pdu[0]) found.push(shape.code);
  return found;
}

/**
 * True for a plain function code followed by an exception code, if replies to the function have more than one
 * data byte.
 */
function isFlagless(pdu: Uint8Array): boolean {
  const [code = 0, second = 0] = pdu;
  return pdu.length === 2 && second >= 1 && second <= HIGHEST_CODE && responseEnd(code) !== 2;
}

/** The length of a fixed-length reply; undefined for others. */
function responseEnd(code: number): number | undefined {
  const length = functionOf(code)?.response.length;
  return typeof length === 'number' ? length : undefined;
}

/** The required byte count in a reply to a read of bits or registers. */
function byteCountOf(request: Uint8Array): number {
  const quantity = wordAt(request, 3);
  return (request[0] as number) <= 2 ? Math.ceil(quantity / 8) : 2 * quantity;
}

/** True if a reply has a different number of values than requested. */
export function hasOtherQuantity({ oddities }: { readonly oddities: readonly Oddity[] }): boolean {
  return oddities.some((oddity) => OTHER_QUANTITY.includes(oddity));
}
const OTHER_QUANTITY: readonly Oddity[] = ['fewer-values', 'more-values', 'no-values'];

/** True if a PDU is as long as its byte count says. */
function isWhole(pdu: Uint8Array): boolean {
  return !hasByteCount(pdu) || pdu.length === 2 + (pdu[1] ?? 0);
}

function candidateAt(
  framing: Framing,
  heard: Uint8Array,
  start: number,
  asked: Asked,
): Candidate | undefined {
  switch (framing.name) {
    case 'socket':
      return socketAt(heard, start, asked);
    case 'rtu':
      return rtuAt(framing, heard, start, asked);
    case 'ascii':
      return asciiAt(framing, heard, start);
  }
}

/**
 * A frame with an MBAP header. If header and PDU disagree about the length, the bytes that came decide which
 * of them is wrong.
 */
function socketAt(heard: Uint8Array, start: number, asked: Asked): Candidate | undefined {
  if (heard.length < start + MBAP_LENGTH + 1) return undefined;
  const protocol = wordAt(heard, start + 2);
  if (start > 0 && (protocol !== 0 || heard[start + 6] !== asked.unitId)) return undefined;
  const byHeader = start + MBAP_LENGTH - 1 + wordAt(heard, start + 4);
  // A PDU has the structure of an RTU frame without its CRC; the unit identifier precedes both.
  const structure = responseLength(heard, start + 6, heard.length);
  const byPdu = typeof structure === 'number' ? start + 6 + structure - 2 : undefined;
  const oddities: Oddity[] = protocol === 0 ? [] : ['protocol'];
  let end = byHeader;
  if (byPdu !== undefined && byPdu !== byHeader) {
    const isHeaderRight = byHeader <= heard.length && byHeader >= start + MBAP_LENGTH + 1;
    const isPduRight = byPdu <= heard.length;
    if (!isHeaderRight && !isPduRight) return undefined;
    // If the header matches all bytes that came, the PDU is wrong, which its content shows; otherwise the
    // header is.
    const blamesHeader = isPduRight && !(isHeaderRight && byHeader === heard.length);
    if (blamesHeader) oddities.push('length');
    end = blamesHeader ? byPdu : byHeader;
  } else if (byHeader > heard.length || byHeader < start + MBAP_LENGTH + 1) return undefined;
  if (end < heard.length)
    oddities.push(decodeMbap(heard, end).kind === 'frame' ? 'frame-behind' : 'bytes-after');
  const content = {
    transactionId: wordAt(heard, start),
    unitId: heard[start + 6] as number,
    pdu: heard.slice(start + MBAP_LENGTH, end),
  };
  return { content, oddities };
}

function rtuAt(framing: Framing, heard: Uint8Array, start: number, asked: Asked): Candidate | undefined {
  const predicted = responseLength(heard, start, heard.length);
  const last = heard.length - start <= LONGEST_FRAME ? [heard.length] : [];
  const ends = new Set([...last, ...(typeof predicted === 'number' ? [start + predicted] : [])]);
  for (const end of [...ends].sort((a, b) => a - b)) {
    if (end > heard.length || !isRtuFrame(heard, start, end)) continue;
    const content = framing.decode(heard.slice(start, end));
    if (!content || (start > 0 && content.unitId !== asked.unitId)) continue;
    const oddities: Oddity[] = [];
    if (end < heard.length) oddities.push(framing.decode(heard.slice(end)) ? 'frame-behind' : 'bytes-after');
    return { content: { ...content, pdu: Uint8Array.from(content.pdu) }, oddities };
  }
  return undefined;
}

function asciiAt(framing: Framing, heard: Uint8Array, start: number): Candidate | undefined {
  if (heard[start] !== COLON) return undefined;
  const end = heard.indexOf(framing.delimiter ?? 0, start) + 1;
  const content = end > 0 ? framing.decode(heard.slice(start, end)) : undefined;
  return content && { content, oddities: end < heard.length ? ['bytes-after'] : [] };
}

/** Returns what is odd about bytes that contain no reply. */
function unread(framing: Framing, asked: Asked, heard: Uint8Array): ReplyReading {
  if (heard.length === 0) return { answer: { kind: 'silent' }, oddities: [], isClean: false };
  const oddities: Oddity[] = [];
  const [unit, code = 0] = heard;
  if (framing.name === 'rtu' && unit === asked.unitId && (code & ~EXCEPTION_FLAG) === asked.pdu[0]) {
    const predicted = responseLength(heard, 0, heard.length);
    const isShort = predicted === 'more' || (typeof predicted === 'number' && predicted > heard.length);
    oddities.push(isShort ? 'cut' : 'crc');
  }
  const isHeader = framing.name === 'socket' && heard.length >= 4 && wordAt(heard, 0) === asked.transactionId;
  if (isHeader && wordAt(heard, 2) === 0 && decodeMbap(heard).kind === 'more') oddities.push('cut');
  const other = oddities.length === 0 ? framing.decode(heard) : undefined;
  const isOfRequest = other?.unitId === asked.unitId && other.transactionId === asked.transactionId;
  if (other && isOfRequest && startsWith(heard, framing.encode(asked)) === false)
    oddities.push('other-function');
  if (oddities.length === 0) oddities.push('rubbish');
  return { answer: { kind: 'garbled' }, oddities, isClean: false };
}
