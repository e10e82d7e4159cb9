import { isIP } from 'node:net';
import type { LineDefinition, SerialLineDefinition, SocketLineDefinition } from '../config/configuration.js';
import { realPathOf } from '../transport/port/adapter.js';
import { defaultLink } from './default-link.js';

/**
 * Do both need the same port, so that the second can be opened only when the first is closed?
 * @param port the port number that the first one has, where it is an open socket
 */
export function contend(open: LineDefinition, port: number | undefined, next: LineDefinition): boolean {
  if (open.kind === 'serial') return next.kind === 'serial' && isSamePort(open, next);
  return next.kind !== 'serial' && isSameSocket(open, port, next);
}

function isSamePort(one: SerialLineDefinition, other: SerialLineDefinition): boolean {
  if (one.path !== 'virtual' && other.path !== 'virtual') {
    return (realPathOf(one.path) ?? one.path) === (realPathOf(other.path) ?? other.path);
  }
  return one.path === other.path && linkOf(one) === linkOf(other);
}

function linkOf({ link, name }: SerialLineDefinition): string {
  return link ?? defaultLink(name);
}

/** UDP has ports of its own. */
function isSameSocket(
  open: SocketLineDefinition,
  port: number | undefined,
  next: SocketLineDefinition,
): boolean {
  if (next.port === 0 || (open.kind === 'udp') !== (next.kind === 'udp')) return false;
  if (isOneAddress(open.host) && isOneAddress(next.host) && open.host !== next.host) return false;
  return next.port === open.port || next.port === port;
}

/** 0.0.0.0 and :: take the port at all addresses, and a name may stand for any. */
function isOneAddress(host: string): boolean {
  return isIP(host) !== 0 && !/^[0.:]+$/.test(host);
}
