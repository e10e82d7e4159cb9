/*
 * Examples for the document of the interface: one for each kind of thing in answers. A test checks that they fit their
 * schemas.
 */

export const LINE = {
  name: 'lan',
  description: 'Modbus TCP on 127.0.0.1:5020, units 1',
  state: 'open',
  reason: null,
  place: '127.0.0.1:5020',
  link: null,
  settings: {
    tcp: { host: '127.0.0.1', port: 5020, maxClients: 256, idleTimeout: 300000 },
    framing: 'socket',
    units: { 1: 'meter' },
    missingUnit: 'exception',
  },
  units: { 1: 'meter' },
  uptime: 12.5,
  clients: 1,
  counters: {
    requests: 3,
    broadcasts: 0,
    dropped: 0,
    unasked: 0,
    replies: 3,
    duplicates: 0,
    echoes: 0,
    collisions: 0,
    foreignFrames: 0,
    damagedFrames: 0,
    noiseBytes: 0,
    damagedCharacters: 0,
    rejected: 0,
  },
};

export const DEVICE = {
  name: 'meter',
  supply: 'on',
  clock: { time: 12.5, speed: 1, paused: false },
  lines: { lan: ['1'] },
  tables: { coils: 1, discrete: 0, input: 0, holding: 2 },
  names: ['voltage'],
  manners: {},
  defined: { holding: { registers: 2, ranges: [[0, 1]] } },
};

export const VALUE = { name: 'voltage', value: 230.1, raw: 2301, unit: 'V', type: 'uint16', available: true };

export const REGISTER = {
  ...VALUE,
  table: 'holding',
  address: 0,
  registers: 1,
  writable: true,
  description: null,
  label: null,
  signal: null,
  trouble: null,
  saturated: 0,
  action: null,
  reads: 3,
  writes: 0,
  lastWriter: null,
};

export const WORDS = {
  supply: 'on',
  clock: { time: 12.5, speed: 1, paused: false },
  table: 'holding',
  from: 0,
  bits: 16,
  words: [2301, 1, null],
  access: 'rw-',
  values: [REGISTER],
};

export const SIGNAL_KIND = {
  name: 'noise',
  value: 'every so often a new random value',
  schema: { type: 'object', properties: { around: { type: 'number' } }, required: ['around'] },
};

export const RULE = { name: 'slow', when: { unit: 1, function: 3, count: 2 }, do: [{ delay: 250 }], seed: 7 };

export const RULE_STATUS = {
  ...RULE,
  enabled: true,
  matches: 1,
  hits: 1,
  lastHit: '2026-01-31T12:00:00.000Z',
  open: true,
  remaining: 1,
};

export const PREVIEW = {
  matches: true,
  seed: 7,
  request: { line: 'lan', unit: 1, function: 3, bytes: '00 01 00 00 00 06 01 03 00 00 00 01', seq: null },
  characterUs: null,
  t35Us: null,
  silence: null,
  faults: [{ rule: 'slow', kind: 'delay', outcome: 'applied' }],
  omittedFaults: 0,
  steps: [{ kind: 'bytes', bytes: '00 01 00 00 00 05 01 03 02 08 fd', plannedUs: 250000, endedUs: 250000 }],
  omittedSteps: 0,
  omittedBytes: 0,
};

export const EXCHANGE = {
  id: 12,
  requestId: 11,
  time: '2026-01-31T12:00:00.000Z',
  line: 'lan',
  client: '127.0.0.1:40112',
  unit: 1,
  function: 3,
  unitId: 1,
  request: '00 01 00 00 00 06 01 03 00 00 00 01',
  silence: null,
  faults: [{ rule: 'slow', kind: 'delay', outcome: 'applied' }],
  omittedFaults: 0,
  steps: [
    {
      kind: 'bytes',
      bytes: '00 01 00 00 00 05 01 03 02 08 fd',
      plannedUs: 250000,
      achievedUs: 250061,
      endedUs: 250061,
      uncertaintyUs: 0,
      outcome: 'achieved',
    },
  ],
  omittedSteps: 0,
  omittedBytes: 0,
  ended: 'complete',
};

export const EVENT = {
  seq: 11,
  line: 'lan',
  kind: 'request',
  direction: 'in',
  time: '2026-01-31T12:00:00.000000Z',
  monotonicUs: 12500000,
  startedUs: 12500000,
  bytes: EXCHANGE.request,
  unit: 1,
  function: 3,
  name: 'read holding registers',
  address: 0,
  quantity: 1,
  names: ['meter.voltage'],
  text: 'unit 1 read holding registers 0',
  client: EXCHANGE.client,
};

export const LEFT_OUT = { kind: 'left out', count: 1240, text: '1,240 left out' };

export const TRAFFIC_FILE = {
  writing: true,
  file: '/var/lib/modbus-sim/traffic',
  format: 'ndjson',
  rotate: { size: 16777216, files: 10 },
  path: '/var/lib/modbus-sim/traffic/traffic-000001.ndjson',
  problem: null,
  missed: 0,
};

export const TEST = {
  id: 1,
  name: 'it waits',
  state: 'running',
  verdict: 'not run',
  lines: ['lan'],
  steps: [{ name: 'wait 1 h', verdict: 'not run', message: '' }],
};

export const CHECK = {
  id: 'wrong-crc',
  group: 'damaged',
  title: 'Throws away a reply with a wrong CRC',
  does: 'Inverts the CRC of one reply.',
  matters: 'A client that does not check the CRC takes noise for values.',
  rule: 'Passes when the client asks again.',
  source: 'Modbus over Serial Line V1.02, 2.5.1.2',
};

export const EXAMINATION = {
  id: 1,
  state: 'running',
  name: 'the client on line lan',
  line: 'lan',
  seed: 4711,
  verdict: 'pass',
  conclusions: ['Gives up after 487 ± 3 ms, asks 3 times, waits 100, 200 ms.'],
  found: {
    timeoutMs: { value: 487, plusMinus: 3 },
    attempts: 3,
    pausesMs: [100, 200],
    pollPeriodMs: 1000,
  },
  checks: [
    {
      id: CHECK.id,
      group: CHECK.group,
      title: CHECK.title,
      verdict: 'pass',
      summary: 'asked again 1000 ms after the request whose reply was spoilt',
      durationMs: 2140,
    },
  ],
};

export const PORT = {
  path: '/dev/ttyUSB0',
  stableNames: ['/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0'],
  adapter: { kind: 'ftdi', name: 'FTDI', fifoCharacters: 62, latencyMs: 1 },
  hints: [],
  usb: {
    vendorId: '0403',
    productId: '6001',
    manufacturer: 'FTDI',
    product: 'FT232R USB UART',
    serialNumber: 'A50285BI',
  },
  lines: ['bench'],
};

export const PROBLEM = {
  title: 'Not Found',
  status: 404,
  detail: 'name: no line "lam"',
  error: 'name: no line "lam"',
  code: 'line.unknown' as const,
  problems: [{ path: 'name', message: 'no line "lam"', code: 'line.unknown' }],
};

export const OTHER_VALUES = {
  title: 'Conflict',
  status: 409,
  detail: 'changes[0].expected: expected 7, but 1 stands there',
  error: 'changes[0].expected: expected 7, but 1 stands there',
  code: 'value.not_as_expected' as const,
  problems: [
    {
      path: 'changes[0].expected',
      message: 'expected 7, but 1 stands there',
      code: 'value.not_as_expected',
    },
  ],
  registers: [REGISTER],
};

export const REPORT = {
  name: 'over REST',
  verdict: 'pass' as const,
  steps: [
    { name: 'polls', verdict: 'pass' as const, message: 'came after 12 ms', durationMs: 12.5, frames: [] },
  ],
  startedAt: '2026-01-31T12:00:00.000Z',
  durationMs: 12.5,
  seed: 7,
  versions: [{ name: 'modbus-sim', version: '1.0.0-rc.1' }],
};
