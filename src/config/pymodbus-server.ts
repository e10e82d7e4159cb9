import { check, sectionOf } from '../schema/parts.js';
import { expectedMessage, type Issue, type Path } from '../schema/problem.js';
import { compact } from './compact.js';
import type { Identity, LineDefinition, Units } from './configuration.js';
import { serialServerSchema, tcpServerSchema, tlsServerSchema, udpServerSchema } from './pymodbus-schema.js';

/** A server of a pymodbus file: a line, and who the device behind it says it is. */
export interface PymodbusServer {
  readonly line: LineDefinition;
  readonly identity: Identity;
}

const COMM_NAMES = ['tcp', 'serial', 'udp', 'tls'];

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
    case 'tcp':
      return tcpServer(name, value, device, path, issues);
    case 'serial':
      return serialServer(name, value, device, path, issues);
    case 'udp':
    case 'tls':
      check<unknown>(comm === 'udp' ? udpServerSchema : tlsServerSchema, value, path, issues);
      issues.push({ path: [...path, 'comm'], message: notServed(comm, 'tcp or serial') });
      return undefined;
    default:
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        issues.push({ path, message: expectedMessage('a mapping', value) });
      } else issues.push({ path: [...path, 'comm'], message: expectedMessage(COMM_NAMES.join(', '), comm) });
      return undefined;
  }
}

function notServed(what: string, expected: string): string {
  return `${what} is not served by this version, expected ${expected}`;
}

function tcpServer(
  name: string,
  value: unknown,
  device: string,
  path: Path,
  issues: Issue[],
): PymodbusServer | undefined {
  const server = check(tcpServerSchema, value, path, issues);
  if (!server) return undefined;
  framerIssue(server.framer, 'socket', path, issues);
  const ignores = server.ignore_missing_devices ?? server.ignore_missing_slaves ?? false;
  const line: LineDefinition = {
    kind: 'tcp',
    name,
    host: server.host === '' ? '0.0.0.0' : server.host,
    port: server.port,
    units: unitsOf(server.device_id, 0, 255, device, path, issues),
    missingUnit: ignores ? 'silence' : 'exception',
  };
  return { line, identity: identityOf(server.identity) };
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
  framerIssue(server.framer, 'rtu', path, issues);
  const line: LineDefinition = {
    kind: 'serial',
    name,
    path: server.port,
    baudRate: server.baudrate,
    dataBits: server.bytesize,
    parity: PARITY[server.parity],
    stopBits: server.stopbits,
    timing: { turnaround: 't3.5' },
    whenBusy: 'replace',
    units: unitsOf(server.device_id, 1, 247, device, path, issues),
  };
  return { line, identity: identityOf(server.identity) };
}

function framerIssue(
  framer: string | undefined,
  served: 'socket' | 'rtu',
  path: Path,
  issues: Issue[],
): void {
  if (framer === undefined || framer === served) return;
  issues.push({ path: [...path, 'framer'], message: notServed(`framer ${framer} on this comm`, served) });
}

/** Without a device_id the device answers every unit identifier. */
function unitsOf(
  id: string | number | undefined,
  first: number,
  last: number,
  device: string,
  path: Path,
  issues: Issue[],
): Units {
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
