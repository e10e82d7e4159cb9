import { EVENT, EXCHANGE, LINE, REGISTER } from '../../control/schemas/examples.js';
import type { LineView } from '../../control/schemas/line.js';
import { serverRow } from './server-rows.js';

/*
 * Examples for the document of the interface: those of `/api/v1` as this interface shows them, in shortened form where an answer
 * has long lists to choose from. A test checks that they fit their schemas.
 */

const CALL = {
  line: EVENT.line,
  unit: EVENT.unit,
  fc: EVENT.function,
  address: EVENT.address,
  count: EVENT.quantity,
  data: EVENT.bytes,
};

export const REGISTERS = {
  result: 'ok',
  footer: 'Operation completed successfully',
  register_types: { bits: 1, uint16: 2 },
  register_actions: { null: 0, increment: 1 },
  register_rows: [
    {
      index: String(REGISTER.address),
      type: REGISTER.type,
      access: 'True',
      action: 'none',
      value: String(REGISTER.raw),
      count_read: String(REGISTER.reads),
      count_write: String(REGISTER.writes),
    },
  ],
};

export const CALLS = {
  simulation_action: 'ACTIVE',
  range_start: null,
  range_stop: null,
  function_codes: [{ value: 3, text: 'read_holding_registers', selected: false }],
  function_show_hex_checked: false,
  function_show_decoded_checked: false,
  function_response_normal_checked: false,
  function_response_error_checked: true,
  function_response_empty_checked: false,
  function_response_junk_checked: false,
  function_response_split_checked: false,
  function_response_split_delay: 0,
  function_response_cr_checked: false,
  function_response_cr_pct: 0,
  function_response_delay: 0.5,
  function_response_junk: 10,
  function_error: [{ value: 2, text: 'IllegalAddress', selected: true }],
  function_response_clear_after: 3,
  call_rows: [{ call: 'request', time: EXCHANGE.time, ...CALL }],
  foot: 'Monitoring active',
  result: 'ok',
};

export const SERVER = {
  result: 'ok',
  footer: '1 line: 1 open',
  server_states: { open: 0, waiting: 1, stopped: 2, failed: 3 },
  server_framers: { socket: 0, rtu: 1, ascii: 2 },
  server_parities: { N: 0, E: 1, O: 2 },
  server_rows: [serverRow(LINE as LineView)],
};

export const LOG = {
  result: 'ok',
  footer: 'Everything that is kept, the oldest first',
  log_rows: [
    {
      ...CALL,
      index: EVENT.seq,
      time: EVENT.time,
      kind: EVENT.kind,
      direction: EVENT.direction,
      text: EVENT.text,
    },
  ],
};
