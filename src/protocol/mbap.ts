import { copyOf, newBytes, putBytes, setWord, wordAt } from './bytes.js';
import { MAX_PDU_LENGTH } from './limits.js';

/** Modbus TCP ADU: MBAP header and PDU (Modbus Messaging on TCP/IP V1.0b, 3.1.3). */
export interface MbapFrame {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Uint8Array;
}

/** Bytes before the PDU. */
export const MBAP_LENGTH = 7;
const PROTOCOL_ID = 0;

const MORE = { kind: 'more' } as const;

export function encodeMbap({ transactionId, unitId, pdu }: MbapFrame): Uint8Array {
  const adu = newBytes(MBAP_LENGTH + pdu.length);
  setWord(adu, 0, transactionId);
  setWord(adu, 2, PROTOCOL_ID);
  setWord(adu, 4, pdu.length + 1);
  adu[6] = unitId;
  putBytes(adu, MBAP_LENGTH, pdu);
  return adu;
}

/**
 * The first frame of the bytes from `start` to `end`: `more` means the frame is not complete yet; `invalid` means that this is no
 * Modbus TCP (protocol identifier not 0, or a length that no PDU has) and nothing after it can be trusted.
 */
export type DecodedMbap =
  /** Its PDU is a copy. */
  | { readonly kind: 'frame'; readonly frame: MbapFrame; readonly length: number }
  | { readonly kind: 'more' }
  | { readonly kind: 'invalid'; readonly reason: string };

export function decodeMbap(bytes: Uint8Array, start = 0, end = bytes.length): DecodedMbap {
  const present = end - start;
  if (present >= 4 && wordAt(bytes, start + 2) !== PROTOCOL_ID) {
    return { kind: 'invalid', reason: `protocol identifier ${wordAt(bytes, start + 2)}, expected 0` };
  }
  if (present < 6) return MORE;
  const length = wordAt(bytes, start + 4);
  if (length < 2 || length > MAX_PDU_LENGTH + 1) {
    return { kind: 'invalid', reason: `length ${length}, expected 2 to ${MAX_PDU_LENGTH + 1}` };
  }
  const whole = MBAP_LENGTH - 1 + length;
  if (present < whole) return MORE;
  const frame = {
    transactionId: wordAt(bytes, start),
    unitId: bytes[start + 6] as number,
    pdu: copyOf(bytes, start + MBAP_LENGTH, start + whole),
  };
  return { kind: 'frame', frame, length: whole };
}
