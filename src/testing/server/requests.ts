import { concatBytes, packBits, packWords, wordAt } from '../../modbus/protocol/bytes.js';
import type { ServerAnswer } from './reading.js';

/* The requests that checks send, and the addresses that they write. */

/** The tables that requests write. */
export type ScratchTable = 'holding' | 'coils';

/** A range of addresses, both ends inclusive. */
export interface AddressSpan {
  readonly first: number;
  readonly last: number;
}

/** Makes a request with an address and a quantity or a value: functions 1 to 6. */
export function readPdu(code: number, address: number, quantity: number): Uint8Array {
  return Uint8Array.of(code, ...bytesOf(address), ...bytesOf(quantity));
}

export function write16(address: number, values: readonly number[]): Uint8Array {
  return concatBytes([16, ...bytesOf(address), 0, values.length, 2 * values.length], packWords(values));
}

export function write15(address: number, values: readonly number[]): Uint8Array {
  const bits = packBits(values.map(Boolean));
  return concatBytes([15, ...bytesOf(address), ...bytesOf(values.length), bits.length], bits);
}

/** Makes a request with function 23 that reads registers and writes one. */
export function readWrite(address: number, quantity: number, target: number, value: number): Uint8Array {
  return Uint8Array.of(
    ...[23, ...bytesOf(address), ...bytesOf(quantity)],
    ...[...bytesOf(target), 0, 1, 2, ...bytesOf(value)],
  );
}

export const bytesOf = (word: number) => [(word >> 8) & 0xff, word & 0xff] as const;

/**
 * The addresses that a request writes, even on a server that uses its byte count or data instead of its
 * quantity. Undefined for a request that writes nothing.
 */
export function writtenBy(pdu: Uint8Array): (AddressSpan & { readonly table: ScratchTable }) | undefined {
  const [code] = pdu;
  const span = (table: ScratchTable, first: number, many: number) => ({
    ...{ table, first, last: first + Math.max(1, many) - 1 },
  });
  switch (code) {
    case 5:
      return span('coils', wordAt(pdu, 1), 1);
    case 6:
    case 22:
      return span('holding', wordAt(pdu, 1), 1);
    case 15: {
      const [quantity, bytes = 0] = [wordAt(pdu, 3), pdu[5]];
      return span('coils', wordAt(pdu, 1), bytes === Math.ceil(quantity / 8) ? quantity : 8 * bytes);
    }
    case 16:
      return span('holding', wordAt(pdu, 1), Math.max(wordAt(pdu, 3), (pdu[5] ?? 0) >> 1));
    case 23:
      return span('holding', wordAt(pdu, 5), Math.max(wordAt(pdu, 7), (pdu[9] ?? 0) >> 1));
    default:
      return undefined;
  }
}

/** The words that an exchange read; empty if it read no registers. */
export function valuesIn({ answer }: { readonly answer: ServerAnswer }): number[] {
  return answer.kind === 'data' ? valuesOf(answer.pdu) : [];
}

/** The words in a reply to function 3, 4 or 23, as many as there are. */
export function valuesOf(pdu: Uint8Array): number[] {
  return Array.from({ length: (pdu.length - 2) >> 1 }, (_, i) => wordAt(pdu, 2 + 2 * i));
}
