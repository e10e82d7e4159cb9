/** The exception codes by the names of the specification (Application Protocol V1.1b3, 7). */
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
