/** The codes of the nineteen functions by the names of the specification (Application Protocol V1.1b3, 6). */
export const FunctionCode = {
  readCoils: 1,
  readDiscreteInputs: 2,
  readHoldingRegisters: 3,
  readInputRegisters: 4,
  writeSingleCoil: 5,
  writeSingleRegister: 6,
  readExceptionStatus: 7,
  diagnostics: 8,
  getCommEventCounter: 11,
  getCommEventLog: 12,
  writeMultipleCoils: 15,
  writeMultipleRegisters: 16,
  reportServerId: 17,
  readFileRecord: 20,
  writeFileRecord: 21,
  maskWriteRegister: 22,
  readWriteMultipleRegisters: 23,
  readFifoQueue: 24,
  encapsulatedInterfaceTransport: 43,
} as const;

export type FunctionName = keyof typeof FunctionCode;

/** The codes of the functions with these names. */
export type FunctionCode<Name extends FunctionName> = (typeof FunctionCode)[Name];

/** This bit is set in the function code of an exception response (7, "MODBUS Exception Responses"). */
export const EXCEPTION_FLAG = 0x80;

/** Maps codes to names as the specification writes them: `readFifoQueue` becomes `read FIFO queue`. */
export function namesOf(codes: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  const inWords = (name: string) =>
    name
      .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      .replace(/\b(ascii|fifo|id|nak)\b/g, (word) => word.toUpperCase())
      .replace('read write', 'read/write');
  return new Map(Object.entries(codes).map(([name, code]) => [code, inWords(name)]));
}
