import { counted } from '../../common/words.js';
import { bitsAt, hex, wordsAt } from '../../modbus/protocol/bytes.js';
import type { Framing } from '../../modbus/protocol/framing.js';
import { CRC_LENGTH } from '../../modbus/protocol/framing.js';
import { EXCEPTION_FLAG, ExceptionCode, FunctionCode } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { decodeMbap } from '../../modbus/protocol/mbap.js';
import { addressRanges, fieldValues, hasQuantityOf } from '../../modbus/protocol/pdu.js';
import { sentFrames } from '../../modbus/protocol/reply-plan.js';
import { decodeRequest, READ_DEVICE_IDENTIFICATION } from '../../modbus/protocol/request.js';
import { responseLength } from '../../modbus/protocol/rtu.js';
import {
  diagnosticsText,
  type Message,
  messageOf,
  partText,
  requestMessage,
  type Saying,
  type WrittenValues,
  writtenBy,
} from './decode-request.js';
import type {
  ClientEvent,
  FrameEvent,
  LineStateEvent,
  NoticeEvent,
  RejectedEvent,
  ReplyEvent,
  TestEvent,
  TrafficEvent,
  UnsolicitedEvent,
} from './event.js';
import { exceptionText, functionName, objectName, rangeText, valuesText } from './words.js';

/**
 * Decodes a response PDU.
 * @param requestPdu the request that it answers, which contains the addresses; undefined if not known
 */
function responseMessage(pdu: Uint8Array, requestPdu: Uint8Array | undefined): Message {
  const code = (pdu[0] as number) & ~EXCEPTION_FLAG;
  const request = requestPdu?.[0] === code ? requestPdu : undefined;
  const saying = (pdu[0] as number) & EXCEPTION_FLAG ? refusal(pdu, request) : sayingOf(pdu, request);
  return messageOf(code, request, saying);
}

/** Formats an exception: `read holding registers 0–9: exception 02 illegal data address`. */
function refusal(pdu: Uint8Array, request: Uint8Array | undefined): Saying {
  const exception = pdu[1];
  const what = subjectText((pdu[0] as number) & ~EXCEPTION_FLAG, request);
  if (exception === undefined) return { text: `${what}: exception without a code` };
  return { text: `${what}: ${exceptionText(exception)}`, exception };
}

function sayingOf(pdu: Uint8Array, request: Uint8Array | undefined): Saying {
  const code = pdu[0] as number;
  const row = functionOf(code);
  const name = functionName(code);
  if (!row) return { text: `${name}: ${hex(pdu.subarray(1))}` };
  const { response } = row;
  const fields = fieldValues(pdu, response);
  const rest = pdu.subarray(response.end);
  switch (code) {
    case FunctionCode.diagnostics:
      return { text: diagnosticsText(fields[0] as number, rest, true) };
    case FunctionCode.getCommEventCounter:
      return { text: `${name}: ${statusText(fields[0])}, ${fields[1]} events` };
    case FunctionCode.getCommEventLog: {
      const [, status, events, messages] = fields;
      const log = rest.length > 0 ? `, log ${hex(rest)}` : '';
      return { text: `${name}: ${statusText(status)}, ${events} events, ${messages} messages${log}` };
    }
    case FunctionCode.reportServerId:
      return { text: `${name}: ${hex(rest)}` };
    case FunctionCode.readFileRecord:
      return fileRecords(rest, request);
    case FunctionCode.readFifoQueue: {
      const values = wordsAt(rest, 0, rest.length >> 1);
      return { text: `${subjectText(code, request)}: ${valuesText(values) || 'empty'}`, values };
    }
    case FunctionCode.encapsulatedInterfaceTransport:
      return { text: identification(pdu, rest) };
    case FunctionCode.writeMultipleCoils:
    case FunctionCode.writeMultipleRegisters: {
      const [address, quantity] = fields as [number, number];
      return { text: `${name} ${rangeText(address, quantity)}: done` };
    }
  }
  if (row.values) {
    const values = valuesOf(rest, row.values, request);
    return { text: `${subjectText(code, request)}: ${valuesText(values)}`, values };
  }
  if (row.request !== response) return { text: `${name}: ${hex(pdu.subarray(1))}` };
  const { text, values } = requestMessage(pdu);
  return { text, values };
}

/** Describes the function and addresses that a response is about. */
function subjectText(code: number, request: Uint8Array | undefined): string {
  const [range] = request === undefined ? [] : addressRanges(request);
  const name = functionName(code);
  if (range === undefined) return name;
  const reads = code === FunctionCode.readWriteMultipleRegisters ? ', read' : '';
  return `${name}${reads} ${rangeText(range.address, range.quantity)}`;
}

/**
 * The values of a response. Padding bits in the last byte are left out (Application Protocol V1.1b3, 6.1).
 */
function valuesOf(data: Uint8Array, kind: 'bits' | 'words', request: Uint8Array | undefined): number[] {
  if (kind === 'words') return wordsAt(data, 0, data.length >> 1);
  const asked = request && addressRanges(request)[0]?.quantity;
  return bitsAt(data, 0, Math.min(asked ?? Number.POSITIVE_INFINITY, 8 * data.length)).map(Number);
}

/** Formats the status. All ones mean that a program command is still being processed (6.9). */
function statusText(status: number | undefined): string {
  return status === 0 ? 'ready' : 'busy';
}

/**
 * The records in a response of function 20. Each part is its length, which includes the reference type,
 * followed by the reference type and the data (6.14).
 */
function fileRecords(parts: Uint8Array, request: Uint8Array | undefined): Saying {
  const decoded = request && decodeRequest(request);
  const asked = decoded?.ok && decoded.value.code === FunctionCode.readFileRecord ? decoded.value.parts : [];
  const texts: string[] = [];
  const values: number[] = [];
  for (let offset = 0; offset + 1 < parts.length; ) {
    const length = Math.max(1, parts[offset] as number);
    const words = wordsAt(parts, offset + 2, Math.min(length - 1, parts.length - offset - 2) >> 1);
    const part = asked[texts.length];
    texts.push(part ? `${partText(part)}: ${valuesText(words)}` : valuesText(words));
    values.push(...words);
    offset += 1 + length;
  }
  return {
    text: `${functionName(FunctionCode.readFileRecord)}, ${texts.join(', ') || 'no records'}`,
    values,
  };
}

/** The objects of an identification, each with number, length and text (6.21). */
function identification(pdu: Uint8Array, objects: Uint8Array): string {
  if (pdu[1] !== READ_DEVICE_IDENTIFICATION)
    return `${functionName(pdu[0] as number)}: ${hex(pdu.subarray(1))}`;
  const texts: string[] = [];
  for (let offset = 0; offset + 1 < objects.length; ) {
    const [id, length] = objects.subarray(offset, offset + 2) as unknown as [number, number];
    offset += 2 + length;
    const text = String.fromCharCode(...objects.subarray(offset - length, offset));
    texts.push(`${objectName(id)} ${JSON.stringify(text)}`);
  }
  return `read device identification: ${texts.join(', ') || 'no objects'}`;
}

/** Reads another event of the stream, such as the request of a response. Undefined if it is no longer stored. */
export type ReadEvent = (seq: number) => TrafficEvent | undefined;

/** An event as text. */
export interface Decoded {
  /** The content of the frame, or of the request that it answers; undefined for an event without a frame. */
  readonly message: Message | undefined;
  /** The event as text, such as `unit 17 read holding registers 0–9`. */
  readonly text: string;
  /** What one of our devices has written to its registers, as confirmed by its response. */
  readonly written?: WrittenValues | undefined;
}

/** Decodes an event. This takes a few µs, so only events to be shown should be decoded. */
export function decodeEvent(event: TrafficEvent, read: ReadEvent): Decoded {
  switch (event.kind) {
    case 'reply':
      return decodeReply(event);
    case 'damaged':
    case 'discarded':
      return { message: undefined, text: damageText(event.bytes, event.framing) };
    case 'unsolicited':
      return decodeUnsolicited(event);
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
 * one, and for a response whose request was not received.
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

/** Such a frame may be meant as a request or a response, so it is not decoded further. */
function decodeUnsolicited({ bytes, framing }: UnsolicitedEvent): Decoded {
  const content = framing.decode(bytes);
  const count = counted(bytes.length, 'byte');
  const what = content ? `a frame of unit ${content.unitId}, function ${content.pdu[0]}` : count;
  return { message: undefined, text: `sent unsolicited: ${what}` };
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
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'more frame')}`;
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

/** How much of a truncated reply there is, such as `24 of 25 bytes`; undefined for any other damage. */
function cutText(bytes: Uint8Array, framing: Framing, asked: Uint8Array): string | undefined {
  if (framing.name !== 'rtu' || bytes[1] !== asked[0]) return undefined;
  const whole = responseLength(bytes, 0, bytes.length);
  // A damaged byte count could promise any length.
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

function clientText({ kind, text }: ClientEvent | RejectedEvent): string {
  return text === '' ? kind : `${kind}: ${text}`;
}

function noticeText({ kind, count }: NoticeEvent): string {
  const characters = counted(count, 'character');
  switch (kind) {
    case 'echo':
      return 'echo: our own reply came back and was removed';
    case 'loop':
      return 'loop: our own replies keep coming back, so further copies are not executed as requests';
    case 'collision':
      return 'collision: another device sent while a reply was on the wire';
    case 'overrun':
      return `overrun: the UART lost ${characters}`;
    case 'damaged characters':
      return `${characters} damaged on the wire (parity or framing error)`;
  }
}

/** Number of bytes after the two digits of the LRC: carriage return and delimiter. */
const ASCII_END = 2;

/**
 * Says why bytes are not a valid frame: `CRC error: 1a2b, expected 3c4d`, with the bytes in wire order; `LRC
 * error: F8, expected FA` on ASCII lines; `not Modbus TCP: protocol identifier 1, expected 0`.
 */
export function damageText(bytes: Uint8Array, framing: Framing): string {
  const content = bytes.length <= framing.maxLength ? framing.fields(bytes) : undefined;
  const none = `not a valid frame (${counted(bytes.length, 'byte')})`;
  if (content === undefined) return none;
  const right = framing.encode(content);
  switch (framing.name) {
    case 'rtu': {
      const [found, expected] = [crcOf(bytes), crcOf(right)];
      if (found !== expected) return `CRC error: ${found}, expected ${expected}`;
      // The CRC is right, so there is another reason why it is not a message.
      return `not a separate message, although its CRC is correct (${counted(bytes.length, 'byte')}): other bytes preceded it without a silence, or no message has this length`;
    }
    case 'ascii': {
      const [found, expected] = [lrcOf(bytes), lrcOf(right)];
      // If the check value is right, there must be a character that an ASCII message can't contain.
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
