import { type AduContent, RTU, SOCKET } from '../protocol/framing.js';
import { hasQuantityOf } from '../protocol/pdu.js';
import { decodeRequest } from '../protocol/request.js';
import type { LoggedBytes } from './log-lines.js';

/** A request, and what came back. Times are in ms. */
export interface Exchange {
  readonly line: number;
  readonly request: AduContent;
  readonly at: number | undefined;
  /** Whole frames or pieces, in their order; empty where nothing came. */
  readonly replies: readonly Uint8Array[];
  /** From the request to the last of them; undefined where the log has no times. */
  readonly ms: number | undefined;
}

/** The exchanges of a log, all in one framing. */
export interface Conversation {
  readonly framing: 'rtu' | 'socket';
  readonly exchanges: readonly Exchange[];
  /** Frames that are no request and follow none. */
  readonly strays: readonly LoggedBytes[];
}

/** Pairs requests with what followed them; undefined where the log has no request. */
export function conversationOf(frames: readonly LoggedBytes[]): Conversation | undefined {
  const framing =
    frames.filter(({ bytes }) => SOCKET.decode(bytes)).length * 2 >= frames.length ? SOCKET : RTU;
  const name = framing === SOCKET ? 'socket' : 'rtu';
  const decode = (bytes: Uint8Array) => framing.decode(bytes);
  const asks = requestDirection(frames, decode);
  const exchanges: (Exchange & { replies: Uint8Array[]; ms: number | undefined })[] = [];
  const strays: LoggedBytes[] = [];
  const opens = new Map<string | undefined, (typeof exchanges)[number]>();
  for (const frame of frames) {
    const { line, at, direction, bytes, channel } = frame;
    const content = decode(bytes);
    const open = opens.get(channel);
    const mayAsk = direction === undefined ? !isReplyTo(content, open) : direction === asks;
    if (mayAsk && content && isRequest(content)) {
      const exchange = { line, request: content, at, replies: [], ms: undefined };
      exchanges.push(exchange);
      opens.set(channel, exchange);
    } else if (open && !mayAsk) {
      open.replies.push(bytes);
      if (at !== undefined && open.at !== undefined && at >= open.at) open.ms = at - open.at;
    } else strays.push(frame);
  }
  return exchanges.length > 0 ? { framing: name, exchanges, strays } : undefined;
}

/** A log of a client sends requests, and that of a server receives them. */
function requestDirection(
  frames: readonly LoggedBytes[],
  decode: (bytes: Uint8Array) => AduContent | undefined,
): 'out' | 'in' {
  let score = 0;
  for (const { direction, bytes } of frames) {
    const content = decode(bytes);
    if (!content || !isRequest(content)) continue;
    score += direction === 'out' ? 1 : direction === 'in' ? -1 : 0;
  }
  return score >= 0 ? 'out' : 'in';
}

function isRequest({ pdu }: AduContent): boolean {
  const decoded = decodeRequest(pdu);
  // Of functions that nobody knows any data may be a request.
  return decoded.ok || (decoded.exception === 1 && (pdu[0] as number) < 0x80);
}

/** Without a direction a frame is the reply when it fits the request before it, which has none yet. */
function isReplyTo(content: AduContent | undefined, open: Exchange | undefined): boolean {
  if (!open || open.replies.length > 0) return false;
  if (!content) return true;
  const [asked = 0] = open.request.pdu;
  const [code = 0] = content.pdu;
  return (code & 0x7f) === asked && (code !== asked || hasQuantityOf(content.pdu, open.request.pdu));
}
