import { ExceptionCode } from '../protocol/exception-code.js';
import { FunctionCode } from '../protocol/function-code.js';
import { bitsResponse, echoResponse, exceptionResponse, wordsResponse } from '../protocol/pdu.js';
import { decodeRequest } from '../protocol/request.js';
import type { Table } from '../registers/table.js';
import type { Tables } from './tables.js';

/**
 * The response PDU that a device would give, as far as its tables tell. Nothing is executed, no action runs, and no read is
 * counted. Reactions may refuse what this allows. Undefined for functions that are not about coils and registers.
 */
export function foretell(tables: Tables, pdu: Uint8Array): Uint8Array | undefined {
  const decoded = decodeRequest(pdu);
  const code = pdu[0] as number;
  if (!decoded.ok) return exceptionResponse(code, decoded.exception);
  const { request } = decoded;
  const refused = exceptionResponse(code, ExceptionCode.illegalDataAddress);
  const { coils, discrete, holding, input } = tables;
  switch (request.code) {
    case FunctionCode.readCoils:
      return bits(coils, code, request) ?? refused;
    case FunctionCode.readDiscreteInputs:
      return bits(discrete, code, request) ?? refused;
    case FunctionCode.readHoldingRegisters:
      return words(holding, code, request) ?? refused;
    case FunctionCode.readInputRegisters:
      return words(input, code, request) ?? refused;
    case FunctionCode.writeSingleCoil:
      return coils.canWriteBits(request.address, 1) ? echoResponse(pdu, 5) : refused;
    case FunctionCode.writeMultipleCoils:
      return coils.canWriteBits(request.address, request.bits.length) ? echoResponse(pdu, 5) : refused;
    case FunctionCode.writeSingleRegister:
      return holding.canWriteWords(request.address, 1) ? echoResponse(pdu, 5) : refused;
    case FunctionCode.writeMultipleRegisters:
      return holding.canWriteWords(request.address, request.words.length) ? echoResponse(pdu, 5) : refused;
    case FunctionCode.maskWriteRegister:
      return holding.canWriteWords(request.address, 1) ? echoResponse(pdu, 7) : refused;
    case FunctionCode.readWriteMultipleRegisters:
      return (
        words(holding, code, { address: request.readAddress, quantity: request.readQuantity }) ?? refused
      );
    default:
      return undefined;
  }
}

interface Range {
  readonly address: number;
  readonly quantity: number;
}

function bits(table: Table, code: number, { address, quantity }: Range): Uint8Array | undefined {
  if (!table.canReadBits(address, quantity)) return undefined;
  return bitsResponse(
    code,
    Array.from({ length: quantity }, (_, i) => table.currentBit(address + i)),
  );
}

function words(table: Table, code: number, { address, quantity }: Range): Uint8Array | undefined {
  if (!table.canReadWords(address, quantity)) return undefined;
  return wordsResponse(code, table.currentWords(address, quantity));
}
