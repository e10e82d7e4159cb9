import type { HeardSoFar, RawChunk, RawPiece } from '../../modbus/client/raw.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import type { Oddity } from './codes/oddities.js';
import type { ReplyReading, ServerAnswer } from './reading.js';

/** One exchange in a server test. Times are in ms on the clock. */
export interface Exchange {
  /** Numbers the exchanges of a server test from 1. */
  readonly number: number;
  /** The check that sent it. */
  readonly check: string;
  readonly unitId: number;
  /** The request PDU; undefined for bytes that are not a request. */
  readonly pdu: Uint8Array | undefined;
  readonly sent: readonly RawPiece[];
  /** Bytes that came unsolicited since the previous exchange. */
  readonly unsolicited: readonly RawChunk[];
  readonly chunks: readonly RawChunk[];
  readonly startedAt: number;
  readonly sentAt: number;
  readonly answer: ServerAnswer;
  readonly oddities: readonly Oddity[];
  /** The time from the last byte out to the first byte in, in ms; undefined without a reply. */
  readonly ms: number | undefined;
  /** True if every conforming server would answer, because this one has answered before. */
  readonly isExpected: boolean;
  /** True for the first exchange on a connection. */
  readonly isFirst: boolean;
  /** How many requests the previous connection carried, if the server closed it; otherwise undefined. */
  readonly closedAfter: number | undefined;
  /** True for a well-formed request in one piece, as any client sends it. */
  readonly isPlain: boolean;
}

export interface AskOptions {
  readonly unitId?: number;
  /** Maximum number of times that the request is sent until an answer decides; absent: the usual number. */
  readonly tries?: number;
  /** How long the reply may take, in ms; absent: the usual time. */
  readonly timeout?: number;
  readonly transactionId?: number;
  /** Sends these bytes instead of the request frame. */
  readonly pieces?: readonly RawPiece[];
  /** The silence before the request, in ms; absent: the usual pause. */
  readonly pauseMs?: number;
  /** True if the server has answered this request before. */
  readonly isExpected?: boolean;
  /** Keeps the connection open even if nothing was answered. */
  readonly keepsOpen?: boolean;
  /** Reports when enough has come after bytes that are not a request. */
  readonly look?: (heard: Uint8Array) => HeardSoFar;
  /** True for one of a long series of equal reads: only its time is kept, unless it is odd. */
  readonly isOneOfMany?: boolean;
}

/** Maximum number of bytes and pieces kept as evidence. */
const MOST_EVIDENCE = 1024;
const MOST_PIECES = 300;

/** Exceptions that mean that the request may be answered later (7, codes 05, 06, 0A, 0B). */
const TRANSIENT = [5, 6, 10, 11];

/** Exceptions that ask the client to wait. */
const PATIENCE = [5, 6];

/** True if a server reports that it is busy, or needs longer. */
export function isBusy(answer: ServerAnswer): boolean {
  return answer.kind === 'exception' && PATIENCE.includes(answer.code);
}

/** True if a server reports that the request may be answered later. */
export function isTransient(answer: ServerAnswer): boolean {
  return answer.kind === 'exception' && TRANSIENT.includes(answer.code);
}

/** Shortens bytes that are not a reply, for the log: there may be many. */
export function cutChunks(chunks: readonly RawChunk[]): readonly RawChunk[] {
  let room = MOST_EVIDENCE;
  return chunks.slice(0, MOST_PIECES).flatMap(({ bytes, at }) => {
    const kept = bytes.subarray(0, room);
    room -= kept.length;
    return kept.length > 0 ? { bytes: kept, at } : [];
  });
}

/** The reading of a reply to bytes that are not a request. */
export function unreadable(heard: Uint8Array): Pick<Exchange, 'answer' | 'oddities'> {
  return { answer: { kind: heard.length > 0 ? 'garbled' : 'silent' }, oddities: [] };
}

/** Whether an exchange is over, judging by a reading of the bytes so far. */
export function stateOf({ answer, oddities, isClean }: ReplyReading): HeardSoFar {
  if (isClean) return 'complete';
  // A whole frame with a wrong function or a wrong check value is the reply, if nothing follows soon.
  const isFrame = oddities.includes('other-function') || oddities.includes('crc');
  return isReplied(answer) || isFrame ? 'perhaps' : 'more';
}

/** True if a reply came: data or an exception. */
export function isReplied({ kind }: ServerAnswer): boolean {
  return kind === 'data' || kind === 'exception';
}

/** True if an answer decides, so that repeating the request would show nothing else. */
export function isDecisive({ answer, oddities }: Exchange): boolean {
  if (answer.kind === 'exception')
    return (
      !isTransient(answer) &&
      !oddities.some((each) => each === 'exception-code' || each === 'no-exception-code')
    );
  return answer.kind === 'data';
}

/** True if a read returned values. Some servers answer an address that does not exist with a byte count of 0. */
export function hasValues({ answer }: Exchange): boolean {
  return answer.kind === 'data' && answer.pdu.length > 2;
}

/** All bytes that came, joined. */
export function heardIn({ chunks }: Pick<Exchange, 'chunks'>): Uint8Array {
  return concatBytes(...chunks.map(({ bytes }) => bytes));
}
