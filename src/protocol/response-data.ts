import { EXCEPTION_FLAG } from './function-code.js';
import { functionOf } from './function-table.js';

/** True when byte 1 of the response PDU says how many bytes follow. */
export function hasByteCount(pdu: Uint8Array): boolean {
  const rule = functionOf(pdu[0])?.response;
  return typeof rule === 'object' && rule.countAt === 1;
}

/**
 * Offset of the first data byte in a response PDU: what a client would show as values.
 * Its length when there is none, as in an exception response.
 */
export function dataOffset(pdu: Uint8Array): number {
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return pdu.length;
  return Math.min(functionOf(code)?.dataAt ?? 1, pdu.length);
}
