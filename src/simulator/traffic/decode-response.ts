import { bitsAt, hex, wordsAt } from '../../modbus/protocol/bytes.js';
import { EXCEPTION_FLAG, FunctionCode } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { addressRanges, fieldValues } from '../../modbus/protocol/pdu.js';
import { decodeRequest, READ_DEVICE_IDENTIFICATION } from '../../modbus/protocol/request.js';
import {
  diagnosticsText,
  type Message,
  messageOf,
  partText,
  requestMessage,
  type Saying,
} from './decode-request.js';
import { exceptionText, functionName, objectName, rangeText, valuesText } from './words.js';

/**
 * Decodes a response PDU.
 * @param requestPdu the request that is answered, which has the addresses; undefined when that is not known
 */
export function responseMessage(pdu: Uint8Array, requestPdu: Uint8Array | undefined): Message {
  const code = (pdu[0] as number) & ~EXCEPTION_FLAG;
  const request = requestPdu?.[0] === code ? requestPdu : undefined;
  const saying = (pdu[0] as number) & EXCEPTION_FLAG ? refusal(pdu, request) : sayingOf(pdu, request);
  return messageOf(code, request, saying);
}

/** An exception in words: `read holding registers 0–9: exception 02 illegal data address`. */
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

/** The function and the addresses that a response is about, in words. */
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

/** The status in words. A status of all ones means that a program command is still being processed (6.9). */
function statusText(status: number | undefined): string {
  return status === 0 ? 'ready' : 'busy';
}

/**
 * The records of a response of function 20. Each part is its length, which counts the reference type, then
 * the reference type and the data (6.14).
 */
function fileRecords(parts: Uint8Array, request: Uint8Array | undefined): Saying {
  const decoded = request && decodeRequest(request);
  const asked =
    decoded?.ok && decoded.request.code === FunctionCode.readFileRecord ? decoded.request.parts : [];
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

/** The objects of an identification, each with its number, its length and its text (6.21). */
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
