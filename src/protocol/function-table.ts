import { decodeBare, decodeDiagnostics, decodeEncapsulated } from './decode-diagnostics.js';
import { decodeReadFifoQueue, decodeReadFileRecord, decodeWriteFileRecord } from './decode-files.js';
import {
  decodeMaskWriteRegister,
  decodeRead,
  decodeReadWriteMultipleRegisters,
  decodeWriteMultipleCoils,
  decodeWriteMultipleRegisters,
  decodeWriteSingleCoil,
  decodeWriteSingleRegister,
} from './decode-registers.js';
import { FunctionCode, type FunctionName } from './function-code.js';
import { MAX_BITS_READ, MAX_REGISTERS_READ } from './limits.js';
import type { DecodedRequest } from './request.js';

/** What the protocol says of a function (Application Protocol V1.1b3, 6). Offsets and lengths are those of PDUs. */
interface FunctionRow {
  /** Decodes a request up to the address; refuses quantities, byte counts and lengths that it can't have. */
  readonly decode: (pdu: Uint8Array) => DecodedRequest;
  readonly request: LengthRule;
  /** Undefined where the specification does not fix it. */
  readonly response: LengthRule | undefined;
  /** Requests of other lengths than the usual one are valid too, so only silence shows where a frame ends. */
  readonly varies?: boolean;
  /** Where the request names addresses of registers or coils. */
  readonly ranges?: readonly RangeFields[];
  /** Offset of the data in a response: what a client would show as values. */
  readonly dataAt: number;
  /** What values the data of a response are, if they are the values of a range. */
  readonly values?: 'bits' | 'words';
  /** The response is a copy of the request. */
  readonly copies?: boolean;
  /** Servers execute it as a broadcast: it writes (Serial Line V1.02, 2.2), or it is about diagnostics. */
  readonly broadcast?: boolean;
  /** The function asks for the events of the line, and is not counted as one itself (6.9). */
  readonly asksForEvents?: boolean;
}

/** A fixed length, or `plus` and the value of the byte at `countAt`. */
export type LengthRule = number | { readonly countAt: number; readonly plus: number };

/** Offsets of an address and of its quantity. Without a quantity, one item is meant. */
interface RangeFields {
  readonly addressAt: number;
  readonly quantityAt?: number;
}

/** A response with a byte count before its data, and a request with one after address and quantity. */
const COUNTED = { countAt: 1, plus: 2 };
const COUNTED_WRITE = { countAt: 5, plus: 6 };

const RANGE = [{ addressAt: 1, quantityAt: 3 }];
const ONE = [{ addressAt: 1 }];

const BITS = { request: 5, response: COUNTED, ranges: RANGE, dataAt: 2, values: 'bits' } as const;
const WORDS = { request: 5, response: COUNTED, ranges: RANGE, dataAt: 2, values: 'words' } as const;
const WRITE_ONE = { request: 5, response: 5, ranges: ONE, dataAt: 3, copies: true, broadcast: true };
const WRITE_MANY = { request: COUNTED_WRITE, response: 5, ranges: RANGE, dataAt: 3, broadcast: true };

/** The nineteen functions, a row each. What a device does for them is in `device`. */
const ROWS: Readonly<Record<FunctionName, FunctionRow>> = {
  readCoils: { ...BITS, decode: decodeRead(FunctionCode.readCoils, MAX_BITS_READ) },
  readDiscreteInputs: { ...BITS, decode: decodeRead(FunctionCode.readDiscreteInputs, MAX_BITS_READ) },
  readHoldingRegisters: {
    ...WORDS,
    decode: decodeRead(FunctionCode.readHoldingRegisters, MAX_REGISTERS_READ),
  },
  readInputRegisters: { ...WORDS, decode: decodeRead(FunctionCode.readInputRegisters, MAX_REGISTERS_READ) },
  writeSingleCoil: { ...WRITE_ONE, decode: decodeWriteSingleCoil },
  writeSingleRegister: { ...WRITE_ONE, decode: decodeWriteSingleRegister },
  readExceptionStatus: {
    decode: decodeBare(FunctionCode.readExceptionStatus),
    request: 1,
    response: 2,
    dataAt: 1,
  },
  // Query data may be longer than the one word of the other sub-functions.
  diagnostics: {
    decode: decodeDiagnostics,
    request: 5,
    response: 5,
    varies: true,
    dataAt: 3,
    copies: true,
    broadcast: true,
  },
  getCommEventCounter: {
    decode: decodeBare(FunctionCode.getCommEventCounter),
    request: 1,
    response: 5,
    dataAt: 1,
    asksForEvents: true,
  },
  getCommEventLog: {
    decode: decodeBare(FunctionCode.getCommEventLog),
    request: 1,
    response: COUNTED,
    dataAt: 2,
    asksForEvents: true,
  },
  writeMultipleCoils: { ...WRITE_MANY, decode: decodeWriteMultipleCoils },
  writeMultipleRegisters: { ...WRITE_MANY, decode: decodeWriteMultipleRegisters },
  reportServerId: {
    decode: decodeBare(FunctionCode.reportServerId),
    request: 1,
    response: COUNTED,
    dataAt: 2,
  },
  readFileRecord: { decode: decodeReadFileRecord, request: COUNTED, response: COUNTED, dataAt: 2 },
  writeFileRecord: {
    decode: decodeWriteFileRecord,
    request: COUNTED,
    response: COUNTED,
    dataAt: 2,
    copies: true,
    broadcast: true,
  },
  maskWriteRegister: { ...WRITE_ONE, decode: decodeMaskWriteRegister, request: 7, response: 7 },
  // Reads one range and writes the other.
  readWriteMultipleRegisters: {
    decode: decodeReadWriteMultipleRegisters,
    request: { countAt: 9, plus: 10 },
    response: COUNTED,
    ranges: [...RANGE, { addressAt: 5, quantityAt: 7 }],
    dataAt: 2,
    values: 'words',
    broadcast: true,
  },
  // Names the pointer of a queue. The response has a byte count of two bytes, of which the first is 0: at most 31 values.
  readFifoQueue: {
    decode: decodeReadFifoQueue,
    request: 3,
    response: { countAt: 2, plus: 3 },
    ranges: ONE,
    dataAt: 5,
  },
  // Another MEI type may be of any length.
  encapsulatedInterfaceTransport: {
    decode: decodeEncapsulated,
    request: 4,
    response: undefined,
    varies: true,
    dataAt: 7,
  },
};

const BY_CODE: readonly (FunctionRow | undefined)[] = Array.from({ length: 256 }, (_, code) => {
  const entry = Object.entries(FunctionCode).find(([, each]) => each === code);
  return entry && ROWS[entry[0] as FunctionName];
});

/** The row of a function code; undefined for those that the specification does not have. */
export function functionOf(code: number | undefined): FunctionRow | undefined {
  return code === undefined ? undefined : BY_CODE[code];
}
