import { wordAt } from './bytes.js';
import { functionOf } from './function-table.js';

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
  const fields = functionOf(pdu[0])?.ranges ?? [];
  return fields.map(({ addressAt, quantityAt }) => ({
    address: wordAt(pdu, addressAt),
    quantity: quantityAt === undefined ? 1 : wordAt(pdu, quantityAt),
  }));
}
