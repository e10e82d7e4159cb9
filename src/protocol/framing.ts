import { wordAt } from './bytes.js';
import { encodeMbap, MBAP_LENGTH } from './mbap.js';
import { decodeRtu, encodeRtu, MIN_RTU_LENGTH } from './rtu.js';

/** What every ADU carries; `transactionId` is 0 where the framing has none. */
export interface AduContent {
  readonly transactionId: number;
  readonly unitId: number;
  readonly pdu: Uint8Array;
}

/** How a PDU becomes an ADU and back on one kind of line. */
export interface Framing {
  readonly name: 'rtu' | 'socket';
  encode(content: AduContent): Uint8Array;
  /** The fields of an ADU, valid or not: checks are not made, so that a damaged frame can be changed further. */
  fields(adu: Uint8Array): AduContent | undefined;
}

export const RTU: Framing = {
  name: 'rtu',
  encode: ({ unitId, pdu }) => encodeRtu(unitId, pdu),
  fields: (adu) => (adu.length >= MIN_RTU_LENGTH ? { transactionId: 0, ...decodeRtu(adu) } : undefined),
};

export const SOCKET: Framing = {
  name: 'socket',
  encode: encodeMbap,
  fields: (adu) =>
    adu.length > MBAP_LENGTH
      ? { transactionId: wordAt(adu, 0), unitId: adu[MBAP_LENGTH - 1] as number, pdu: adu.slice(MBAP_LENGTH) }
      : undefined,
};
