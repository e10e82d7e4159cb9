import { listText } from '../../common/words.js';
import { hex } from '../../modbus/protocol/bytes.js';
import type { Exchange } from './exchange.js';
import type { Did, ServerAnswer } from './reading.js';

/** Formats a code like the specification does: 2 hexadecimal digits. */
export function codeText(code: number): string {
  return code.toString(16).toUpperCase().padStart(2, '0');
}

/** A server's reaction, as part of a sentence after "the server". */
export function answerText(answer: ServerAnswer | Did): string {
  switch (answer.kind) {
    case 'data':
      return `answered with a function ${'pdu' in answer ? answer.pdu[0] : answer.function} reply`;
    case 'exception':
      return `answered with exception ${codeText('code' in answer ? answer.code : answer.exception)}`;
    case 'garbled':
      return 'sent bytes that are not a reply';
    case 'silent':
      return 'did not answer';
    case 'closed':
      return 'closed the connection';
  }
}

/** Formats a time for people: `4.2 ms`, `31 ms`, `1.5 s`. */
export function timeText(ms: number): string {
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(1))} s`;
  return `${Number(ms.toFixed(ms < 10 ? 1 : 0))} ms`;
}

function bytesText(bytes: Uint8Array, most = 24): string {
  return bytes.length <= most ? hex(bytes) : `${hex(bytes.subarray(0, most))} … (${bytes.length} bytes)`;
}

/** Formats an exchange as one line: bytes out, bytes in, and the time between them. */
export function exchangeText({ sent, chunks, ms, answer }: Exchange): string {
  const out = sent
    .map(({ bytes, waitMs }) => `${waitMs ? `(${timeText(waitMs)}) ` : ''}${bytesText(bytes)}`)
    .join(' ');
  const heard = chunks.map(({ bytes }) => bytesText(bytes)).join(' | ');
  const time = ms === undefined ? '' : `   ${timeText(ms)}`;
  return `${out}   →   ${heard === '' ? answerText(answer) : heard}${time}`;
}

/** How many connections a server accepts. */
export interface ConnectionsFound {
  /** How many were served at the same time. */
  readonly served: number;
  /** What became of the next one; `untried`: there may be more. */
  readonly next: 'refused' | 'closed' | 'evicts' | 'untried';
}

const NEXT = {
  refused: '; the next one is refused',
  closed: '; the next one is closed',
  evicts: '; a new one closes an older one',
} as const;

/** Says how many connections a server accepts: `1 at a time; the next one is refused`. */
export function connectionsText({ served, next }: ConnectionsFound): string {
  return next === 'untried' ? `at least ${served} at a time` : `${served} at a time${NEXT[next]}`;
}

/** Says which functions got no answer, as a sentence without its full stop. */
export function silenceText(codes: readonly number[]): string {
  const those = listText([...new Set(codes)].sort((a, b) => a - b).map(String));
  const [what, verb] = new Set(codes).size === 1 ? ['function', 'is'] : ['functions', 'are'];
  return `${what} ${those} ${verb} not answered; an answer or exception 01 is expected`;
}
