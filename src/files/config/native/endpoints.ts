import type { At } from '../../../common/schema/at.js';
import type { Path } from '../../../common/schema/problem.js';
import type { LineDefinition } from '../configuration.js';

/** What only one user can open: a serial port, a link, a port of TCP or UDP. */
export interface Endpoint {
  /** A key that is equal for two users of the same endpoint. */
  readonly key: string;
  /** The name of the endpoint in messages. */
  readonly what: string;
  /** The path of the endpoint in the entry of its user. */
  readonly path: Path;
}

/**
 * The endpoints of a line: one for each of its addresses. An endpoint that no other line can have is left
 * out.
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
 * The endpoints of a port. Port 0 has none: it means any free port, so two of them never collide. UDP has its
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
 * Reports when another line has the endpoint of a new line. Two lines with one link would take the link from
 * each other.
 * @param at the entry of the new line
 */
export function reportSharedEndpoint(line: LineDefinition, others: readonly LineDefinition[], at: At): void {
  const users = new Map(others.flatMap((other) => endpointsOf(other).map(({ key }) => [key, other.name])));
  const endpoint = endpointsOf(line).find(({ key }) => users.has(key));
  if (endpoint)
    at.below(endpoint.path).wrong(`${endpoint.what} is used by line ${users.get(endpoint.key)} already`);
}
