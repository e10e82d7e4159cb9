import { join } from 'node:path';
import { realPathOf } from '../transport/port/adapter.js';
import { listPorts, type PortInfo } from '../transport/port/list-ports.js';
import type { Line } from './line.js';

/** A serial port of this machine, and the lines that use it. */
export interface PortStatus extends PortInfo {
  /** Names of the lines that are configured for this port, under any of its names. */
  readonly lines: readonly string[];
}

/**
 * Lists the serial ports that have hardware. Reads /sys and /dev synchronously.
 * @param root directory in which dev/, sys/ and proc/ are looked up; tests pass a tree of their own
 */
export async function portStatuses(lines: Iterable<Line>, root = '/'): Promise<PortStatus[]> {
  const users = Array.from(lines).flatMap(({ name, definition }) =>
    definition.kind === 'serial' ? [{ name, device: realPathOf(join(root, definition.path)) }] : [],
  );
  const ports = await listPorts(root);
  return ports.map((port) => {
    const device = realPathOf(join(root, port.path));
    return {
      ...port,
      lines: users.filter((user) => user.device === device).map(({ name }) => name),
    };
  });
}
