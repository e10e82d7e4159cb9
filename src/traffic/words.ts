import { ExceptionCode } from '../protocol/exception-code.js';
import { FunctionCode, type FunctionName } from '../protocol/function-code.js';
import { SubFunction } from '../protocol/sub-function.js';

/** The functions by the names of Application Protocol V1.1b3, 6. */
const FUNCTION_NAMES: Readonly<Record<FunctionName, string>> = {
  readCoils: 'read coils',
  readDiscreteInputs: 'read discrete inputs',
  readHoldingRegisters: 'read holding registers',
  readInputRegisters: 'read input registers',
  writeSingleCoil: 'write single coil',
  writeSingleRegister: 'write single register',
  readExceptionStatus: 'read exception status',
  diagnostics: 'diagnostics',
  getCommEventCounter: 'get comm event counter',
  getCommEventLog: 'get comm event log',
  writeMultipleCoils: 'write multiple coils',
  writeMultipleRegisters: 'write multiple registers',
  reportServerId: 'report server ID',
  readFileRecord: 'read file record',
  writeFileRecord: 'write file record',
  maskWriteRegister: 'mask write register',
  readWriteMultipleRegisters: 'read/write multiple registers',
  readFifoQueue: 'read FIFO queue',
  encapsulatedInterfaceTransport: 'encapsulated interface transport',
};

const SUB_FUNCTION_NAMES: Readonly<Record<keyof typeof SubFunction, string>> = {
  returnQueryData: 'return query data',
  restartCommunications: 'restart communications option',
  returnDiagnosticRegister: 'return diagnostic register',
  changeAsciiDelimiter: 'change ASCII input delimiter',
  forceListenOnly: 'force listen only mode',
  clearCounters: 'clear counters and diagnostic register',
  busMessageCount: 'return bus message count',
  busCommunicationErrorCount: 'return bus communication error count',
  busExceptionErrorCount: 'return bus exception error count',
  serverMessageCount: 'return server message count',
  serverNoResponseCount: 'return server no response count',
  serverNakCount: 'return server NAK count',
  serverBusyCount: 'return server busy count',
  busCharacterOverrunCount: 'return bus character overrun count',
  clearOverrunCounter: 'clear overrun counter and flag',
};

const EXCEPTION_NAMES: Readonly<Record<keyof typeof ExceptionCode, string>> = {
  illegalFunction: 'illegal function',
  illegalDataAddress: 'illegal data address',
  illegalDataValue: 'illegal data value',
  serverDeviceFailure: 'server device failure',
  acknowledge: 'acknowledge',
  serverDeviceBusy: 'server device busy',
  memoryParityError: 'memory parity error',
  gatewayPathUnavailable: 'gateway path unavailable',
  gatewayTargetFailedToRespond: 'gateway target device failed to respond',
};

/** The standard objects of a device identification (6.21). */
const OBJECT_NAMES = [
  'vendor name',
  'product code',
  'revision',
  'vendor URL',
  'product name',
  'model name',
  'user application name',
];

const functions = byCode(FunctionCode, FUNCTION_NAMES);
const subFunctions = byCode(SubFunction, SUB_FUNCTION_NAMES);
const exceptions = byCode(ExceptionCode, EXCEPTION_NAMES);

/** `read holding registers`; `function 65` for a code that the specification does not have. */
export function functionName(code: number): string {
  return functions.get(code) ?? `function ${code}`;
}

/** `return query data`; `sub-function 99` for one that function 8 does not have. */
export function subFunctionName(code: number): string {
  return subFunctions.get(code) ?? `sub-function ${code}`;
}

/** `exception 02 illegal data address`; `exception 7f` for a code that the specification does not have. */
export function exceptionText(code: number): string {
  const name = exceptions.get(code);
  return `exception ${code.toString(16).padStart(2, '0')}${name === undefined ? '' : ` ${name}`}`;
}

/** `vendor name`, `object 128`. */
export function objectName(id: number): string {
  return OBJECT_NAMES[id] ?? `object ${id}`;
}

/** `0–9`, or `5` when it is one. */
export function rangeText(address: number, quantity: number): string {
  return quantity === 1 ? String(address) : `${address}–${address + quantity - 1}`;
}

/** More values than a frame has registers would make a text that nobody reads. */
const MAX_SHOWN = 128;

/** `1 256 0`; of more than 128 values the first, and the number of the others. */
export function valuesText(values: readonly number[]): string {
  const more = values.length - MAX_SHOWN;
  return more > 0 ? `${values.slice(0, MAX_SHOWN).join(' ')} … ${more} more` : values.join(' ');
}

/** A word as it stands on the wire: `00f2`. */
export function hexWord(word: number): string {
  return word.toString(16).padStart(4, '0');
}

function byCode<Name extends string>(
  codes: Readonly<Record<Name, number>>,
  names: Readonly<Record<Name, string>>,
): ReadonlyMap<number, string> {
  return new Map(Object.entries<number>(codes).map(([name, code]) => [code, names[name as Name]]));
}
