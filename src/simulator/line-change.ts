import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type {
  LineDefinition,
  SerialLineDefinition,
  SocketLineDefinition,
} from '../document/configuration.js';
import { linkOf } from '../modbus/transport/port/open-port.js';

/**
 * How a line changes to another definition:
 * - `keep`: the transport continues unchanged.
 * - `adjust`: an open serial port stays open, and the line behaves differently on it.
 * - `beside`: another transport is opened alongside the open one, which is then closed.
 * - `replace`: both need the same port. The old transport is closed first, and reopened if the new one fails.
 * - `beside or replace`: both may need the same socket. Tries `beside` first, and `replace` if the port is in
 *   use.
 */
export type WayOfChange = 'keep' | 'adjust' | 'beside' | 'replace' | 'beside or replace';

/**
 * @param openPort the port number of an open socket if the operating system chose it
 * @param realPathOf follows the links of a path; returns the path itself if it leads nowhere
 */
export function wayOfChange(
  now: LineDefinition,
  next: LineDefinition,
  openPort: number | undefined,
  realPathOf: (path: string) => string,
): WayOfChange {
  if (now.kind === 'serial') {
    if (next.kind !== 'serial') return 'beside';
    if (isDeepStrictEqual(settingsOf(now), settingsOf(next))) return 'keep';
    if (isDeepStrictEqual(portOf(now), portOf(next))) return 'adjust';
    return isInTheWay(now, next, openPort, realPathOf) ? 'replace' : 'beside';
  }
  if (next.kind === 'serial') return 'beside';
  if (isDeepStrictEqual(settingsOf(now), settingsOf(next))) return 'keep';
  return isInTheWay(now, next, openPort, realPathOf) ? 'beside or replace' : 'beside';
}

/**
 * True if `next`, which may be the definition of another line, may need the port that is open for `now`. @see
 * wayOfChange
 */
export function isInTheWay(
  now: LineDefinition,
  next: LineDefinition,
  openPort: number | undefined,
  realPathOf: (path: string) => string,
): boolean {
  if (now.kind === 'serial' && next.kind === 'serial')
    return endpointOf(now, realPathOf) === endpointOf(next, realPathOf);
  return now.kind !== 'serial' && next.kind !== 'serial' && mayCollide(now, next, openPort);
}

/**
 * The settings that can't be changed on an open port. For a virtual line that is only its place. A line that
 * becomes a monitor is reopened, so that no part of a reply is still being sent.
 */
function portOf(line: SerialLineDefinition): unknown {
  const { path, mode, link, baudRate, dataBits, parity, stopBits, rs485, parityMarks } = line;
  if (path === 'virtual') return { path, mode, link };
  return { path, mode, baudRate, dataBits, parity, stopBits, rs485, parityMarks };
}

/** The key of a thing that can only be opened once: the device behind a path, or the name of a virtual line. */
function endpointOf(line: SerialLineDefinition, realPathOf: (path: string) => string): string {
  return line.path === 'virtual' ? `virtual ${linkOf(line)}` : realPathOf(line.path);
}

/** The settings that the transport needs. Unsolicited messages are the line's own business. */
function settingsOf(line: LineDefinition): unknown {
  if (line.kind === 'serial') {
    const { source, units, start, unsolicited, ...settings } = line;
    return settings;
  }
  const { source, units, each, start, unsolicited, missingUnit, ...settings } = line;
  return settings;
}

/** True if two sockets may need the same port. UDP ports are separate. */
function mayCollide(now: SocketLineDefinition, next: SocketLineDefinition, openPort?: number): boolean {
  if (next.port === 0 || (now.kind === 'udp') !== (next.kind === 'udp')) return false;
  if (isOneAddress(now.host) && isOneAddress(next.host) && now.host !== next.host) return false;
  return next.port === now.port || next.port === openPort;
}

/** True for a single address. 0.0.0.0 and :: occupy the port on all addresses, and a name may mean any address. */
function isOneAddress(host: string): boolean {
  return isIP(host) !== 0 && !/^[0.:]+$/.test(host);
}
