import type { Did } from '../reading.js';
import { answerText, timeText } from '../words.js';

/* Facts whose phrases several codes share. */

/** What was sent before a read. */
const BEFORE_READ = {
  'half-frame': 'half a frame',
  'others-exchange': 'an exchange with another unit',
  'unanswered-request': 'a request that no unit answers',
  noise: 'noise',
} as const;

export interface BeforeRead {
  readonly after: keyof typeof BEFORE_READ;
  /** The number of noise bytes. */
  readonly bytes?: number;
}

/** A read that got lost after something. */
export interface ReadLost extends BeforeRead {
  readonly ms: number;
  readonly answer: Did;
  readonly curedMs?: number;
}

export function beforeText({ after, bytes }: BeforeRead): string {
  return bytes === undefined ? BEFORE_READ[after] : `${bytes} bytes of ${BEFORE_READ[after]}`;
}

const BEFORE_CONNECTION = {
  'wrong-lengths': 'after frames with length 0, 1, 3 and 65535',
  'client-left': 'after a client that closed its connection in the middle of a request',
  'client-reset': 'after a client that reset its connection',
} as const;

export type BeforeConnection = keyof typeof BEFORE_CONNECTION;

export const connectionBeforeText = (after: BeforeConnection): string => BEFORE_CONNECTION[after];

/** The reads in a soak, and their times by powers of two: the upper bound in ms, and the count. */
export interface Soaked {
  readonly answered: number;
  readonly of: number;
  readonly upToMs: readonly (readonly [number, number])[];
  readonly stoppedAfterMs?: number;
}

export function soakText({ answered, of, upToMs, stoppedAfterMs }: Soaked): string {
  const times = upToMs.map(([bound, many]) => `≤ ${timeText(bound)}: ${many}`).join(', ');
  const end = stoppedAfterMs === undefined ? '' : `; stopped after ${timeText(stoppedAfterMs)}`;
  return `${answered} of ${of} reads were answered; ${times}${end}`;
}

/** How a server stopped: it is silent, or answers everything with one exception. */
export interface Stopped {
  readonly only?: number;
  readonly silentMs: number;
  readonly isBack: boolean;
}

/** How a server stopped, as part of a sentence after "the server". @param check what it stopped after */
export function stoppedText({ only, silentMs, isBack }: Stopped, check = 'it'): string {
  const what =
    only === undefined ? 'stopped answering' : `only ${answerText({ kind: 'exception', exception: only })}`;
  const fate = isBack
    ? `for at most ${timeText(silentMs)}`
    : `and did not recover within ${timeText(silentMs)}`;
  return `${what} after ${check}, ${fate}`;
}

/** Requests that arrive together. */
interface Together {
  readonly answered: number;
  readonly of: number;
  readonly isOneSegment: boolean;
}

const togetherHow = (isOneSegment: boolean) =>
  isOneSegment ? 'sent in one segment' : 'sent without waiting';

export function togetherText({ answered, of, isOneSegment }: Together): string {
  return `${answered} of ${of} requests ${togetherHow(isOneSegment)} are answered`;
}

/** Describes replies to requests that arrived together, with each other's transaction identifiers. */
export function mixedText({
  answered,
  of,
  isOneSegment,
  replies,
}: Together & { readonly replies: number }): string {
  const own =
    answered === 1
      ? '1 of the requests has a reply with its'
      : `${answered} of the requests have replies with their`;
  return `${replies} replies came to ${of} requests ${togetherHow(isOneSegment)}, but only ${own} own transaction identifier`;
}

/** How values read back differ from the written ones. */
export const HOWS = {
  nothing: '',
  otherwise: '',
  zeros: ': zeros',
  'first-everywhere': ': the first value in all registers',
  further: ': the values are shifted by one address',
  reversed: ': the values in reverse order',
  'only-first': ': only the first value',
  'bytes-swapped': ': the bytes of each value are swapped',
} as const;

export type How = keyof typeof HOWS;
