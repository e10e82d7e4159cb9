import type { HeardSoFar, RawChunk, RawPiece } from '../../modbus/client/raw.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import type { Oddity } from './codes/oddities.js';
import type { ReplyReading, ServerAnswer } from './reading.js';

/** One exchange of a server test. Times are in ms of the clock. */
export interface Exchange {
  /** Counts the exchanges of a server test from 1. */
  readonly number: number;
  /** The check that asked. */
  readonly check: string;
  readonly unitId: number;
  /** The request PDU; undefined for bytes that are no request. */
  readonly pdu: Uint8Array | undefined;
  readonly sent: readonly RawPiece[];
  /** Bytes that came unsolicited since the exchange before. */
  readonly unsolicited: readonly RawChunk[];
  readonly chunks: readonly RawChunk[];
  readonly startedAt: number;
  readonly sentAt: number;
  readonly answer: ServerAnswer;
  readonly oddities: readonly Oddity[];
  /** The time from the last byte out to the first byte in, in ms; undefined without a reply. */
  readonly ms: number | undefined;
  /** True when every conforming server would have answered, as it answered before. */
  readonly isExpected: boolean;
  /** True for the first exchange of a connection. */
  readonly isFirst: boolean;
  /** How many requests the connection before had, if the server closed it; otherwise undefined. */
  readonly closedAfter: number | undefined;
  /** True for a well-formed request in one piece, as every client sends it. */
  readonly isPlain: boolean;
}

export interface AskOptions {
  readonly unitId?: number;
  /** How often the question is asked until an answer decides; the usual number when absent. */
  readonly tries?: number;
  /** How long the reply may take, in ms; the usual time when absent. */
  readonly timeout?: number;
  readonly transactionId?: number;
  /** Sends these bytes in place of the frame of the request. */
  readonly pieces?: readonly RawPiece[];
  /** The silence before the request, in ms; the usual pause when absent. */
  readonly pauseMs?: number;
  /** True when the server has answered this question before. */
  readonly isExpected?: boolean;
  /** Keeps a connection on which nothing was answered. */
  readonly keepsOpen?: boolean;
  /** Says when enough has come after bytes that are no request. */
  readonly look?: (heard: Uint8Array) => HeardSoFar;
  /** True for one of very many equal reads: only its time is kept, unless it is odd. */
  readonly isOneOfMany?: boolean;
}

/** The most bytes and pieces that are kept as evidence. */
const MOST_EVIDENCE = 1024;
const MOST_PIECES = 300;

/** Exceptions by which a server says that the question may be answered later (7, codes 05, 06, 0A, 0B). */
const TRANSIENT = [5, 6, 10, 11];

/** Exceptions by which the server itself asks for patience. */
const PATIENCE = [5, 6];

/** True when a server says that it is busy, or needs longer. */
export function isBusy(answer: ServerAnswer): boolean {
  return answer.kind === 'exception' && PATIENCE.includes(answer.code);
}

/** True when a server says that the question may be answered later. */
export function isTransient(answer: ServerAnswer): boolean {
  return answer.kind === 'exception' && TRANSIENT.includes(answer.code);
}

/** What is kept of bytes that are no reply, which may be many. */
export function cutChunks(chunks: readonly RawChunk[]): readonly RawChunk[] {
  let room = MOST_EVIDENCE;
  return chunks.slice(0, MOST_PIECES).flatMap(({ bytes, at }) => {
    const kept = bytes.subarray(0, room);
    room -= kept.length;
    return kept.length > 0 ? { bytes: kept, at } : [];
  });
}

/** What came after bytes that were no request. */
export function unreadable(heard: Uint8Array): Pick<Exchange, 'answer' | 'oddities'> {
  return { answer: { kind: heard.length > 0 ? 'garbled' : 'silent' }, oddities: [] };
}

/** Whether an exchange is over, as far as a reading of what came shows. */
export function stateOf({ answer, oddities, isClean }: ReplyReading): HeardSoFar {
  if (isClean) return 'complete';
  // A whole frame with a wrong function or a wrong check value is the reply, if nothing follows soon.
  const isFrame = oddities.includes('other-function') || oddities.includes('crc');
  return isReplied(answer) || isFrame ? 'perhaps' : 'more';
}

/** True when a reply came, data or an exception. */
export function isReplied({ kind }: ServerAnswer): boolean {
  return kind === 'data' || kind === 'exception';
}

/** True when an answer decides a question, and asking again would show nothing else. */
export function isDecisive({ answer, oddities }: Exchange): boolean {
  if (answer.kind === 'exception')
    return (
      !isTransient(answer) &&
      !oddities.some((each) => each === 'exception-code' || each === 'no-exception-code')
    );
  return answer.kind === 'data';
}

/** True when a read gave values. Some servers answer an address that is not there with a byte count of 0. */
export function hasValues({ answer }: Exchange): boolean {
  return answer.kind === 'data' && answer.pdu.length > 2;
}

/** All bytes that came, in one piece. */
export function heardIn({ chunks }: Pick<Exchange, 'chunks'>): Uint8Array {
  return concatBytes(...chunks.map(({ bytes }) => bytes));
}
