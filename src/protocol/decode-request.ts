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
import { FunctionCode } from './function-code.js';
import { type DecodedRequest, refused } from './request.js';

/** The nineteen public functions, by function code. */
const DECODERS: Readonly<Record<number, (pdu: Uint8Array) => DecodedRequest>> = {
  [FunctionCode.readCoils]: (pdu) => decodeRead(FunctionCode.readCoils, pdu),
  [FunctionCode.readDiscreteInputs]: (pdu) => decodeRead(FunctionCode.readDiscreteInputs, pdu),
  [FunctionCode.readHoldingRegisters]: (pdu) => decodeRead(FunctionCode.readHoldingRegisters, pdu),
  [FunctionCode.readInputRegisters]: (pdu) => decodeRead(FunctionCode.readInputRegisters, pdu),
  [FunctionCode.writeSingleCoil]: decodeWriteSingleCoil,
  [FunctionCode.writeSingleRegister]: decodeWriteSingleRegister,
  [FunctionCode.readExceptionStatus]: (pdu) => decodeBare(FunctionCode.readExceptionStatus, pdu),
  [FunctionCode.diagnostics]: decodeDiagnostics,
  [FunctionCode.getCommEventCounter]: (pdu) => decodeBare(FunctionCode.getCommEventCounter, pdu),
  [FunctionCode.getCommEventLog]: (pdu) => decodeBare(FunctionCode.getCommEventLog, pdu),
  [FunctionCode.writeMultipleCoils]: decodeWriteMultipleCoils,
  [FunctionCode.writeMultipleRegisters]: decodeWriteMultipleRegisters,
  [FunctionCode.reportServerId]: (pdu) => decodeBare(FunctionCode.reportServerId, pdu),
  [FunctionCode.readFileRecord]: decodeReadFileRecord,
  [FunctionCode.writeFileRecord]: decodeWriteFileRecord,
  [FunctionCode.maskWriteRegister]: decodeMaskWriteRegister,
  [FunctionCode.readWriteMultipleRegisters]: decodeReadWriteMultipleRegisters,
  [FunctionCode.readFifoQueue]: decodeReadFifoQueue,
  [FunctionCode.encapsulatedInterfaceTransport]: decodeEncapsulated,
};

/**
 * Decodes a request PDU up to the address: the first two decisions of every state diagram in
 * Application Protocol V1.1b3, 6: function code known (else 01), then quantity, byte count and value (else 03).
 * A PDU too short or too long for its function counts as a wrong byte count. Addresses are for the device to judge.
 */
export function decodeRequest(pdu: Uint8Array): DecodedRequest {
  return DECODERS[pdu[0] as number]?.(pdu) ?? refused(ExceptionCode.illegalFunction);
}
