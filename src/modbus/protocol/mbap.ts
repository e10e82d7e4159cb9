import { copyOf, newBytes, putBytes, setWord, wordAt } from './bytes.js';
import { MAX_PDU_LENGTH, MBAP_LENGTH } from './limits.js';

/** The content of a Modbus TCP ADU: MBAP header and PDU (Modbus Messaging on TCP/IP V1.0b, 3.1.3). */
export interface MbapFrame {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Uint8Array;
}

const PROTOCOL_ID = 0;

/** These unit identifiers address the server itself, not a device behind a gateway. */
export const SERVER_ITSELF: readonly number[] = [0, 255];

export const MORE = { kind: 'more' } as const;

export function encodeMbap({ transactionId, unitId, pdu }: MbapFrame): Uint8Array {
  const adu = newBytes(MBAP_LENGTH + pdu.length);
  setWord(adu, 0, transactionId);
  setWord(adu, 2, PROTOCOL_ID);
  setWord(adu, 4, pdu.length + 1);
  adu[6] = unitId;
  putBytes(adu, MBAP_LENGTH, pdu);
  return adu;
}

/** The result of decoding the beginning of a buffer. `length` is the length of the whole ADU. */
export type DecodedMbap =
  /** The PDU of `frame` is a copy. */
  | { readonly kind: 'frame'; readonly frame: MbapFrame; readonly length: number }
  /** The frame is not complete yet. */
  | { readonly kind: 'more' }
  /**
   * A complete frame with a protocol identifier other than 0. The frame is discarded; the bytes after it can
   * be trusted.
   */
  | { readonly kind: 'other protocol'; readonly length: number; readonly reason: string }
  /** No PDU has the length in the length field. The bytes after it can't be trusted. */
  | { readonly kind: 'invalid'; readonly reason: string };

export function decodeMbap(bytes: Uint8Array, start = 0, end = bytes.length): DecodedMbap {
  const present = end - start;
  if (present < 6) return MORE;
  const protocolId = wordAt(bytes, start + 2);
  const length = wordAt(bytes, start + 4);
  if (length < 2 || length > MAX_PDU_LENGTH + 1) {
    const lengthReason = `length ${length}, expected 2 to ${MAX_PDU_LENGTH + 1}`;
    return {
      kind: 'invalid',
      reason: protocolId === PROTOCOL_ID ? lengthReason : protocolReason(protocolId),
    };
  }
  const whole = MBAP_LENGTH - 1 + length;
  if (present < whole) return MORE;
  if (protocolId !== PROTOCOL_ID) {
    return { kind: 'other protocol', length: whole, reason: protocolReason(protocolId) };
  }
  const frame = {
    transactionId: wordAt(bytes, start),
    unitId: bytes[start + 6] as number,
    pdu: copyOf(bytes, start + MBAP_LENGTH, start + whole),
  };
  return { kind: 'frame', frame, length: whole };
}

function protocolReason(protocolId: number): string {
  return `protocol identifier ${protocolId}, expected 0`;
}
