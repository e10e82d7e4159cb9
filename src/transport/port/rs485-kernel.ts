import { getSystemErrorName } from 'node:util';
import type { Rs485Settings } from '../settings.js';
import { type Libc, TIOCGRS485, TIOCSRS485 } from './libc.js';
import {
  describeKernelMode,
  type KernelMode,
  packRs485,
  parseRs485,
  rs485Difference,
  SERIAL_RS485_BYTES,
} from './rs485.js';

export type KernelModeResult =
  | { readonly ok: true; readonly mode: KernelMode; readonly restore: () => void }
  /** The end of a sentence that begins with the port's path. */
  | { readonly ok: false; readonly error: string };

/** The kernel's RS-485 mode as it is now; undefined where the driver has none. */
export function readKernelMode(libc: Libc, fd: number): KernelMode | undefined {
  const struct = readStruct(libc, fd);
  return typeof struct === 'number' ? undefined : parseRs485(struct);
}

/**
 * Switches the kernel's RS-485 mode on and reads back what the driver made of it.
 * On failure the mode is left as it was found, and so does `restore`, which is for before the port is closed.
 */
export function enableKernelMode(libc: Libc, fd: number, wanted: Rs485Settings): KernelModeResult {
  const before = readStruct(libc, fd);
  if (typeof before === 'number') return { ok: false, error: explain(before) };
  const written = libc.ioctl(fd, TIOCSRS485, packRs485(wanted, before));
  if (written < 0) return { ok: false, error: explain(written) };

  const restore = (): void => void libc.ioctl(fd, TIOCSRS485, Uint8Array.from(before));
  const after = readStruct(libc, fd);
  const mode = typeof after === 'number' ? undefined : parseRs485(after);
  const difference = mode && rs485Difference(wanted, mode);
  if (mode !== undefined && difference === undefined) return { ok: true, mode, restore };
  restore();
  const { wanted: asked, found } = difference ?? { wanted: 'it', found: 'nothing, it can not be read back' };
  return {
    ok: false,
    error: `the driver did not take the RS-485 mode: wanted ${asked}, found ${found}; ask for what it has, or for rs485: {mode: rts}`,
  };
}

/** @returns the structure, or the negative errno. */
function readStruct(libc: Libc, fd: number): Uint8Array | number {
  const struct = new Uint8Array(SERIAL_RS485_BYTES);
  const result = libc.ioctl(fd, TIOCGRS485, struct);
  return result < 0 ? result : struct;
}

function explain(negativeErrno: number): string {
  const name = getSystemErrorName(negativeErrno);
  const why =
    name === 'ENOTTY'
      ? 'this driver has no RS-485 mode'
      : `this driver refuses the RS-485 mode that was asked for (${name})`;
  return `${why}; use an adapter that switches by itself (rs485: {mode: auto}), or rs485: {mode: rts}`;
}

/** What the facts of a port say where the kernel switches. */
export function describeKernelSwitching(mode: KernelMode): string {
  return `the kernel switches: ${describeKernelMode(mode)} (read back)`;
}
