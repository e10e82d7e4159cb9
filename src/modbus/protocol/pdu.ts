import { concatBytes, copyOf, newBytes, packBits, setWord, wordAt } from './bytes.js';
import { EXCEPTION_FLAG } from './function-code.js';
import { functionOf, type Layout } from './function-table.js';

export interface AddressRange {
  readonly address: number;
  readonly quantity: number;
}

/** Why a device refuses addresses with exception 02. */
export const REFUSALS = ['not defined', 'read only', 'part of a value'] as const;

/** Addresses that a device has refused. */
export interface RefusedRange extends AddressRange {
  readonly why: (typeof REFUSALS)[number];
}

/**
 * The addresses that a request PDU names, without judging them: none for functions that address no registers,
 * functions 20 and 21 with their records among them; two ranges for function 23, which reads one and writes the other.
 * Function 24 names the pointer of a queue (Application Protocol V1.1b3, 6.18).
 */
export function addressRanges(pdu: Uint8Array): AddressRange[] {
  const ranges = functionOf(pdu[0])?.ranges ?? [];
  return ranges.map(({ addressAt, quantityAt }) => ({
    address: wordAt(pdu, addressAt),
    quantity: quantityAt === undefined ? 1 : wordAt(pdu, quantityAt),
  }));
}

/** The values of the fields of a PDU. Bytes past the end read as 0. */
export function fieldValues(pdu: Uint8Array, { fields }: Layout): number[] {
  return fields.map(({ at, width }) => (width === 2 ? wordAt(pdu, at) : (pdu[at] ?? 0)));
}

/** True when byte 1 of the response PDU says how many bytes follow. */
export function hasByteCount(pdu: Uint8Array): boolean {
  const rule = functionOf(pdu[0])?.response.length;
  return typeof rule === 'object' && rule.countAt === 1;
}

/**
 * Offset of the first data byte in a response PDU: what a client would show as values.
 * Its length when there is none, as in an exception response.
 */
export function dataOffset(pdu: Uint8Array): number {
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return pdu.length;
  return Math.min(functionOf(code)?.response.dataAt ?? 1, pdu.length);
}

/** False when the response PDU can't be the one to the request PDU, because it has values of another quantity. */
export function hasQuantityOf(response: Uint8Array, request: Uint8Array): boolean {
  const values = functionOf(response[0])?.values;
  const quantity = addressRanges(request)[0]?.quantity;
  if (values === undefined || quantity === undefined) return true;
  return response[1] === (values === 'bits' ? Math.ceil(quantity / 8) : 2 * quantity);
}

/** Response PDU of functions 1 and 2: byte count and packed bits (6.1, 6.2). */
export function bitsResponse(code: number, bits: readonly boolean[]): Uint8Array {
  const data = packBits(bits);
  return concatBytes([code, data.length], data);
}

/** Response PDU of functions 3, 4 and 23: byte count and words (6.3, 6.4, 6.17). */
export function wordsResponse(code: number, words: readonly number[]): Uint8Array {
  const pdu = newBytes(2 + 2 * words.length);
  pdu[0] = code;
  pdu[1] = 2 * words.length;
  for (let i = 0; i < words.length; i++) setWord(pdu, 2 + 2 * i, words[i] as number);
  return pdu;
}

/** Response PDU of the functions that answer with the beginning of the request: 5, 6, 22 whole, 15 and 16 five bytes. */
export function echoResponse(requestPdu: Uint8Array): Uint8Array {
  return copyOf(requestPdu, 0, functionOf(requestPdu[0])?.response.end);
}

/** Exception response PDU (7). The flag is set, never toggled, so that no wrong function code turns into a success. */
export function exceptionResponse(functionCode: number, exception: number): Uint8Array {
  return Uint8Array.of((functionCode | EXCEPTION_FLAG) & 0xff, exception);
}
