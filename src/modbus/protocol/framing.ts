import { concatBytes, wordAt } from './bytes.js';
import { MAX_PDU_LENGTH, MBAP_LENGTH, MIN_RTU_LENGTH } from './limits.js';
import { decodeMbap, encodeMbap } from './mbap.js';
import { decodeRtu, encodeRtu, isRtuFrame, MAX_RTU_LENGTH } from './rtu.js';

/** The content of every ADU. `transactionId` is 0 if the framing has none. */
export interface AduContent {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Uint8Array;
}

/**
 * Converts PDUs to ADUs and back for one kind of line. A framing is immutable; to change the delimiter, a
 * line switches to another framing.
 */
export interface Framing {
  readonly name: 'rtu' | 'ascii' | 'socket';
  /**
   * True if unit identifier 0 addresses every server on the line, and none of them replies (Serial Line
   * V1.02, 2.1).
   */
  readonly broadcasts: boolean;
  /** The minimum number of data bits on a line with this framing. ASCII lines may have only seven. */
  readonly characterBits: 7 | 8;
  /** The length of the shortest ADU, in bytes: one whose PDU is a function code alone. */
  readonly minLength: number;
  /** The length of the longest ADU, in bytes. */
  readonly maxLength: number;
  /** The character that ends every message; absent on framings without a delimiter. */
  readonly delimiter?: number;
  /**
   * Returns this framing with another delimiter, as set by function 8/3; undefined if messages with that
   * delimiter could not be read. Absent on framings without a delimiter.
   */
  withDelimiter?(character: number): Framing | undefined;
  encode(content: AduContent): Uint8Array;
  /** Returns the content of bytes that are exactly one valid ADU; otherwise undefined. */
  decode(adu: Uint8Array): AduContent | undefined;
  /**
   * Returns the fields of an ADU, valid or not. Nothing is checked, so that a damaged frame can be modified
   * further.
   */
  fields(adu: Uint8Array): AduContent | undefined;
  /**
   * Returns the ADU with another check value (CRC, low byte first, or LRC), computed from the current one;
   * undefined if the ADU has none. Absent on framings without a check value.
   */
  recheck?(adu: Uint8Array, change: (check: readonly number[]) => readonly number[]): Uint8Array | undefined;
}

export const CRC_LENGTH = 2;

export const RTU: Framing = {
  name: 'rtu',
  minLength: MIN_RTU_LENGTH,
  maxLength: MAX_RTU_LENGTH,
  broadcasts: true,
  characterBits: 8,
  encode: ({ unitId, pdu }) => encodeRtu(unitId, pdu),
  decode: (adu) => (isRtuFrame(adu) ? contentOf(adu) : undefined),
  fields: (adu) => (adu.length >= MIN_RTU_LENGTH ? contentOf(adu) : undefined),
  recheck: (adu, change) =>
    adu.length < CRC_LENGTH
      ? undefined
      : concatBytes(adu.subarray(0, -CRC_LENGTH), change([...adu.subarray(-CRC_LENGTH)])),
};

function contentOf(adu: Uint8Array): AduContent {
  const { unitId, pdu } = decodeRtu(adu);
  return { transactionId: 0, unitId, pdu };
}

export const SOCKET: Framing = {
  name: 'socket',
  minLength: MBAP_LENGTH + 1,
  maxLength: MBAP_LENGTH + MAX_PDU_LENGTH,
  broadcasts: false,
  characterBits: 8,
  encode: encodeMbap,
  decode: (adu) => {
    const decoded = decodeMbap(adu);
    return decoded.kind === 'frame' && decoded.length === adu.length ? decoded.frame : undefined;
  },
  fields: (adu) =>
    adu.length > MBAP_LENGTH
      ? { transactionId: wordAt(adu, 0), unitId: adu[MBAP_LENGTH - 1] as number, pdu: adu.slice(MBAP_LENGTH) }
      : undefined,
};
