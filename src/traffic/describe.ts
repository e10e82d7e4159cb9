import { addressRanges } from '../protocol/address-range.js';
import { bitsAt, wordsAt } from '../protocol/bytes.js';
import type { Framing } from '../protocol/framing.js';
import { EXCEPTION_FLAG } from '../protocol/function-code.js';
import { functionOf } from '../protocol/function-table.js';

/** What is needed to read a reply: its framing, and the requested quantity. */
interface Asked {
  readonly framing: Framing;
  readonly requestPdu: Uint8Array;
}

/** Describes a reply in words: its values, its exception, or that the bytes are not a valid frame. */
export function describeReply(adu: Uint8Array, { framing, requestPdu }: Asked): string {
  const pdu = framing.decode(adu)?.pdu;
  if (!pdu) return `${adu.length} bytes that are no valid frame`;
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return `exception ${pdu[1]}`;
  const byteCount = pdu.length - 2;
  switch (functionOf(code)?.values) {
    case 'bits': {
      // Padding bits in the last byte are not values (Application Protocol V1.1b3, 6.1).
      const asked = requestPdu[0] === code ? addressRanges(requestPdu)[0]?.quantity : undefined;
      const quantity = Math.min(asked ?? Number.POSITIVE_INFINITY, 8 * byteCount);
      return `values ${bitsAt(pdu, 2, quantity).map(Number).join(' ')}`;
    }
    case 'words':
      return `values ${wordsAt(pdu, 2, byteCount >> 1).join(' ')}`;
    default:
      return `done, function ${code}`;
  }
}
