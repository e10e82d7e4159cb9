import { EXCEPTION_FLAG, FunctionCode } from './function-code.js';

/** Functions whose response carries a byte count before its data (Application Protocol V1.1b3, 6). */
const WITH_BYTE_COUNT: ReadonlySet<number> = new Set([
  FunctionCode.readCoils,
  FunctionCode.readDiscreteInputs,
  FunctionCode.readHoldingRegisters,
  FunctionCode.readInputRegisters,
  FunctionCode.getCommEventLog,
  FunctionCode.reportServerId,
  FunctionCode.readFileRecord,
  FunctionCode.writeFileRecord,
  FunctionCode.readWriteMultipleRegisters,
]);

/** Where the data of the other responses begin: after the address or sub-function they repeat, or what they carry. */
const DATA_OFFSET: ReadonlyMap<number, number> = new Map([
  [FunctionCode.writeSingleCoil, 3],
  [FunctionCode.writeSingleRegister, 3],
  [FunctionCode.readExceptionStatus, 1],
  [FunctionCode.diagnostics, 3],
  [FunctionCode.getCommEventCounter, 1],
  [FunctionCode.writeMultipleCoils, 3],
  [FunctionCode.writeMultipleRegisters, 3],
  [FunctionCode.maskWriteRegister, 3],
  [FunctionCode.readFifoQueue, 5],
  [FunctionCode.encapsulatedInterfaceTransport, 7],
]);

/** True when byte 1 of the response PDU says how many bytes follow. */
export function hasByteCount(pdu: Uint8Array): boolean {
  return WITH_BYTE_COUNT.has(pdu[0] as number);
}

/**
 * Offset of the first data byte in a response PDU: what a client would show as values.
 * Its length when there is none, as in an exception response.
 */
export function dataOffset(pdu: Uint8Array): number {
  const code = pdu[0] as number;
  if (code & EXCEPTION_FLAG) return pdu.length;
  return Math.min(hasByteCount(pdu) ? 2 : (DATA_OFFSET.get(code) ?? 1), pdu.length);
}
