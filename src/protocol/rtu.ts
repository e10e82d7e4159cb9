import { crc16 } from './crc16.js';
import { EXCEPTION_FLAG, FunctionCode } from './function-code.js';

/** Sizes of an RTU ADU: unit identifier, PDU, two bytes of CRC (Modbus over Serial Line V1.02, 2.5.1). */
export const MIN_RTU_LENGTH = 4;
export const MAX_RTU_LENGTH = 256;

/** Unit identifier that addresses every server of a serial line (2.2). */
export const BROADCAST = 0;

/** The RTU ADU of a PDU: unit identifier, PDU, CRC low byte first. */
export function encodeRtu(unitId: number, pdu: Uint8Array): Uint8Array {
  const adu = new Uint8Array(pdu.length + 3);
  adu[0] = unitId;
  adu.set(pdu, 1);
  const crc = crc16(adu, 0, adu.length - 2);
  adu[adu.length - 2] = crc & 0xff;
  adu[adu.length - 1] = crc >>> 8;
  return adu;
}

/** True when `bytes[start..end)` is as long as an ADU can be and closes with its CRC. */
export function isRtuFrame(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  const length = end - start;
  return length >= MIN_RTU_LENGTH && length <= MAX_RTU_LENGTH && crc16(bytes, start, end) === 0;
}

/** Unit identifier and PDU of a valid RTU ADU. The PDU is a view, not a copy. */
export function decodeRtu(adu: Uint8Array): { readonly unitId: number; readonly pdu: Uint8Array } {
  return { unitId: adu[0] as number, pdu: adu.subarray(1, -2) };
}

/**
 * Length of the ADU that starts at `start`, or why it is not known:
 * `more` while the bytes that tell it are still missing, `unknown` for a function whose length the
 * specification does not fix (it ends at the silence).
 */
export type PredictedLength = number | 'more' | 'unknown';

/** How a function's ADU length follows from its bytes: fixed, or one byte at `countAt` bytes after the unit identifier. */
type LengthRule = number | { readonly countAt: number; readonly plus: number };

const REQUEST_LENGTH: Readonly<Record<number, LengthRule>> = {
  [FunctionCode.readCoils]: 8,
  [FunctionCode.readDiscreteInputs]: 8,
  [FunctionCode.readHoldingRegisters]: 8,
  [FunctionCode.readInputRegisters]: 8,
  [FunctionCode.writeSingleCoil]: 8,
  [FunctionCode.writeSingleRegister]: 8,
  [FunctionCode.readExceptionStatus]: 4,
  // Query data may be longer and another MEI type be of any length: such frames end at the silence.
  [FunctionCode.diagnostics]: 8,
  [FunctionCode.getCommEventCounter]: 4,
  [FunctionCode.getCommEventLog]: 4,
  [FunctionCode.writeMultipleCoils]: { countAt: 6, plus: 9 },
  [FunctionCode.writeMultipleRegisters]: { countAt: 6, plus: 9 },
  [FunctionCode.reportServerId]: 4,
  [FunctionCode.readFileRecord]: { countAt: 2, plus: 5 },
  [FunctionCode.writeFileRecord]: { countAt: 2, plus: 5 },
  [FunctionCode.maskWriteRegister]: 10,
  [FunctionCode.readWriteMultipleRegisters]: { countAt: 10, plus: 13 },
  [FunctionCode.readFifoQueue]: 6,
  [FunctionCode.encapsulatedInterfaceTransport]: 7,
};

const RESPONSE_LENGTH: Readonly<Record<number, LengthRule>> = {
  [FunctionCode.readCoils]: { countAt: 2, plus: 5 },
  [FunctionCode.readDiscreteInputs]: { countAt: 2, plus: 5 },
  [FunctionCode.readHoldingRegisters]: { countAt: 2, plus: 5 },
  [FunctionCode.readInputRegisters]: { countAt: 2, plus: 5 },
  [FunctionCode.writeSingleCoil]: 8,
  [FunctionCode.writeSingleRegister]: 8,
  [FunctionCode.readExceptionStatus]: 5,
  [FunctionCode.diagnostics]: 8,
  [FunctionCode.getCommEventCounter]: 8,
  [FunctionCode.getCommEventLog]: { countAt: 2, plus: 5 },
  [FunctionCode.writeMultipleCoils]: 8,
  [FunctionCode.writeMultipleRegisters]: 8,
  [FunctionCode.reportServerId]: { countAt: 2, plus: 5 },
  [FunctionCode.readFileRecord]: { countAt: 2, plus: 5 },
  [FunctionCode.writeFileRecord]: { countAt: 2, plus: 5 },
  [FunctionCode.maskWriteRegister]: 10,
  [FunctionCode.readWriteMultipleRegisters]: { countAt: 2, plus: 5 },
  // A byte count of two bytes, of which the first is 0: at most 31 values.
  [FunctionCode.readFifoQueue]: { countAt: 3, plus: 6 },
};

const EXCEPTION_LENGTH = 5;

/** Predicts the length of a request ADU at `start` from its function code and byte count. */
export function requestLength(bytes: Uint8Array, start: number, end: number): PredictedLength {
  const code = bytes[start + 1];
  if (end - start < 2 || code === undefined) return 'more';
  return apply(REQUEST_LENGTH[code], bytes, start, end);
}

/** Predicts the length of a response ADU at `start`; an exception response has 5 bytes. */
export function responseLength(bytes: Uint8Array, start: number, end: number): PredictedLength {
  const code = bytes[start + 1];
  if (end - start < 2 || code === undefined) return 'more';
  if (code & EXCEPTION_FLAG) return EXCEPTION_LENGTH;
  return apply(RESPONSE_LENGTH[code], bytes, start, end);
}

function apply(rule: LengthRule | undefined, bytes: Uint8Array, start: number, end: number): PredictedLength {
  if (rule === undefined) return 'unknown';
  if (typeof rule === 'number') return rule;
  if (end - start <= rule.countAt) return 'more';
  return rule.plus + (bytes[start + rule.countAt] as number);
}

/** Functions whose frames have a usual length, and other ones. */
const VARYING: ReadonlySet<number> = new Set([
  FunctionCode.diagnostics,
  FunctionCode.encapsulatedInterfaceTransport,
]);

/** True when only silence tells where a frame of this function ends, request or response. */
export function endsAtSilence(functionCode: number): boolean {
  const code = functionCode & ~EXCEPTION_FLAG;
  return VARYING.has(code) || REQUEST_LENGTH[code] === undefined || RESPONSE_LENGTH[code] === undefined;
}

/** Functions whose response is a copy of the request (Application Protocol V1.1b3, 6.5, 6.6, 6.8, 6.15, 6.16). */
const COPYING: ReadonlySet<number> = new Set([
  FunctionCode.writeSingleCoil,
  FunctionCode.writeSingleRegister,
  FunctionCode.diagnostics,
  FunctionCode.writeFileRecord,
  FunctionCode.maskWriteRegister,
]);

/** True when an ADU of this function can be the response as well as the request. */
export function repeatsRequest(adu: Uint8Array): boolean {
  return COPYING.has(adu[1] ?? 0);
}

/** True when these bytes could be a request: a copy of one, or as long as one. */
export function mayBeRequest(adu: Uint8Array): boolean {
  return repeatsRequest(adu) || requestLength(adu, 0, adu.length) === adu.length;
}
