/** Function codes with the names that REST clients know. */
export const FUNCTION_CODES: ReadonlyMap<number, string> = new Map([
  [1, 'read_coils'],
  [2, 'read_discrete_input'],
  [3, 'read_holding_registers'],
  [4, 'read_input_registers'],
  [5, 'write_coil'],
  [6, 'write_register'],
  [7, 'read_exception_status'],
  [8, 'diagnostic_status'],
  [11, 'get_event_counter'],
  [12, 'get_event_log'],
  [15, 'write_coils'],
  [16, 'write_registers'],
  [17, 'report_slave_id'],
  [20, 'read_file_record'],
  [21, 'write_file_record'],
  [22, 'mask_write_register'],
  [23, 'read_write_multiple_registers'],
  [24, 'read_fifo_queue'],
  [43, 'read_device_information'],
]);

/** Exception codes that REST clients can ask for. */
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

/** A table of codes as a list to choose from. */
export function choices(table: ReadonlyMap<number, string>, selected: number | undefined) {
  return Array.from(table, ([value, text]) => ({ value, text, selected: value === selected }));
}
