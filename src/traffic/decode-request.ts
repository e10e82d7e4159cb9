import { addressRanges } from '../protocol/address-range.js';
import { hex, wordAt } from '../protocol/bytes.js';
import { decodeRequest } from '../protocol/decode-request.js';
import { FunctionCode } from '../protocol/function-code.js';
import type { FilePart, Request } from '../protocol/request.js';
import { SubFunction } from '../protocol/sub-function.js';
import { type Message, messageOf, type Saying } from './message.js';
import { exceptionText, functionName, hexWord, rangeText, subFunctionName, valuesText } from './words.js';

/** What a request PDU asks for. One that its function does not allow is told with the exception that it deserves. */
export function requestMessage(pdu: Uint8Array): Message {
  const code = pdu[0] as number;
  const decoded = decodeRequest(pdu);
  return messageOf(code, pdu, decoded.ok ? sayingOf(decoded.request) : wrongRequest(pdu, decoded.exception));
}

/** Registers or coils that a request writes. */
export interface Written {
  readonly table: 'coils' | 'holding';
  readonly address: number;
  /** Undefined for function 22, which changes some bits of a register. */
  readonly values: readonly number[] | undefined;
}

/** What a request writes to registers or coils; undefined for other requests, and for those that are not valid. */
export function writtenBy(pdu: Uint8Array): Written | undefined {
  const decoded = decodeRequest(pdu);
  if (!decoded.ok) return undefined;
  const { request } = decoded;
  switch (request.code) {
    case FunctionCode.writeSingleCoil:
      return { table: 'coils', address: request.address, values: [Number(request.on)] };
    case FunctionCode.writeMultipleCoils:
      return { table: 'coils', address: request.address, values: request.bits.map(Number) };
    case FunctionCode.writeSingleRegister:
      return { table: 'holding', address: request.address, values: [request.value] };
    case FunctionCode.writeMultipleRegisters:
      return { table: 'holding', address: request.address, values: request.words };
    case FunctionCode.maskWriteRegister:
      return { table: 'holding', address: request.address, values: undefined };
    case FunctionCode.readWriteMultipleRegisters:
      return { table: 'holding', address: request.writeAddress, values: request.words };
    default:
      return undefined;
  }
}

/** `file 4 records 1–2`. */
export function partText({ file, record, length }: FilePart): string {
  return `file ${file} record${length === 1 ? '' : 's'} ${rangeText(record, length)}`;
}

/** `diagnostics, return query data: a5 37`. A counter is a number; data that means nothing is left out. */
export function diagnosticsText(subFunction: number, data: Uint8Array, isResponse: boolean): string {
  const text = `diagnostics, ${subFunctionName(subFunction)}`;
  if (
    isResponse &&
    subFunction >= SubFunction.busMessageCount &&
    subFunction < SubFunction.clearOverrunCounter
  )
    return `${text}: ${wordAt(data, 0)}`;
  const isShown = subFunction === SubFunction.returnQueryData || data.some((byte) => byte !== 0);
  return isShown ? `${text}: ${hex(data)}` : text;
}

const ACCESS = ['', 'basic', 'regular', 'extended', 'one object'];

function sayingOf(request: Request): Saying {
  const name = functionName(request.code);
  switch (request.code) {
    case FunctionCode.readCoils:
    case FunctionCode.readDiscreteInputs:
    case FunctionCode.readHoldingRegisters:
    case FunctionCode.readInputRegisters:
      return { text: `${name} ${rangeText(request.address, request.quantity)}` };
    case FunctionCode.writeSingleCoil:
      return {
        text: `${name} ${request.address}: ${request.on ? 'on' : 'off'}`,
        values: [Number(request.on)],
      };
    case FunctionCode.writeSingleRegister:
      return { text: `${name} ${request.address}: ${request.value}`, values: [request.value] };
    case FunctionCode.writeMultipleCoils:
      return written(name, request.address, request.bits.map(Number));
    case FunctionCode.writeMultipleRegisters:
      return written(name, request.address, request.words);
    case FunctionCode.maskWriteRegister: {
      const { address, andMask, orMask } = request;
      return { text: `${name} ${address}: and ${hexWord(andMask)}, or ${hexWord(orMask)}` };
    }
    case FunctionCode.readWriteMultipleRegisters: {
      const { readAddress, readQuantity, writeAddress, words } = request;
      const write = `write ${rangeText(writeAddress, words.length)}: ${valuesText(words)}`;
      return { text: `${name}, read ${rangeText(readAddress, readQuantity)}, ${write}`, values: words };
    }
    case FunctionCode.readFifoQueue:
      return { text: `${name} ${request.address}` };
    case FunctionCode.readFileRecord:
      return { text: `${name}, ${request.parts.map(partText).join(', ')}` };
    case FunctionCode.writeFileRecord: {
      const parts = request.parts.map((part) => `${partText(part)}: ${valuesText(part.words)}`);
      return { text: `${name}, ${parts.join(', ')}`, values: request.parts.flatMap(({ words }) => words) };
    }
    case FunctionCode.diagnostics:
      return { text: diagnosticsText(request.subFunction, request.data, false) };
    case FunctionCode.encapsulatedInterfaceTransport:
      return {
        text: `read device identification, ${ACCESS[request.access]} from object ${request.objectId}`,
      };
    default:
      return { text: name };
  }
}

function written(name: string, address: number, values: readonly number[]): Saying {
  return { text: `${name} ${rangeText(address, values.length)}: ${valuesText(values)}`, values };
}

function wrongRequest(pdu: Uint8Array, exception: number): Saying {
  const ranges = addressRanges(pdu).map(({ address, quantity }) => `address ${address} quantity ${quantity}`);
  const what = [functionName(pdu[0] as number), ...ranges].join(' ');
  return { text: `${what}, not a valid request (${exceptionText(exception)})` };
}
