import { ExceptionCode } from '../protocol/exception-code.js';
import { FunctionCode } from '../protocol/function-code.js';
import { bitsResponse, echoResponse, wordsResponse } from '../protocol/pdu.js';
import type { RegisterRequest } from '../protocol/request.js';
import type { Server } from './server.js';

/** Executes the functions on coils and registers. An exception code means that nothing was changed. */
export function executeRegisters(
  server: Server,
  request: RegisterRequest,
  pdu: Uint8Array,
): Uint8Array | ExceptionCode {
  const { coils, discrete, holding, input } = server.tables;
  switch (request.code) {
    case FunctionCode.readCoils:
    case FunctionCode.readDiscreteInputs: {
      const table = request.code === FunctionCode.readCoils ? coils : discrete;
      if (!table.canReadBits(request.address, request.quantity)) return ExceptionCode.illegalDataAddress;
      return bitsResponse(request.code, table.readBits(request.address, request.quantity));
    }
    case FunctionCode.readHoldingRegisters:
    case FunctionCode.readInputRegisters: {
      const table = request.code === FunctionCode.readHoldingRegisters ? holding : input;
      if (!table.canReadWords(request.address, request.quantity)) return ExceptionCode.illegalDataAddress;
      return wordsResponse(request.code, table.readWords(request.address, request.quantity));
    }
    case FunctionCode.writeSingleCoil: {
      const refusal = refusalOfBits(server, request.address, [request.on]);
      if (refusal !== undefined) return refusal;
      coils.writeBit(request.address, request.on);
      return echoResponse(pdu, 5);
    }
    case FunctionCode.writeSingleRegister: {
      const refusal = refusalOfWords(server, request.address, [request.value]);
      if (refusal !== undefined) return refusal;
      holding.writeWord(request.address, request.value);
      return echoResponse(pdu, 5);
    }
    case FunctionCode.writeMultipleCoils: {
      const refusal = refusalOfBits(server, request.address, request.bits);
      if (refusal !== undefined) return refusal;
      coils.writeBits(request.address, request.bits);
      return echoResponse(pdu, 5);
    }
    case FunctionCode.writeMultipleRegisters: {
      const refusal = refusalOfWords(server, request.address, request.words);
      if (refusal !== undefined) return refusal;
      holding.writeWords(request.address, request.words);
      return echoResponse(pdu, 5);
    }
    case FunctionCode.maskWriteRegister: {
      const { address, andMask, orMask } = request;
      if (!holding.canWriteWords(address, 1)) return ExceptionCode.illegalDataAddress;
      const word = holding.maskedWord(address, andMask, orMask);
      const refusal = refusalOfWords(server, address, [word]);
      if (refusal !== undefined) return refusal;
      holding.writeWord(address, word);
      return echoResponse(pdu, 7);
    }
    case FunctionCode.readWriteMultipleRegisters: {
      const { readAddress, readQuantity, writeAddress, words } = request;
      if (!holding.canReadWords(readAddress, readQuantity)) return ExceptionCode.illegalDataAddress;
      const refusal = refusalOfWords(server, writeAddress, words);
      if (refusal !== undefined) return refusal;
      // "The write operation is performed before the read" (6.17).
      holding.writeWords(writeAddress, words);
      return wordsResponse(request.code, holding.readWords(readAddress, readQuantity));
    }
  }
}

/** The exception that refuses a write of holding registers: first for the addresses, then as the values react. */
function refusalOfWords(
  { tables: { holding }, reactions }: Server,
  address: number,
  words: readonly number[],
): ExceptionCode | undefined {
  if (!holding.canWriteWords(address, words.length)) return ExceptionCode.illegalDataAddress;
  return reactions.refusal(holding.window.image, holding.window.base + address, words);
}

function refusalOfBits(
  { tables: { coils }, reactions }: Server,
  address: number,
  bits: readonly boolean[],
): ExceptionCode | undefined {
  if (!coils.canWriteBits(address, bits.length)) return ExceptionCode.illegalDataAddress;
  // Where 16 coils share a cell (pymodbus files), nothing reacts.
  return reactions.refusal(coils.window.image, coils.window.base + address, bits.map(Number));
}
