/*
 * What pymodbus.simulator 3.9.2 answered, request by request in this order to one running instance with
 * `meter.json` beside this file. Recorded from outside; only the form is ours. `deviation` says in which cases and
 * why the answer expected here is another one. The lists of function and error codes are not among the data: upstream
 * fills them with placeholders in an order of its own, here they are those of the specification.
 */

/** index, type, access, action, value, count_read, count_write */
type RecordedRow = readonly [string, string, string, string, string, string, string];

/** The fields of the state in which the recorded answers differ from each other. */
export interface RecordedState {
  readonly action: 'ACTIVE' | '';
  readonly type: 'normal' | 'error' | 'empty' | 'junk' | null;
  /** 0 stands for no split at all. */
  readonly split: number;
  /** 0 stands for no change at all. */
  readonly changeRate: number;
  readonly delay: number;
  readonly junk: number;
  /** The selected error code. */
  readonly error: number | null;
  readonly clearAfter: number;
}

export interface RecordedCase {
  readonly endpoint: 'registers' | 'calls';
  readonly request: Readonly<Record<string, unknown>>;
  readonly rows?: readonly RecordedRow[];
  readonly state?: RecordedState;
  /** An error, and what its text must name. */
  readonly names?: readonly string[];
  readonly deviation?: string;
}

export const RECORDED: readonly RecordedCase[] = [
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 10, range_stop: 10 },
    rows: [['10', 'uint16', 'True', 'none', '7', '0', '0']],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 0, range_stop: 8 },
    rows: [
      ['0', 'invalid', 'False', 'none', '0', '0', '0'],
      ['1', 'invalid', 'False', 'none', '0', '0', '0'],
      ['2', 'invalid', 'False', 'none', '0', '0', '0'],
      ['3', 'invalid', 'False', 'none', '0', '0', '0'],
      ['4', 'bits', 'True', 'none', '0x0', '0', '0'],
      ['5', 'bits', 'True', 'none', '0xabcd', '0', '0'],
      ['6', 'bits', 'False', 'none', '0xff', '0', '0'],
      ['7', 'bits', 'False', 'none', '0xff', '0', '0'],
      ['8', 'bits', 'False', 'random', '0x0', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 10, range_stop: 17 },
    rows: [
      ['10', 'uint16', 'True', 'none', '7', '0', '0'],
      ['11', 'uint16', 'False', 'none', '4711', '0', '0'],
      ['12', 'uint16', 'True', 'none', '321', '0', '0'],
      ['13', 'uint16', 'True', 'none', '321', '0', '0'],
      ['14', 'uint16', 'False', 'none', '321', '0', '0'],
      ['15', 'uint16', 'False', "increment({'minval': 97, 'maxval': 100})", '98', '0', '0'],
      ['16', 'uint16', 'False', "random({'minval': 5, 'maxval': 9})", '5', '0', '0'],
      ['17', 'uint16', 'False', 'uptime', '7', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 20, range_stop: 27 },
    rows: [
      ['20-21', 'uint32', 'True', 'none', '70000', '0', '0'],
      ['21', 'next', 'True', 'none', '4464', '0', '0'],
      ['22-23', 'uint32', 'True', 'none', '3000000000', '0', '0'],
      ['23', 'next', 'True', 'none', '24064', '0', '0'],
      ['24-25', 'uint32', 'True', 'none', '3000000000', '0', '0'],
      ['25', 'next', 'True', 'none', '24064', '0', '0'],
      ['26-27', 'uint32', 'False', 'increment', '65535', '0', '0'],
      ['27', 'next', 'False', 'none', '65535', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 30, range_stop: 36 },
    rows: [
      ['30-31', 'float32', 'True', 'none', '-12.75', '0', '0'],
      ['31', 'next', 'True', 'none', '0', '0', '0'],
      ['32-33', 'float32', 'True', 'none', '230.10000610351562', '0', '0'],
      ['33', 'next', 'True', 'none', '6554', '0', '0'],
      ['34-35', 'float32', 'False', 'increment', '1.0', '0', '0'],
      ['35', 'next', 'False', 'none', '0', '0', '0'],
      ['36', 'invalid', 'False', 'none', '0', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 40, range_stop: 50 },
    rows: [
      ['40', 'invalid', 'False', 'none', '0', '0', '0'],
      ['41', 'invalid', 'False', 'none', '0', '0', '0'],
      ['42', 'invalid', 'False', 'none', '0', '0', '0'],
      ['43', 'invalid', 'False', 'none', '0', '0', '0'],
      ['44', 'uint16', 'False', 'timestamp', '7', '0', '0'],
      ['45', 'uint16', 'False', 'timestamp', '7', '0', '0'],
      ['46', 'uint16', 'False', 'timestamp', '7', '0', '0'],
      ['47', 'uint16', 'False', 'timestamp', '7', '0', '0'],
      ['48', 'uint16', 'False', 'timestamp', '7', '0', '0'],
      ['49', 'uint16', 'False', 'timestamp', '7', '0', '0'],
      ['50', 'uint16', 'False', 'timestamp', '7', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 60, range_stop: 66 },
    rows: [
      ['60-63', 'string', 'True', 'none', 'METER 7 ', '0', '0'],
      ['61', 'next', 'True', 'none', '21573', '0', '0'],
      ['62', 'next', 'True', 'none', '21024', '0', '0'],
      ['63', 'next', 'True', 'none', '14112', '0', '0'],
      ['64-65', 'string', 'False', 'none', 'ok  ', '0', '0'],
      ['65', 'next', 'False', 'none', '8224', '0', '0'],
      ['66', 'invalid', 'False', 'none', '0', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 100, range_stop: 116 },
    rows: [
      ['100', 'invalid', 'False', 'none', '0', '0', '0'],
      ['101', 'invalid', 'False', 'none', '0', '0', '0'],
      ['102', 'invalid', 'False', 'none', '0', '0', '0'],
      ['103', 'invalid', 'False', 'none', '0', '0', '0'],
      ['104', 'bits', 'True', 'none', '0x0', '0', '0'],
      ['105', 'bits', 'True', 'none', '0xabcd', '0', '0'],
      ['106', 'bits', 'False', 'none', '0xff', '0', '0'],
      ['107', 'bits', 'False', 'none', '0xff', '0', '0'],
      ['108', 'bits', 'False', 'random', '0x0', '0', '0'],
      ['109', 'invalid', 'False', 'none', '0', '0', '0'],
      ['110', 'uint16', 'True', 'none', '7', '0', '0'],
      ['111', 'uint16', 'False', 'none', '4711', '0', '0'],
      ['112', 'uint16', 'True', 'none', '321', '0', '0'],
      ['113', 'uint16', 'True', 'none', '321', '0', '0'],
      ['114', 'uint16', 'False', 'none', '321', '0', '0'],
      ['115', 'uint16', 'False', "increment({'minval': 97, 'maxval': 100})", '98', '0', '0'],
      ['116', 'uint16', 'False', "random({'minval': 5, 'maxval': 9})", '5', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 120, range_stop: 127 },
    rows: [
      ['120-121', 'uint32', 'True', 'none', '70000', '0', '0'],
      ['121', 'next', 'True', 'none', '4464', '0', '0'],
      ['122-123', 'uint32', 'True', 'none', '3000000000', '0', '0'],
      ['123', 'next', 'True', 'none', '24064', '0', '0'],
      ['124-125', 'uint32', 'True', 'none', '3000000000', '0', '0'],
      ['125', 'next', 'True', 'none', '24064', '0', '0'],
      ['126-127', 'uint32', 'False', 'increment', '65535', '0', '0'],
      ['127', 'next', 'False', 'none', '65535', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 160, range_stop: 165 },
    rows: [
      ['160-163', 'string', 'True', 'none', 'METER 7 ', '0', '0'],
      ['161', 'next', 'True', 'none', '21573', '0', '0'],
      ['162', 'next', 'True', 'none', '21024', '0', '0'],
      ['163', 'next', 'True', 'none', '14112', '0', '0'],
      ['164-165', 'string', 'False', 'none', 'ok  ', '0', '0'],
      ['165', 'next', 'False', 'none', '8224', '0', '0'],
    ],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Register', range_start: 11, range_end: 11 },
    rows: [['11', 'uint16', 'False', 'none', '4711', '0', '0']],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Register' },
    rows: [['0', 'invalid', 'False', 'none', '0', '0', '0']],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 'invalid', range_stop: 5 },
    names: ['Invalid range parameters'],
  },
  {
    endpoint: 'registers',
    request: {},
    names: ['submit'],
    deviation: 'upstream fails with an internal error text; it is an error here too, one that names submit',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 12, value: 1234, range_start: 12, range_stop: 12 },
    rows: [['12', 'uint16', 'True', 'none', '1234', '0', '0']],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 4, value: 4660, range_start: 4, range_stop: 4 },
    rows: [['4', 'bits', 'True', 'none', '0x1234', '0', '0']],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 12, value: 'invalid' },
    names: ['value', 'uint16'],
    deviation: 'the text of a Python exception; here the message says what the register holds',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set' },
    names: ['register'],
    deviation: 'the text of a Python exception',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 9999, value: 1 },
    names: ['register', '399'],
    deviation: 'the text of a Python exception; here the message names the registers there are',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 11, value: 5, writeable: true, range_start: 11, range_stop: 11 },
    rows: [['11', 'uint16', 'True', 'none', '5', '0', '0']],
  },
  {
    endpoint: 'registers',
    request: { submit: 'Registers', range_start: 399, range_stop: 410 },
    names: ['range_stop', '399'],
    deviation: 'the text of a Python exception; here the message names the registers there are',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 12, value: 0, range_start: 12, range_stop: 12 },
    rows: [['12', 'uint16', 'True', 'none', '0', '0', '0']],
    deviation: 'upstream takes 0 for no value at all and leaves the register alone; here 0 is set',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 30, value: 1.5, range_start: 30, range_stop: 31 },
    rows: [
      ['30-31', 'float32', 'True', 'none', '1.5', '0', '0'],
      ['31', 'next', 'True', 'none', '0', '0', '0'],
    ],
    deviation: 'upstream stores the number as one raw word and damages the float; here the float is set',
  },
  {
    endpoint: 'registers',
    request: { submit: 'Set', register: 20, value: 70000, range_start: 20, range_stop: 21 },
    rows: [
      ['20-21', 'uint32', 'True', 'none', '70000', '0', '0'],
      ['21', 'next', 'True', 'none', '4464', '0', '0'],
    ],
    deviation: 'upstream breaks down with status 500; here the 32-bit number is set',
  },
  {
    endpoint: 'calls',
    request: {
      submit: 'Simulate',
      response_type: 0,
      response_split: 'nomatter',
      split_delay: 0,
      response_cr: 'nomatter',
      response_cr_pct: 0,
      response_delay: 0,
      response_error: 0,
      response_junk_datalen: 0,
      response_clear_after: 0,
    },
    state: {
      action: 'ACTIVE',
      type: 'normal',
      split: 1,
      changeRate: 0,
      delay: 0,
      junk: 0,
      error: null,
      clearAfter: 1,
    },
  },
  {
    endpoint: 'calls',
    request: {
      submit: 'Simulate',
      response_type: 1,
      response_split: 'nomatter',
      split_delay: 0,
      response_cr: 'nomatter',
      response_cr_pct: 0,
      response_delay: 0,
      response_error: 2,
      response_junk_datalen: 0,
      response_clear_after: 3,
    },
    state: {
      action: 'ACTIVE',
      type: 'error',
      split: 1,
      changeRate: 0,
      delay: 0,
      junk: 0,
      error: 2,
      clearAfter: 3,
    },
  },
  {
    endpoint: 'calls',
    request: {
      submit: 'Simulate',
      response_type: 2,
      response_split: 'nomatter',
      split_delay: 0,
      response_cr: 'nomatter',
      response_cr_pct: 0,
      response_delay: 0,
      response_error: 0,
      response_junk_datalen: 0,
      response_clear_after: 0,
    },
    state: {
      action: 'ACTIVE',
      type: 'empty',
      split: 1,
      changeRate: 0,
      delay: 0,
      junk: 0,
      error: null,
      clearAfter: 1,
    },
  },
  {
    endpoint: 'calls',
    request: {
      submit: 'Simulate',
      response_type: 3,
      response_split: 'nomatter',
      split_delay: 0,
      response_cr: 'nomatter',
      response_cr_pct: 0,
      response_delay: 0,
      response_error: 0,
      response_junk_datalen: 7,
      response_clear_after: 0,
    },
    state: {
      action: 'ACTIVE',
      type: 'junk',
      split: 1,
      changeRate: 0,
      delay: 0,
      junk: 7,
      error: null,
      clearAfter: 1,
    },
  },
  {
    endpoint: 'calls',
    request: {
      submit: 'Simulate',
      response_type: 0,
      response_split: 'nomatter',
      split_delay: 2,
      response_cr: 'nomatter',
      response_cr_pct: 30,
      response_delay: 1,
      response_error: 0,
      response_junk_datalen: 0,
      response_clear_after: 5,
    },
    state: {
      action: 'ACTIVE',
      type: 'normal',
      split: 2,
      changeRate: 30,
      delay: 1,
      junk: 0,
      error: null,
      clearAfter: 5,
    },
  },
  {
    endpoint: 'calls',
    request: { submit: 'Reset' },
    state: {
      action: '',
      type: null,
      split: 0,
      changeRate: 0,
      delay: 0,
      junk: 10,
      error: null,
      clearAfter: 1,
    },
  },
  {
    endpoint: 'calls',
    request: { submit: 'Simulate' },
    names: ['response_delay', 'response_error', 'response_clear_after'],
    deviation: 'upstream names only the first key that it misses',
  },
];
