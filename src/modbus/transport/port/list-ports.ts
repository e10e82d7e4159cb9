import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HERE, type Platform } from '../../../common/platform.js';
import {
  type Adapter,
  ancestorsOf,
  identifyAdapter,
  namesIn,
  realPathOf,
  smallText,
  unseenAdapter,
} from './adapter.js';

/** A serial port of this machine. */
export interface PortInfo {
  /** The path, for example /dev/ttyUSB0. It may change when the machine restarts. */
  readonly path: string;
  /**
   * Names that do not change: links in /dev/modbus-sim (from this program's udev rules), in /dev/serial/by-id
   * (named after the adapter) and in by-path (named after the socket).
   */
  readonly stableNames: readonly string[];
  readonly adapter: Adapter;
  readonly usb?: UsbIdentity;
  /** What the user of the port should know or do, including the adapter's own hint. */
  readonly hints: readonly string[];
}

/** How a USB adapter identifies itself. The identifiers are 4 hexadecimal digits, as in lsusb and udev. */
interface UsbIdentity {
  readonly vendorId: string;
  readonly productId: string;
  readonly manufacturer?: string;
  readonly product?: string;
  readonly serialNumber?: string;
}

/**
 * Lists the serial ports that have hardware behind them, sorted by name. On Linux it reads /sys and /dev
 * directly, because serialport's own list() runs udevadm, and terminates the process if that is missing.
 * @param root directory in which dev/, sys/ and proc/ are looked up; tests pass a tree of their own
 * @param list lists the ports on other systems
 */
export async function listPorts(root = '/', platform = HERE, list = bindingList): Promise<PortInfo[]> {
  const ports = platform.isLinux
    ? await portsOfLinux(root)
    : (await list()).map((listed) => listedPort(listed, platform));
  return ports.sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
}

/** A port as listed by serialport. `friendlyName` is its name in the Windows Device Manager. */
interface ListedPort {
  readonly path: string;
  readonly manufacturer?: string | undefined;
  readonly serialNumber?: string | undefined;
  readonly vendorId?: string | undefined;
  readonly productId?: string | undefined;
  readonly friendlyName?: string | undefined;
}

async function bindingList(): Promise<readonly ListedPort[]> {
  const { autoDetect } = await import('@serialport/bindings-cpp');
  return autoDetect().list();
}

function listedPort({ path, vendorId, productId, ...listed }: ListedPort, platform: Platform): PortInfo {
  const unseen = unseenAdapter(platform);
  const { friendlyName, manufacturer, serialNumber } = listed;
  const usb = vendorId !== undefined && {
    vendorId: vendorId.toLowerCase(),
    productId: (productId ?? '').toLowerCase(),
    ...(manufacturer !== undefined && { manufacturer }),
    ...(serialNumber !== undefined && { serialNumber }),
  };
  const isFtdi = usb && usb.vendorId === FTDI;
  return {
    path,
    stableNames: [],
    adapter: {
      ...unseen,
      kind: isFtdi ? 'ftdi' : usb ? 'usb' : 'unknown',
      name: friendlyName ?? manufacturer ?? unseen.name,
    },
    ...(usb && { usb }),
    hints: isFtdi && unseen.hint !== undefined ? [unseen.hint] : [],
  };
}

/** The vendor identifier of FTDI. */
const FTDI = '0403';

async function portsOfLinux(root: string): Promise<PortInfo[]> {
  const links = stableLinks(root);
  const ports: PortInfo[] = [];
  for (const name of namesIn(join(root, 'sys/class/tty'))) {
    // A machine has dozens of terminals; serve the lines between them.
    await nextTurn();
    const entry = join(root, 'sys/class/tty', name);
    const ancestors = ancestorsOf(realPathOf(join(entry, 'device')), root);
    const device = realPathOf(join(root, 'dev', name));
    if (ancestors.length === 0 || device === undefined || isPhantom(entry, ancestors)) continue;
    const path = `/dev/${name}`;
    const usb = usbIdentity(ancestors);
    const adapter = identifyAdapter(path, root);
    ports.push({
      path,
      stableNames: links.filter((link) => link.device === device).map((link) => link.path),
      adapter,
      ...(usb && { usb }),
      hints: [adapter.hint, consoleHint(path, root)].filter((hint) => hint !== undefined),
    });
  }
  return ports;
}

/**
 * Reports whether a port has no hardware. The 8250 driver registers ttyS0 to ttyS3 whether or not there is a
 * UART; their `type` is 0, PORT_UNKNOWN. Only root may read `type`; for other users, the ports of the
 * platform device 'serial8250' count as ports without hardware.
 */
function isPhantom(entry: string, ancestors: readonly string[]): boolean {
  const type = smallText(join(entry, 'type'));
  if (type !== undefined) return type === '0';
  return ancestors.some((directory) => basename(directory) === 'serial8250');
}

const LINK_DIRECTORIES = ['/dev/modbus-sim', '/dev/serial/by-id', '/dev/serial/by-path'];

function stableLinks(root: string): { path: string; device: string | undefined }[] {
  return LINK_DIRECTORIES.flatMap((directory) =>
    namesIn(join(root, directory)).map((name) => {
      const path = join(directory, name);
      return { path, device: realPathOf(join(root, path)) };
    }),
  );
}

function usbIdentity(ancestors: readonly string[]): UsbIdentity | undefined {
  const device = ancestors.find((directory) => existsSync(join(directory, 'idVendor')));
  if (device === undefined) return undefined;
  const read = (name: string): string | undefined => smallText(join(device, name)) || undefined;
  const manufacturer = read('manufacturer');
  const product = read('product');
  const serialNumber = read('serial');
  return {
    vendorId: read('idVendor') ?? '',
    productId: read('idProduct') ?? '',
    ...(manufacturer !== undefined && { manufacturer }),
    ...(product !== undefined && { product }),
    ...(serialNumber !== undefined && { serialNumber }),
  };
}

/**
 * Finds out whether the kernel writes its messages to a serial port, and possibly reads commands from it. If
 * so, boot messages are sent to a bus on that port.
 * @param path the port's path or a link to it
 * @param root directory in which dev/, sys/ and proc/ are looked up; tests pass a tree of their own
 * @returns what to do about it; undefined if the port is not a console
 */
export function consoleHint(path: string, root = '/', { isLinux } = HERE): string | undefined {
  if (!isLinux) return undefined;
  const name = basename(realPathOf(join(root, path)) ?? path);
  const active = (smallText(join(root, 'sys/class/tty/console/active')) ?? '').split(/\s+/);
  const configured = consolesOf(smallText(join(root, 'proc/cmdline')) ?? '');
  const parameter = configured.find((device) => device === name || basename(alias(device, root)) === name);
  if (!active.includes(name) && parameter === undefined) return undefined;
  return `the kernel console is on this port; remove console=${parameter ?? name} from the kernel command line, and make sure that no login prompt runs there`;
}

/**
 * Returns the devices of `console=device,options`, which may occur any number of times
 * (Documentation/admin-guide/serial-console.rst).
 */
function consolesOf(commandLine: string): string[] {
  return commandLine
    .split(/\s+/)
    .filter((word) => word.startsWith('console='))
    .map((word) => (word.slice('console='.length).split(',')[0] ?? '').replace(/^\/dev\//, ''));
}

/** Resolves a device name that is a link, such as serial0 on the command line of a Raspberry Pi. */
function alias(device: string, root: string): string {
  return realPathOf(join(root, 'dev', device)) ?? device;
}
