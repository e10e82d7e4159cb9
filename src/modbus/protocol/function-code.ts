/** The nineteen function codes, named as in the specification (Application Protocol V1.1b3, 6). */
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

export type FunctionCode<Name extends FunctionName> = (typeof FunctionCode)[Name];

/** The bit that is set in the function code of an exception response (7, "MODBUS Exception Responses"). */
export const EXCEPTION_FLAG = 0x80;

/** Maps codes to names spelt as in the specification: `readFifoQueue` becomes `read FIFO queue`. */
export function namesOf(codes: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  const inWords = (name: string) =>
    name
      .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      .replace(/\b(ascii|fifo|id|nak)\b/g, (word) => word.toUpperCase())
      .replace('read write', 'read/write');
  return new Map(Object.entries(codes).map(([name, code]) => [code, inWords(name)]));
}

/** The sub-functions of function 8, named as in the specification (Application Protocol V1.1b3, 6.8). */
export const SubFunction = {
  returnQueryData: 0,
  restartCommunicationsOption: 1,
  returnDiagnosticRegister: 2,
  changeAsciiInputDelimiter: 3,
  forceListenOnlyMode: 4,
  clearCountersAndDiagnosticRegister: 10,
  returnBusMessageCount: 11,
  returnBusCommunicationErrorCount: 12,
  returnBusExceptionErrorCount: 13,
  returnServerMessageCount: 14,
  returnServerNoResponseCount: 15,
  returnServerNakCount: 16,
  returnServerBusyCount: 17,
  returnBusCharacterOverrunCount: 18,
  clearOverrunCounterAndFlag: 20,
} as const;

/** The exception codes, named as in the specification (Application Protocol V1.1b3, 7). */
export const ExceptionCode = {
  illegalFunction: 1,
  illegalDataAddress: 2,
  illegalDataValue: 3,
  serverDeviceFailure: 4,
  acknowledge: 5,
  serverDeviceBusy: 6,
  memoryParityError: 8,
  gatewayPathUnavailable: 10,
  gatewayTargetDeviceFailedToRespond: 11,
} as const;

export type ExceptionCode = (typeof ExceptionCode)[keyof typeof ExceptionCode];
