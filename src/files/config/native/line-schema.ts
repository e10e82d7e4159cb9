import { z } from 'zod';
import {
  flag,
  hexadecimal,
  oneOf,
  readApart,
  section,
  text,
  wholeNumber,
} from '../../../common/schema/parts.js';
import { duration } from '../../../common/schema/units.js';
import { usualClients } from './hosts.js';
import { startSchema } from './schema.js';

/** The longest useful wait on a line, in ms. A longer one is probably in the wrong unit. */
const LONGEST_WAIT = 60_000;

const TURNAROUND = `t3.5, eager or a number of milliseconds from 0 to ${LONGEST_WAIT}`;

// When only one option fits by type, a union reports the error of that option. So every option has the error
// of the union.
const turnaround = z.union([z.literal(['t3.5', 'eager']), duration(0, LONGEST_WAIT, TURNAROUND)], {
  error: TURNAROUND,
});

const pacingSchema = section({
  chunk: oneOf([1, 8, 16, 'usb']),
  latency: duration(0, 1000).optional(),
});

const DELAY = duration(0, 1000);

export const rs485Schema = section({
  mode: oneOf(['auto', 'kernel', 'rts']),
  rtsOnSend: oneOf(['high', 'low']).default('high'),
  delayBeforeSend: DELAY.default(0),
  delayAfterSend: DELAY.default(0),
  receiveWhileSending: flag.optional(),
});

const DAY_MS = 86_400_000;

/** The shortest interval of unasked bytes, in ms. Shorter ones would keep a line from its own work. */
const SHORTEST_UNASKED_MS = 10;

export const unaskedSchema = section({
  bytes: hexadecimal(256, 'bytes', '00').optional(),
  frame: section({
    unit: wholeNumber(0, 255),
    pdu: hexadecimal(253, 'a PDU', '03 02 00 07'),
  }).optional(),
  before: oneOf(['reply']).optional(),
  every: duration(SHORTEST_UNASKED_MS, DAY_MS).optional(),
  jitter: duration(0, DAY_MS).optional(),
});

export const serialLineSchema = section({
  serial: section({
    path: text('the path of a serial port, or virtual'),
    baudRate: wholeNumber(50, 4_000_000).default(19200),
    dataBits: oneOf([7, 8]).optional(),
    parity: oneOf(['none', 'even', 'odd']).default('even'),
    stopBits: oneOf([1, 2]).default(1),
    rs485: rs485Schema.optional(),
    parityMarks: flag.optional(),
    link: text('the path of a link to the virtual port').optional(),
    pacing: pacingSchema.optional(),
  }),
  framing: oneOf(['rtu', 'ascii']).default('rtu'),
  mode: oneOf(['server', 'monitor']).default('server'),
  timing: section({
    t35: duration(0, LONGEST_WAIT).optional(),
    turnaround: turnaround.default('t3.5'),
    gap: duration(0, LONGEST_WAIT).optional(),
  }).optional(),
  whenBusy: oneOf(['queue', 'drop', 'replace']).default('replace'),
  echo: oneOf(['auto', 'yes', 'no']).default('auto'),
  start: startSchema.optional(),
  ...readApart('unasked', 'units'),
});

const listening = {
  host: text('a host name or an address').default('127.0.0.1'),
  maxClients: wholeNumber(1, 65535).default(usualClients()),
};
const connections = {
  idleTimeout: duration(10, DAY_MS).default(300_000),
  whenFull: oneOf(['evict', 'refuse', 'ignore']).optional(),
  pipelining: oneOf(['serve', 'drop', 'one']).optional(),
};
const port = wholeNumber(0, 65535);
const severalHosts = readApart('hosts');

const UDP_WHEN_FULL = 'evict: UDP has no connections that could be refused or ignored';
const UDP_PIPELINING = 'serve: UDP has no connection on which one request could stand behind another';
const TLS_HOSTS = 'one address, as host: only lines on TCP and UDP have several';
const SOCKET_MODE = 'server: a socket hears only what is sent to it, so only a serial line can be a monitor';

const socketLine = {
  framing: oneOf(['socket', 'rtu', 'ascii']).default('socket'),
  mode: z.literal('server', { error: SOCKET_MODE }).optional(),
  start: startSchema.optional(),
  ...readApart('unasked', 'units', 'each'),
  missingUnit: oneOf(['exception', 'silence']).default('exception'),
};

export const tcpLineSchema = section({
  tcp: section({ ...listening, ...severalHosts, port: port.default(5020), ...connections }),
  ...socketLine,
});

export const udpLineSchema = section({
  udp: section({
    ...listening,
    ...severalHosts,
    port: port.default(5020),
    whenFull: z.literal('evict', { error: UDP_WHEN_FULL }).optional(),
    pipelining: z.literal('serve', { error: UDP_PIPELINING }).optional(),
  }),
  ...socketLine,
});

/** The default port 802 is that of Modbus/TCP Security. */
export const tlsLineSchema = section({
  tls: section({
    ...listening,
    hosts: z.undefined({ error: TLS_HOSTS }).optional(),
    port: port.default(802),
    ...connections,
    cert: text('the path of a certificate (PEM)'),
    key: text('the path of its private key (PEM)'),
    ca: text('the path of the certificates that sign those of clients (PEM)').optional(),
  }),
  ...socketLine,
});

/** The schema of each kind of line. */
export const LINE_SCHEMAS = {
  serial: serialLineSchema,
  tcp: tcpLineSchema,
  udp: udpLineSchema,
  tls: tlsLineSchema,
};
