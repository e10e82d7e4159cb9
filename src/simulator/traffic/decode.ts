import { hex } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { ExceptionCode } from '../../modbus/protocol/function-code.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import { hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { sentFrames } from '../../modbus/protocol/reply-plan.js';
import { responseLength } from '../../modbus/protocol/rtu.js';
import { type Message, requestMessage, type WrittenValues, writtenBy } from './decode-request.js';
import { responseMessage } from './decode-response.js';
import type {
  ClientEvent,
  FrameEvent,
  LineStateEvent,
  NoticeEvent,
  ReplyEvent,
  TestEvent,
  TrafficEvent,
  UnaskedEvent,
} from './event.js';
import { rangeText } from './words.js';

/**
 * Reads another event of the stream, such as the request of a response. Undefined when that event is no
 * longer kept.
 */
export type ReadEvent = (seq: number) => TrafficEvent | undefined;

/** An event in words. */
export interface Decoded {
  /** The content of the frame, or of the request that it answers; undefined for an event without a frame. */
  readonly message: Message | undefined;
  /** The event in words, such as `unit 17 read holding registers 0–9`. */
  readonly text: string;
  /** What one of our devices has written to its registers, as its response confirms. */
  readonly written?: WrittenValues | undefined;
}

/** Decodes an event. This takes some µs, so only events that are going to be shown should be decoded. */
export function decodeEvent(event: TrafficEvent, read: ReadEvent): Decoded {
  switch (event.kind) {
    case 'reply':
      return decodeReply(event);
    case 'damaged':
    case 'discarded':
      return { message: undefined, text: damageText(event.bytes, event.framing) };
    case 'unasked':
      return decodeUnasked(event);
    case 'line':
      return { message: undefined, text: stateText(event) };
    case 'test':
      return { message: undefined, text: testText(event) };
    case 'client':
    case 'client gone':
    case 'client rejected':
      return { message: undefined, text: clientText(event) };
    case 'echo':
    case 'loop':
    case 'collision':
    case 'overrun':
    case 'damaged characters':
      return { message: undefined, text: noticeText(event) };
    default:
      return decodeFrame(event, read);
  }
}

/**
 * The request PDU that an event is about: its own, or the one that it answers. Undefined for events without
 * one, and for a response whose request was not heard.
 */
export function requestPduOf(event: TrafficEvent, read: ReadEvent): Uint8Array | undefined {
  switch (event.kind) {
    case 'reply':
      return event.framing.fields(event.requestAdu)?.pdu;
    case 'request':
    case 'broadcast':
    case 'foreign request':
    case 'dropped':
      return event.framing.fields(event.bytes)?.pdu;
    case 'foreign response': {
      const asked = event.answers && read(event.answers.seq);
      return asked && requestPduOf(asked, read);
    }
    default:
      return undefined;
  }
}

function decodeFrame(event: FrameEvent, read: ReadEvent): Decoded {
  const pdu = event.framing.fields(event.bytes)?.pdu ?? Uint8Array.of(event.functionCode);
  const isResponse = event.kind === 'foreign response' || event.kind === 'duplicate';
  const message = isResponse ? responseMessage(pdu, requestPduOf(event, read)) : requestMessage(pdu);
  return { message, text: `${WHOSE[event.kind](event.unitId)} ${message.text}${AFTER[event.kind] ?? ''}` };
}

const unit = (id: number) => `unit ${id}`;

const WHOSE: Readonly<Record<FrameEvent['kind'], (unitId: number) => string>> = {
  request: unit,
  dropped: unit,
  broadcast: () => 'broadcast',
  'foreign request': (id) => `unit ${id} (not ours)`,
  'foreign response': (id) => `unit ${id} (not ours)`,
  duplicate: (id) => `unit ${id} (another device)`,
};

const AFTER: Readonly<Partial<Record<FrameEvent['kind'], string>>> = {
  dropped: ', not executed: a reply is pending',
};

/** Such a frame may be meant as a request or as a response, so it is not decoded further. */
function decodeUnasked({ bytes, framing }: UnaskedEvent): Decoded {
  const content = framing.decode(bytes);
  const count = `${bytes.length} byte${bytes.length === 1 ? '' : 's'}`;
  const what = content ? `a frame of unit ${content.unitId}, function ${content.pdu[0]}` : count;
  return { message: undefined, text: `sent unasked: ${what}` };
}

function decodeReply(event: ReplyEvent): Decoded {
  const { framing, requestAdu, plan, report, unitId } = event;
  const asked = framing.fields(requestAdu)?.pdu ?? Uint8Array.of(event.functionCode);
  const request = requestMessage(asked);
  const about = { ...request, values: undefined };
  const [first, ...others] = sentFrames(plan, report);
  if (first === undefined) {
    const reason = plan.kind === 'silence' ? plan.reason : whyNotSent(event);
    return { message: about, text: `${unit(unitId)} ${request.name}: no reply, ${reason}` };
  }
  const more =
    others.length === 0 ? '' : `, and ${others.length} more frame${others.length === 1 ? '' : 's'}`;
  const content = framing.decode(first);
  if (!content) {
    const damage = cutText(first, framing, asked) ?? damageText(first, framing);
    return { message: about, text: `${unit(unitId)} ${request.name}: ${damage}${more}` };
  }
  const message = responseMessage(content.pdu, asked);
  const { refused } = event;
  const isRefused = refused && message.exception === ExceptionCode.illegalDataAddress;
  const reason = isRefused ? ` (${rangeText(refused.address, refused.quantity)} ${refused.why})` : '';
  const isDone = message.exception === undefined && content.pdu[0] === asked[0];
  const written = isDone ? writtenBy(asked) : undefined;
  return { message, text: `${unit(content.unitId)} ${message.text}${reason}${more}`, written };
}

/** How much there is of a reply that was cut, as in `24 of 25 bytes`; undefined for any other damage. */
function cutText(bytes: Uint8Array, framing: Framing, asked: Uint8Array): string | undefined {
  if (framing.name !== 'rtu' || bytes[1] !== asked[0]) return undefined;
  const whole = responseLength(bytes, 0, bytes.length);
  // A byte count that is damaged itself would promise any length.
  const isCut = typeof whole === 'number' && bytes.length < whole && hasQuantityOf(bytes.subarray(1), asked);
  return isCut ? `${bytes.length} of ${whole} bytes` : undefined;
}

function whyNotSent({ report: { steps, ended } }: ReplyEvent): string {
  return steps.find(({ reason }) => reason !== undefined)?.reason ?? ended;
}

function stateText({ state, text }: LineStateEvent): string {
  if (state === 'real device') return `real device ${text}`;
  return text === '' || text === state ? `line ${state}` : `line ${state}: ${text}`;
}

function testText({ test, state, text }: TestEvent): string {
  return `test ${test} ${TEST_WORDS[state]}: ${text}`;
}

const TEST_WORDS: Readonly<Record<TestEvent['state'], string>> = {
  began: 'began',
  step: 'step',
  over: 'is over',
};

function clientText({ kind, text }: ClientEvent): string {
  return text === '' ? kind : `${kind}: ${text}`;
}

function noticeText({ kind, count }: NoticeEvent): string {
  const characters = `${count} character${count === 1 ? '' : 's'}`;
  switch (kind) {
    case 'echo':
      return 'echo: our own reply came back and was taken out';
    case 'loop':
      return 'loop: the same replies came back again and again, so the next ones are not executed';
    case 'collision':
      return 'collision: somebody else spoke while a reply was on the wire';
    case 'overrun':
      return `overrun: the UART has lost ${characters}`;
    case 'damaged characters':
      return `${characters} damaged on the wire (parity or framing error)`;
  }
}

const CRC_LENGTH = 2;
/** The number of bytes behind the two digits of the LRC: carriage return and delimiter. */
const ASCII_END = 2;

/**
 * What is wrong with bytes that are no valid frame: `CRC error: 1a2b, expected 3c4d`, with the bytes in the
 * order in which they are on the wire; `LRC error: F8, expected FA` on ASCII lines; `not Modbus TCP: protocol
 * identifier 1, expected 0`.
 */
export function damageText(bytes: Uint8Array, framing: Framing): string {
  const content = bytes.length <= framing.maxLength ? framing.fields(bytes) : undefined;
  const none = `${bytes.length} bytes that are no valid frame`;
  if (content === undefined) return none;
  const right = framing.encode(content);
  switch (framing.name) {
    case 'rtu': {
      const [found, expected] = [crcOf(bytes), crcOf(right)];
      if (found !== expected) return `CRC error: ${found}, expected ${expected}`;
      // Its CRC is right, so it is no message for another reason.
      return `${bytes.length} bytes with a right CRC that are no message of their own: other bytes came before them without a silence, or no message has this length`;
    }
    case 'ascii': {
      const [found, expected] = [lrcOf(bytes), lrcOf(right)];
      // When the check value is right, some character must be one that an ASCII message can't have.
      return found.toUpperCase() === expected ? none : `LRC error: ${found}, expected ${expected}`;
    }
    case 'socket': {
      const decoded = decodeMbap(bytes);
      return decoded.kind === 'other protocol' ? `not Modbus TCP: ${decoded.reason}` : none;
    }
  }
}

function crcOf(adu: Uint8Array): string {
  return hex(adu.subarray(-CRC_LENGTH)).replace(' ', '');
}

function lrcOf(adu: Uint8Array): string {
  const digits = adu.subarray(-ASCII_END - 2, -ASCII_END);
  return String.fromCharCode(...digits).replace(/[^\x20-\x7e]/g, '?');
}
