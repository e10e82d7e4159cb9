import { isIPv4 } from 'node:net';
import type { At } from '../../common/schema/at.js';
import { expectedMessage, type Path } from '../../common/schema/problem.js';
import type { ApiDefinition, LineDefinition } from '../configuration.js';

/** Maximum addresses of a line. Each needs a socket, and file descriptors for the socket and for each client. */
export const MAX_HOSTS = 4096;

const HOSTS = 'IPv4 addresses and ranges of them, such as 127.1.0.1-127.1.3.232, separated by commas';
const ALL = '0.0.0.0 means every address of this machine: use it as host, or list the addresses';

/** The addresses of a line: as written, and as a list. */
export interface Hosts {
  readonly host: string;
  readonly hosts: readonly string[];
}

/** Returns the maximum clients of a line that does not set a limit: two for each of its addresses, but at least 256. */
export function usualClients(hosts: readonly string[] = []): number {
  return Math.max(256, 2 * hosts.length);
}

/** Reads `hosts` of a line; undefined after reporting mistakes. */
export function readHosts(at: At): Hosts | undefined {
  const { value } = at;
  if (typeof value !== 'string') return at.expected(HOSTS);
  const parts = value.split(',').map((part) => part.trim());
  const hosts = new Set<string>();
  for (const part of parts) {
    const ends = part.split('-').map((end) => numberOf(end.trim()));
    const [first, last] = [ends[0], ends.at(-1)];
    if (first === undefined || last === undefined || ends.length > 2 || last < first)
      return at.wrong(expectedMessage(HOSTS, part));
    if (first === 0) return at.wrong(ALL);
    const count = last - first + 1;
    if (hosts.size + count > MAX_HOSTS)
      return at.wrong(`expected at most ${MAX_HOSTS} addresses, got ${hosts.size + count} with ${part}`);
    for (let number = first; number <= last; number++) {
      const host = textOf(number);
      if (hosts.has(host)) return at.wrong(`${host} is listed twice`);
      hosts.add(host);
    }
  }
  return { host: parts.join(', '), hosts: [...hosts] };
}

/** Converts an IPv4 address to a number; undefined for other text. */
function numberOf(text: string): number | undefined {
  return isIPv4(text) ? text.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0) : undefined;
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 0xff).join('.');
}

/** What only one line or interface can open: a serial port, a link, a TCP or UDP port. */
export interface Endpoint {
  /** A key that is equal for the same endpoint. */
  readonly key: string;
  /** The name of the endpoint in messages. */
  readonly what: string;
  /** The path of the endpoint in the entry that uses it. */
  readonly path: Path;
}

/**
 * Returns the endpoints of a line: one for each of its addresses. Endpoints that can't collide with another
 * line are left out.
 */
export function endpointsOf(line: LineDefinition): Endpoint[] {
  if (line.kind !== 'serial') {
    const { kind, port, host, hosts = [host] } = line;
    return hosts.flatMap((each) => portEndpoints(kind, { host: each, port }, [kind, 'port']));
  }
  if (line.path !== 'virtual') {
    return [{ key: `serial ${line.path}`, what: line.path, path: ['serial', 'path'] }];
  }
  return line.link === undefined
    ? []
    : [{ key: `link ${line.link}`, what: line.link, path: ['serial', 'link'] }];
}

/**
 * Returns the endpoints of a port. Port 0 has none: it means any free port, so it never collides. UDP has its
 * own ports.
 */
export function portEndpoints(
  kind: string,
  { host, port }: { readonly host: string; readonly port: number },
  path: Path,
): Endpoint[] {
  const protocol = kind === 'udp' ? 'udp' : 'tcp';
  if (port === 0) return [];
  return [{ key: `${protocol} ${host.toLowerCase()} ${port}`, what: `${host}:${port}`, path }];
}

/**
 * Reports a collision with the endpoint of another line, or of REST, when a line is added or changed. Two
 * lines with the same link would take it from each other.
 * @param at the entry of the line
 */
export function reportSharedEndpoint(
  line: LineDefinition,
  others: readonly LineDefinition[],
  api: ApiDefinition,
  at: At,
): void {
  const users = new Map(
    others.flatMap((other) => endpointsOf(other).map(({ key }) => [key, `line ${other.name}`])),
  );
  for (const { key } of portEndpoints('tcp', api, [])) users.set(key, 'REST');
  const endpoint = endpointsOf(line).find(({ key }) => users.has(key));
  if (endpoint)
    at.below(endpoint.path).wrong(`${endpoint.what} is already used by ${users.get(endpoint.key)}`);
}

/** Reports more addresses than the process may have sockets: each address needs one. */
export function reportTooManyHosts(line: LineDefinition, others: readonly LineDefinition[], at: At): void {
  const hostsOf = (each: LineDefinition) => (each.kind === 'serial' ? 0 : (each.hosts?.length ?? 0));
  const there = others.reduce((sum, each) => sum + hostsOf(each), 0);
  if (hostsOf(line) === 0 || there + hostsOf(line) <= MAX_HOSTS) return;
  const hosts = at.key(line.kind).key('hosts');
  hosts.wrong(`expected at most ${MAX_HOSTS} addresses on all lines; the other lines have ${there}`);
}
