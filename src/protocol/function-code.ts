/** Public function codes (Application Protocol V1.1b3, 5.1), by the name that clients and logs use. */
export const FunctionCode = {
  readCoils: 1,
  readDiscreteInputs: 2,
  readHoldingRegisters: 3,
  readInputRegisters: 4,
  writeSingleCoil: 5,
  writeSingleRegister: 6,
  diagnostics: 8,
  writeMultipleCoils: 15,
  writeMultipleRegisters: 16,
  writeFileRecord: 21,
  maskWriteRegister: 22,
  readWriteMultipleRegisters: 23,
} as const;

/** Set in the function code of a response that is an exception (7, "MODBUS Exception Responses"). */
export const EXCEPTION_FLAG = 0x80;
