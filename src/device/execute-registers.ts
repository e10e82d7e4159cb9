import type { Request } from '../protocol/request.js';
import { bitsResponse, echoResponse, wordsResponse } from '../protocol/response.js';
import type { Tables } from './tables.js';

type RegisterRequest = Extract<Request, { code: 1 | 2 | 3 | 4 | 5 | 6 | 15 | 16 | 22 | 23 }>;

/** The functions on coils and registers. Undefined stands for exception 02; then nothing has been done. */
export function executeRegisters(
  tables: Tables,
  request: RegisterRequest,
  pdu: Uint8Array,
): Uint8Array | undefined {
  switch (request.code) {
    case 1:
    case 2: {
      const table = request.code === 1 ? tables.coils : tables.discrete;
      if (!table.canReadBits(request.address, request.quantity)) return undefined;
      return bitsResponse(request.code, table.readBits(request.address, request.quantity));
    }
    case 3:
    case 4: {
      const table = request.code === 3 ? tables.holding : tables.input;
      if (!table.canReadWords(request.address, request.quantity)) return undefined;
      return wordsResponse(request.code, table.readWords(request.address, request.quantity));
    }
    case 5:
      if (!tables.coils.canWriteBits(request.address, 1)) return undefined;
      tables.coils.writeBits(request.address, [request.on]);
      return echoResponse(pdu, 5);
    case 6:
      if (!tables.holding.canWriteWords(request.address, 1)) return undefined;
      tables.holding.writeWords(request.address, [request.value]);
      return echoResponse(pdu, 5);
    case 15:
      if (!tables.coils.canWriteBits(request.address, request.bits.length)) return undefined;
      tables.coils.writeBits(request.address, request.bits);
      return echoResponse(pdu, 5);
    case 16:
      if (!tables.holding.canWriteWords(request.address, request.words.length)) return undefined;
      tables.holding.writeWords(request.address, request.words);
      return echoResponse(pdu, 5);
    case 22:
      if (!tables.holding.canWriteWords(request.address, 1)) return undefined;
      tables.holding.maskWord(request.address, request.andMask, request.orMask);
      return echoResponse(pdu, 7);
    case 23: {
      const { readAddress, readQuantity, writeAddress, words } = request;
      const { holding } = tables;
      if (!holding.canReadWords(readAddress, readQuantity)) return undefined;
      if (!holding.canWriteWords(writeAddress, words.length)) return undefined;
      // "The write operation is performed before the read" (6.17).
      holding.writeWords(writeAddress, words);
      return wordsResponse(23, holding.readWords(readAddress, readQuantity));
    }
  }
}
