import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HERE, type Platform } from '../../../common/platform.js';

/** The hardware between the wire and the kernel, and how long it may delay bytes. */
export interface Adapter {
  readonly kind: 'pl011' | 'mini-uart' | '16550' | 'ftdi' | 'usb' | 'pty' | 'unknown';
  /** The driver's name and its peculiarities, as text for the user. */
  readonly name: string;
  /** The number of characters of an unbroken frame that may lie between two chunks ("K"). */
  readonly fifoCharacters: number;
  /** How long a USB adapter may delay bytes, in ms ("L"). */
  readonly latencyMs: number;
  /** What the user of the adapter should know or do. */
  readonly hint?: string;
}

/** A pseudo-terminal, including a virtual line: its client and its pacing may behave like any adapter. */
export const ptyAdapter: Adapter = {
  kind: 'pty',
  name: 'pseudo-terminal',
  fifoCharacters: 18,
  latencyMs: 20,
};

/**
 * The latency assumed for an unknown USB adapter, in ms. It is above the 16 ms that FTDI, the slowest common
 * adapter, waits by default.
 */
const UNKNOWN_USB_LATENCY = 20;
/** The characters in a UART that reports each one as it arrives: that one, and the one being received. */
const SHORT_FIFO = 2;

/**
 * Returns how far apart an adapter may deliver the pieces of an unbroken frame, in ms: its characters plus
 * its latency.
 * @param characterTime the time of one character on the wire, in ms
 */
export function inputPause({ fifoCharacters, latencyMs }: Adapter, characterTime: number): number {
  return fifoCharacters * characterTime + latencyMs;
}

/**
 * Returns the silence after which an incomplete frame is discarded, in ms. It is longer than t3.5, because
 * the adapter may insert pauses (see `inputPause`).
 * @param characterTime the time of one character on the wire, in ms
 * @param t35 in ms
 */
export function discardGap(adapter: Adapter, characterTime: number, t35: number): number {
  return Math.max(t35, inputPause(adapter, characterTime)) + 3;
}

/** A full-speed USB adapter receives bytes from the host once per 1 ms frame. */
const USB_FRAME_MS = 1;

/**
 * Returns how long a written byte may wait in the adapter before it is on the wire, in ms, as far as known: a
 * USB frame; the character that a UART is shifting out; 0 for a pseudo-terminal.
 * @param characterTime the time of one character on the wire, in ms
 */
export function outputHold({ kind }: Adapter, characterTime: number): number {
  if (kind === 'pty') return 0;
  return kind === 'usb' || kind === 'ftdi' ? USB_FRAME_MS : characterTime;
}

/**
 * Finds out from sysfs which hardware is behind a serial port. Never fails: anything not found is 'unknown'.
 * @param path the port's path or a link to it, such as /dev/serial/by-id/…
 * @param root directory in which dev/, sys/ and proc/ are looked up; tests pass a tree of their own
 */
export function identifyAdapter(path: string, root = '/', platform = HERE): Adapter {
  if (!platform.isLinux) return unseenAdapter(platform);
  const device = realPathOf(join(root, path)) ?? path;
  if (dirname(device).endsWith('/dev/pts')) return ptyAdapter;
  const entry = join(root, 'sys/class/tty', basename(device));
  const ancestors = ancestorsOf(realPathOf(join(entry, 'device')), root);
  const driver = ancestors
    .map(driverOf)
    .find((name) => name !== undefined && !serialCoreDrivers.includes(name));
  if (ancestors.some((directory) => existsSync(join(directory, 'idVendor'))))
    return usbAdapter(driver, entry);
  switch (driver) {
    case 'uart-pl011':
      return pl011Adapter(root);
    case 'bcm2835-aux-uart':
      return {
        kind: 'mini-uart',
        name: 'mini UART of a Raspberry Pi (bcm2835-aux-uart)',
        fifoCharacters: SHORT_FIFO,
        latencyMs: 0,
        hint: 'it has no parity, and its clock depends on the core clock; dtoverlay=disable-bt puts the PL011 on these pins',
      };
    default:
      return uart16550(entry, driver) ?? unknownAdapter(driver);
  }
}

/**
 * Describes a port of a system that does not show the hardware behind it. The port may be as slow as the
 * slowest known adapter.
 */
export function unseenAdapter({ name, isWindows }: Platform): Adapter {
  return {
    kind: 'unknown',
    name: `serial port (${name} does not show the adapter)`,
    fifoCharacters: ptyAdapter.fifoCharacters,
    latencyMs: UNKNOWN_USB_LATENCY,
    ...(isWindows && {
      hint: 'an FTDI adapter holds bytes back for 16 ms unless its latency timer is set to 1 (Device Manager, Port Settings, Advanced)',
    }),
  };
}

/** Since Linux 6.5 the serial core puts two devices between a port and its hardware. */
const serialCoreDrivers = ['port', 'ctrl'];

function usbAdapter(driver: string | undefined, entry: string): Adapter {
  const name = `USB adapter (${driver ?? 'driver unknown'})`;
  if (driver !== 'ftdi_sio') {
    return { kind: 'usb', name, fifoCharacters: SHORT_FIFO, latencyMs: UNKNOWN_USB_LATENCY };
  }
  const timer = Number.parseInt(smallText(join(entry, 'device/latency_timer')) ?? '', 10);
  const latencyMs = Number.isNaN(timer) ? UNKNOWN_USB_LATENCY : timer;
  return {
    kind: 'ftdi',
    name,
    fifoCharacters: SHORT_FIFO,
    latencyMs,
    ...(latencyMs > 1 && {
      hint: `its latency timer is ${latencyMs} ms; a udev rule with ATTR{latency_timer}="1" reduces it`,
    }),
  };
}

/**
 * Describes a PL011. It delivers bytes when its FIFO is half full: 8 of 16 up to the Raspberry Pi 3, 16 of 32
 * since the Pi 4.
 */
function pl011Adapter(root: string): Adapter {
  const model = (smallText(join(root, 'proc/device-tree/model')) ?? '').replace(/\0.*$/s, '').trim();
  const short = /^Raspberry Pi (Model|Zero|2|3|Compute Module (Rev|1|3))/.test(model);
  return {
    kind: 'pl011',
    name: `PL011 (${model === '' ? 'machine unknown' : model})`,
    fifoCharacters: short ? 10 : 18,
    latencyMs: 0,
  };
}

/** PORT_16550A in linux/serial_core.h. All types with greater numbers are derived from it. */
const PORT_16550A = 4;

/**
 * Describes a UART of the 16550 family. A 16550A delivers 8 characters at once, or the number that its port
 * has in sysfs; the rest comes after 4 character times.
 */
function uart16550(entry: string, driver: string | undefined): Adapter | undefined {
  const type = Number.parseInt(smallText(join(entry, 'type')) ?? '', 10);
  const trigger = Number.parseInt(smallText(join(entry, 'rx_trig_bytes')) ?? '', 10);
  if (Number.isNaN(trigger) && !(type >= PORT_16550A)) return undefined;
  return {
    kind: '16550',
    name: `16550A UART (${driver ?? 'driver unknown'})`,
    fifoCharacters: (Number.isNaN(trigger) ? 8 : trigger) + 4,
    latencyMs: 0,
  };
}

function unknownAdapter(driver: string | undefined): Adapter {
  const name = driver === undefined ? 'unknown' : `unknown UART (${driver})`;
  return { kind: 'unknown', name, fifoCharacters: SHORT_FIFO, latencyMs: 0 };
}

/** Returns the directory and those above it, up to sys/devices, nearest first. */
export function ancestorsOf(directory: string | undefined, root: string): string[] {
  const top = realPathOf(join(root, 'sys/devices'));
  const found: string[] = [];
  let current = directory;
  while (top !== undefined && current?.startsWith(`${top}/`)) {
    found.push(current);
    current = dirname(current);
  }
  return found;
}

function driverOf(directory: string): string | undefined {
  const driver = realPathOf(join(directory, 'driver'));
  return driver === undefined ? undefined : basename(driver);
}

/** Returns the path with all links followed, or undefined if it leads nowhere. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the text of a small file without surrounding white space; undefined if it can't be read. */
export function smallText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Returns the names in a directory, sorted; none if it can't be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
