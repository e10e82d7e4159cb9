import { z } from 'zod';
import type { At } from '../../common/schema/at.js';
import {
  each,
  flag,
  identityText,
  isMapping,
  number,
  oneOf,
  readApart,
  section,
  text,
  wholeNumber,
} from '../../common/schema/parts.js';
import { IDENTITY_NAMES } from '../../device/identification.js';

/**
 * The file of pymodbus.simulator 3.2 to 3.15, part by part (its documentation: "Pymodbus simulator",
 * "Configuring"). A key that pymodbus would refuse or ignore is a mistake here, except those that occur in
 * its own files (`IGNORED_IN_SERVERS`).
 */

/**
 * The sections of a device that define cells. Releases of pymodbus have only the types bits, uint16, uint32,
 * float32 and string.
 */
export const PYMODBUS_TYPES = [
  'bits',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float32',
  'float64',
  'string',
] as const;

export type PymodbusType = (typeof PYMODBUS_TYPES)[number];

export function byType<Item>(itemOf: (type: PymodbusType) => Item): Record<PymodbusType, Item> {
  return Object.fromEntries(PYMODBUS_TYPES.map((type) => [type, itemOf(type)])) as Record<PymodbusType, Item>;
}

const contents = each(PYMODBUS_TYPES, readApart());

export const pymodbusFileSections = section(each(['server_list', 'device_list'], readApart()));

export const pymodbusDeviceSections = section({
  ...each(['setup', 'invalid', 'write'], readApart()),
  ...contents,
  repeat: readApart(),
});

const size = wholeNumber(0, 65536);

export const setupSchema = section({
  'co size': size,
  'di size': size,
  'hr size': size,
  'ir size': size,
  'shared blocks': flag,
  'type exception': flag.default(false),
  defaults: section({ value: section(contents).optional(), action: section(contents).optional() }).optional(),
});

const parameters = section({ minval: number.optional(), maxval: number.optional() });

export const cellEntrySchema = section({
  ...each(['addr', 'value', 'action'], readApart()),
  parameters: parameters.nullish(),
  /** The name of the parameters in pymodbus 3.4 to 3.6. */
  kwargs: parameters.nullish(),
});

export const repeatEntrySchema = section(each(['addr', 'to'], readApart()));

/** `VendorName` is vendorName in a native file. */
const identity = section(
  each(
    IDENTITY_NAMES.map((name) => name.replace(/^./, (letter) => letter.toUpperCase())),
    identityText.optional(),
  ),
);

const DEVICE_ID = 'a whole number from 0 to 255';

const seconds = z.number({ error: 'a number of seconds' }).min(0, { error: 'a number of seconds' });

/** As in pymodbus, a number may also be given as text. The range depends on the server. */
const deviceId = z.union([wholeNumber(0, 255), z.string().regex(/^\d{1,3}$/, { error: DEVICE_ID })], {
  error: DEVICE_ID,
});

const anyServer = {
  framer: oneOf(['socket', 'rtu', 'ascii', 'tls']).optional(),
  device_id: deviceId.optional(),
  ignore_missing_devices: flag.optional(),
  ignore_missing_slaves: flag.optional(),
  broadcast_enable: flag.optional(),
  identity: identity.optional(),
};

const socketServer = {
  ...anyServer,
  /** As in Python, empty text and null mean every interface. */
  host: z
    .string({ error: 'a host name or an address' })
    .regex(/^\P{Cc}*$/u, { error: 'a host name or an address' })
    .nullable(),
  port: wholeNumber(0, 65535),
};

export const tcpServerSchema = section({ comm: z.literal('tcp'), ...socketServer });

export const udpServerSchema = section({ comm: z.literal('udp'), ...socketServer });

export const tlsServerSchema = section({
  comm: z.literal('tls'),
  ...socketServer,
  certfile: text('the path of a certificate').nullable().optional(),
  keyfile: text('the path of a key').nullable().optional(),
  password: z.string({ error: 'text' }).nullable().optional(),
});

export const serialServerSchema = section({
  comm: z.literal('serial'),
  ...anyServer,
  port: text('the path of a serial port'),
  baudrate: wholeNumber(50, 4_000_000).default(19200),
  bytesize: oneOf([7, 8]).default(8),
  parity: oneOf(['N', 'E', 'O']).default('N'),
  stopbits: oneOf([1, 2]).default(1),
  timeout: seconds.optional(),
  reconnect_delay: seconds.optional(),
  handle_local_echo: flag.optional(),
});

/**
 * Keys of a server that pymodbus accepts, or accepted up to 3.3, but that make no difference to clients. This
 * program handles sockets and ports in its own way.
 */
export const IGNORED_IN_SERVERS = [
  'allow_reuse_address',
  'allow_reuse_port',
  'auto_reconnect',
  'backlog',
  'defer_start',
] as const;

/** Keys of an entry such as `{"addr": 5}` that occur in pymodbus files but that pymodbus ignores. */
export const IGNORED_IN_ENTRIES = ['args'] as const;

/** Removes these keys, with a warning for each. */
export function withoutIgnored(at: At, keys: readonly string[]): At {
  const { value } = at;
  if (!isMapping(value)) return at;
  const ignored = keys.filter((key) => Object.hasOwn(value, key));
  if (ignored.length === 0) return at;
  for (const key of ignored) at.key(key).warn(`${key} has no effect`);
  return at.with(Object.fromEntries(Object.entries(value).filter(([key]) => !ignored.includes(key))));
}
