import { decodeBare, decodeDiagnostics, decodeEncapsulated } from './decode-diagnostics.js';
import { decodeReadFifoQueue, decodeReadFileRecord, decodeWriteFileRecord } from './decode-files.js';
import {
  decodeMaskWriteRegister,
  decodeRead,
  decodeReadWriteMultipleRegisters,
  decodeWriteMultipleCoils,
  decodeWriteMultipleRegisters,
  decodeWriteSingleCoil,
  decodeWriteSingleRegister,
} from './decode-registers.js';
import { ExceptionCode } from './exception-code.js';
import { type DecodedRequest, refused } from './request.js';

/** The nineteen public functions, by function code. */
const DECODERS: Readonly<Record<number, (pdu: Uint8Array) => DecodedRequest>> = {
  1: (pdu) => decodeRead(1, pdu),
  2: (pdu) => decodeRead(2, pdu),
  3: (pdu) => decodeRead(3, pdu),
  4: (pdu) => decodeRead(4, pdu),
  5: decodeWriteSingleCoil,
  6: decodeWriteSingleRegister,
  7: (pdu) => decodeBare(7, pdu),
  8: decodeDiagnostics,
  11: (pdu) => decodeBare(11, pdu),
  12: (pdu) => decodeBare(12, pdu),
  15: decodeWriteMultipleCoils,
  16: decodeWriteMultipleRegisters,
  17: (pdu) => decodeBare(17, pdu),
  20: decodeReadFileRecord,
  21: decodeWriteFileRecord,
  22: decodeMaskWriteRegister,
  23: decodeReadWriteMultipleRegisters,
  24: decodeReadFifoQueue,
  43: decodeEncapsulated,
};

/**
 * Decodes a request PDU up to the address: the first two decisions of every state diagram in
 * Application Protocol V1.1b3, 6: function code known (else 01), then quantity, byte count and value (else 03).
 * A PDU too short or too long for its function counts as a wrong byte count. Addresses are for the device to judge.
 */
export function decodeRequest(pdu: Uint8Array): DecodedRequest {
  return DECODERS[pdu[0] as number]?.(pdu) ?? refused(ExceptionCode.illegalFunction);
}
