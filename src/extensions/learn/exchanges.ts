import { AsciiFraming } from '../../modbus/protocol/ascii.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, RTU, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import { hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { type LoggedBytes, noteOf } from './log-lines.js';

/** A request of a log or a capture, and the bytes that came back. Times are in ms. */
export interface LoggedExchange {
  readonly line: number;
  readonly request: AduContent;
  readonly at: number | undefined;
  /** Everything that came back; empty when nothing did. */
  readonly reply: Uint8Array;
  /** The time from the request to the end of the reply, in ms; undefined when the log has no times. */
  readonly ms: number | undefined;
  /** The address of the server, in a capture. */
  readonly server: string | undefined;
  /** The number of its file, from 0. */
  readonly file: number;
}

/** The exchanges of a log, all in one framing. */
export interface Conversation {
  readonly framing: Framing;
  readonly exchanges: readonly LoggedExchange[];
  /** What was not understood, a sentence each. */
  readonly notes: readonly string[];
}

/** An exchange whose replies may still come. */
interface Open {
  readonly asked: LoggedBytes;
  readonly request: AduContent;
  /**
   * What came back, by the words before the bytes: a program may show a reply, or its pieces, more than once.
   */
  readonly shown: Map<string | undefined, LoggedBytes[]>;
  /** The exchange before, on the same connection. */
  readonly before: Open | undefined;
  /** True when the log lacks the reply, or a part of it. */
  isUnknown: boolean;
}

/** The most requests of a connection whose replies may still come. */
const MOST_OPEN = 256;

/** The exchanges of a connection. */
interface Channel {
  last: Open | undefined;
  /** Those without a reply, oldest first. */
  readonly waiting: Set<Open>;
}

/**
 * A frame that logs of gateways show without its check value, as unit identifier and PDU. It becomes one of
 * Modbus TCP.
 */
const BARE: Pick<Framing, 'decode'> = {
  decode: ([unitId, ...pdu]) =>
    unitId !== undefined && pdu.length > 1
      ? { transactionId: 0, unitId, pdu: Uint8Array.from(pdu) }
      : undefined,
};
const FRAMINGS: readonly Framing[] = [RTU, new AsciiFraming(), SOCKET];

/** Pairs requests with their replies. */
export function conversationOf(logged: readonly LoggedBytes[]): Conversation {
  const { framing, frames } = framed(logged);
  const asks = requestDirection(frames, framing);
  // A program that names the direction shows the same bytes again where it explains them.
  const hasDirections = frames.some(({ direction, text }) => direction !== undefined && text !== undefined);
  const all: Open[] = [];
  const channels = new Map<string | undefined, Channel>();
  const strays: { readonly frame: LoggedBytes; readonly of: Open | undefined }[] = [];
  for (const frame of frames) {
    const channel = channels.get(frame.channel) ?? { last: undefined, waiting: new Set() };
    channels.set(frame.channel, channel);
    const stray = () => strays.push({ frame, of: channel.last });
    if (hasDirections && frame.direction === undefined) {
      stray();
      continue;
    }
    const content = framing.decode(frame.bytes);
    const { direction } = frame;
    const mayAsk = direction === undefined ? !isReplyTo(content, channel.last) : direction === asks;
    if (mayAsk && content && (direction === undefined ? isRequest(content) : !isException(content))) {
      const { last } = channel;
      if (last && last.shown.size === 0 && isAgain(frame, last.asked)) continue;
      channel.last = { asked: frame, request: content, shown: new Map(), before: last, isUnknown: false };
      channel.waiting.add(channel.last);
      if (channel.waiting.size > MOST_OPEN) channel.waiting.delete([...channel.waiting][0] as Open);
      all.push(channel.last);
      continue;
    }
    const open = mayAsk ? undefined : askedBefore(frame, content, channel, framing);
    if (!open) {
      stray();
      continue;
    }
    const { before } = open;
    if (frame.isAfterGap && before?.shown.size === 0) before.isUnknown = true;
    open.shown.set(frame.words, [...(open.shown.get(frame.words) ?? []), frame]);
    channel.waiting.delete(open);
  }
  const ended = all.map((open) => ({ open, reply: replyOf(open, framing) }));
  const whole = ended.filter(({ open, reply }) => !open.isUnknown && !reply.some(({ isCut }) => isCut));
  const cut = ended.flatMap(({ reply }) => reply.filter(({ isCut }) => isCut));
  const pairs = whole.map(({ open, reply }) => ({ open, exchange: exchangeOf(open, reply) }));
  const foreign = pairs.filter(({ exchange }) => !isServed(unitOf(exchange, framing), framing));
  const known = pairs.filter(({ exchange }) => isServed(unitOf(exchange, framing), framing));
  const left = strays.filter(({ frame, of }) => !of || !isShownIn(frame, of));
  return {
    framing,
    exchanges: known.map(({ exchange }) => exchange),
    notes: [
      ...noteOf(
        'are no request and answer none, so they were left out',
        left.flatMap(({ frame }) => (hasDirections && !frame.direction ? [] : [frame])),
      ),
      ...noteOf(
        'say no direction, so they were left out',
        left.flatMap(({ frame }) => (hasDirections && !frame.direction ? [frame] : [])),
      ),
      ...noteOf('were cut off by who wrote them, so their requests were left out', cut),
      ...noteOf(
        'ask unit 0 or one above 247, where no device is on a serial line',
        foreign.map(({ open }) => open.asked),
      ),
    ],
  };
}

/** The framing of most frames, and the frames in it. If no frame has a check value, they are of a gateway. */
function framed(logged: readonly LoggedBytes[]): { framing: Framing; frames: readonly LoggedBytes[] } {
  const counted = FRAMINGS.map((each) => logged.filter(({ bytes }) => each.decode(bytes)).length);
  const most = Math.max(...counted);
  const framing = FRAMINGS[counted.indexOf(most)] ?? RTU;
  if (most === 0) {
    const bare = logged.map((frame) => {
      const content = BARE.decode(frame.bytes);
      return content ? { ...frame, bytes: SOCKET.encode(content) } : frame;
    });
    const isPlain = logged.some(({ bytes }) => isPlainRequest(BARE.decode(bytes)));
    return isPlain ? { framing: SOCKET, frames: bare } : { framing, frames: logged };
  }
  if (framing !== SOCKET) return { framing, frames: logged };
  const frames = logged.flatMap((frame) =>
    adusIn(frame.bytes).map((bytes) => (bytes.length === frame.bytes.length ? frame : { ...frame, bytes })),
  );
  return { framing, frames };
}

function isPlainRequest(content: AduContent | undefined): boolean {
  return content !== undefined && decodeRequest(content.pdu).ok;
}

/** The ADUs of Modbus TCP that stand one after the other in some bytes; the bytes as they are otherwise. */
function adusIn(bytes: Uint8Array): Uint8Array[] {
  const adus: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const decoded = decodeMbap(bytes, at);
    if (decoded.kind !== 'frame') return [bytes];
    adus.push(bytes.subarray(at, at + decoded.length));
    at += decoded.length;
  }
  return adus;
}

function exchangeOf({ asked, request }: Open, reply: readonly LoggedBytes[]): LoggedExchange {
  const { line, at, server, file = 0 } = asked;
  const end = reply.at(-1)?.at;
  const ms = at !== undefined && end !== undefined && end >= at ? end - at : undefined;
  return { line, request, at, reply: concatBytes(...reply.map(({ bytes }) => bytes)), ms, server, file };
}

/**
 * The reply among what a program has shown: the bytes that are one frame together; otherwise the first that
 * have the length of one.
 */
function replyOf({ shown }: Open, framing: Framing): readonly LoggedBytes[] {
  const all = [...shown.values()];
  const bytesOf = (pieces: readonly LoggedBytes[]) => concatBytes(...pieces.map(({ bytes }) => bytes));
  return (
    all.find((pieces) => framing.decode(bytesOf(pieces))) ??
    all.find((pieces) => bytesOf(pieces).length >= framing.minLength) ??
    all[0] ??
    []
  );
}

/** True when the bytes are a part of the exchange: a program explains what it has sent or received. */
function isShownIn({ bytes, text }: LoggedBytes, { asked, shown }: Open): boolean {
  if (text === undefined) return false;
  const parts = [[asked], ...shown.values()].map((pieces) =>
    Buffer.concat(pieces.map((piece) => piece.bytes)),
  );
  return parts.some((part) => part.includes(Buffer.from(bytes)));
}

/** The request that a reply, or a piece of one, answers; undefined when the log does not have it. */
function askedBefore(
  { isAfterGap }: LoggedBytes,
  content: AduContent | undefined,
  { last, waiting }: Channel,
  framing: Framing,
): Open | undefined {
  if (framing !== SOCKET) return last;
  if (!content) return last && isAnswered(last) ? undefined : last;
  // The transaction identifier says which request a reply is for (Messaging V1.0b, 3.1.3).
  const { transactionId } = content;
  const fitting = [...waiting].filter(({ request }) => request.transactionId === transactionId);
  const meant = fitting.find(({ request }) => fits(content, request)) ?? fitting[0];
  if (meant) return meant;
  if (last && last.shown.size > 0 && last.request.transactionId === transactionId) return last;
  // A wrong identifier: the newest request that it may answer, unless the capture may lack its own.
  if (isAfterGap) return undefined;
  return [...waiting].findLast(({ request }) => fits(content, request));
}

/** True when a whole frame of Modbus TCP came back. */
function isAnswered({ shown }: Open): boolean {
  return [...shown.values()].some((pieces) => pieces.some(({ bytes }) => SOCKET.decode(bytes)));
}

/**
 * The unit identifier of the device that an exchange is with. One that answers a broadcast does so with its
 * own.
 */
export function unitOf({ request: { unitId }, reply }: LoggedExchange, framing: Framing): number {
  return unitId === 0 && framing.broadcasts ? (framing.decode(reply)?.unitId ?? 0) : unitId;
}

/** True when a device can have this unit identifier (Serial Line V1.02, 2.2): 0 is a broadcast. */
function isServed(unitId: number, framing: Framing): boolean {
  return framing === SOCKET || (unitId >= 1 && unitId <= 247);
}

/** True when a program shows the same bytes once more, behind other words. */
function isAgain(frame: LoggedBytes, asked: LoggedBytes): boolean {
  return frame.words !== asked.words && Buffer.compare(frame.bytes, asked.bytes) === 0;
}

/** The direction of requests: a log of a client sends them, and a log of a server receives them. */
function requestDirection(frames: readonly LoggedBytes[], framing: Framing): 'out' | 'in' {
  let score = 0;
  for (const { direction, bytes, channel } of frames) {
    // The connections of a capture are turned so that requests go out.
    if (channel !== undefined) return 'out';
    const content = framing.decode(bytes);
    if (!content || !isRequest(content)) continue;
    score += direction === 'out' ? 1 : direction === 'in' ? -1 : 0;
  }
  return score >= 0 ? 'out' : 'in';
}

function isRequest(content: AduContent): boolean {
  const decoded = decodeRequest(content.pdu);
  // With an unknown function, any data may be a request.
  return decoded.ok || (decoded.error === 1 && !isException(content));
}

function isException({ pdu: [code = 0] }: AduContent): boolean {
  return code >= EXCEPTION_FLAG;
}

/**
 * Decides without a direction: a frame is a reply when it fits the request before it, and that has no reply
 * yet.
 */
function isReplyTo(content: AduContent | undefined, open: Open | undefined): boolean {
  if (!open || open.shown.size > 0) return false;
  return !content || fits(content, open.request);
}

/** True when a frame has the function and the quantity of a request. */
function fits({ pdu }: AduContent, { pdu: request }: AduContent): boolean {
  const [asked = 0] = request;
  const [code = 0] = pdu;
  return (code & 0x7f) === (asked & 0x7f) && (code !== asked || hasQuantityOf(pdu, request));
}
