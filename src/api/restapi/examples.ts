/*
 * Examples for the document of the interface, in shortened form where an answer has long lists to choose from. A test
 * checks that they fit their schemas.
 */

export const REGISTERS = {
  result: 'ok',
  footer: 'Operation completed successfully',
  register_types: { bits: 1, uint16: 2 },
  register_actions: { null: 0, increment: 1 },
  register_rows: [
    {
      index: '0',
      type: 'uint16',
      access: 'True',
      action: 'none',
      value: '2301',
      count_read: '3',
      count_write: '0',
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
  call_rows: [
    {
      call: 'request',
      time: '2026-01-31T12:00:00.000Z',
      line: 'lan',
      unit: 1,
      fc: 3,
      address: 0,
      count: 1,
      data: '00 01 00 00 00 06 01 03 00 00 00 01',
    },
  ],
  foot: 'Monitoring active',
  result: 'ok',
};

export const SERVER = {
  result: 'ok',
  footer: '1 line: 1 open',
  server_states: { open: 0, waiting: 1, stopped: 2, failed: 3 },
  server_framers: { socket: 0, rtu: 1, ascii: 2 },
  server_parities: { N: 0, E: 1, O: 2 },
  server_rows: [
    {
      line: 'lan',
      comm: 'tcp',
      framer: 'socket',
      state: 'open',
      error: '',
      place: '127.0.0.1:5020',
      host: '127.0.0.1',
      port: 5020,
      baudrate: null,
      bytesize: null,
      parity: null,
      stopbits: null,
      turnaround: null,
      t1_5: null,
      t3_5: null,
      gap: null,
      clients: 1,
      uptime: 12.5,
      units: { 1: 'meter' },
      count_requests: 3,
      count_broadcasts: 0,
      count_dropped: 0,
      count_replies: 3,
      count_duplicates: 0,
      count_echoes: 0,
      count_collisions: 0,
      count_foreign_frames: 0,
      count_damaged_frames: 0,
      count_noise_bytes: 0,
      count_damaged_characters: 0,
      count_rejected: 0,
    },
  ],
};

export const LOG = {
  result: 'ok',
  footer: 'Everything that is kept, the oldest first',
  log_rows: [
    {
      index: 11,
      time: '2026-01-31T12:00:00.000000Z',
      line: 'lan',
      kind: 'request',
      direction: 'in',
      unit: 1,
      fc: 3,
      address: 0,
      count: 1,
      data: '00 01 00 00 00 06 01 03 00 00 00 01',
      text: 'unit 1 read holding registers 0',
    },
  ],
};
