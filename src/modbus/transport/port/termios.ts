import { getSystemErrorName } from 'node:util';
import { type Libc, TCGETS2, TCSETS2 } from './libc.js';

/**
 * The kernel's `struct termios2` (asm-generic/termbits.h), 44 bytes, little-endian: c_iflag, c_oflag,
 * c_cflag, c_lflag (u32 each), c_line (u8), c_cc[19], c_ispeed, c_ospeed (u32, bits per second).
 */
export const TERMIOS2_BYTES = 44;

const offsets = {
  inputFlags: 0,
  outputFlags: 4,
  controlFlags: 8,
  localFlags: 12,
  controlChars: 17,
  outputSpeed: 40,
};

/** Bits of c_iflag. */
const IGNPAR = 0o4;
const PARMRK = 0o10;
const INPCK = 0o20;
const ISTRIP = 0o40;
/** Bits of c_cflag, and indexes into c_cc. */
const CSIZE = 0o60;
const CSTOPB = 0o100;
const CREAD = 0o200;
const HUPCL = 0o2000;
const PARENB = 0o400;
const PARODD = 0o1000;
const CLOCAL = 0o4000;
const CMSPAR = 0o10000000000;
const VTIME = 5;
const VMIN = 6;

export interface LineSettings {
  /** Bits per second, as the driver reports it. */
  readonly baudRate: number;
  readonly dataBits: 5 | 6 | 7 | 8;
  readonly parity: 'none' | 'even' | 'odd' | 'mark' | 'space';
  readonly stopBits: 1 | 2;
}

/** Reads the line settings from a termios2 structure of at least 44 bytes. */
export function parseTermios2(bytes: Uint8Array): LineSettings {
  const view = viewOf(bytes);
  const flags = view.getUint32(offsets.controlFlags, true);
  return {
    baudRate: view.getUint32(offsets.outputSpeed, true),
    dataBits: (5 + ((flags & CSIZE) >> 4)) as LineSettings['dataBits'],
    parity: parityOf(flags),
    stopBits: flags & CSTOPB ? 2 : 1,
  };
}

function parityOf(flags: number): LineSettings['parity'] {
  if (!(flags & PARENB)) return 'none';
  if (flags & CMSPAR) return flags & PARODD ? 'mark' : 'space';
  return flags & PARODD ? 'odd' : 'even';
}

/**
 * Returns the same structure in raw mode: all 256 byte values pass unchanged in both directions, and nothing
 * is echoed. libuv's own raw mode is no use: it keeps ONLCR, which sends 0x0a as 0x0d 0x0a.
 */
export function rawTermios2(bytes: Uint8Array): Uint8Array {
  const quiet = [offsets.inputFlags, offsets.outputFlags, offsets.localFlags].reduce(
    (changed, at) => withFlags(changed, at, () => 0),
    bytes,
  );
  const raw = withFlags(
    quiet,
    offsets.controlFlags,
    (flags) => (flags & ~(CSIZE | PARENB)) | CSIZE | CREAD | CLOCAL,
  );
  raw[offsets.controlChars + VMIN] = 1;
  raw[offsets.controlChars + VTIME] = 0;
  return raw;
}

/**
 * Returns the same structure with marks for damaged characters turned on (see `createMarkDecoder`);
 * serialport has the characters removed silently. termios(3): IGNPAR would drop them, ISTRIP would make the
 * marks ambiguous.
 */
export function markedTermios2(bytes: Uint8Array): Uint8Array {
  return withFlags(bytes, offsets.inputFlags, (flags) => (flags & ~(IGNPAR | ISTRIP)) | PARMRK | INPCK);
}

/** Returns the same structure with the flag cleared that lowers RTS and DTR at the last close. */
export function keptLinesTermios2(bytes: Uint8Array): Uint8Array {
  return withFlags(bytes, offsets.controlFlags, (flags) => flags & ~HUPCL);
}

function withFlags(bytes: Uint8Array, at: number, change: (flags: number) => number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  const view = viewOf(changed);
  view.setUint32(at, change(view.getUint32(at, true)), true);
  return changed;
}

/** Reports whether the structure marks damaged characters. */
export function hasParityMarks(bytes: Uint8Array): boolean {
  const flags = viewOf(bytes).getUint32(offsets.inputFlags, true);
  return (flags & (IGNPAR | PARMRK | INPCK | ISTRIP)) === (PARMRK | INPCK);
}

/**
 * Compares the requested settings with those found. Baud rates may differ by 2 %: drivers report what their
 * divisor actually produces (115384 for 115200), and two stations may differ that much; the kernel itself
 * uses this tolerance.
 * @returns undefined if they agree, otherwise both as text: `{wanted: '19200 8E1', found: '19200 8N1'}`
 */
export function settingsDifference(
  wanted: LineSettings,
  found: LineSettings,
): { readonly wanted: string; readonly found: string } | undefined {
  const same =
    Math.abs(found.baudRate - wanted.baudRate) <= wanted.baudRate * 0.02 &&
    found.dataBits === wanted.dataBits &&
    found.parity === wanted.parity &&
    found.stopBits === wanted.stopBits;
  return same ? undefined : { wanted: describeSettings(wanted), found: describeSettings(found) };
}

/** Formats settings in the usual notation: '19200 8E1'. */
export function describeSettings(settings: LineSettings): string {
  const parity = { none: 'N', even: 'E', odd: 'O', mark: 'M', space: 'S' }[settings.parity];
  return `${settings.baudRate} ${settings.dataBits}${parity}${settings.stopBits}`;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads the settings of a terminal. @returns the structure, or the negative errno */
export function readTermios2(libc: Libc, fd: number): Uint8Array | number {
  const bytes = new Uint8Array(TERMIOS2_BYTES);
  const result = libc.ioctl(fd, TCGETS2, bytes);
  return result < 0 ? result : bytes;
}

/** Changes the settings of a terminal. @returns why it failed */
export function changeTermios2(
  libc: Libc,
  fd: number,
  change: (before: Uint8Array) => Uint8Array,
): string | undefined {
  const before = readTermios2(libc, fd);
  if (typeof before === 'number') return `TCGETS2: ${getSystemErrorName(before)}`;
  const written = libc.ioctl(fd, TCSETS2, change(before));
  return written < 0 ? `TCSETS2: ${getSystemErrorName(written)}` : undefined;
}
