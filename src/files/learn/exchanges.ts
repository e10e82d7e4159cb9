import { AsciiFraming } from '../../modbus/protocol/ascii.js';
import { type AduContent, type Framing, RTU, SOCKET } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG } from '../../modbus/protocol/function-code.js';
import { hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { decodeRequest } from '../../modbus/protocol/request.js';
import { type LoggedBytes, noteOf } from './log-lines.js';

/** A request, and what came back. Times are in ms. */
export interface LoggedExchange {
  readonly line: number;
  readonly request: AduContent;
  readonly at: number | undefined;
  /** Whole frames or pieces, in their order; empty when nothing came. */
  readonly replies: readonly Uint8Array[];
  /** The time from the request to the last of the replies, in ms; undefined when the log has no times. */
  readonly ms: number | undefined;
  /** The address of the server, in a capture. */
  readonly server: string | undefined;
}

/** The exchanges of a log, all in one framing. */
export interface Conversation {
  readonly framing: Framing;
  readonly exchanges: readonly LoggedExchange[];
  /** What was not understood, a sentence each. */
  readonly notes: readonly string[];
}

type Open = LoggedExchange & {
  replies: Uint8Array[];
  ms: number | undefined;
  readonly asked: LoggedBytes;
  /** The exchange before, on the same connection. */
  readonly before: Open | undefined;
  answered?: LoggedBytes;
};

const FRAMINGS: readonly Framing[] = [RTU, new AsciiFraming(), SOCKET];

/** Pairs requests with their replies; undefined when the log has no request. */
export function conversationOf(frames: readonly LoggedBytes[]): Conversation | undefined {
  const counted = FRAMINGS.map((each) => frames.filter(({ bytes }) => each.decode(bytes)).length);
  const framing = FRAMINGS[counted.indexOf(Math.max(...counted))] ?? RTU;
  const asks = requestDirection(frames, framing);
  const exchanges: Open[] = [];
  const strays: LoggedBytes[] = [];
  const cut: LoggedBytes[] = [];
  /** Exchanges whose complete replies are not known. */
  const unknown = new Set<LoggedExchange>();
  const opens = new Map<string | undefined, Open>();
  for (const frame of frames) {
    const { line, at, direction, bytes, channel, server } = frame;
    const content = framing.decode(bytes);
    const open = opens.get(channel);
    const mayAsk = direction === undefined ? !isReplyTo(content, open) : direction === asks;
    if (mayAsk && content && (direction === undefined ? isRequest(content) : !isException(content))) {
      if (open && open.replies.length === 0 && isAgain(frame, open.asked)) continue;
      const begun = { line, request: content, at, replies: [], ms: undefined, server };
      const exchange: Open = { ...begun, asked: frame, before: open };
      exchanges.push(exchange);
      opens.set(channel, exchange);
    } else if (!open || mayAsk || isOfAnother(content, open, framing)) strays.push(frame);
    else if (open.answered === undefined || open.answered.words === frame.words) {
      open.answered = frame;
      if (frame.isAfterGap && open.before?.replies.length === 0) unknown.add(open.before);
      if (frame.isCut) {
        cut.push(frame);
        unknown.add(open);
      }
      open.replies.push(bytes);
      if (at !== undefined && open.at !== undefined && at >= open.at) open.ms = at - open.at;
    }
  }
  const foreign = exchanges.filter((exchange) => !isServed(exchange, framing));
  const whole = exchanges.filter((exchange) => isServed(exchange, framing) && !unknown.has(exchange));
  if (whole.length === 0) return undefined;
  return {
    framing,
    exchanges: whole,
    notes: [
      ...noteOf('are no request and answer none, so they were left out', strays),
      ...noteOf('were cut off by who wrote them, so they were left out', cut),
      ...noteOf(
        'ask unit 0 or one above 247, where no device is on a serial line',
        foreign.map(({ asked }) => asked),
      ),
    ],
  };
}

/** True when a device can have this unit identifier (Serial Line V1.02, 2.2): 0 is a broadcast. */
function isServed({ request: { unitId } }: LoggedExchange, framing: Framing): boolean {
  return framing === SOCKET || (unitId >= 1 && unitId <= 247);
}

/** True when a reply belongs to a request that the log lacks, because this request has its reply already. */
function isOfAnother(content: AduContent | undefined, { replies, request }: Open, framing: Framing): boolean {
  return (
    framing === SOCKET &&
    replies.length > 0 &&
    content !== undefined &&
    content.transactionId !== request.transactionId
  );
}

/** True when a program shows the same bytes once more, behind other words. */
function isAgain(frame: LoggedBytes, asked: LoggedBytes): boolean {
  return frame.words !== asked.words && Buffer.compare(frame.bytes, asked.bytes) === 0;
}

/** The direction of requests: a log of a client sends them, and a log of a server receives them. */
function requestDirection(frames: readonly LoggedBytes[], framing: Framing): 'out' | 'in' {
  let score = 0;
  for (const { direction, bytes } of frames) {
    const content = framing.decode(bytes);
    if (!content || !isRequest(content)) continue;
    score += direction === 'out' ? 1 : direction === 'in' ? -1 : 0;
  }
  return score >= 0 ? 'out' : 'in';
}

function isRequest(content: AduContent): boolean {
  const decoded = decodeRequest(content.pdu);
  // With an unknown function, any data may be a request.
  return decoded.ok || (decoded.exception === 1 && !isException(content));
}

function isException({ pdu: [code = 0] }: AduContent): boolean {
  return code >= EXCEPTION_FLAG;
}

/**
 * Decides without a direction: a frame is a reply when it fits the request before it, and that has no reply
 * yet.
 */
function isReplyTo(content: AduContent | undefined, open: LoggedExchange | undefined): boolean {
  if (!open || open.replies.length > 0) return false;
  if (!content) return true;
  const [asked = 0] = open.request.pdu;
  const [code = 0] = content.pdu;
  return (code & 0x7f) === asked && (code !== asked || hasQuantityOf(content.pdu, open.request.pdu));
}
