import { listed } from '../../document/native-file.js';
import { concatBytes } from '../../modbus/protocol/bytes.js';
import { type AduContent, type Framing, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG, ExceptionCode } from '../../modbus/protocol/function-code.js';
import { hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { directedBy } from './directions.js';
import { formOf, framed, isBegun } from './frames.js';
import { type LoggedBytes, noteOf } from './logged-bytes.js';

/** A request in a log or a capture, and the bytes that came back. Times are in ms. */
export interface LoggedExchange {
  readonly line: number;
  readonly request: AduContent;
  readonly at: number | undefined;
  /** All bytes that came back; empty if none did. */
  readonly reply: Uint8Array;
  /** The time from the request to the end of the reply, in ms; undefined if the log has no times. */
  readonly ms: number | undefined;
  /** The address of the server, in a capture. */
  readonly server: string | undefined;
  /** The number of its file, from 0. */
  readonly file: number;
}

/** The exchanges in a log, all with the same framing. */
export interface Conversation {
  readonly framing: Framing;
  readonly exchanges: readonly LoggedExchange[];
  /** Requests that belong to no exchange: the log does not show their reply, or no device can have their unit. */
  readonly unlearned: readonly LoggedExchange[];
  /** How many frames belong to no exchange. */
  readonly strays: number;
  /** The parts that were not understood, one sentence each. */
  readonly notes: readonly string[];
}

/** An exchange that may still get replies. */
interface Open {
  readonly asked: LoggedBytes;
  readonly request: AduContent;
  /** The bytes that came back, by the words before them: a program may log a reply, or parts of it, more than once. */
  readonly shown: Map<string | undefined, LoggedBytes[]>;
  /** The previous exchange on the same connection. */
  readonly before: Open | undefined;
  readonly channel: Channel;
  /** How many requests came before it in the log. */
  readonly number: number;
  /** How many frames came back, including those that no longer fitted in `shown`. */
  pieces: number;
  /** True if the log lacks the reply or part of it. */
  isUnknown: boolean;
}

/** Maximum number of requests on a connection that may still get replies. */
const MOST_OPEN = 256;

/** Maximum number of frames kept per request: each later stray is searched for in them. */
const MOST_PIECES = 64;

/** The exchanges on a connection. */
interface Channel {
  /** The part of the log that contains the newest frame. */
  part: string;
  /** The newest request in that part. */
  last: Open | undefined;
  /** The requests in that part without a reply, oldest first. */
  readonly waiting: Set<Open>;
  /** The newest request in each part of the log, and the number of the newest one answered there. */
  readonly parts: Map<string, { last: Open; answered: number }>;
  /** True if the client sent requests before earlier ones were answered. */
  isPipelined: boolean;
}

/** An exchange, and the bytes that came back. */
interface Ended {
  readonly open: Open;
  readonly reply: readonly LoggedBytes[];
}

/** A frame that is neither a request nor a reply to one. */
interface Stray {
  readonly frame: LoggedBytes;
  /** The last request before it on its connection. */
  readonly after: Open | undefined;
  /** True if it has no direction although other frames in its log have one. */
  readonly lacksDirection: boolean;
}

/** An exchange with its reply, and whether something can be learned from it. */
interface JudgedExchange extends Ended {
  readonly exchange: LoggedExchange;
  /** True if the log ends before the reply was due. */
  readonly isAtEnd: boolean;
  /** True if nothing shows that the log has the direction of replies. */
  readonly isOneWay: boolean;
  /** True if the log lacks the reply or part of it. */
  readonly isLost: boolean;
  /** True if a device can have its unit identifier. */
  readonly isServed: boolean;
}

/** Pairs the requests in a log with their replies. */
export function conversationOf(logged: readonly LoggedBytes[]): Conversation {
  const made = framed(logged);
  const { framing } = made;
  const { asks, frames } = directedBy(made.frames, framing);
  const { opened, strays } = pairedIn(frames, asks, framing);
  const all = judged(opened, twoWay(frames, asks), framing);
  const isLearned = ({ isLost, isServed }: JudgedExchange) => isServed && !isLost;
  return {
    framing,
    exchanges: all.filter(isLearned).map(({ exchange }) => exchange),
    strays: strays.length,
    unlearned: all.filter((each) => !isLearned(each)).map(({ exchange }) => exchange),
    notes: notesOn(all, strays),
  };
}

/** Assigns replies to requests, and finds the frames that are neither. */
function pairedIn(
  frames: readonly LoggedBytes[],
  asks: LoggedBytes['direction'],
  framing: Framing,
): { readonly opened: readonly Open[]; readonly strays: readonly Stray[] } {
  // A program that names the direction shows the same bytes again when it explains them.
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
    // A gap ends an exchange: a frame after it can't answer a request before it.
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
      // The replies to earlier requests may be among the missing segments.
      if (frame.isAfterGap) for (const open of channel.waiting) open.isUnknown = true;
      opened.push(openedBy(frame, content, channel, opened.length));
      continue;
    }
    const open = mayAsk ? undefined : askedBefore(frame, content, channel, framing);
    if (!open || !takes(open, frame)) strays.push({ frame, after: last, lacksDirection: false });
  }
  return { opened, strays };
}

/** Starts an exchange with a request. @param number how many requests came before it in the log */
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

/** The part of the log that contains a frame. Nothing is missing within a part. */
function partOf({ file = 0, part = 0 }: LoggedBytes): string {
  return `${file} ${part}`;
}

/** Adds a frame to the replies of an exchange. @returns false if it already has too many */
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

/** The servers whose replies would be in the log: it has bytes or packets from them, or says that none came. */
function twoWay(
  frames: readonly LoggedBytes[],
  asks: LoggedBytes['direction'],
): ReadonlySet<LoggedBytes['server']> {
  const shown = frames.filter(
    ({ direction = asks, isGivenUp, hasServer }) => direction !== asks || isGivenUp || hasServer,
  );
  return new Set(shown.map(({ server }) => server));
}

/**
 * Decides which exchanges the log shows completely.
 * @param heard the servers whose replies would be in the log, even if no request in it got one
 */
function judged(
  opened: readonly Open[],
  heard: ReadonlySet<LoggedBytes['server']>,
  framing: Framing,
): JudgedExchange[] {
  const ended = opened.map((open) => ({ open, reply: replyOf(open, framing) }));
  const longest = longestOf(ended);
  const answered = new Set(
    ended.filter(({ reply }) => reply.length > 0).map(({ open }) => open.asked.server),
  );
  return ended.map((each) => {
    const { open, reply } = each;
    const exchange = exchangeOf(open, reply);
    const { server } = open.asked;
    const isLast = !open.isUnknown && isAtEnd(each, longest, framing);
    // A log may have only one request because it ends after it; a capture also has packets without data.
    const isOneWay = !heard.has(server) && !answered.has(server) && (!isLast || server !== undefined);
    const isEnd = isLast && !isOneWay;
    return {
      ...each,
      exchange,
      isAtEnd: isEnd,
      isOneWay,
      isLost: isEnd || isOneWay || open.isUnknown || reply.some(({ isCut }) => isCut),
      isServed: isServed(unitOf(exchange, framing), framing),
    };
  });
}

/** The parts that were not understood, one sentence each. */
function notesOn(all: readonly JudgedExchange[], strays: readonly Stray[]): string[] {
  const askedIn = (exchanges: readonly JudgedExchange[]) => exchanges.map(({ open }) => open.asked);
  const unexplained = strays.filter(({ frame, after }) => !after || !isShownIn(frame, after));
  const framesOf = (some: readonly Stray[]) => some.map(({ frame }) => frame);
  const oneWay = all.filter(({ isOneWay, isServed }) => isOneWay && isServed);
  const servers = [...new Set(oneWay.flatMap(({ open }) => open.asked.server ?? []))];
  return [
    ...noteOf(
      'left out, neither a request nor a reply to one',
      framesOf(unexplained.filter(({ lacksDirection }) => !lacksDirection)),
    ),
    ...noteOf(
      'left out, without a direction',
      framesOf(unexplained.filter(({ lacksDirection }) => lacksDirection)),
    ),
    ...noteOf(
      'just before the end of the log or a gap in it, so replies may be missing',
      askedIn(all.filter(({ isAtEnd }) => isAtEnd)),
    ),
    ...noteOf(
      `left out because only one direction seems to be recorded${servers.length > 0 ? `, with nothing from ${listed(servers)}` : ''}`,
      askedIn(oneWay),
    ),
    ...noteOf(
      'cut short in the log, with requests left out',
      all.flatMap(({ reply }) => reply.filter(({ isCut }) => isCut)),
    ),
    ...noteOf(
      `left out, with a reply of more than ${MOST_PIECES} pieces`,
      askedIn(all.filter(({ open }) => open.pieces > MOST_PIECES)),
    ),
    ...noteOf(
      'for unit 0 or a unit above 247, which no device on a serial line can have',
      askedIn(all.filter(({ isLost, isOneWay, isServed }) => (!isLost || isOneWay) && !isServed)),
    ),
  ];
}

/** If no reply shows how long replies take, a client that has waited this long, in ms, got no reply. */
const USUAL_WAIT = 1000;

function longestOf(all: readonly Ended[]): number {
  const times = all.flatMap(({ open, reply }) => exchangeOf(open, reply).ms ?? []);
  return times.length > 0 ? times.reduce((most, ms) => Math.max(most, ms), 0) : USUAL_WAIT;
}

/**
 * True if the log does not show whether the reply, or the rest of it, came: the log ends or has a gap before
 * it was due, and no later request on the connection was answered. A client that can't send another request
 * while it waits got no reply if it sends one.
 * @param longest the longest reply time, in ms
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
 * Picks the reply from the bytes that a program logged: those that form one frame together; otherwise the
 * first that have the length of a frame.
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

/**
 * True for a frame that has the form of a reply but the direction of requests, and that answers a request or
 * repeats its reply.
 */
function isShownReply(frame: LoggedBytes, content: AduContent | undefined, channel: Channel): boolean {
  const { last, waiting } = channel;
  if (!content || !last || formOf(content) !== 'reply' || frame.text === undefined) return false;
  const { transactionId } = content;
  const isOf = ({ request }: Open) => request.transactionId === transactionId && fits(content, request);
  return [...waiting].some(isOf) || isShownIn(frame, last);
}

/** True if the bytes are part of the exchange: a program explains the bytes that it sent or received. */
function isShownIn({ bytes, text }: LoggedBytes, { asked, shown }: Open): boolean {
  if (text === undefined) return false;
  const parts = [[asked], ...shown.values()].map((pieces) =>
    Buffer.concat(pieces.map((piece) => piece.bytes)),
  );
  return parts.some((part) => part.includes(Buffer.from(bytes)));
}

/** The request that a reply, or part of one, answers; undefined if it is not in the log. */
function askedBefore(
  { isAfterGap }: LoggedBytes,
  content: AduContent | undefined,
  { last, waiting }: Channel,
  framing: Framing,
): Open | undefined {
  if (framing !== SOCKET) {
    if (!last || !content || fits(content, last.request)) return last;
    // Several equal reads are answered in order.
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
  // For a wrong identifier, take the newest request that it could answer, unless the right one may be missing
  // from the capture.
  if (isAfterGap) return undefined;
  return [...waiting].findLast(({ request }) => fits(content, request));
}

/** True if a whole Modbus TCP frame came back. */
function isAnswered({ shown }: Open): boolean {
  return [...shown.values()].some((pieces) => pieces.some(({ bytes }) => SOCKET.decode(bytes)));
}

/**
 * The unit identifier of the device in an exchange. A device that answers a broadcast does so with its own
 * identifier.
 */
export function unitOf({ request: { unitId }, reply }: LoggedExchange, framing: Framing): number {
  return unitId === 0 && framing.broadcasts ? (framing.decode(reply)?.unitId ?? 0) : unitId;
}

/** True if a device can have this unit identifier (Serial Line V1.02, 2.2): 0 is a broadcast. */
function isServed(unitId: number, framing: Framing): boolean {
  return framing === SOCKET || (unitId >= 1 && unitId <= 247);
}

/** True if a program shows the same bytes again, after other words. */
function isAgain(frame: LoggedBytes, asked: LoggedBytes): boolean {
  return frame.words !== asked.words && Buffer.compare(frame.bytes, asked.bytes) === 0;
}

function isRequest(content: AduContent): boolean {
  const decoded = decodeRequest(content.pdu);
  // With an unknown function, any data can be a request.
  return decoded.ok || (decoded.error === ExceptionCode.illegalFunction && !isException(content));
}

function isException({ pdu: [code = 0] }: AduContent): boolean {
  return code >= EXCEPTION_FLAG;
}

/**
 * Decides without a direction: a frame is a reply if it fits the previous request, and that request has no
 * reply yet.
 */
function isReplyTo(content: AduContent | undefined, open: Open | undefined): boolean {
  if (!open || open.shown.size > 0) return false;
  return !content || fits(content, open.request);
}

/** True if a frame has the function and the quantity of a request. */
export function fits({ pdu }: AduContent, { pdu: request }: AduContent): boolean {
  const [asked = 0] = request;
  const [code = 0] = pdu;
  return (
    (code & ~EXCEPTION_FLAG) === (asked & ~EXCEPTION_FLAG) && (code !== asked || hasQuantityOf(pdu, request))
  );
}
