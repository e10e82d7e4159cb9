import { FunctionCode, type FunctionName } from '../../../modbus/protocol/function-code.js';

/** The names of functions that REST clients know. */
const CLIENT_NAMES: Readonly<Record<FunctionName, string>> = {
  readCoils: 'read_coils',
  readDiscreteInputs: 'read_discrete_input',
  readHoldingRegisters: 'read_holding_registers',
  readInputRegisters: 'read_input_registers',
  writeSingleCoil: 'write_coil',
  writeSingleRegister: 'write_register',
  readExceptionStatus: 'read_exception_status',
  diagnostics: 'diagnostic_status',
  getCommEventCounter: 'get_event_counter',
  getCommEventLog: 'get_event_log',
  writeMultipleCoils: 'write_coils',
  writeMultipleRegisters: 'write_registers',
  reportServerId: 'report_slave_id',
  readFileRecord: 'read_file_record',
  writeFileRecord: 'write_file_record',
  maskWriteRegister: 'mask_write_register',
  readWriteMultipleRegisters: 'read_write_multiple_registers',
  readFifoQueue: 'read_fifo_queue',
  encapsulatedInterfaceTransport: 'read_device_information',
};

export const FUNCTION_CODES: ReadonlyMap<number, string> = new Map(
  Object.entries(CLIENT_NAMES).map(([name, text]) => [FunctionCode[name as FunctionName], text]),
);

/** The exception codes that REST clients can ask for. */
export const ERROR_CODES: ReadonlyMap<number, string> = new Map([
  [1, 'IllegalFunction'],
  [2, 'IllegalAddress'],
  [3, 'IllegalValue'],
  [4, 'SlaveFailure'],
  [5, 'Acknowledge'],
  [6, 'SlaveBusy'],
  [7, 'MemoryParityError'],
  [10, 'GatewayPathUnavailable'],
  [11, 'GatewayNoResponse'],
]);

/** A table of codes as a list of choices. */
export function choices(table: ReadonlyMap<number, string>, selected: number | undefined) {
  return Array.from(table, ([value, text]) => ({ value, text, selected: value === selected }));
}
