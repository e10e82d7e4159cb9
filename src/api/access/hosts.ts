import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Refusal } from './refusal.js';

/** The names of this machine in lower case; `host` is where REST listens. */
export function namesOfMachine(host: string): ReadonlySet<string> {
  return new Set(['localhost', host, hostname(), `${hostname()}.local`].map((name) => name.toLowerCase()));
}

/**
 * Refuses a request without a Host header or with two of them (400, RFC 9112, 3.2). Refuses a Host that is no name of
 * this machine (421), because a foreign web page may have had its own name resolved to this machine (DNS rebinding).
 */
export function hostRefusal(
  { headers: { host }, rawHeaders }: IncomingMessage,
  names: ReadonlySet<string>,
): Refusal | undefined {
  const hosts = rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === 'host');
  if (hosts.length > 1)
    return { code: 'request.invalid', path: 'Host', message: `expected one, got ${hosts.length}` };
  if (host === undefined)
    return { code: 'request.invalid', path: 'Host', message: 'missing, expected a name of this machine' };
  const name = hostName(host);
  if (name !== undefined && (names.has(name) || isIP(name))) return undefined;
  return { code: 'request.host', path: 'Host', message: 'not a name of this machine' };
}

/** Name or address of a Host header, without port and brackets. */
function hostName(header: string): string | undefined {
  const match = HOST.exec(header);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** The port of a Host header; empty text where the header has none. */
export function hostPortOf(header: string): string {
  return HOST.exec(header)?.[3] ?? '';
}

const HOST = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/;
