import { describe, expect, it } from 'vitest';
import { nativeLine } from '../../../src/document/native/line.js';
import { isSameLine, lineSettings, mergedSource } from '../../../src/document/native/line-source.js';
import { DeviceNames } from '../../../src/document/native/units.js';
import { cursor, mistakesOf } from '../helpers.js';

const context = () => ({ devices: new DeviceNames(['meter']), directory: '/etc/modbus-sim' });

function lineOf(value: object) {
  const at = cursor({ units: { 1: 'meter' }, ...value });
  const definition = nativeLine('line', at, context());
  return { definition, mistakes: mistakesOf(at) };
}

const TLS = { cert: 'server.pem', key: '/keys/server.key' };

const VIRTUAL = { serial: { path: 'virtual' } };
const BYTES = 'bytes as 1 to 256 bytes of hexadecimal text: write it in quotes, as in "00"';

/** What a line can't send unsolicited, and why. */
const REFUSED_UNSOLICITED: readonly [object, string][] = [
  [
    { ...VIRTUAL, units: {}, mode: 'monitor', unsolicited: { bytes: '00', every: '5s' } },
    'unsolicited: a line with mode monitor never sends a byte',
  ],
  [
    { udp: {}, unsolicited: { bytes: '00', every: '5s' } },
    "unsolicited: a UDP line only answers requests and can't send unsolicited messages; use tcp",
  ],
  [{ ...VIRTUAL, unsolicited: { bytes: 0, every: '5s' } }, `unsolicited.bytes: expected ${BYTES}, got 0`],
  [{ ...VIRTUAL, unsolicited: { every: '5s' } }, 'unsolicited: expected either bytes or frame'],
  [{ ...VIRTUAL, unsolicited: { bytes: '00' } }, 'unsolicited: expected either every or before'],
  [
    { ...VIRTUAL, unsolicited: [{ bytes: '00', before: 'reply', jitter: 5 }] },
    'unsolicited[0].jitter: only a repeated message (every) has jitter',
  ],
  [
    { ...VIRTUAL, unsolicited: { bytes: '00', every: '1s', jitter: '2s' } },
    'unsolicited.jitter: expected at most the interval (every)',
  ],
  [
    { ...VIRTUAL, unsolicited: { bytes: '00', every: 9 } },
    'unsolicited.every: expected a number of milliseconds from 10 to 86400000, or a time such as 250ms, 20s, 5m, 1h, got 9',
  ],
  [
    { ...VIRTUAL, unsolicited: Array(9).fill({ bytes: '00', every: '1s' }) },
    'unsolicited: expected at most 8 messages, got 9',
  ],
];

describe('a line in the native file', () => {
  it.each<[string, object, object]>([
    ['Modbus UDP', { udp: {} }, { kind: 'udp', framing: 'socket', host: '127.0.0.1', port: 5020 }],
    ['RTU over TCP', { tcp: { port: 4001 }, framing: 'rtu' }, { kind: 'tcp', framing: 'rtu', port: 4001 }],
    ['ASCII over TCP', { tcp: {}, framing: 'ascii' }, { kind: 'tcp', framing: 'ascii' }],
    [
      'Modbus/TCP Security on its own port, with files found from the directory of the configuration',
      { tls: { ...TLS, ca: '../ca.pem' } },
      {
        kind: 'tls',
        framing: 'socket',
        port: 802,
        files: { cert: '/etc/modbus-sim/server.pem', key: '/keys/server.key', ca: '/etc/ca.pem' },
      },
    ],
    [
      'ASCII on a serial line, with seven data bits',
      { serial: { path: '/dev/x' }, framing: 'ascii' },
      { kind: 'serial', framing: 'ascii', dataBits: 7, parity: 'even' },
    ],
    [
      'ASCII with eight data bits where it says so',
      { serial: { path: '/dev/x', dataBits: 8 }, framing: 'ascii' },
      { dataBits: 8 },
    ],
    [
      'direction control by the kernel',
      { serial: { path: '/dev/x', rs485: { mode: 'kernel', rtsOnSend: 'low', delayAfterSend: 2 } } },
      {
        rs485: {
          mode: 'kernel',
          rtsOnSend: 'low',
          delayBeforeSend: 0,
          delayAfterSend: 2,
        },
      },
    ],
    [
      'limits of a socket',
      { tcp: { maxClients: 4, idleTimeout: 1000 } },
      { maxClients: 4, idleTimeout: 1000 },
    ],
  ])('can be %s', (_, value, expected) => {
    const { definition, mistakes } = lineOf(value);
    expect(mistakes).toEqual([]);
    expect(definition).toMatchObject(expected);
  });

  it('leaves direction to the adapter with rs485: {mode: auto}, as without it', () => {
    const { definition } = lineOf({ serial: { path: '/dev/x', rs485: { mode: 'auto' } } });
    expect(definition && lineSettings(definition)).not.toHaveProperty('serial.rs485');
  });

  it.each<[object, string]>([
    [{ serial: { path: '/dev/x' }, framing: 'socket' }, 'framing: expected rtu or ascii, got "socket"'],
    [
      { tcp: {}, framing: 'mbap' },
      'framing: expected socket, rtu or ascii, got "mbap", did you mean "socket"?',
    ],
    [{ tls: { key: 'k' } }, 'tls.cert: missing, expected the path of a certificate (PEM)'],
    [
      { udp: { idleTimeout: 5 } },
      'udp.idleTimeout: unknown key "idleTimeout" (known: host, maxClients, hosts, port, whenFull, pipelining)',
    ],
    [{ tcp: {}, udp: {} }, ': expected one of serial, tcp, udp, tls, got tcp and udp'],
    [
      { serial: { path: '/dev/x', rs485: { mode: 'gpio' } } },
      'serial.rs485.mode: expected auto, kernel or rts, got "gpio"',
    ],
    [
      { serial: { path: '/dev/x', rs485: { mode: 'kernel', delayAfterSend: 0.5 } } },
      'serial.rs485.delayAfterSend: expected whole milliseconds from 0 to 100 in mode kernel, got 0.5',
    ],
    [{ serial: { path: 'virtual', rs485: { mode: 'rts' } } }, 'serial.rs485: only a real port can have this'],
    [
      { serial: { path: '/dev/x' }, mode: 'monitor' },
      'units: a line with mode monitor answers no request, so it has no units',
    ],
    [{ tcp: { whenFull: 'queue' } }, 'tcp.whenFull: expected evict, refuse or ignore, got "queue"'],
    [
      { udp: { whenFull: 'refuse' } },
      'udp.whenFull: expected evict: UDP has no connections to refuse or ignore, got "refuse"',
    ],
    [
      { udp: { pipelining: 'drop' } },
      'udp.pipelining: expected serve: UDP has no connection, so no request waits behind another, got "drop"',
    ],
    [{ serial: { path: '/dev/x' }, mode: 'spy' }, 'mode: expected server or monitor, got "spy"'],
    ...['tcp', 'udp', 'tls'].map((socket): [object, string] => [
      { [socket]: TLS, mode: 'monitor' },
      'mode: expected server: a socket receives only what is sent to it, so only a serial line can be a monitor, got "monitor"',
    ]),
    ...REFUSED_UNSOLICITED,
    [
      { tcp: {}, framing: 'rtu', units: { 0: 'meter' } },
      'units.0: 0 is the broadcast address, which no device answers: expected a unit identifier from 1 to 247, a range or *, got "0"',
    ],
  ])('tells what is wrong with %j', (value, message) => {
    expect(lineOf(value).mistakes).toContain(message);
  });
});

const LINES: [string, object][] = [
  ['a serial line', { serial: { path: '/dev/x', rs485: { mode: 'rts' }, parityMarks: false } }],
  [
    'a paced virtual line',
    { serial: { path: 'virtual', link: '/tmp/x', pacing: { chunk: 'usb', latency: 4 } } },
  ],
  [
    'times',
    {
      serial: { path: '/dev/x' },
      timing: { turnaround: 12, t35: 5, gap: 30 },
      whenBusy: 'drop',
      echo: 'yes',
    },
  ],
  ['a monitor', { serial: { path: '/dev/x' }, mode: 'monitor', units: undefined }],
  ['an ASCII line', { serial: { path: '/dev/x' }, framing: 'ascii' }],
  ['Modbus TCP', { tcp: { host: '::', maxClients: 3 }, units: { '*': 'meter' }, missingUnit: 'silence' }],
  ['Modbus UDP', { udp: { port: 502 }, units: { 255: 'meter' } }],
  ['TLS', { tls: { ...TLS, ca: 'ca.pem' } }],
];

describe('the settings of a line', () => {
  it.each(LINES)('are those of the same line when they are all written: %s', (_, value) => {
    const { definition } = lineOf(value);
    const again = definition && lineOf(lineSettings(definition)).definition;
    expect(definition && again && isSameLine(definition, again)).toBe(true);
  });
});

describe('the source of a line', () => {
  it('is what was written, from which a change begins', () => {
    const { definition } = lineOf({ tcp: { port: 502 }, units: { '1-2': { copyOf: 'meter' } } });
    expect(definition?.source).toEqual({ tcp: { port: 502 }, units: { '1-2': { copyOf: 'meter' } } });
  });

  it('takes a change of settings that were left out', () => {
    expect(mergedSource({ serial: {} }, { timing: { gap: '5ms', t35: null } })).toEqual({
      serial: {},
      timing: { gap: '5ms' },
    });
  });

  const source = { serial: { path: '/dev/x', baudRate: 9600 }, framing: 'rtu', units: { 1: 'a', 2: 'b' } };

  it('keeps what a change leaves out', () => {
    expect(mergedSource(source, { serial: { baudRate: 19200 } })).toEqual({
      ...source,
      serial: { path: '/dev/x', baudRate: 19200 },
    });
  });

  it('has the default again for null', () => {
    expect(mergedSource(source, { serial: { baudRate: null } })).toEqual({
      ...source,
      serial: { path: '/dev/x' },
    });
  });

  it('changes units as a whole', () => {
    expect(mergedSource(source, { units: { 3: 'c' } }).units).toEqual({ 3: 'c' });
  });

  it('leaves the settings of the old transport behind when another one is named', () => {
    expect(mergedSource(source, { tcp: { port: 502 } })).toEqual({ tcp: { port: 502 }, units: source.units });
  });
});

it('what a line sends unsolicited is written as it is read', () => {
  const unsolicited = [
    { bytes: '00 ff', every: 5000, jitter: 1000 },
    { frame: { unit: 9, pdu: '03 02 00 07' }, before: 'reply' },
  ];
  for (const transport of [VIRTUAL, { tcp: {} }, { tls: TLS }]) {
    const { definition, mistakes } = lineOf({ ...transport, unsolicited });
    expect(mistakes).toEqual([]);
    expect(definition && lineSettings(definition)).toMatchObject({ unsolicited });
  }
  const { definition } = lineOf({ ...VIRTUAL, unsolicited: unsolicited[0] });
  expect(definition && lineSettings(definition)).toMatchObject({ unsolicited: unsolicited.slice(0, 1) });
});
