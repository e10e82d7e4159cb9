import { addressRanges } from '../protocol/address-range.js';
import { bitsAt, hex, wordAt, wordsAt } from '../protocol/bytes.js';
import { READ_DEVICE_IDENTIFICATION } from '../protocol/decode-diagnostics.js';
import { decodeRequest } from '../protocol/decode-request.js';
import { EXCEPTION_FLAG, FunctionCode } from '../protocol/function-code.js';
import { functionOf } from '../protocol/function-table.js';
import { diagnosticsText, partText, requestMessage } from './decode-request.js';
import { type Message, messageOf, type Saying } from './message.js';
import { exceptionText, functionName, objectName, rangeText, valuesText } from './words.js';

/**
 * What a response PDU says.
 * @param requestPdu the request that it answers, which names the addresses; undefined when that is not known
 */
export function responseMessage(pdu: Uint8Array, requestPdu: Uint8Array | undefined): Message {
  const code = (pdu[0] as number) & ~EXCEPTION_FLAG;
  const request = requestPdu?.[0] === code ? requestPdu : undefined;
  const saying = (pdu[0] as number) & EXCEPTION_FLAG ? refusal(pdu, request) : sayingOf(pdu, request);
  return messageOf(code, request, saying);
}

/** `read holding registers 0–9: exception 02 illegal data address`. */
function refusal(pdu: Uint8Array, request: Uint8Array | undefined): Saying {
  const exception = pdu[1];
  const what = placeText((pdu[0] as number) & ~EXCEPTION_FLAG, request);
  if (exception === undefined) return { text: `${what}: exception without a code` };
  return { text: `${what}: ${exceptionText(exception)}`, exception };
}

function sayingOf(pdu: Uint8Array, request: Uint8Array | undefined): Saying {
  const code = pdu[0] as number;
  const name = functionName(code);
  const place = placeText(code, request);
  switch (code) {
    case FunctionCode.readExceptionStatus:
      return { text: `${name}: ${hex(pdu.subarray(1))}` };
    case FunctionCode.diagnostics:
      return { text: diagnosticsText(wordAt(pdu, 1), pdu.subarray(3), true) };
    case FunctionCode.getCommEventCounter:
      return { text: `${name}: ${statusText(pdu, 1)}, ${wordAt(pdu, 3)} events` };
    case FunctionCode.getCommEventLog: {
      const log = pdu.length > 8 ? `, log ${hex(pdu.subarray(8))}` : '';
      const counts = `${wordAt(pdu, 4)} events, ${wordAt(pdu, 6)} messages`;
      return { text: `${name}: ${statusText(pdu, 2)}, ${counts}${log}` };
    }
    case FunctionCode.reportServerId:
      return { text: `${name}: ${hex(pdu.subarray(2))}` };
    case FunctionCode.readFileRecord:
      return fileRecords(pdu, request);
    case FunctionCode.readFifoQueue: {
      const values = wordsAt(pdu, 5, Math.max(0, pdu.length - 5) >> 1);
      return { text: `${place}: ${values.length === 0 ? 'empty' : valuesText(values)}`, values };
    }
    case FunctionCode.encapsulatedInterfaceTransport:
      return { text: identification(pdu) };
    case FunctionCode.writeMultipleCoils:
    case FunctionCode.writeMultipleRegisters:
      return { text: `${name} ${rangeText(wordAt(pdu, 1), wordAt(pdu, 3))}: done` };
  }
  const row = functionOf(code);
  const values = row?.values && valuesOf(pdu, row.values, request);
  if (values) return { text: `${place}: ${valuesText(values)}`, values };
  // The response is a copy of the request.
  const { text, values: copied } = requestMessage(pdu);
  return row?.copies ? { text, values: copied } : { text: `${name}: ${hex(pdu.subarray(1))}` };
}

/** The function and the addresses that a response is about. */
function placeText(code: number, request: Uint8Array | undefined): string {
  const [range] = request === undefined ? [] : addressRanges(request);
  const name = functionName(code);
  if (range === undefined) return name;
  const reads = code === FunctionCode.readWriteMultipleRegisters ? ', read' : '';
  return `${name}${reads} ${rangeText(range.address, range.quantity)}`;
}

/** Padding bits in the last byte are no values (Application Protocol V1.1b3, 6.1). */
function valuesOf(pdu: Uint8Array, kind: 'bits' | 'words', request: Uint8Array | undefined): number[] {
  const byteCount = Math.max(0, pdu.length - 2);
  if (kind === 'words') return wordsAt(pdu, 2, byteCount >> 1);
  const asked = request && addressRanges(request)[0]?.quantity;
  return bitsAt(pdu, 2, Math.min(asked ?? Number.POSITIVE_INFINITY, 8 * byteCount)).map(Number);
}

/** A status of all ones means that a program command is still being processed (6.9). */
function statusText(pdu: Uint8Array, offset: number): string {
  return wordAt(pdu, offset) === 0 ? 'ready' : 'busy';
}

/** Each part has its length, which counts the reference type, the reference type, and its data (6.14). */
function fileRecords(pdu: Uint8Array, request: Uint8Array | undefined): Saying {
  const decoded = request && decodeRequest(request);
  const asked =
    decoded?.ok && decoded.request.code === FunctionCode.readFileRecord ? decoded.request.parts : [];
  const texts: string[] = [];
  const values: number[] = [];
  for (let offset = 2; offset + 1 < pdu.length; ) {
    const length = Math.max(1, pdu[offset] as number);
    const words = wordsAt(pdu, offset + 2, Math.min(length - 1, pdu.length - offset - 2) >> 1);
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

/** Objects, each with its number, its length and its text (6.21). */
function identification(pdu: Uint8Array): string {
  const type = pdu[1];
  if (type !== READ_DEVICE_IDENTIFICATION)
    return `${functionName(pdu[0] as number)}: ${hex(pdu.subarray(1))}`;
  const objects: string[] = [];
  for (let offset = 7; offset + 1 < pdu.length; offset += 2 + (pdu[offset + 1] as number)) {
    const bytes = pdu.subarray(offset + 2, offset + 2 + (pdu[offset + 1] as number));
    objects.push(`${objectName(pdu[offset] as number)} ${JSON.stringify(latin1(bytes))}`);
  }
  return `read device identification: ${objects.join(', ') || 'no objects'}`;
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
