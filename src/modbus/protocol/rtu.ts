import { crc16 } from './crc16.js';
import { EXCEPTION_FLAG } from './function-code.js';
import { functionOf, type LengthRule } from './function-table.js';
import { MIN_RTU_LENGTH } from './limits.js';

/**
 * The longest RTU ADU in bytes: unit identifier, PDU, two bytes of CRC (Modbus over Serial Line V1.02,
 * 2.5.1).
 */
export const MAX_RTU_LENGTH = 256;

/** The unit identifier that addresses every server on a serial line (2.2). */
export const BROADCAST = 0;

/** Creates the RTU ADU of a PDU: unit identifier, PDU, CRC low byte first. */
export function encodeRtu(unitId: number, pdu: Uint8Array): Uint8Array {
  const adu = new Uint8Array(pdu.length + 3);
  adu[0] = unitId;
  adu.set(pdu, 1);
  const crc = crc16(adu, 0, adu.length - 2);
  adu[adu.length - 2] = crc & 0xff;
  adu[adu.length - 1] = crc >>> 8;
  return adu;
}

/** Reports whether `bytes[start..end)` has the length of an ADU and ends with its CRC. */
export function isRtuFrame(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  const length = end - start;
  return length >= MIN_RTU_LENGTH && length <= MAX_RTU_LENGTH && crc16(bytes, start, end) === 0;
}

/** Returns unit identifier and PDU of a valid RTU ADU. The PDU is a view, not a copy. */
export function decodeRtu(adu: Uint8Array): { readonly unitId: number; readonly pdu: Uint8Array } {
  return { unitId: adu[0] as number, pdu: adu.subarray(1, -2) };
}

/**
 * The length of an ADU in bytes, or why it is not known: `more` while the bytes that decide it are still
 * missing, `unknown` for a function whose length the specification does not fix (such a frame ends at the
 * silence).
 */
export type PredictedLength = number | 'more' | 'unknown';

/** How many bytes an ADU has besides its PDU, and how many of those precede it. */
const AROUND_PDU = 3;
const BEFORE_PDU = 1;

const EXCEPTION_LENGTH = 5;

/** Predicts the length of a request ADU at `start` from its function code and byte count. */
export function requestLength(bytes: Uint8Array, start: number, end: number): PredictedLength {
  const code = bytes[start + 1];
  if (end - start < 2 || code === undefined) return 'more';
  return apply(functionOf(code)?.request.length, bytes, start, end);
}

/** Predicts the length of a response ADU at `start`; an exception response has 5 bytes. */
export function responseLength(bytes: Uint8Array, start: number, end: number): PredictedLength {
  const code = bytes[start + 1];
  if (end - start < 2 || code === undefined) return 'more';
  if (code & EXCEPTION_FLAG) return EXCEPTION_LENGTH;
  return apply(functionOf(code)?.response.length, bytes, start, end);
}

function apply(rule: LengthRule | undefined, bytes: Uint8Array, start: number, end: number): PredictedLength {
  if (rule === undefined) return 'unknown';
  if (typeof rule === 'number') return rule + AROUND_PDU;
  const countAt = start + BEFORE_PDU + rule.countAt;
  return countAt < end ? rule.plus + AROUND_PDU + (bytes[countAt] as number) : 'more';
}

/** Reports whether only silence marks the end of a frame of this function, request or response. */
export function endsAtSilence(functionCode: number): boolean {
  const row = functionOf(functionCode & ~EXCEPTION_FLAG);
  return row === undefined || row.varies === true;
}

/**
 * Reports whether the response of this function is a copy of the request, so that an ADU may be either (6.5,
 * 6.6, 6.8, 6.15, 6.16).
 */
export function repeatsRequest(adu: Uint8Array): boolean {
  const row = functionOf(adu[1]);
  return row !== undefined && row.request === row.response;
}

/**
 * Reports whether these bytes may be a request: their response would be a copy, or they have the length of a
 * request.
 */
export function mayBeRequest(adu: Uint8Array): boolean {
  return repeatsRequest(adu) || requestLength(adu, 0, adu.length) === adu.length;
}
