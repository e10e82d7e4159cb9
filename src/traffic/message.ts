import { addressRanges } from '../protocol/address-range.js';
import { functionName } from './words.js';

/** What a PDU says. `quantity` belongs to `address`; of the two ranges of function 23 both are those that are read. */
export interface Message {
  /** Without the exception flag. */
  readonly functionCode: number;
  /** `read holding registers`, as the specification names the function. */
  readonly name: string;
  readonly address: number | undefined;
  readonly quantity: number | undefined;
  /** Registers, or coils as 0 and 1: those that are written, or those that a response brings. */
  readonly values: readonly number[] | undefined;
  /** The exception code of a response. */
  readonly exception: number | undefined;
  /** All of it in words: `read holding registers 0–1: 1 256`. */
  readonly text: string;
}

/** What a message has besides its function and its first range. */
export interface Saying {
  readonly text: string;
  readonly values?: readonly number[] | undefined;
  readonly exception?: number;
}

/** @param requestPdu names the addresses; undefined when the request is not known */
export function messageOf(
  functionCode: number,
  requestPdu: Uint8Array | undefined,
  { text, values, exception }: Saying,
): Message {
  const [range] = requestPdu === undefined ? [] : addressRanges(requestPdu);
  const { address, quantity } = range ?? {};
  return { functionCode, name: functionName(functionCode), address, quantity, values, exception, text };
}
