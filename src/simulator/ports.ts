import { join } from 'node:path';
import { realPathOf } from '../transport/port/adapter.js';
import { listPorts, type PortInfo } from '../transport/port/list-ports.js';

/** A serial port of this machine, and the lines that use it. */
export interface PortStatus extends PortInfo {
  /** Names of the lines that are configured for this port, under any of its names. */
  readonly lines: readonly string[];
}

/** A line and the port that it is configured for. */
interface UsedPort {
  readonly name: string;
  readonly path: string;
}

/**
 * Lists the serial ports that have hardware. Reads /sys and /dev synchronously.
 * @param root directory in which dev/, sys/ and proc/ are looked up; tests pass a tree of their own
 */
export async function portStatuses(used: readonly UsedPort[], root = '/'): Promise<PortStatus[]> {
  const users = used.map(({ name, path }) => ({ name, device: realPathOf(join(root, path)) }));
  const ports = await listPorts(root);
  return ports.map((port) => {
    const device = realPathOf(join(root, port.path));
    return {
      ...port,
      lines: users.filter((user) => user.device === device).map(({ name }) => name),
    };
  });
}
