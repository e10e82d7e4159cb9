/** Sub-functions of function 8 (Application Protocol V1.1b3, 6.8). */
export const SubFunction = {
  returnQueryData: 0,
  restartCommunications: 1,
  returnDiagnosticRegister: 2,
  changeAsciiDelimiter: 3,
  forceListenOnly: 4,
  clearCounters: 10,
  busMessageCount: 11,
  busCommunicationErrorCount: 12,
  busExceptionErrorCount: 13,
  serverMessageCount: 14,
  serverNoResponseCount: 15,
  serverNakCount: 16,
  serverBusyCount: 17,
  busCharacterOverrunCount: 18,
  clearOverrunCounter: 20,
} as const;
