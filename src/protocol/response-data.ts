import { EXCEPTION_FLAG } from './function-code.js';

/** Functions whose response carries a byte count before its data (Application Protocol V1.1b3, 6). */
const WITH_BYTE_COUNT: ReadonlySet<number> = new Set([1, 2, 3, 4, 12, 17, 20, 21, 23]);

/** Where the data of the other responses begin: after the address or sub-function they repeat, or what they carry. */
const DATA_OFFSET: ReadonlyMap<number, number> = new Map([
  [5, 3],
  [6, 3],
  [7, 1],
  [8, 3],
  [11, 1],
  [15, 3],
  [16, 3],
  [22, 3],
  [24, 5],
  [43, 7],
]);

/** True when byte 1 of the response PDU says how many bytes follow. */
export function hasByteCount(pdu: Uint8Array): boolean {
  return WITH_BYTE_COUNT.has(pdu[0] as number);
}

/**
 * Offset of the first data byte in a response PDU: what a client would show as values.
 * Its length when there is none, as in an exception response.
 */
export function dataOffset(pdu: Uint8Array): number {
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return pdu.length;
  return Math.min(hasByteCount(pdu) ? 2 : (DATA_OFFSET.get(code) ?? 1), pdu.length);
}
