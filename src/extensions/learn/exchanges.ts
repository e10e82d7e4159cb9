import { concatBytes } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG, ExceptionCode } from '../../modbus/protocol/function-code.js';
import { hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { directedBy } from './directions.js';
import { formOf, framed, isBegun } from './frames.js';
import { type LoggedBytes, noteOf } from './logged-bytes.js';

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
  /** The requests that are in no exchange: the log does not show what they got, or no device can have their unit. */
  readonly unlearned: readonly LoggedExchange[];
  /** How many frames are in no exchange. */
  readonly strays: number;
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
  readonly channel: Channel;
  /** How many requests were before it in the log. */
  readonly number: number;
  /** How many frames came back, with those that were too many for `shown`. */
  pieces: number;
  /** True when the log lacks the reply, or a part of it. */
  isUnknown: boolean;
}

/** The most requests of a connection whose replies may still come. */
const MOST_OPEN = 256;

/** The most frames of a request that are kept: each stray behind it is sought in them. */
const MOST_PIECES = 64;

/** The exchanges of a connection. */
interface Channel {
  /** The part of the log that the newest frame is in. */
  part: string;
  /** The newest request of that part. */
  last: Open | undefined;
  /** Those of that part without a reply, oldest first. */
  readonly waiting: Set<Open>;
  /** The newest request of each part of the log, and the number of the newest one that got a reply there. */
  readonly parts: Map<string, { last: Open; answered: number }>;
  /** True when the client has sent requests before the replies to others came. */
  isPipelined: boolean;
}

/** An exchange, and what came back. */
interface Ended {
  readonly open: Open;
  readonly reply: readonly LoggedBytes[];
}

/** A frame that is no request and answers none. */
interface Stray {
  readonly frame: LoggedBytes;
  /** The request before it on its connection. */
  readonly after: Open | undefined;
  /** True when it has no direction, and others of its log have one. */
  readonly lacksDirection: boolean;
}

/** An exchange with what came back, and whether something can be learned from it. */
interface JudgedExchange extends Ended {
  readonly exchange: LoggedExchange;
  /** True when the log ends before its reply was due. */
  readonly isAtEnd: boolean;
  /** True when the log lacks the reply, or a part of it. */
  readonly isLost: boolean;
  /** True when a device can have its unit identifier. */
  readonly isServed: boolean;
}

/** Pairs the requests of a log with their replies. */
export function conversationOf(logged: readonly LoggedBytes[]): Conversation {
  const made = framed(logged);
  const { framing } = made;
  const { asks, frames } = directedBy(made.frames, framing);
  const { opened, strays } = pairedIn(frames, asks, framing);
  const all = judged(opened, framing);
  const isLearned = ({ isLost, isServed }: JudgedExchange) => isServed && !isLost;
  return {
    framing,
    exchanges: all.filter(isLearned).map(({ exchange }) => exchange),
    strays: strays.length,
    unlearned: all.filter((each) => !isLearned(each)).map(({ exchange }) => exchange),
    notes: notesOn(all, strays),
  };
}

/** Gives each request what came back, and finds the frames that are neither. */
function pairedIn(
  frames: readonly LoggedBytes[],
  asks: LoggedBytes['direction'],
  framing: Framing,
): { readonly opened: readonly Open[]; readonly strays: readonly Stray[] } {
  // A program that names the direction shows the same bytes again where it explains them.
  const hasDirections = frames.some(({ direction, text }) => direction !== undefined && text !== undefined);
  const opened: Open[] = [];
  const channels = new Map<string | undefined, Channel>();
  const strays: Stray[] = [];
  for (const frame of frames) {
    const channel = channels.get(frame.channel) ?? {
      ...{ part: '', last: undefined, waiting: new Set(), parts: new Map(), isPipelined: false },
    };
    channels.set(frame.channel, channel);
    const part = partOf(frame);
    // A gap is an end: what comes behind it answers nothing from before.
    if (part !== channel.part) channel.waiting.clear();
    if (part !== channel.part) [channel.part, channel.last] = [part, undefined];
    const { last } = channel;
    const { direction } = frame;
    if (hasDirections && direction === undefined) {
      strays.push({ frame, after: last, lacksDirection: true });
      continue;
    }
    const content = framing.decode(frame.bytes);
    const mayAsk =
      direction === undefined
        ? asks !== undefined && !isReplyTo(content, last)
        : direction === asks && !isShownReply(frame, content, channel);
    if (mayAsk && content && (direction === undefined ? isRequest(content) : !isException(content))) {
      if (last && last.shown.size === 0 && isAgain(frame, last.asked)) continue;
      opened.push(openedBy(frame, content, channel, opened.length));
      continue;
    }
    const open = mayAsk ? undefined : askedBefore(frame, content, channel, framing);
    if (!open || !takes(open, frame)) strays.push({ frame, after: last, lacksDirection: false });
  }
  return { opened, strays };
}

/** Begins an exchange with a request. @param number how many were before it in the log */
function openedBy(asked: LoggedBytes, request: AduContent, channel: Channel, number: number): Open {
  const begun = { asked, request, shown: new Map(), before: channel.last };
  const open: Open = { ...begun, channel, number, pieces: 0, isUnknown: false };
  const { waiting } = channel;
  channel.last = open;
  channel.parts.set(partOf(asked), { answered: -1, ...channel.parts.get(partOf(asked)), last: open });
  waiting.add(open);
  if (waiting.size > MOST_OPEN) waiting.delete([...waiting][0] as Open);
  return open;
}

/** The part of the log that a frame is in: nothing is missing inside one. */
function partOf({ file = 0, part = 0 }: LoggedBytes): string {
  return `${file} ${part}`;
}

/** Adds what came back to an exchange. @returns false when that has too many pieces already */
function takes(open: Open, frame: LoggedBytes): boolean {
  const { before, channel, shown } = open;
  if (frame.isAfterGap && before?.shown.size === 0) before.isUnknown = true;
  if (open !== channel.last) channel.isPipelined = true;
  open.pieces += 1;
  open.isUnknown ||= open.pieces > MOST_PIECES;
  if (open.pieces > MOST_PIECES) return false;
  const pieces = shown.get(frame.words);
  if (pieces) pieces.push(frame);
  else shown.set(frame.words, [frame]);
  channel.waiting.delete(open);
  const part = channel.parts.get(partOf(open.asked));
  if (part) part.answered = Math.max(part.answered, open.number);
  return true;
}

/** Judges of which exchanges the log shows everything. */
function judged(opened: readonly Open[], framing: Framing): JudgedExchange[] {
  const ended = opened.map((open) => ({ open, reply: replyOf(open, framing) }));
  const longest = longestOf(ended);
  return ended.map((each) => {
    const { open, reply } = each;
    const exchange = exchangeOf(open, reply);
    const isEnd = !open.isUnknown && isAtEnd(each, longest, framing);
    return {
      ...each,
      exchange,
      isAtEnd: isEnd,
      isLost: isEnd || open.isUnknown || reply.some(({ isCut }) => isCut),
      isServed: isServed(unitOf(exchange, framing), framing),
    };
  });
}

/** What was not understood, a sentence each. */
function notesOn(all: readonly JudgedExchange[], strays: readonly Stray[]): string[] {
  const askedIn = (exchanges: readonly JudgedExchange[]) => exchanges.map(({ open }) => open.asked);
  const unexplained = strays.filter(({ frame, after }) => !after || !isShownIn(frame, after));
  const framesOf = (some: readonly Stray[]) => some.map(({ frame }) => frame);
  return [
    ...noteOf(
      'are neither a request nor a reply to one, so they were left out',
      framesOf(unexplained.filter(({ lacksDirection }) => !lacksDirection)),
    ),
    ...noteOf(
      'give no direction, so they were left out',
      framesOf(unexplained.filter(({ lacksDirection }) => lacksDirection)),
    ),
    ...noteOf(
      'came just before the end of the log or a gap in it, so it is unknown whether they were answered',
      askedIn(all.filter(({ isAtEnd }) => isAtEnd)),
    ),
    ...noteOf(
      'were cut short when they were logged, so their requests were left out',
      all.flatMap(({ reply }) => reply.filter(({ isCut }) => isCut)),
    ),
    ...noteOf(
      `got a reply of more than ${MOST_PIECES} pieces, so they were left out`,
      askedIn(all.filter(({ open }) => open.pieces > MOST_PIECES)),
    ),
    ...noteOf(
      'are for unit 0 or a unit above 247, which no device on a serial line can have',
      askedIn(all.filter(({ isLost, isServed }) => !isLost && !isServed)),
    ),
  ];
}

/** The time in ms after which a client counts as waiting in vain, if no reply has shown how long they take. */
const USUAL_WAIT = 1000;

function longestOf(all: readonly Ended[]): number {
  const times = all.flatMap(({ open, reply }) => exchangeOf(open, reply).ms ?? []);
  return times.length > 0 ? times.reduce((most, ms) => Math.max(most, ms), 0) : USUAL_WAIT;
}

/**
 * True when the log ends, or has a gap, before a reply, or the rest of one, was due: no request on the connection was answered
 * later, and nobody knows what came. A client that can't ask again meanwhile has waited in vain when it does.
 * @param longest the longest time of a reply, in ms
 */
function isAtEnd({ open, reply }: Ended, longest: number, framing: Framing): boolean {
  const { asked, channel, number } = open;
  const { at, until, isGivenUp } = asked;
  const { last, answered } = channel.parts.get(partOf(asked)) ?? { last: open, answered: -1 };
  const bytes = concatBytes(...reply.map((each) => each.bytes));
  const isCut = reply.some((each) => each.isCut);
  const isBegunHere = open === last && !isCut && !framing.decode(bytes) && isBegun(bytes, framing);
  if (isGivenUp || (reply.length > 0 ? !isBegunHere : number <= answered)) return false;
  const isTimed = at !== undefined && until !== undefined;
  if (isTimed && until - at > longest) return false;
  const hasAskedAgain = reply.length === 0 && open !== last;
  return !hasAskedAgain || channel.isPipelined || (isTimed && framing === SOCKET);
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

/** True for the form of a reply, in the direction of requests, that answers a request or shows its reply again. */
function isShownReply(frame: LoggedBytes, content: AduContent | undefined, channel: Channel): boolean {
  const { last, waiting } = channel;
  if (!content || !last || formOf(content) !== 'reply' || frame.text === undefined) return false;
  const { transactionId } = content;
  const isOf = ({ request }: Open) => request.transactionId === transactionId && fits(content, request);
  return [...waiting].some(isOf) || isShownIn(frame, last);
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
  if (framing !== SOCKET) {
    if (!last || !content || fits(content, last.request)) return last;
    // Several requests of one read are answered in turn.
    return (
      [...waiting].find((open) => open.asked.line === last.asked.line && fits(content, open.request)) ?? last
    );
  }
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

function isRequest(content: AduContent): boolean {
  const decoded = decodeRequest(content.pdu);
  // With an unknown function, any data may be a request.
  return decoded.ok || (decoded.error === ExceptionCode.illegalFunction && !isException(content));
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
export function fits({ pdu }: AduContent, { pdu: request }: AduContent): boolean {
  const [asked = 0] = request;
  const [code = 0] = pdu;
  return (
    (code & ~EXCEPTION_FLAG) === (asked & ~EXCEPTION_FLAG) && (code !== asked || hasQuantityOf(pdu, request))
  );
}
