import { resolve } from 'node:path';
import type { z } from 'zod';
import { compact } from '../../../common/compact.js';
import type { At } from '../../../common/schema/at.js';
import { isMapping } from '../../../common/schema/parts.js';
import type { Identity, LineDefinition, SocketLineDefinition, UnitNames } from '../configuration.js';
import { IGNORED_IN_SERVERS, withoutIgnored } from './ignored.js';
import { serialServerSchema, tcpServerSchema, tlsServerSchema, udpServerSchema } from './schema.js';

/** A server of a pymodbus file: a line, and the identity of the device on it. */
export interface PymodbusServer {
  readonly line: LineDefinition;
  readonly identity: Identity;
}

/** Builds a line on which `device` answers; undefined after reporting mistakes of the server. */
export function pymodbusServer(name: string, device: string, server: At): PymodbusServer | undefined {
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

/** The settings of a line for which pymodbus has none. */
const SOCKET_DEFAULTS = { maxClients: 256, idleTimeout: 300_000 };

function socketServer(
  name: string,
  server: (Omit<SocketServer, 'comm'> & { comm: SocketLineDefinition['kind'] }) | undefined,
  device: string,
  at: At,
): { readonly line: SocketLineDefinition; readonly identity: Identity } | undefined {
  if (!server) return undefined;
  const { comm: kind, host, port, framer = 'socket', device_id } = server;
  // FramerTLS of pymodbus is its FramerSocket under another name.
  const framing = framer === 'tls' ? 'socket' : framer;
  if (framer === 'tls' && kind !== 'tls') at.key('framer').expected('socket, rtu or ascii on this comm');
  const ignores = server.ignore_missing_devices ?? server.ignore_missing_slaves ?? false;
  const { maxClients, idleTimeout } = SOCKET_DEFAULTS;
  const [first, last] = framing === 'socket' ? [0, 255] : [1, 247];
  const line: SocketLineDefinition = {
    kind,
    name,
    framing,
    host: host || '0.0.0.0',
    port,
    maxClients,
    ...(kind !== 'udp' && { idleTimeout }),
    units: unitsOf(device_id, first, last, device, at.key('device_id')),
    missingUnit: ignores ? 'silence' : 'exception',
  };
  return { line, identity: identityOf(server.identity) };
}

function tlsServer(name: string, device: string, at: At): PymodbusServer | undefined {
  const server = at.check(tlsServerSchema);
  const built = socketServer(name, server, device, at);
  if (!built) return undefined;
  const { certfile, keyfile, password } = server ?? {};
  if (!certfile) at.key('certfile').expected('the path of a PEM file');
  if (!keyfile) at.key('keyfile').expected('the path of a PEM file');
  if (password) at.key('password').wrong('keys with a password are not read, expected a key without');
  const files = { cert: resolve(certfile ?? ''), key: resolve(keyfile ?? '') };
  return { ...built, line: { ...built.line, files } };
}

const PARITY = { N: 'none', E: 'even', O: 'odd' } as const;

function serialServer(name: string, device: string, at: At): PymodbusServer | undefined {
  const server = at.check(serialServerSchema);
  if (!server) return undefined;
  const { framer = 'rtu' } = server;
  if (framer !== 'rtu' && framer !== 'ascii') at.key('framer').expected('rtu or ascii on this comm');
  if (framer !== 'ascii' && server.bytesize !== 8) at.key('bytesize').expected('8 (7 is for framer ascii)');
  const line: LineDefinition = {
    kind: 'serial',
    name,
    framing: framer === 'ascii' ? 'ascii' : 'rtu',
    path: server.port,
    baudRate: server.baudrate,
    dataBits: server.bytesize,
    parity: PARITY[server.parity],
    stopBits: server.stopbits,
    timing: { turnaround: 't3.5' },
    mode: 'server',
    whenBusy: 'replace',
    echo: server.handle_local_echo === true ? 'yes' : 'auto',
    units: unitsOf(server.device_id, 1, 247, device, at.key('device_id')),
  };
  return { line, identity: identityOf(server.identity) };
}

/** The units of a line. Without a device_id, the device answers every unit identifier. */
function unitsOf(
  id: string | number | undefined,
  first: number,
  last: number,
  device: string,
  at: At,
): UnitNames {
  if (id === undefined) return new Map([['*', device]]);
  const unit = Number(id);
  if (unit < first || unit > last) at.expected(`a unit identifier from ${first} to ${last}`);
  return new Map([[unit, device]]);
}

type PymodbusIdentity = Readonly<Record<string, string | undefined>>;

/** The identity with the names of this program: `VendorName` is vendorName. */
function identityOf(identity: PymodbusIdentity = {}): Identity {
  return compact(
    Object.fromEntries(
      Object.entries(identity).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
    ),
  ) as Identity;
}
