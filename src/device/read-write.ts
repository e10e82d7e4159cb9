import { ExceptionCode, FunctionCode } from '../modbus/protocol/function-code.js';
import { functionOf } from '../modbus/protocol/function-table.js';
import {
  addressRanges,
  bitsResponse,
  echoResponse,
  exceptionResponse,
  type RefusedRange,
  wordsResponse,
} from '../modbus/protocol/pdu.js';
import { decodeRequest, type RegisterRequest } from '../modbus/protocol/request.js';
import type { Reactions } from './reactions.js';
import type { Table } from './registers/table.js';
import type { Tables } from './tables.js';

const ILLEGAL_ADDRESS = ExceptionCode.illegalDataAddress;

/** How a request reads and writes the cells that allow it. */
export interface Access {
  bits(table: Table, address: number, quantity: number): boolean[];
  words(table: Table, address: number, quantity: number): number[];
  /**
   * Writes `words`, which are 0 and 1 for coils, by calling `write`. Returns the exception if the values
   * refuse the write.
   */
  write(
    table: Table,
    address: number,
    words: readonly number[],
    write: () => void,
  ): ExceptionCode | undefined;
}

/**
 * Reads and writes like a client: actions run, and reads are counted. Writes change the cells if the
 * reactions allow it.
 */
export function clientAccess(reactions: Reactions): Access {
  return {
    bits: (table, address, quantity) => table.readBits(address, quantity),
    words: (table, address, quantity) => table.readWords(address, quantity),
    write({ window: { image, base } }, address, words, write) {
      const refusal = reactions.refusal(image, base + address, words);
      if (refusal === undefined) write();
      return refusal;
    },
  };
}

/** Reads without side effects and does not write: runs no action, counts no read, and consults no reaction. */
const LOOK: Access = {
  bits: (table, address, quantity) =>
    Array.from({ length: quantity }, (_, i) => table.currentBit(address + i)),
  words: (table, address, quantity) => table.currentWords(address, quantity),
  write: () => undefined,
};

/**
 * Returns the response PDU that a device would give, as far as its tables show. Nothing is executed, and
 * reactions may refuse what this allows. Undefined for functions that do not concern coils and registers.
 */
export function predict(tables: Tables, pdu: Uint8Array): Uint8Array | undefined {
  const decoded = decodeRequest(pdu);
  const code = pdu[0] as number;
  if (!decoded.ok) return exceptionResponse(code, decoded.error);
  const { value: request } = decoded;
  // Function 24 has an address too, but reads queues.
  if (!('address' in request || 'readAddress' in request) || request.code === FunctionCode.readFifoQueue)
    return undefined;
  const response = readOrWrite(tables, LOOK, request, pdu);
  return typeof response === 'number' ? exceptionResponse(code, response) : response;
}

/** Executes the functions for coils and registers. If it returns an exception code, nothing was changed. */
export function readOrWrite(
  { coils, discrete, holding, input }: Tables,
  access: Access,
  request: RegisterRequest,
  pdu: Uint8Array,
): Uint8Array | ExceptionCode {
  switch (request.code) {
    case FunctionCode.readCoils:
      return readBits(access, coils, request);
    case FunctionCode.readDiscreteInputs:
      return readBits(access, discrete, request);
    case FunctionCode.readHoldingRegisters:
      return readWords(access, holding, request);
    case FunctionCode.readInputRegisters:
      return readWords(access, input, request);
    case FunctionCode.writeSingleCoil: {
      const { address, on } = request;
      if (!coils.canWriteBits(address, 1)) return ILLEGAL_ADDRESS;
      const write = () => coils.writeBit(address, on);
      return access.write(coils, address, [Number(on)], write) ?? echoResponse(pdu);
    }
    case FunctionCode.writeMultipleCoils: {
      const { address, bits } = request;
      if (!coils.canWriteBits(address, bits.length)) return ILLEGAL_ADDRESS;
      // No value reacts if 16 coils share a cell (pymodbus files).
      const write = () => coils.writeBits(address, bits);
      return access.write(coils, address, bits.map(Number), write) ?? echoResponse(pdu);
    }
    case FunctionCode.writeSingleRegister: {
      const { address, value } = request;
      if (!holding.canWriteWords(address, 1)) return ILLEGAL_ADDRESS;
      const write = () => holding.writeWord(address, value);
      return access.write(holding, address, [value], write) ?? echoResponse(pdu);
    }
    case FunctionCode.writeMultipleRegisters: {
      const { address, words } = request;
      if (!holding.canWriteWords(address, words.length)) return ILLEGAL_ADDRESS;
      const write = () => holding.writeWords(address, words);
      return access.write(holding, address, words, write) ?? echoResponse(pdu);
    }
    case FunctionCode.maskWriteRegister: {
      const { address, andMask, orMask } = request;
      if (!holding.canWriteWords(address, 1)) return ILLEGAL_ADDRESS;
      const word = holding.maskedWord(address, andMask, orMask);
      const write = () => holding.writeWord(address, word);
      return access.write(holding, address, [word], write) ?? echoResponse(pdu);
    }
    case FunctionCode.readWriteMultipleRegisters: {
      const { code, readAddress: address, readQuantity: quantity, writeAddress, words } = request;
      const isAllowed =
        holding.canReadWords(address, quantity) && holding.canWriteWords(writeAddress, words.length);
      if (!isAllowed) return ILLEGAL_ADDRESS;
      // "The write operation is performed before the read" (6.17).
      const write = () => holding.writeWords(writeAddress, words);
      return (
        access.write(holding, writeAddress, words, write) ??
        readWords(access, holding, { code, address, quantity })
      );
    }
  }
}

interface ReadRequest {
  readonly code: number;
  readonly address: number;
  readonly quantity: number;
}

function readBits(access: Access, table: Table, { code, address, quantity }: ReadRequest) {
  if (!table.canReadBits(address, quantity)) return ILLEGAL_ADDRESS;
  return bitsResponse(code, access.bits(table, address, quantity));
}

function readWords(access: Access, table: Table, { code, address, quantity }: ReadRequest) {
  if (!table.canReadWords(address, quantity)) return ILLEGAL_ADDRESS;
  return wordsResponse(code, access.words(table, address, quantity));
}

/**
 * Returns the addresses that caused exception 02. Call this immediately after the answer, which has changed
 * nothing. Undefined if there was another reason, such as a password.
 */
export function refusedAddresses(tables: Tables, requestPdu: Uint8Array): RefusedRange | undefined {
  const { table, broadcast: writes = false } = functionOf(requestPdu[0]) ?? {};
  if (table === undefined) return undefined;
  const of = table === 'coils' || table === 'discrete' ? 'bits' : 'words';
  const ranges = addressRanges(requestPdu);
  for (const [i, range] of ranges.entries()) {
    // A request that a server executes as a broadcast is a write. Function 23 reads its first range and
    // writes its second (Application Protocol V1.1b3, 6.17).
    const refused = tables[table].refused(range, of, writes && i === ranges.length - 1);
    if (refused) return refused;
  }
  return undefined;
}
