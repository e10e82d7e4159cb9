/** The sub-functions of function 8 by the names of the specification (Application Protocol V1.1b3, 6.8). */
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
