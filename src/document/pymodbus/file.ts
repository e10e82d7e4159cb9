import { resolve } from 'node:path';
import type { z } from 'zod';
import { compact } from '../../common/compact.js';
import type { At } from '../../common/schema/at.js';
import { unknownName } from '../../common/schema/nearest.js';
import { isMapping } from '../../common/schema/parts.js';
import { type ApiOverrides, resolveApi } from '../api-definition.js';
import type {
  Configuration,
  DeviceRegisters,
  Identity,
  LineDefinition,
  SocketLineDefinition,
} from '../configuration.js';
import { nativeLine } from '../native/line.js';
import { DeviceNames } from '../native/units.js';
import { hasBitfields, pymodbusDevice } from './device.js';
import {
  IGNORED_IN_SERVERS,
  pymodbusFileSections,
  serialServerSchema,
  tcpServerSchema,
  tlsServerSchema,
  udpServerSchema,
  withoutIgnored,
} from './schema.js';

/** A server of a pymodbus file: a line, and the identity of the device on it. */
interface PymodbusServer {
  readonly line: LineDefinition;
  readonly identity: Identity;
}

/** Builds a line on which `device` answers; undefined after reporting mistakes in the server. */
function pymodbusServer(name: string, device: string, server: At): PymodbusServer | undefined {
  const at = withoutIgnored(server, IGNORED_IN_SERVERS);
  switch (at.key('comm').value) {
    case 'serial':
      return serialServer(name, device, at);
    case 'tcp':
      return socketServer(name, at.check(tcpServerSchema), device, at);
    case 'udp':
      return socketServer(name, at.check(udpServerSchema), device, at);
    case 'tls':
      return tlsServer(name, device, at);
    default:
      return isMapping(at.value)
        ? at.key('comm').expected('tcp, serial, udp, tls')
        : at.expected('a mapping');
  }
}

type SocketServer = z.output<typeof tcpServerSchema> | z.output<typeof udpServerSchema>;

function socketServer(
  name: string,
  server: (Omit<SocketServer, 'comm'> & { comm: SocketLineDefinition['kind'] }) | undefined,
  device: string,
  at: At,
  files: object = {},
): PymodbusServer | undefined {
  if (!server) return undefined;
  const { comm, host, port, framer = 'socket', device_id } = server;
  // FramerTLS of pymodbus is its FramerSocket under another name.
  const framing = framer === 'tls' ? 'socket' : framer;
  if (framer === 'tls' && comm !== 'tls') at.key('framer').expected('socket, rtu or ascii on this comm');
  const ignores = server.ignore_missing_devices ?? server.ignore_missing_slaves ?? false;
  const [first, last] = framing === 'socket' ? [0, 255] : [1, 247];
  const entry = {
    [comm]: { host: host || '0.0.0.0', port, ...files },
    ...(framing !== 'socket' && { framing }),
    units: unitsOf(device_id, first, last, device, at.key('device_id')),
    ...(ignores && { missingUnit: 'silence' }),
  };
  return pymodbusLine(name, entry, device, { at, identity: server.identity });
}

function tlsServer(name: string, device: string, at: At): PymodbusServer | undefined {
  const server = at.check(tlsServerSchema);
  const { certfile, keyfile, password } = server ?? {};
  if (server && !certfile) at.key('certfile').expected('the path of a PEM file');
  if (server && !keyfile) at.key('keyfile').expected('the path of a PEM file');
  if (password)
    at.key('password').wrong('keys with a password are not supported, expected a key without one');
  const files = { cert: resolve(certfile ?? ''), key: resolve(keyfile ?? '') };
  return socketServer(name, server, device, at, files);
}

const PARITY = { N: 'none', E: 'even', O: 'odd' } as const;

function serialServer(name: string, device: string, at: At): PymodbusServer | undefined {
  const server = at.check(serialServerSchema);
  if (!server) return undefined;
  const { framer = 'rtu', port: path, baudrate, bytesize: dataBits, parity, stopbits } = server;
  if (framer !== 'rtu' && framer !== 'ascii') at.key('framer').expected('rtu or ascii on this comm');
  if (framer !== 'ascii' && dataBits !== 8) at.key('bytesize').expected('8 (7 is for framer ascii)');
  const entry = {
    serial: { path, baudRate: baudrate, dataBits, parity: PARITY[parity], stopBits: stopbits },
    ...(framer === 'ascii' && { framing: framer }),
    ...(server.handle_local_echo === true && { echo: 'yes' }),
    units: unitsOf(server.device_id, 1, 247, device, at.key('device_id')),
  };
  return pymodbusLine(name, entry, device, { at, identity: server.identity });
}

/** Returns the line that a native file with this entry would have, unless the server has a mistake. */
function pymodbusLine(
  name: string,
  entry: object,
  device: string,
  { at, identity }: { readonly at: At; readonly identity: PymodbusIdentity | undefined },
): PymodbusServer | undefined {
  if (at.findings.count > 0) return undefined;
  const context = { devices: new DeviceNames([device]), directory: '.' };
  const line = nativeLine(name, at.with(entry), context);
  return line && { line, identity: identityOf(identity) };
}

/** Returns the units of a line. Without a device_id, the device answers for every unit identifier. */
function unitsOf(id: string | number | undefined, first: number, last: number, device: string, at: At) {
  if (id === undefined) return { '*': device };
  const unit = Number(id);
  if (unit < first || unit > last) at.expected(`a unit identifier from ${first} to ${last}`);
  return { [unit]: device };
}

type PymodbusIdentity = Readonly<Record<string, string | undefined>>;

/** Returns the identity with the names used by this program: `VendorName` becomes vendorName. */
function identityOf(identity: PymodbusIdentity = {}): Identity {
  return compact(
    Object.fromEntries(
      Object.entries(identity).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
    ),
  ) as Identity;
}

export interface PymodbusChoice extends ApiOverrides {
  /** A name in `server_list`. If absent: "server", or the only one. */
  readonly server?: string;
  /** A name in `device_list`. If absent: "device", or the only one. */
  readonly device?: string;
}

/** The address at which pymodbus.simulator serves REST. */
const PYMODBUS_API = { host: '127.0.0.1', port: 8081 };

/**
 * Builds the configuration for one server and one device of a pymodbus file; undefined if mistakes were
 * reported. Mistakes in servers and devices that were not chosen don't count. Never throws.
 */
export function pymodbusConfiguration(at: At, choice: PymodbusChoice): Configuration | undefined {
  const file = readSections(at);
  if (!file) return undefined;
  const server = choose(SERVERS, file.servers, choice.server, '--modbus_server', at);
  const device = choose(DEVICES, file.devices, choice.device, '--modbus_device', at);
  const deviceName = device?.name ?? '';
  const registers = device && pymodbusDevice(device.content);
  if (device && !registers) nameOthers(device.name, file.devices, at);
  const served = server && pymodbusServer(server.name, deviceName, server.content);
  const api = resolveApi({}, choice, at, PYMODBUS_API);
  if (!registers || !served) return undefined;
  return {
    devices: [{ name: deviceName, identity: served.identity, extras: {}, ...registers }],
    lines: [served.line],
    faults: [],
    api,
    directory: '.',
  };
}

/** Names the other devices if the chosen one can't be read, so that the user can start with one of them. */
function nameOthers(name: string, devices: Entries, at: At): void {
  const others = (devices ?? []).flatMap(([each, content]) =>
    each === name || hasBitfields(content) ? [] : [each],
  );
  if (others.length === 0) return;
  at.key('device_list').wrong(
    `to start without device ${name}, choose another one with --modbus_device: ${others.join(', ')}`,
  );
}

/**
 * Builds the registers of one device of a pymodbus file; undefined after reporting why that is impossible.
 */
export function pymodbusDeviceNamed(at: At, name: string | undefined): DeviceRegisters | undefined {
  const entries = at.key('device_list').entries('devices by name');
  const device = choose(DEVICES, entries, name, 'device', at);
  return device && pymodbusDevice(device.content);
}

/** Checks every server and every device of a pymodbus file. */
export function checkPymodbus(at: At): void {
  const file = readSections(at);
  for (const [name, content] of file?.servers ?? []) pymodbusServer(name, '', content);
  const devices = (file?.devices ?? []).map(([, content]) => content);
  // One message about the first device with such types is enough for all of them.
  const [first] = devices.filter(hasBitfields);
  for (const content of devices) if (content === first || !hasBitfields(content)) pymodbusDevice(content);
}

/** Reports whether data is that of a pymodbus file, by its top-level keys. */
export function isPymodbus(at: At): boolean {
  return at.key('server_list').value !== undefined || at.key('device_list').value !== undefined;
}

type Entries = [name: string, content: At][] | undefined;

function readSections(at: At): { servers: Entries; devices: Entries } | undefined {
  if (!at.entries('a mapping with server_list and device_list')) return undefined;
  if (!isPymodbus(at) && at.key('devices').value !== undefined) {
    return at.wrong('this is not a pymodbus.simulator file: use it with --config');
  }
  at.check(pymodbusFileSections);
  return {
    servers: at.key('server_list').entries('servers by name'),
    devices: at.key('device_list').entries('devices by name'),
  };
}

const SERVERS = { list: 'server_list', kind: 'server', usual: 'server' } as const;
const DEVICES = { list: 'device_list', kind: 'device', usual: 'device' } as const;

function choose(
  { list, kind, usual }: typeof SERVERS | typeof DEVICES,
  entries: Entries,
  wanted: string | undefined,
  option: string,
  file: At,
): { name: string; content: At } | undefined {
  if (!entries) return undefined;
  const known = entries.map(([name]) => name);
  const only = entries.length === 1 ? known[0] : undefined;
  const name = wanted ?? (known.includes(usual) ? usual : only);
  const entry = entries.find(([each]) => each === name);
  if (entry) return { name: entry[0], content: entry[1] };
  return file
    .key(list)
    .wrong(
      wanted === undefined
        ? `there is no ${kind} named ${usual}; choose one with ${option}: ${known.join(', ')}`
        : unknownName(kind, wanted, known),
    );
}
