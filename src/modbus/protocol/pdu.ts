import { concatBytes, copyOf, newBytes, packBits, setWord, wordAt } from './bytes.js';
import { EXCEPTION_FLAG } from './function-code.js';
import { functionOf, type Layout } from './function-table.js';

export interface AddressRange {
  readonly address: number;
  readonly quantity: number;
}

/** Why a device refuses addresses with exception 02. */
export const REFUSALS = ['not defined', 'read only', 'part of a value'] as const;

/** A range of addresses that a device refused. */
export interface RefusedRange extends AddressRange {
  readonly why: (typeof REFUSALS)[number];
}

/**
 * Returns the address ranges in a request PDU, unchecked: none for functions that address no registers (such
 * as 20 and 21, which address records); two for function 23, which reads one and writes the other. Function
 * 24 has the address of a queue's pointer (Application Protocol V1.1b3, 6.18).
 */
export function addressRanges(pdu: Uint8Array): AddressRange[] {
  const ranges = functionOf(pdu[0])?.ranges ?? [];
  return ranges.map(({ addressAt, quantityAt }) => ({
    address: wordAt(pdu, addressAt),
    quantity: quantityAt === undefined ? 1 : wordAt(pdu, quantityAt),
  }));
}

/** Returns the values of the fields of a PDU. Bytes past the end read as 0. */
export function fieldValues(pdu: Uint8Array, { fields }: Layout): number[] {
  return fields.map(({ at, width }) => (width === 2 ? wordAt(pdu, at) : (pdu[at] ?? 0)));
}

/** Reports whether byte 1 of the response PDU is a byte count. */
export function hasByteCount(pdu: Uint8Array): boolean {
  const rule = functionOf(pdu[0])?.response.length;
  return typeof rule === 'object' && rule.countAt === 1;
}

/**
 * Returns the offset of the first data byte in a response PDU, which a client would show as values. Without
 * data, as in an exception response, this is the length of the PDU.
 */
export function dataOffset(pdu: Uint8Array): number {
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return pdu.length;
  return Math.min(functionOf(code)?.response.dataAt ?? 1, pdu.length);
}

/** Reports whether the response PDU may answer the request PDU: false if it has a different quantity of values. */
export function hasQuantityOf(response: Uint8Array, request: Uint8Array): boolean {
  const values = functionOf(response[0])?.values;
  const quantity = addressRanges(request)[0]?.quantity;
  if (values === undefined || quantity === undefined) return true;
  return response[1] === (values === 'bits' ? Math.ceil(quantity / 8) : 2 * quantity);
}

/** Creates the response PDU of functions 1 and 2: byte count and packed bits (6.1, 6.2). */
export function bitsResponse(code: number, bits: readonly boolean[]): Uint8Array {
  const data = packBits(bits);
  return concatBytes([code, data.length], data);
}

/** Creates the response PDU of functions 3, 4 and 23: byte count and words (6.3, 6.4, 6.17). */
export function wordsResponse(code: number, words: readonly number[]): Uint8Array {
  const pdu = newBytes(2 + 2 * words.length);
  pdu[0] = code;
  pdu[1] = 2 * words.length;
  for (let i = 0; i < words.length; i++) setWord(pdu, 2 + 2 * i, words[i] as number);
  return pdu;
}

/**
 * Creates the response PDU of a function that echoes the beginning of the request: the whole request for 5, 6
 * and 22, its first five bytes for 15 and 16.
 */
export function echoResponse(requestPdu: Uint8Array): Uint8Array {
  return copyOf(requestPdu, 0, functionOf(requestPdu[0])?.response.end);
}

/**
 * Creates an exception response PDU (7). The flag is set, not toggled, so a function code that already has it
 * can't turn into a success.
 */
export function exceptionResponse(functionCode: number, exception: number): Uint8Array {
  return Uint8Array.of((functionCode | EXCEPTION_FLAG) & 0xff, exception);
}
