import { FunctionCode } from '../protocol/function-code.js';
import type { RegisterRequest } from '../protocol/request.js';
import { bitsResponse, echoResponse, wordsResponse } from '../protocol/response.js';
import type { Tables } from './tables.js';

/** Executes the functions on coils and registers. Undefined means exception 02, and that nothing was changed. */
export function executeRegisters(
  tables: Tables,
  request: RegisterRequest,
  pdu: Uint8Array,
): Uint8Array | undefined {
  switch (request.code) {
    case FunctionCode.readCoils:
    case FunctionCode.readDiscreteInputs: {
      const table = request.code === FunctionCode.readCoils ? tables.coils : tables.discrete;
      if (!table.canReadBits(request.address, request.quantity)) return undefined;
      return bitsResponse(request.code, table.readBits(request.address, request.quantity));
    }
    case FunctionCode.readHoldingRegisters:
    case FunctionCode.readInputRegisters: {
      const table = request.code === FunctionCode.readHoldingRegisters ? tables.holding : tables.input;
      if (!table.canReadWords(request.address, request.quantity)) return undefined;
      return wordsResponse(request.code, table.readWords(request.address, request.quantity));
    }
    case FunctionCode.writeSingleCoil:
      if (!tables.coils.canWriteBits(request.address, 1)) return undefined;
      tables.coils.writeBit(request.address, request.on);
      return echoResponse(pdu, 5);
    case FunctionCode.writeSingleRegister:
      if (!tables.holding.canWriteWords(request.address, 1)) return undefined;
      tables.holding.writeWord(request.address, request.value);
      return echoResponse(pdu, 5);
    case FunctionCode.writeMultipleCoils:
      if (!tables.coils.canWriteBits(request.address, request.bits.length)) return undefined;
      tables.coils.writeBits(request.address, request.bits);
      return echoResponse(pdu, 5);
    case FunctionCode.writeMultipleRegisters:
      if (!tables.holding.canWriteWords(request.address, request.words.length)) return undefined;
      tables.holding.writeWords(request.address, request.words);
      return echoResponse(pdu, 5);
    case FunctionCode.maskWriteRegister:
      if (!tables.holding.canWriteWords(request.address, 1)) return undefined;
      tables.holding.maskWord(request.address, request.andMask, request.orMask);
      return echoResponse(pdu, 7);
    case FunctionCode.readWriteMultipleRegisters: {
      const { readAddress, readQuantity, writeAddress, words } = request;
      const { holding } = tables;
      if (!holding.canReadWords(readAddress, readQuantity)) return undefined;
      if (!holding.canWriteWords(writeAddress, words.length)) return undefined;
      // "The write operation is performed before the read" (6.17).
      holding.writeWords(writeAddress, words);
      return wordsResponse(request.code, holding.readWords(readAddress, readQuantity));
    }
  }
}
