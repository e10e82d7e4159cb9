import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Rest } from '../../remote/api/rest.js';
import { pymodbusSetup } from '../../support/configuration.js';
import { RECORDED, type RecordedState } from './recorded.js';

const METER = fileURLToPath(new URL('./meter.json', import.meta.url));

const COLUMNS = ['index', 'type', 'access', 'action', 'value', 'count_read', 'count_write'];

const CODES = [
  '1 read_coils',
  '2 read_discrete_input',
  '3 read_holding_registers',
  '4 read_input_registers',
  '5 write_coil',
  '6 write_register',
  '7 read_exception_status',
  '8 diagnostic_status',
  '11 get_event_counter',
  '12 get_event_log',
  '15 write_coils',
  '16 write_registers',
  '17 report_slave_id',
  '20 read_file_record',
  '21 write_file_record',
  '22 mask_write_register',
  '23 read_write_multiple_registers',
  '24 read_fifo_queue',
  '43 read_device_information',
];

const ERRORS = [
  '1 IllegalFunction',
  '2 IllegalAddress',
  '3 IllegalValue',
  '4 SlaveFailure',
  '5 Acknowledge',
  '6 SlaveBusy',
  '7 MemoryParityError',
  '10 GatewayPathUnavailable',
  '11 GatewayNoResponse',
];

/** The complete answer that has this state; what no recorded answer varies stands here. */
function answerOf(state: RecordedState): object {
  return {
    simulation_action: state.action,
    range_start: null,
    range_stop: null,
    function_codes: choices(CODES),
    function_show_hex_checked: false,
    function_show_decoded_checked: false,
    function_response_normal_checked: state.type === 'normal',
    function_response_error_checked: state.type === 'error',
    function_response_empty_checked: state.type === 'empty',
    function_response_junk_checked: state.type === 'junk',
    function_response_split_checked: state.split > 0,
    function_response_split_delay: state.split,
    function_response_cr_checked: state.changeRate > 0,
    function_response_cr_pct: state.changeRate,
    function_response_delay: state.delay,
    function_response_junk: state.junk,
    function_error: choices(ERRORS, state.error),
    function_response_clear_after: state.clearAfter,
    call_rows: [],
    foot: 'not active',
    result: 'ok',
  };
}

function choices(texts: readonly string[], selected: number | null = null): object[] {
  return texts.map((each) => {
    const [value, text] = each.split(' ');
    return { value: Number(value), text, selected: Number(value) === selected };
  });
}

/** One instance for all: the recorded requests build on each other. */
describe('what pymodbus.simulator answered is answered here', () => {
  const rest = new Rest(pymodbusSetup(METER, 'tcp', 'meter'));

  test.each(
    RECORDED.map((recorded, i) => ({ ...recorded, title: `${i}: ${JSON.stringify(recorded.request)}` })),
  )('$title', async ({ endpoint, request, rows, state, names }) => {
    const answer = await rest.send('POST', `/restapi/${endpoint}`, request);
    expect(answer.status).toBe(200);
    if (rows) {
      expect(answer.body).toEqual({
        result: 'ok',
        footer: 'Operation completed successfully',
        register_types: { invalid: 0, bits: 1, uint16: 2, uint32: 3, float32: 4, string: 5, next: 6 },
        register_actions: { null: 0, increment: 1, random: 2, reset: 3, timestamp: 4, uptime: 5 },
        register_rows: rows.map((row) => Object.fromEntries(row.map((text, i) => [COLUMNS[i], text]))),
      });
    }
    if (state) expect(answer.body).toEqual(answerOf(state));
    if (names) {
      expect(answer.body).toEqual({ result: 'error', error: expect.any(String) });
      for (const name of names) expect(answer.body).toHaveProperty('error', expect.stringContaining(name));
    }
  });

  test('the requests that failed have changed nothing', async () => {
    expect(await rest.values(10, 13)).toEqual(['7', '5', '0', '321']);
    expect(await rest.calls({ submit: 'Stop' })).toMatchObject({ simulation_action: '' });
  });
});
