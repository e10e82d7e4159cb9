import { z } from 'zod';
import { MAX_RECORDS } from '../../device/files.js';
import { MAX_SEED } from '../../random.js';
import { REACTIONS } from '../../reactions/kinds.js';
import { ACTION_NAMES } from '../../registers/actions.js';
import { CELL_TYPES, type ValueType } from '../../registers/cell-type.js';
import { duration } from '../../schema/duration.js';
import {
  flag,
  identityText,
  number,
  numberFrom,
  oneOf,
  secret,
  section,
  text,
  wholeNumber,
} from '../../schema/parts.js';
import { expectedMessage } from '../../schema/problem.js';
import { size } from '../../schema/size.js';
import { MAX_SPEED } from '../../signals/clock.js';
import { TIME_NAME } from '../../signals/expression/parse.js';
import { MIN_PERIOD } from '../../signals/wave.js';

/*
 * The schemas of the native file. Each part is checked separately, so that a mistake in one part hides none in another.
 * Which parts go together, and which values a type can hold, is checked where the part is built.
 */

/** The file as a whole. A new section begins here; native.ts builds it. */
export const fileSections = section({
  devices: z.unknown().optional(),
  lines: z.unknown().optional(),
  faults: z.unknown().optional(),
  api: z.unknown().optional(),
  traffic: z.unknown().optional(),
  start: z.unknown().optional(),
  state: z.unknown().optional(),
});

/** Whether a line that can't be opened ends the start, or is waited for. */
export const startSchema = oneOf(['required', 'waiting']);

/** Whether what changes at run time is still there after a restart. */
export const stateSchema = oneOf(['discard', 'keep']);

export const identitySchema = section({
  vendorName: identityText.optional(),
  productCode: identityText.optional(),
  majorMinorRevision: identityText.optional(),
  vendorUrl: identityText.optional(),
  productName: identityText.optional(),
  modelName: identityText.optional(),
  userApplicationName: identityText.optional(),
  extended: z.unknown().optional(),
});

/** What a device may have besides registers. */
const extras = {
  identity: z.unknown().optional(),
  exceptionStatus: z.unknown().optional(),
  serverId: z.unknown().optional(),
  files: z.unknown().optional(),
  queues: z.unknown().optional(),
};

/** A device with registers of its own. */
export const deviceSections = section({
  ...extras,
  registers: z.unknown().optional(),
  clock: z.unknown().optional(),
  seed: z.unknown().optional(),
});

/** How the clock of a device runs from its start. */
export const clockSchema = section({
  speed: numberFrom(0, MAX_SPEED, 'a speed').optional(),
  paused: flag.optional(),
});

export const seedSchema = wholeNumber(0, MAX_SEED, 'a seed');

const word = wholeNumber(0, 0xffff);

export const exceptionStatusSchema = z
  .array(wholeNumber(0, 0xffff), { error: 'a list of coil addresses' })
  .max(8, { error: 'at most 8 coil addresses' });

const idError = { error: 'a byte, 0 to 255, or a list of 1 to 64 bytes' };

export const serverIdSchema = section({
  id: z.union(
    [wholeNumber(0, 255), z.array(wholeNumber(0, 255), idError).min(1, idError).max(64, idError)],
    idError,
  ),
  running: flag.default(true),
  additional: identityText.max(180, { error: 'text of at most 180 bytes' }).default(''),
});

export const fileSchema = section({
  records: wholeNumber(1, MAX_RECORDS).default(MAX_RECORDS),
  write: flag.default(false),
  values: z.array(word, { error: 'a list of words' }).default([]),
});

/** A queue that a signal feeds. */
export const fedQueueSchema = section({
  signal: z.unknown().optional(),
  every: duration(MIN_PERIOD),
  seed: seedSchema.optional(),
});

export const queueSchema = z
  .array(word, { error: 'a list of words' })
  .max(0xffff, { error: 'at most 65535 words' });

/** A device of a pymodbus file. */
export const pymodbusReferenceSchema = section({
  ...extras,
  pymodbus: text('the path of a pymodbus file'),
  device: text('the name of a device in that file').optional(),
});

export const tableSections = section({
  coils: z.unknown().optional(),
  discrete: z.unknown().optional(),
  holding: z.unknown().optional(),
  input: z.unknown().optional(),
});

export const ADDRESSES = 65536;

const NAME = 'a name of letters, digits and underscores, at most 64 of them, not beginning with a digit';

/** The type says nothing of these keys: each kind of reaction reads its own. */
const reactionShape: object = Object.fromEntries(REACTIONS.map((key) => [key, z.unknown().optional()]));

const entryShape = {
  address: wholeNumber(0, ADDRESSES - 1),
  value: z.unknown().optional(),
  quantity: wholeNumber(1, ADDRESSES).optional(),
  write: flag.optional(),
  action: oneOf(ACTION_NAMES).optional(),
  min: number.optional(),
  max: number.optional(),
  name: z
    .string({ error: NAME })
    .regex(/^[A-Za-z_]\w{0,63}$/, { error: NAME })
    .refine((name) => name !== TIME_NAME, { error: `expected another name: ${TIME_NAME} is the time` })
    .optional(),
  description: text('text').optional(),
  labels: z.unknown().optional(),
  retain: flag.optional(),
  signal: z.unknown().optional(),
  seed: seedSchema.optional(),
  follows: z.unknown().optional(),
  ...reactionShape,
};

/** An entry of coils or discrete inputs. */
export const bitEntrySchema = section(entryShape);

export type RegisterType = Exclude<ValueType, 'bit'>;

const REGISTER_TYPES = CELL_TYPES.filter(
  (type): type is RegisterType => type !== 'invalid' && type !== 'next' && type !== 'bit',
);

/** An entry of holding or input registers. `quantity` counts values, `length` the registers of a string. */
export const registerEntrySchema = section({
  ...entryShape,
  type: oneOf(REGISTER_TYPES).optional(),
  length: wholeNumber(1, ADDRESSES).optional(),
  wordOrder: oneOf(['big', 'little']).optional(),
  byteOrder: oneOf(['big', 'little']).optional(),
  unit: text('a unit, such as "V"').optional(),
  scale: number.refine((scale) => scale !== 0, { error: 'expected a number other than 0' }).optional(),
});

export type RegisterEntry = z.output<typeof registerEntrySchema>;

/** The longest useful wait on a line; a longer one is probably in the wrong unit. */
const LONGEST_WAIT = 60_000;

const TURNAROUND = `t3.5, eager or a number of milliseconds from 0 to ${LONGEST_WAIT}`;

// When only one option fits by type, a union reports that option's error. So every option has the error of the union.
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
  units: z.unknown().optional(),
});

const DAY_MS = 86_400_000;

const listening = {
  host: text('a host name or an address').default('127.0.0.1'),
  maxClients: wholeNumber(1, 65535).default(256),
};
const idleTimeout = duration(10, DAY_MS).default(300_000);
const port = wholeNumber(0, 65535);

const SOCKET_MODE = 'server: a socket hears only what is sent to it, so only a serial line can be a monitor';

const socketLine = {
  framing: oneOf(['socket', 'rtu', 'ascii']).default('socket'),
  mode: z.literal('server', { error: SOCKET_MODE }).optional(),
  start: startSchema.optional(),
  units: z.unknown().optional(),
  missingUnit: oneOf(['exception', 'silence']).default('exception'),
};

export const tcpLineSchema = section({
  tcp: section({ ...listening, port: port.default(5020), idleTimeout }),
  ...socketLine,
});

export const udpLineSchema = section({
  udp: section({ ...listening, port: port.default(5020) }),
  ...socketLine,
});

/** 802 is the port of Modbus/TCP Security. */
export const tlsLineSchema = section({
  tls: section({
    ...listening,
    port: port.default(802),
    idleTimeout,
    cert: text('the path of a certificate (PEM)'),
    key: text('the path of its private key (PEM)'),
    ca: text('the path of the certificates that sign those of clients (PEM)').optional(),
  }),
  ...socketLine,
});

/** A message about something else than a list would show what may be a token. */
const tokenList = z
  .custom<unknown[]>(Array.isArray, { error: 'expected a list of tokens' })
  .pipe(z.array(secret));

const ORIGIN = 'the origin of a site, such as https://bench.example.org';

/** Browsers send it in just this form: without a path, and without the port that goes without saying. */
const origin = z
  .string({ error: ORIGIN })
  .refine((text) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text, {
    error: ({ input }) => expectedMessage(ORIGIN, input),
  });

export const apiSchema = section({
  host: text('a host name or an address').optional(),
  port: wholeNumber(0, 65535).optional(),
  token: secret.optional(),
  readTokens: tokenList.optional(),
  origins: z.array(origin, { error: 'a list of origins' }).optional(),
  insecure: flag.default(false),
  tls: section({
    cert: text('the path of a certificate (PEM)'),
    key: text('the path of its private key (PEM)'),
  }).optional(),
  maxConnections: wholeNumber(1, 65535).optional(),
});

const fileShape = {
  format: oneOf(['ndjson', 'pcapng']).default('ndjson'),
  rotate: section({
    size: size(1, 4096).default(16 * 2 ** 20),
    files: wholeNumber(1, 1000).default(10),
  }).prefault({}),
};
const trafficDirectory = text('the path of a directory');

/** What is written to disk; `file` is the directory that the files go to. */
export const trafficFileSchema = section({ file: trafficDirectory, ...fileShape });

export const trafficSchema = section({
  events: wholeNumber(0, 100_000_000).default(100_000),
  bytes: size(1, 4096).default(64 * 2 ** 20),
  file: trafficDirectory.optional(),
  ...fileShape,
});
