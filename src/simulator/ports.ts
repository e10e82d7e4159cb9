import { resolve } from 'node:path';
import { HERE, whyNoWindowsName } from '../common/platform.js';
import { consoleHint, listPorts, type PortInfo } from '../modbus/transport/port/list-ports.js';
import { portBehind } from '../modbus/transport/port/port-path.js';

/** A serial port on this machine, and the lines that use it. */
export interface PortStatus extends PortInfo {
  /** The names of the lines that are configured for this port, under any of its names. */
  readonly lines: readonly string[];
}

/** A line and the port that it is configured for. */
interface UsedPort {
  readonly name: string;
  readonly path: string;
}

/**
 * Lists the serial ports that have hardware. Reads /sys and /dev synchronously.
 * @param root the directory that contains dev/, sys/ and proc/; tests pass a different one
 */
export async function portStatuses(used: readonly UsedPort[], root = '/'): Promise<PortStatus[]> {
  const users = used.map(({ name, path }) => ({ name, device: portBehind(path, root) }));
  const ports = await listPorts(root);
  return ports.map((port) => {
    const device = portBehind(port.path, root);
    return {
      ...port,
      lines: users.filter((user) => user.device === device).map(({ name }) => name),
    };
  });
}

/** The names that the operating system and this program's udev rules give to serial ports. */
const NAMES_OF_PORTS =
  /^\/dev\/(tty[A-Z]\w*|(serial|rfcomm)\d+|serial\/by-(id|path)\/[^/]+|modbus-sim\/[^/]+)$/;

/**
 * Why a path from a REST client is not opened: it is neither a port in `listPorts` nor the usual name of a
 * port that may be plugged in later. It could be a user's terminal, whose input would then be read and
 * answered. The answer does not reveal whether anything exists at another path.
 */
export async function whyNoPort(path: string, root = '/', platform = HERE): Promise<string | undefined> {
  if (platform.isWindows) {
    return whyNoWindowsName(path) && `expected the name of a serial port such as COM5, got ${path}`;
  }
  const wanted = resolve(path);
  const device = portBehind(wanted, root);
  if (device === undefined && NAMES_OF_PORTS.test(wanted)) return undefined;
  const ports = await listPorts(root);
  const isListed = device !== undefined && ports.some((port) => portBehind(port.path, root) === device);
  if (isListed) return consoleHint(wanted, root);
  return `expected virtual, a port that GET /api/v1/ports lists, or the name of a port that may appear later (/dev/tty…, /dev/serial/…, /dev/modbus-sim/…), got ${path}`;
}
