import { EXCEPTION_FLAG } from './function-code.js';

/** Functions whose response carries a byte count before its data (Application Protocol V1.1b3, 6). */
const WITH_BYTE_COUNT: ReadonlySet<number> = new Set([1, 2, 3, 4, 12, 17, 20, 21, 23]);

/** Where the value begins in responses that repeat the address, or a sub-function, first. */
const AFTER_ADDRESS = 3;

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
  return Math.min(hasByteCount(pdu) ? 2 : AFTER_ADDRESS, pdu.length);
}
