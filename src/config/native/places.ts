import type { At } from '../../schema/at.js';
import type { Path } from '../../schema/problem.js';
import type { LineDefinition } from '../configuration.js';

/** What only one user can open: a serial port, a link, a port of TCP or UDP. */
export interface Place {
  /** Equal for two users of the same place. */
  readonly key: string;
  /** The place in messages. */
  readonly what: string;
  /** Where the place stands in the entry of its user. */
  readonly path: Path;
}

/** The place of a line; undefined for a place that no other line can have. */
export function placeOf(line: LineDefinition): Place | undefined {
  if (line.kind !== 'serial') return portPlace(line.kind, line, [line.kind, 'port']);
  if (line.path !== 'virtual') {
    return { key: `serial ${line.path}`, what: line.path, path: ['serial', 'path'] };
  }
  return line.link === undefined
    ? undefined
    : { key: `link ${line.link}`, what: line.link, path: ['serial', 'link'] };
}

/** Port 0 means any free port, so two of them never collide. UDP has its own ports. */
export function portPlace(
  kind: string,
  { host, port }: { readonly host: string; readonly port: number },
  path: Path,
): Place | undefined {
  const protocol = kind === 'udp' ? 'udp' : 'tcp';
  if (port === 0) return undefined;
  return { key: `${protocol} ${host.toLowerCase()} ${port}`, what: `${host}:${port}`, path };
}

/**
 * Reports when another line has the place of a new one. Two lines with one link would take it from each other.
 * @param at the entry of the new line
 */
export function tellSharedPlace(line: LineDefinition, others: readonly LineDefinition[], at: At): void {
  const place = placeOf(line);
  const user = others.find((other) => placeOf(other)?.key === place?.key);
  if (place && user) at.below(place.path).wrong(`${place.what} is used by line ${user.name} already`);
}
