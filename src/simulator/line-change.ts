import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type {
  LineDefinition,
  SerialLineDefinition,
  SocketLineDefinition,
} from '../document/configuration.js';
import { linkOf } from '../modbus/transport/port/open-port.js';

/**
 * How a line gets another definition:
 * - `keep`: the transport goes on as it is.
 * - `adjust`: an open serial port stays open, and the line behaves differently on it.
 * - `beside`: another transport is opened beside the one that is open, which is closed afterwards.
 * - `replace`: both need the same port, so the old transport is closed first, and opened again when the new
 *   one fails.
 * - `beside or replace`: both may need the same socket. The system knows best: `replace`, when the port is in
 *   use.
 */
export type WayOfChange = 'keep' | 'adjust' | 'beside' | 'replace' | 'beside or replace';

/**
 * @param openPort the port number of an open socket, when the system chose it
 * @param realPathOf follows the links of a path; returns the path itself when it leads nowhere
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
 * True when `next`, which may be a definition of another line, may need the port that is open for `now`. @see
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
 * The settings that an open port can't take over. A virtual line has only its place. A line that becomes a
 * monitor is opened anew, so that no part of a reply is still on its way.
 */
function portOf(line: SerialLineDefinition): unknown {
  const { path, mode, link, baudRate, dataBits, parity, stopBits, rs485, parityMarks } = line;
  if (path === 'virtual') return { path, mode, link };
  return { path, mode, baudRate, dataBits, parity, stopBits, rs485, parityMarks };
}

/** The key of what can only be open once: the device behind a path, or the name of a virtual line. */
function endpointOf(line: SerialLineDefinition, realPathOf: (path: string) => string): string {
  return line.path === 'virtual' ? `virtual ${linkOf(line)}` : realPathOf(line.path);
}

/** The settings that the transport knows. The line itself knows what is sent unsolicited. */
function settingsOf(line: LineDefinition): unknown {
  if (line.kind === 'serial') {
    const { source, units, start, unsolicited, ...settings } = line;
    return settings;
  }
  const { source, units, each, start, unsolicited, missingUnit, ...settings } = line;
  return settings;
}

/** True when two sockets may need the same port. UDP has its own ports. */
function mayCollide(now: SocketLineDefinition, next: SocketLineDefinition, openPort?: number): boolean {
  if (next.port === 0 || (now.kind === 'udp') !== (next.kind === 'udp')) return false;
  if (isOneAddress(now.host) && isOneAddress(next.host) && now.host !== next.host) return false;
  return next.port === now.port || next.port === openPort;
}

/** True for a single address. 0.0.0.0 and :: take the port at all addresses, and a name may stand for any. */
function isOneAddress(host: string): boolean {
  return isIP(host) !== 0 && !/^[0.:]+$/.test(host);
}
