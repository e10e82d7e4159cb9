import type { At } from '../../schema/at.js';
import type { Path } from '../../schema/problem.js';
import type { LineDefinition } from '../configuration.js';

/** What only one user can open: a serial port, a link, a port of TCP or UDP. */
export interface Endpoint {
  /** Equal for two users of the same endpoint. */
  readonly key: string;
  /** The endpoint in messages. */
  readonly what: string;
  /** Where the endpoint stands in the entry of its user. */
  readonly path: Path;
}

/** The endpoint of a line; undefined for a endpoint that no other line can have. */
export function endpointOf(line: LineDefinition): Endpoint | undefined {
  if (line.kind !== 'serial') return portEndpoint(line.kind, line, [line.kind, 'port']);
  if (line.path !== 'virtual') {
    return { key: `serial ${line.path}`, what: line.path, path: ['serial', 'path'] };
  }
  return line.link === undefined
    ? undefined
    : { key: `link ${line.link}`, what: line.link, path: ['serial', 'link'] };
}

/** Port 0 means any free port, so two of them never collide. UDP has its own ports. */
export function portEndpoint(
  kind: string,
  { host, port }: { readonly host: string; readonly port: number },
  path: Path,
): Endpoint | undefined {
  const protocol = kind === 'udp' ? 'udp' : 'tcp';
  if (port === 0) return undefined;
  return { key: `${protocol} ${host.toLowerCase()} ${port}`, what: `${host}:${port}`, path };
}

/**
 * Reports when another line has the endpoint of a new one. Two lines with one link would take it from each other.
 * @param at the entry of the new line
 */
export function reportSharedEndpoint(line: LineDefinition, others: readonly LineDefinition[], at: At): void {
  const endpoint = endpointOf(line);
  const user = others.find((other) => endpointOf(other)?.key === endpoint?.key);
  if (endpoint && user)
    at.below(endpoint.path).wrong(`${endpoint.what} is used by line ${user.name} already`);
}
