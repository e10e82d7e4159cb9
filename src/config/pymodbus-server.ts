import { resolve } from 'node:path';
import type { z } from 'zod';
import { check, isMapping, sectionOf } from '../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../schema/problem.js';
import { compact } from './compact.js';
import type { Identity, LineDefinition, SocketLineDefinition, UnitNames } from './configuration.js';
import { serialServerSchema, tcpServerSchema, tlsServerSchema, udpServerSchema } from './pymodbus-schema.js';

/** A server of a pymodbus file: a line, and who the device behind it says it is. */
export interface PymodbusServer {
  readonly line: LineDefinition;
  readonly identity: Identity;
}

/** Builds a line that `device` answers on; undefined after telling the server's mistakes. */
export function pymodbusServer(
  name: string,
  value: unknown,
  device: string,
  path: Path,
  issues: Issue[],
): PymodbusServer | undefined {
  const comm = sectionOf(value, 'comm');
  switch (comm) {
    case 'serial':
      return serialServer(name, value, device, path, issues);
    case 'tcp':
      return socketServer(name, check(tcpServerSchema, value, path, issues), device, path, issues);
    case 'udp':
      return socketServer(name, check(udpServerSchema, value, path, issues), device, path, issues);
    case 'tls':
      return tlsServer(name, value, device, path, issues);
    default:
      if (!isMapping(value)) {
        issues.push({ path, message: expectedMessage('a mapping', value) });
      } else
        issues.push({ path: [...path, 'comm'], message: expectedMessage('tcp, serial, udp, tls', comm) });
      return undefined;
  }
}

type SocketServer = z.output<typeof tcpServerSchema> | z.output<typeof udpServerSchema>;

/** What a line has that pymodbus has no setting for. */
const SOCKET_DEFAULTS = { maxClients: 256, idleTimeout: 300_000 };

function socketServer(
  name: string,
  server: (Omit<SocketServer, 'comm'> & { comm: SocketLineDefinition['kind'] }) | undefined,
  device: string,
  path: Path,
  issues: Issue[],
): { readonly line: SocketLineDefinition; readonly identity: Identity } | undefined {
  if (!server) return undefined;
  const { comm: kind, host, port, framer = 'socket', device_id } = server;
  // FramerTLS of pymodbus is its FramerSocket under another name.
  const framing = framer === 'tls' ? 'socket' : framer;
  if (framer === 'tls' && kind !== 'tls') framerIssue(framer, 'socket, rtu or ascii', path, issues);
  const ignores = server.ignore_missing_devices ?? server.ignore_missing_slaves ?? false;
  const { maxClients, idleTimeout } = SOCKET_DEFAULTS;
  const [first, last] = framing === 'socket' ? [0, 255] : [1, 247];
  const line: SocketLineDefinition = {
    kind,
    name,
    framing,
    host: host === '' ? '0.0.0.0' : host,
    port,
    maxClients,
    ...(kind !== 'udp' && { idleTimeout }),
    units: unitsOf(device_id, first, last, device, path, issues),
    missingUnit: ignores ? 'silence' : 'exception',
  };
  return { line, identity: identityOf(server.identity) };
}

function tlsServer(
  name: string,
  value: unknown,
  device: string,
  path: Path,
  issues: Issue[],
): PymodbusServer | undefined {
  const server = check(tlsServerSchema, value, path, issues);
  const built = socketServer(name, server, device, path, issues);
  if (!built) return undefined;
  const { certfile, keyfile, password } = server ?? {};
  for (const [key, file] of [
    ['certfile', certfile],
    ['keyfile', keyfile],
  ] as const) {
    if (!file)
      issues.push({ path: [...path, key], message: expectedMessage('the path of a PEM file', file) });
  }
  if (password) {
    issues.push({
      path: [...path, 'password'],
      message: 'keys with a password are not read, expected a key without',
    });
  }
  const files = { cert: resolve(certfile ?? ''), key: resolve(keyfile ?? '') };
  return { ...built, line: { ...built.line, files } };
}

const PARITY = { N: 'none', E: 'even', O: 'odd' } as const;

function serialServer(
  name: string,
  value: unknown,
  device: string,
  path: Path,
  issues: Issue[],
): PymodbusServer | undefined {
  const server = check(serialServerSchema, value, path, issues);
  if (!server) return undefined;
  const { framer = 'rtu' } = server;
  if (framer !== 'rtu' && framer !== 'ascii') framerIssue(framer, 'rtu or ascii', path, issues);
  if (framer !== 'ascii' && server.bytesize !== 8) {
    issues.push({ path: [...path, 'bytesize'], message: expectedMessage('8 (7 is for framer ascii)', 7) });
  }
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
    whenBusy: 'replace',
    echo: server.handle_local_echo === true ? 'yes' : 'auto',
    units: unitsOf(server.device_id, 1, 247, device, path, issues),
  };
  return { line, identity: identityOf(server.identity) };
}

function framerIssue(framer: string, expected: string, path: Path, issues: Issue[]): void {
  issues.push({ path: [...path, 'framer'], message: expectedMessage(`${expected} on this comm`, framer) });
}

/** Without a device_id the device answers every unit identifier. */
function unitsOf(
  id: string | number | undefined,
  first: number,
  last: number,
  device: string,
  path: Path,
  issues: Issue[],
): UnitNames {
  if (id === undefined) return new Map([['*', device]]);
  const unit = Number(id);
  if (unit < first || unit > last) {
    const message = expectedMessage(`a unit identifier from ${first} to ${last}`, id);
    issues.push({ path: [...path, 'device_id'], message });
  }
  return new Map([[unit, device]]);
}

type PymodbusIdentity = Readonly<Record<string, string | undefined>>;

/** `VendorName` is vendorName here. */
function identityOf(identity: PymodbusIdentity = {}): Identity {
  return compact(
    Object.fromEntries(
      Object.entries(identity).map(([name, value]) => [name.charAt(0).toLowerCase() + name.slice(1), value]),
    ),
  ) as Identity;
}
