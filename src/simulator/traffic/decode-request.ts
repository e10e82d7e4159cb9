import { plural } from '../../common/words.js';
import { hex, wordAt } from '../../modbus/protocol/bytes.js';
import { FunctionCode, SubFunction } from '../../modbus/protocol/function-code.js';
import { functionOf } from '../../modbus/protocol/function-table.js';
import { addressRanges } from '../../modbus/protocol/pdu.js';
import { decodeRequest, type FilePart, type Request } from '../../modbus/protocol/request.js';
import type { TrafficView } from './view-schema.js';
import { exceptionText, functionName, hexWord, rangeText, subFunctionName, valuesText } from './words.js';

/** The content of a PDU. `quantity` belongs to `address`. For function 23, both describe the range to read. */
export interface Message {
  /** The function code without the exception flag. */
  readonly functionCode: number;
  /** The name of the function in the specification, such as `read holding registers`. */
  readonly name: string;
  readonly address: number | undefined;
  readonly quantity: number | undefined;
  /** The registers, or coils as 0 and 1, that a request writes or a response contains. */
  readonly values: readonly number[] | undefined;
  /** The exception code of a response. */
  readonly exception: number | undefined;
  /** The whole content as text: `read holding registers 0–1: 1 256`. */
  readonly text: string;
}

/** The content of a message other than its function and first range. */
export interface Saying {
  readonly text: string;
  readonly values?: readonly number[] | undefined;
  readonly exception?: number;
}

/** @param requestPdu contains the addresses; undefined if the request is not known */
export function messageOf(
  functionCode: number,
  requestPdu: Uint8Array | undefined,
  { text, values, exception }: Saying,
): Message {
  const [range] = requestPdu === undefined ? [] : addressRanges(requestPdu);
  const { address, quantity } = range ?? {};
  return { functionCode, name: functionName(functionCode), address, quantity, values, exception, text };
}

/** Decodes a request PDU. If it is invalid for its function, the text names the exception that should answer it. */
export function requestMessage(pdu: Uint8Array): Message {
  const code = pdu[0] as number;
  const decoded = decodeRequest(pdu);
  return messageOf(code, pdu, decoded.ok ? sayingOf(decoded.value) : wrongRequest(pdu, decoded.error));
}

/** Registers or coils that a request writes. Function 22 has no values: it changes bits of a register. */
export type WrittenValues = NonNullable<TrafficView['written']>;

/** The registers or coils that a request writes; undefined for other requests and invalid ones. */
export function writtenBy(pdu: Uint8Array): WrittenValues | undefined {
  const decoded = decodeRequest(pdu);
  const written = decoded.ok ? writeOf(decoded.value) : undefined;
  return written && { table: functionOf(pdu[0])?.table as WrittenValues['table'], ...written };
}

function writeOf(request: Request): Omit<WrittenValues, 'table'> | undefined {
  switch (request.code) {
    case FunctionCode.writeSingleCoil:
      return { address: request.address, values: [Number(request.on)] };
    case FunctionCode.writeMultipleCoils:
      return { address: request.address, values: request.bits.map(Number) };
    case FunctionCode.writeSingleRegister:
      return { address: request.address, values: [request.value] };
    case FunctionCode.writeMultipleRegisters:
      return { address: request.address, values: [...request.words] };
    case FunctionCode.maskWriteRegister:
      return { address: request.address, values: undefined };
    case FunctionCode.readWriteMultipleRegisters:
      return { address: request.writeAddress, values: [...request.words] };
    default:
      return undefined;
  }
}

/** Formats a part of a file: `file 4 records 1–2`. */
export function partText({ file, record, length }: FilePart): string {
  return `file ${file} ${plural(length, 'record')} ${rangeText(record, length)}`;
}

/**
 * Formats a message of function 8: `diagnostics, return query data: a5 37`. Counters are shown as numbers;
 * meaningless data is left out.
 */
export function diagnosticsText(subFunction: number, data: Uint8Array, isResponse: boolean): string {
  const text = `diagnostics, ${subFunctionName(subFunction)}`;
  if (
    isResponse &&
    subFunction >= SubFunction.returnBusMessageCount &&
    subFunction < SubFunction.clearOverrunCounterAndFlag
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
    case FunctionCode.writeMultipleCoils:
    case FunctionCode.writeMultipleRegisters: {
      const { address, values = [] } = writeOf(request) as Omit<WrittenValues, 'table'>;
      return { text: `${name} ${rangeText(address, values.length)}: ${valuesText(values)}`, values };
    }
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

function wrongRequest(pdu: Uint8Array, exception: number): Saying {
  const ranges = addressRanges(pdu).map(({ address, quantity }) => `address ${address} quantity ${quantity}`);
  const what = [functionName(pdu[0] as number), ...ranges].join(' ');
  return { text: `${what}, not a valid request (${exceptionText(exception)})` };
}
