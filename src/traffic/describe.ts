import { bitsAt, wordsAt } from '../protocol/bytes.js';
import { EXCEPTION_FLAG } from '../protocol/function-code.js';
import { decodeMbap } from '../protocol/mbap.js';
import { decodeRtu, isRtuFrame } from '../protocol/rtu.js';

/** What was sent as a reply, in words: its values, its exception, or that it is no valid frame. */
export function describeReply(adu: Uint8Array): string {
  const pdu = pduOf(adu);
  if (!pdu) return `${adu.length} bytes that are no valid frame`;
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return `exception ${pdu[1]}`;
  const byteCount = pdu.length - 2;
  switch (code) {
    case 1:
    case 2:
      return `values ${bitsAt(pdu, 2, 8 * byteCount)
        .map(Number)
        .join(' ')}`;
    case 3:
    case 4:
    case 23:
      return `values ${wordsAt(pdu, 2, byteCount >> 1).join(' ')}`;
    default:
      return `done, function ${code}`;
  }
}

function pduOf(adu: Uint8Array): Uint8Array | undefined {
  if (isRtuFrame(adu)) return decodeRtu(adu).pdu;
  const decoded = decodeMbap(adu);
  return decoded.kind === 'frame' && decoded.length === adu.length ? decoded.frame.pdu : undefined;
}
