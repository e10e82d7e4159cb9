import { addressRanges } from '../protocol/address-range.js';
import { bitsAt, wordsAt } from '../protocol/bytes.js';
import { EXCEPTION_FLAG } from '../protocol/function-code.js';
import { functionOf } from '../protocol/function-table.js';
import type { Exchange } from './ledger.js';

/** What the exchange tells about how to read its reply: the framing, and the quantity that was asked for. */
type Asked = Pick<Exchange, 'framing' | 'requestPdu'>;

/** What was sent as a reply, in words: its values, its exception, or that it is no valid frame. */
export function describeReply(adu: Uint8Array, { framing, requestPdu }: Asked): string {
  const pdu = framing.decode(adu)?.pdu;
  if (!pdu) return `${adu.length} bytes that are no valid frame`;
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return `exception ${pdu[1]}`;
  const byteCount = pdu.length - 2;
  switch (functionOf(code)?.values) {
    case 'bits': {
      // What fills up the last byte is no value (Application Protocol V1.1b3, 6.1).
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
