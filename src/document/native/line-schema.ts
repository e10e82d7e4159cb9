import { z } from 'zod';
import { DAY_MS } from '../../common/schema/milliseconds.js';
import {
  flag,
  hexadecimal,
  oneOf,
  readApart,
  section,
  text,
  wholeNumber,
} from '../../common/schema/parts.js';
import { duration } from '../../common/schema/units.js';
import { documentAs, formOf, having, type Keywords, oneOfKeys } from '../../common/schema/written-as.js';
import { ABOUT_LIKE, likeSchema } from '../catalogue-files.js';
import { usualClients } from './endpoints.js';
import { copySchema, serialUnitsSchema, socketUnitsSchema } from './units.js';

/** The longest useful wait on a line, in ms. A longer one is probably in the wrong unit. */
const LONGEST_WAIT = 60_000;

const TURNAROUND = `t3.5, eager or a number of milliseconds from 0 to ${LONGEST_WAIT}`;

// If only one option fits by type, a union reports that option's error. So every option has the error of the
// union.
const turnaround = z.union([z.literal(['t3.5', 'eager']), duration(0, LONGEST_WAIT, TURNAROUND)], {
  error: TURNAROUND,
});

const pacingSchema = section(
  {
    chunk: oneOf([1, 8, 16, 'usb']),
    latency: duration(0, 1000).optional(),
  },
  {
    chunk: 'The number of bytes that arrive at once: the size of a FIFO, or `usb` for USB packets.',
    latency: 'The latency timer of `usb`, in ms. Default: 16.',
  },
);

const DELAY = duration(0, 1000);

export const rs485Schema = section(
  {
    mode: oneOf(['auto', 'kernel', 'rts']),
    rtsOnSend: oneOf(['high', 'low']).default('high'),
    delayBeforeSend: DELAY.default(0),
    delayAfterSend: DELAY.default(0),
    receiveWhileSending: flag.optional(),
  },
  {
    mode: 'What switches the driver: the adapter, the kernel, or this program through RTS.',
    rtsOnSend: 'The level of RTS while the line sends.',
    delayBeforeSend: 'Time from switching the driver on to the first byte, in ms.',
    delayAfterSend: 'Time from the last byte to switching the driver off, in ms.',
    receiveWhileSending: 'Whether the receiver stays on while the line sends.',
  },
);

/** The shortest interval of unsolicited bytes, in ms. Shorter ones would keep a line from its other work. */
export const SHORTEST_UNSOLICITED_MS = 10;

export const unsolicitedSchema = section(
  {
    bytes: hexadecimal(256, 'bytes', '00').optional(),
    frame: section(
      {
        unit: wholeNumber(0, 255),
        pdu: hexadecimal(253, 'a PDU', '03 02 00 07'),
      },
      { unit: 'The unit identifier of the frame.', pdu: 'Function code and data, as hexadecimal text.' },
    ).optional(),
    before: oneOf(['reply']).optional(),
    every: duration(SHORTEST_UNSOLICITED_MS, DAY_MS).optional(),
    jitter: duration(0, DAY_MS).optional(),
  },
  {
    bytes: 'Bytes as hexadecimal text, sent as they are.',
    frame: 'Or a valid frame.',
    before: 'Sends it before each reply.',
    every: 'Sends it repeatedly, at this interval in ms.',
    jitter: 'The maximum variation of that interval, in ms.',
  },
  { allOf: [oneOfKeys('bytes', 'frame'), oneOfKeys('every', 'before')] },
);

/** Maximum entries in `unsolicited` of a line. */
export const MOST_UNSOLICITED = 8;

const unsolicited = readApart(() =>
  z.union([unsolicitedSchema, z.array(unsolicitedSchema).max(MOST_UNSOLICITED)]),
);

/** Whether a line that can't be opened fails the start of the program, or is waited for. */
export const startSchema = oneOf(['required', 'waiting']);

export const ABOUT_PORT = {
  path: 'The path of the port (`modbus-sim ports` lists them), or `virtual` for a pseudo-terminal.',
  baudRate: 'Bits per second.',
  dataBits: '8 for RTU, 7 or 8 for ASCII.',
  parity: 'The parity bit. Without one, the specification asks for two stop bits.',
  stopBits: 'Stop bits.',
  rs485: 'What switches the driver of an RS-485 adapter.',
  parityMarks: 'Whether the driver marks bytes with a parity error. Default: where it can.',
  link: 'The path of a stable link to the port of a virtual line.',
  pacing: 'How bytes arrive at the client of a virtual line.',
};

const aboutLine = {
  framing: 'The framing.',
  start: '`waiting` keeps trying to open the line. Default: `start` of the file.',
  unsolicited: 'Bytes sent without a request: one message, or a list.',
  units: 'The device for each unit identifier, as in {1: meter, 2-9: {copyOf: meter}}.',
};

export const serialLineSchema = section(
  {
    serial: section(
      {
        path: text('the path of a serial port, or virtual'),
        baudRate: wholeNumber(50, 4_000_000).default(19200),
        dataBits: oneOf([7, 8]).optional(),
        parity: oneOf(['none', 'even', 'odd']).default('even'),
        stopBits: oneOf([1, 2]).default(1),
        rs485: rs485Schema.optional(),
        parityMarks: flag.optional(),
        link: text('the path of a link to the virtual port').optional(),
        pacing: pacingSchema.optional(),
      },
      ABOUT_PORT,
    ),
    framing: oneOf(['rtu', 'ascii']).default('rtu'),
    mode: oneOf(['server', 'monitor']).default('server'),
    timing: section(
      {
        t35: duration(0, LONGEST_WAIT).optional(),
        turnaround: turnaround.default('t3.5'),
        gap: duration(0, LONGEST_WAIT).optional(),
      },
      {
        t35: 'The silence that ends a frame, in ms. Default: 3.5 characters, and 1.75 ms above 19200 baud.',
        turnaround: 'The silence before a reply: t3.5, a time, or `eager`, as soon as the frame is complete.',
        gap: 'The silence after which an incomplete frame is discarded, in ms.',
      },
    ).optional(),
    whenBusy: oneOf(['queue', 'drop', 'replace']).default('replace'),
    echo: oneOf(['auto', 'yes', 'no']).default('auto'),
    start: startSchema.optional(),
    unsolicited,
    units: serialUnitsSchema,
  },
  {
    serial: 'A serial port, or a virtual one for clients on this machine.',
    ...aboutLine,
    mode: '`monitor` only listens, and has no units.',
    timing: 'Silences on the line.',
    whenBusy: 'What happens to a request that arrives while a reply is pending.',
    echo: 'Whether the adapter receives what it sends; `auto` detects it.',
  },
);

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
const TLS_HOSTS = 'one address, as host: only TCP and UDP lines can have several';
const hosts = readApart(() => z.string().regex(/^[\d.,\s-]+$/));

const noHosts = z.undefined({ error: TLS_HOSTS }).optional();
documentAs(noHosts, () => z.never());

const aboutSocket = {
  host: 'The address to listen on. 0.0.0.0 means every address.',
  hosts: 'Several addresses, such as 127.1.0.1-127.1.3.232, instead of host.',
  port: 'The port; 0 picks a free one.',
  maxClients: 'The maximum number of clients at a time. Default: 256, or two for each address.',
  idleTimeout: 'How long a connection may stay open without a request, in ms.',
  whenFull: 'What happens to a connection beyond maxClients. Default: evict.',
  pipelining: 'What happens to a request that arrives before the reply to an earlier one. Default: serve.',
};

const aboutSocketLine = {
  ...aboutLine,
  mode: 'A socket always serves.',
  each: 'With `hosts`: the device that each address gets a copy of.',
  missingUnit: 'What a client gets for a unit that does not exist: exception 0B, or nothing.',
};

const UDP_WHEN_FULL = 'evict: UDP has no connections to refuse or ignore';
const UDP_PIPELINING = 'serve: UDP has no connection, so no request waits behind another';
const SOCKET_MODE =
  'server: a socket receives only what is sent to it, so only a serial line can be a monitor';

const socketLine = {
  framing: oneOf(['socket', 'rtu', 'ascii']).default('socket'),
  mode: z.literal('server', { error: SOCKET_MODE }).optional(),
  start: startSchema.optional(),
  unsolicited,
  units: socketUnitsSchema,
  each: readApart(() => copySchema),
  missingUnit: oneOf(['exception', 'silence']).default('exception'),
};

export const tcpLineSchema = section(
  {
    tcp: section({ ...listening, hosts, port: port.default(5020), ...connections }, aboutSocket),
    ...socketLine,
  },
  { tcp: 'Modbus TCP, or RTU and ASCII over TCP.', ...aboutSocketLine },
);

export const udpLineSchema = section(
  {
    udp: section(
      {
        ...listening,
        hosts,
        port: port.default(5020),
        whenFull: z.literal('evict', { error: UDP_WHEN_FULL }).optional(),
        pipelining: z.literal('serve', { error: UDP_PIPELINING }).optional(),
      },
      aboutSocket,
    ),
    ...socketLine,
  },
  { udp: 'Modbus UDP.', ...aboutSocketLine },
);

/** Port 802, the default, is the port of Modbus/TCP Security. */
export const tlsLineSchema = section(
  {
    tls: section(
      {
        ...listening,
        hosts: noHosts,
        port: port.default(802),
        ...connections,
        cert: text('the path of a certificate (PEM)'),
        key: text('the path of its private key (PEM)'),
        ca: text(
          'the path of the CA certificates that client certificates are checked against (PEM)',
        ).optional(),
      },
      {
        ...aboutSocket,
        cert: 'The path of a certificate (PEM).',
        key: 'The path of its private key (PEM).',
        ca: 'The path of the CA certificates that client certificates are checked against (PEM). Without it, anyone may connect.',
      },
    ),
    ...socketLine,
  },
  { tls: 'Modbus/TCP Security.', ...aboutSocketLine },
);

export const LINE_SCHEMAS = {
  serial: serialLineSchema,
  tcp: tcpLineSchema,
  udp: udpLineSchema,
  tls: tlsLineSchema,
};

/** The keys of a line that name its transport. */
export const TRANSPORTS = Object.keys(LINE_SCHEMAS) as (keyof typeof LINE_SCHEMAS)[];

/** Units are required if a line answers. (Completion offers the keys in `properties`, but not those under `not`.) */
const HAS_UNITS = { required: ['units'] };
export const LISTENS = { required: ['mode'], not: { properties: { mode: { const: 'server' } } } };

/** Returns the documented form of the lines of a file, which may also have `like`. */
export function linesForm(): z.ZodType {
  const form = (
    schema: (typeof LINE_SCHEMAS)[keyof typeof LINE_SCHEMAS],
    title: string,
    keywords: Keywords,
  ) =>
    having(
      formOf(schema, {
        like: likeSchema.describe(ABOUT_LIKE),
        units: having(schema.shape.units, { minProperties: 1 }),
      }),
      { title, ...keywords },
    );
  const { serial, tcp, udp, tls } = LINE_SCHEMAS;
  const lines = [
    form(serial, 'Serial line', { anyOf: [HAS_UNITS, LISTENS] }),
    form(tcp, 'Modbus TCP', { allOf: [HAS_UNITS] }),
    form(udp, 'Modbus UDP', { allOf: [HAS_UNITS] }),
    form(tls, 'Modbus/TCP Security', { allOf: [HAS_UNITS] }),
  ] as const;
  return having(z.record(z.string(), z.union(lines).meta({ id: 'Line' })), { minProperties: 1 });
}
