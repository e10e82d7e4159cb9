import { bitsAt, wordAt, wordsAt } from './bytes.js';
import { ExceptionCode, FunctionCode, SubFunction } from './function-code.js';
import { type Field, functionOf, type Layout } from './function-table.js';
import { MAX_PDU_LENGTH } from './limits.js';

/** A decoded client request. Addresses are 0-based, as on the wire. */
export type Request = RegisterRequest | FileRequest | DiagnosticRequest;

/** Requests about coils and registers (6.1 to 6.6, 6.11, 6.12, 6.16, 6.17). */
export type RegisterRequest =
  | ReadRequest
  | { readonly code: FunctionCode<'writeSingleCoil'>; readonly address: number; readonly on: boolean }
  | { readonly code: FunctionCode<'writeSingleRegister'>; readonly address: number; readonly value: number }
  | {
      readonly code: FunctionCode<'writeMultipleCoils'>;
      readonly address: number;
      readonly bits: readonly boolean[];
    }
  | {
      readonly code: FunctionCode<'writeMultipleRegisters'>;
      readonly address: number;
      readonly words: readonly number[];
    }
  | {
      readonly code: FunctionCode<'maskWriteRegister'>;
      readonly address: number;
      readonly andMask: number;
      readonly orMask: number;
    }
  | {
      readonly code: FunctionCode<'readWriteMultipleRegisters'>;
      readonly readAddress: number;
      readonly readQuantity: number;
      readonly writeAddress: number;
      readonly words: readonly number[];
    };

/** A request of functions 1 to 4. */
interface ReadRequest {
  readonly code: FunctionCode<
    'readCoils' | 'readDiscreteInputs' | 'readHoldingRegisters' | 'readInputRegisters'
  >;
  readonly address: number;
  readonly quantity: number;
}

/** Requests about files and FIFO queues (6.14, 6.15, 6.18). */
type FileRequest =
  | { readonly code: FunctionCode<'readFileRecord'>; readonly parts: readonly FilePart[] }
  | {
      readonly code: FunctionCode<'writeFileRecord'>;
      readonly parts: readonly (FilePart & { readonly words: readonly number[] })[];
    }
  | { readonly code: FunctionCode<'readFifoQueue'>; readonly address: number };

/** Requests about the device and its line (6.7 to 6.10, 6.13, 6.21). */
type DiagnosticRequest =
  | BareRequest
  | { readonly code: FunctionCode<'diagnostics'>; readonly subFunction: number; readonly data: Uint8Array }
  | {
      readonly code: FunctionCode<'encapsulatedInterfaceTransport'>;
      readonly access: 1 | 2 | 3 | 4;
      readonly objectId: number;
    };

/** Requests of functions 7, 11, 12 and 17, which consist of only a function code. */
interface BareRequest {
  readonly code: FunctionCode<
    'readExceptionStatus' | 'getCommEventCounter' | 'getCommEventLog' | 'reportServerId'
  >;
}

/** `length` records of a file, starting at `record` (6.14). */
export interface FilePart {
  readonly referenceType: number;
  readonly file: number;
  readonly record: number;
  readonly length: number;
}

/** A decoded request, or the exception that answers it. */
type DecodedRequest =
  | { readonly ok: true; readonly value: Request }
  | { readonly ok: false; readonly error: ExceptionCode };

/**
 * Decodes a request PDU, and makes the first two decisions of every state diagram in Application Protocol
 * V1.1b3, 6: the function code is known (else 01); quantity, byte count and value are right (else 03). A PDU
 * too short or too long for its function counts as a wrong byte count. The device checks the addresses.
 */
export function decodeRequest(pdu: Uint8Array): DecodedRequest {
  const layout = functionOf(pdu[0])?.request;
  const request = layout ? requestIn(pdu, layout) : ExceptionCode.illegalFunction;
  if (typeof request === 'number') return { ok: false, error: request };
  return request ? { ok: true, value: request } : { ok: false, error: ExceptionCode.illegalDataValue };
}

/** Returns the request in a PDU, or the exception that answers it; undefined stands for exception 03. */
function requestIn(pdu: Uint8Array, layout: Layout): Request | ExceptionCode | undefined {
  const code = pdu[0] as Request['code'];
  switch (code) {
    case FunctionCode.readCoils:
    case FunctionCode.readDiscreteInputs:
    case FunctionCode.readHoldingRegisters:
    case FunctionCode.readInputRegisters: {
      // Most requests are reads. This shortcut cuts their time to a third.
      const quantity = layout.fields[1] as Field;
      const asked = wordAt(pdu, quantity.at);
      if (pdu.length !== layout.end || asked < 1 || asked > quantity.max) return undefined;
      return { code, address: wordAt(pdu, (layout.fields[0] as Field).at), quantity: asked };
    }
    case FunctionCode.diagnostics:
      return diagnosticsIn(pdu);
    case FunctionCode.encapsulatedInterfaceTransport:
      return identificationIn(pdu);
    case FunctionCode.readFileRecord:
    case FunctionCode.writeFileRecord:
      return filesIn(pdu);
    default: {
      const values = valuesOf(pdu, layout);
      return values && plainRequest(code, pdu, layout, values);
    }
  }
}

/**
 * Returns the values of the fields of a request. Undefined if a quantity is beyond its limits, the byte count
 * does not match the quantity, a coil is neither on nor off, or the length is wrong.
 */
function valuesOf(pdu: Uint8Array, { fields, rest, end }: Layout): number[] | undefined {
  const values = new Array<number>(fields.length);
  let length = end;
  for (let i = 0; i < fields.length; i++) {
    const { at, width, means, max } = fields[i] as Field;
    const value = width === 2 ? wordAt(pdu, at) : (pdu[at] ?? 0);
    values[i] = value;
    if (means === 'quantity' && (value < 1 || value > max)) return undefined;
    if (means === 'coil' && value !== COIL_ON && value !== COIL_OFF) return undefined;
    if (means !== 'byte count') continue;
    const quantity = values[i - 1] as number;
    if (value !== (rest === 'bits' ? (quantity + 7) >>> 3 : 2 * quantity)) return undefined;
    length += value;
  }
  return pdu.length === length ? values : undefined;
}

const COIL_ON = 0xff00;
const COIL_OFF = 0x0000;

/** A request that consists of its fields and the bits or words after them. */
type PlainRequest =
  | Exclude<RegisterRequest, ReadRequest>
  | BareRequest
  | Extract<FileRequest, { readonly address: number }>;

function plainRequest(
  code: PlainRequest['code'],
  pdu: Uint8Array,
  { end }: Layout,
  values: readonly number[],
): PlainRequest {
  const [address, second, third, fourth] = values as [number, number, number, number];
  switch (code) {
    case FunctionCode.writeSingleCoil:
      return { code, address, on: second === COIL_ON };
    case FunctionCode.writeSingleRegister:
      return { code, address, value: second };
    case FunctionCode.writeMultipleCoils:
      return { code, address, bits: bitsAt(pdu, end, second) };
    case FunctionCode.writeMultipleRegisters:
      return { code, address, words: wordsAt(pdu, end, second) };
    case FunctionCode.maskWriteRegister:
      return { code, address, andMask: second, orMask: third };
    case FunctionCode.readWriteMultipleRegisters: {
      const words = wordsAt(pdu, end, fourth);
      return { code, readAddress: address, readQuantity: second, writeAddress: third, words };
    }
    case FunctionCode.readFifoQueue:
      return { code, address };
    case FunctionCode.readExceptionStatus:
    case FunctionCode.getCommEventCounter:
    case FunctionCode.getCommEventLog:
    case FunctionCode.reportServerId:
      return { code };
  }
}

const SUB_FUNCTIONS: ReadonlySet<number> = new Set(Object.values(SubFunction));
const CLEAR_LOG = 0xff00;

/** Decodes function 8 (6.8). The sub-function must exist (else 01), then the data must fit it (else 03). */
function diagnosticsIn(pdu: Uint8Array): Request | ExceptionCode | undefined {
  if (pdu.length < 3) return undefined;
  const subFunction = wordAt(pdu, 1);
  if (!SUB_FUNCTIONS.has(subFunction)) return ExceptionCode.illegalFunction;
  const data = pdu.slice(3);
  return dataFits(subFunction, data) ? { code: FunctionCode.diagnostics, subFunction, data } : undefined;
}

/**
 * Reports whether the data fit the sub-function. Query data is any number of words; every other sub-function
 * has one word, which must be 0 unless it has a meaning.
 */
function dataFits(subFunction: number, data: Uint8Array): boolean {
  if (subFunction === SubFunction.returnQueryData) return data.length >= 2 && data.length % 2 === 0;
  if (data.length !== 2) return false;
  const word = wordAt(data, 0);
  if (subFunction === SubFunction.changeAsciiInputDelimiter) return data[1] === 0;
  return word === 0 || (subFunction === SubFunction.restartCommunicationsOption && word === CLEAR_LOG);
}

/** The only MEI type of function 43 that a server without CANopen supports (6.21). */
export const READ_DEVICE_IDENTIFICATION = 14;

/** Decodes function 43 (6.19, 6.21). Other MEI types count as unknown functions (01). */
function identificationIn(pdu: Uint8Array): Request | ExceptionCode | undefined {
  const [, type, access, objectId = 0] = pdu;
  if (type === undefined) return undefined;
  if (type !== READ_DEVICE_IDENTIFICATION) return ExceptionCode.illegalFunction;
  if (pdu.length !== 4 || (access !== 1 && access !== 2 && access !== 3 && access !== 4)) return undefined;
  return { code: FunctionCode.encapsulatedInterfaceTransport, access, objectId };
}

/** The bytes that identify a file part: reference type, file, record, length. */
const PART_LENGTH = 7;
/** The maximum byte counts in requests of functions 20 and 21. */
const MAX_PARTS_READ = 0xf5;
const MAX_PARTS_WRITTEN = 0xfb;

/**
 * Decodes functions 20 and 21 (6.14, 6.15). The parts must fill the byte count exactly, and each must have at
 * least one record; parts to write carry their data. The response to function 20 must fit into a PDU. (The
 * table in the specification also limits the response to 245 bytes; its text says that the PDU is the limit.)
 */
function filesIn(pdu: Uint8Array): Request | undefined {
  const isRead = pdu[0] === FunctionCode.readFileRecord;
  const byteCount = pdu[1] ?? 0;
  if (byteCount > (isRead ? MAX_PARTS_READ : MAX_PARTS_WRITTEN) || pdu.length !== 2 + byteCount)
    return undefined;
  const parts = [];
  let offset = 2;
  let responseLength = 2;
  while (offset + PART_LENGTH <= pdu.length) {
    const [file, record, length] = wordsAt(pdu, offset + 1, 3) as [number, number, number];
    const referenceType = pdu[offset] as number;
    offset += PART_LENGTH;
    const dataAt = offset;
    if (!isRead) offset += 2 * length;
    responseLength += 2 + 2 * length;
    if (length === 0 || offset > pdu.length) return undefined;
    const words = isRead ? [] : wordsAt(pdu, dataAt, length);
    parts.push({ referenceType, file, record, length, words });
  }
  if (parts.length === 0 || offset !== pdu.length) return undefined;
  if (!isRead) return { code: FunctionCode.writeFileRecord, parts };
  if (responseLength > MAX_PDU_LENGTH) return undefined;
  return { code: FunctionCode.readFileRecord, parts: parts.map(({ words, ...part }) => part) };
}
