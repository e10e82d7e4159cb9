import { copyOf, setWord } from '../modbus/protocol/bytes.js';
import { ExceptionCode } from '../modbus/protocol/exception-code.js';
import { FunctionCode } from '../modbus/protocol/function-code.js';
import { functionOf } from '../modbus/protocol/function-table.js';
import { ADDRESS_SPACE } from '../modbus/protocol/limits.js';
import { addressRanges, bitsResponse, exceptionResponse, wordsResponse } from '../modbus/protocol/pdu.js';
import { decodeRequest } from '../modbus/protocol/request.js';
import type { Holes, Manners, Most } from './manners.js';
import { Table } from './registers/table.js';
import { TABLE_NAMES, type TableName, type Tables } from './tables.js';

/**
 * The functions that write one coil or register, and those that write several or change a part of a register.
 */
const SINGLE: readonly number[] = [FunctionCode.writeSingleCoil, FunctionCode.writeSingleRegister];
const MULTIPLE: readonly number[] = [FunctionCode.writeMultipleCoils, FunctionCode.writeMultipleRegisters];
const WRITES: readonly number[] = [
  ...SINGLE,
  ...MULTIPLE,
  FunctionCode.maskWriteRegister,
  FunctionCode.readWriteMultipleRegisters,
];
const KNOWN_WRITES = { single: SINGLE, multiple: MULTIPLE, both: WRITES };

/**
 * Returns the tables as clients of a device with these manners see them, which are windows onto the same
 * registers. So holding register 40001 of the file and REST may be address 0 on the wire, and function 4 may
 * read what function 3 reads.
 */
export function servedTables(tables: Tables, manners: Manners): Tables {
  const { wholeValues } = manners;
  const served = (name: TableName): Table => {
    const { source, first } = storedAs(manners, name);
    const { window } = tables[source];
    const cells = Math.min(window.size, first);
    if (source === name && cells === 0 && wholeValues === undefined) return tables[name];
    return new Table({
      ...window,
      base: window.base + cells,
      size: window.size - cells,
      wholeValues: wholeValues ?? window.wholeValues,
    });
  };
  const [coils, discrete, input, holding] = TABLE_NAMES.map(served) as [Table, Table, Table, Table];
  return { coils, discrete, input, holding };
}

/** Returns the table and the first address of the registers that clients find in a table. */
export function storedAs(
  { sharedMemory = [], addresses: { first = 0 } = { first: 0 } }: Manners,
  table: TableName,
): { readonly source: TableName; readonly first: number } {
  const source = sharedMemory.find((group) => group.includes(table))?.[0] ?? table;
  return { source, first: typeof first === 'number' ? first : (first[source] ?? 0) };
}

/**
 * Returns the request that a device with manners executes, or the response that it gives without executing
 * anything; an undefined response is none.
 */
export function takenRequest(
  { writes = 'both', most }: Manners,
  requestPdu: Uint8Array,
): { readonly request: Uint8Array } | { readonly response: Uint8Array | undefined } {
  const code = requestPdu[0] as number;
  if (WRITES.includes(code) && !KNOWN_WRITES[writes].includes(code)) {
    return { response: exceptionResponse(code, ExceptionCode.illegalFunction) };
  }
  const request = most === undefined ? requestPdu : withinMost(most, requestPdu);
  if (request instanceof Uint8Array) return { request };
  return { response: request === 'silence' ? undefined : exceptionResponse(code, request) };
}

/**
 * Returns the response PDU of a device with manners to a request PDU; undefined where the device does not
 * answer.
 * @param tables as clients see them
 * @param answer what the device answers by the specification
 */
export function manneredAnswer(
  manners: Manners,
  tables: Tables,
  requestPdu: Uint8Array,
  answer: (pdu: Uint8Array) => Uint8Array | undefined,
): Uint8Array | undefined {
  const taken = takenRequest(manners, requestPdu);
  if ('response' in taken) return taken.response;
  const { holes = 'exception' } = manners;
  const { request } = taken;
  const response = answer(request);
  if (holes === 'exception' || response?.[1] !== ExceptionCode.illegalDataAddress) return response;
  // Only undefined addresses make a read an exception 02. A response with a byte count of 2 has other data
  // than that code.
  const read = readWithHoles(holes, tables, request);
  return read === 'no holes' ? response : read;
}

/**
 * Returns the request with no more than the device takes, or what the device does instead. A wrong request is
 * left to the specification.
 */
function withinMost(most: Most, requestPdu: Uint8Array): Uint8Array | number | 'silence' {
  const { ranges = [], table } = functionOf(requestPdu[0]) ?? {};
  const limit = table === 'coils' || table === 'discrete' ? most.bits : most.registers;
  const asked = addressRanges(requestPdu);
  if (limit === undefined || asked.every(({ quantity }) => quantity <= limit)) return requestPdu;
  if (!decodeRequest(requestPdu).ok) return requestPdu;
  if (most.otherwise !== 'cut') return most.otherwise;
  const cut = copyOf(requestPdu);
  ranges.forEach(({ quantityAt }, i) => {
    const { quantity = 0 } = asked[i] ?? {};
    if (quantityAt !== undefined) setWord(cut, quantityAt, Math.min(quantity, limit));
  });
  return withDataOf(cut, limit);
}

/** Returns a write whose quantity was made smaller, with as many data as that quantity has. */
function withDataOf(pdu: Uint8Array, limit: number): Uint8Array {
  const rule = functionOf(pdu[0])?.request.length;
  if (typeof rule !== 'object') return pdu;
  const isBits = pdu[0] === FunctionCode.writeMultipleCoils;
  const bytes = Math.min(pdu[rule.countAt] as number, isBits ? Math.ceil(limit / 8) : 2 * limit);
  pdu[rule.countAt] = bytes;
  return pdu.subarray(0, rule.plus + bytes);
}

/** Returns the answer to a read that touches undefined addresses, or `no holes` for every other request. */
function readWithHoles(
  holes: Exclude<Holes, 'exception'>,
  tables: Tables,
  requestPdu: Uint8Array,
): Uint8Array | undefined | 'no holes' {
  const code = requestPdu[0] as number;
  const { table: name, values } = functionOf(code) ?? {};
  const [range, written] = addressRanges(requestPdu);
  const isRead = name !== undefined && values !== undefined && range !== undefined && written === undefined;
  if (!isRead || !decodeRequest(requestPdu).ok) return 'no holes';
  const table = tables[name];
  const addresses = Array.from({ length: range.quantity }, (_, i) => range.address + i);
  if (range.address + range.quantity > ADDRESS_SPACE) return 'no holes';
  if (values === 'words' && table.cutsValue(range)) return 'no holes';
  const isDefined = addresses.map((address) => table.defines(address, values));
  if (isDefined.every(Boolean)) return 'no holes';
  if (holes === 'silence') return undefined;
  // Devices that move blocks together refuse a hole that is read alone: LavermanJJ/pysolarfocus issue 61.
  const isFilled = typeof holes === 'object' && 'fill' in holes;
  if (!isFilled && !isDefined.some(Boolean)) return 'no holes';
  const fill = isFilled ? holes.fill : 0;
  const read = addresses.map((address, i): number | undefined => {
    if (!isDefined[i]) return undefined;
    return values === 'bits'
      ? Number(table.readBits(address, 1)[0])
      : (table.readWords(address, 1)[0] as number);
  });
  const present = read.filter((word) => word !== undefined);
  const words = addresses.map((_, i) => (holes === 'shift' ? present[i] : read[i]) ?? fill);
  return values === 'bits'
    ? bitsResponse(
        code,
        words.map((bit) => bit !== 0),
      )
    : wordsResponse(code, words);
}
