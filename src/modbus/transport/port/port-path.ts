import { closeSync, constants, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { HERE, whyNoWindowsName } from '../../../common/platform.js';
import { failure, type Result, success } from '../../../common/result.js';
import { realPathOf } from './adapter.js';
import type { Libc } from './libc.js';

/** The device behind the path of a port when the port was opened. */
export interface PortDevice {
  /** True for a pseudo-terminal. It has no baud rate, no parity and no break. */
  readonly isPseudoTerminal: boolean;
  /** Returns why the path no longer leads to the device; undefined while it does, as far as known. */
  whyGone(): string | undefined;
}

/**
 * Checks that a path is a serial port. Other devices are not opened, because opening one may have side
 * effects.
 * @returns the device, or what is wrong with the path
 */
export function checkPath(path: string, { isWindows } = HERE): Result<PortDevice> {
  if (isWindows) {
    const wrong = whyNoWindowsName(path);
    return wrong === undefined
      ? success({ isPseudoTerminal: false, whyGone: () => undefined })
      : failure(wrong);
  }
  const stats = checkFile(path);
  return stats.ok ? success(deviceBehind(path, stats.value)) : stats;
}

/** Describes the device behind the path of a port that is a file. */
export function deviceBehind(path: string, { rdev, ino }: Stats): PortDevice {
  return {
    isPseudoTerminal: isPseudoTerminal(rdev),
    whyGone() {
      const now = statOf(path);
      if (!now.ok) return 'vanished';
      return now.value.rdev === rdev && now.value.ino === ino ? undefined : 'is now a different device';
    },
  };
}

/**
 * Returns what the path of a port leads to: its file with all links followed, or its name if ports are not
 * files. Undefined if nothing is there.
 * @param root directory in which the path is looked up
 */
export function portBehind(path: string, root = '/', { isWindows } = HERE): string | undefined {
  // Windows would look for a device of this name in every directory.
  return isWindows ? path : realPathOf(join(root, path));
}

function checkFile(path: string): Result<Stats> {
  const stats = statOf(path);
  if (!stats.ok) return stats;
  if (stats.value.isDirectory()) return failure('is a directory, not a serial port');
  if (!stats.value.isCharacterDevice())
    return failure('is not a character device, so it is not a serial port');
  const { major, minor } = deviceNumber(stats.value.rdev);
  const subsystem = realPathOf(`/sys/dev/char/${major}:${minor}/subsystem`);
  if (subsystem !== undefined && basename(subsystem) !== 'tty') {
    return failure(`is a device of the kind '${basename(subsystem)}', not a serial port`);
  }
  return stats;
}

function statOf(path: string): Result<Stats> {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats ? success(stats) : failure('does not exist; modbus-sim ports lists the serial ports');
  } catch (error) {
    return failure(`can't be accessed: ${(error as Error).message}`);
  }
}

/**
 * Returns a text that changes when something else is at the path, even the same adapter plugged in again.
 * Windows does not show that.
 */
export function identityOf(path: string, { isWindows } = HERE): string {
  if (isWindows) return path;
  const stats = statOf(path);
  return stats.ok ? [stats.value.rdev, stats.value.ino, stats.value.ctimeMs].join(' ') : stats.error;
}

/** Splits a dev_t as glibc packs it. */
function deviceNumber(dev: number): { major: number; minor: number } {
  return {
    major: Math.floor(dev / 256) & 0xfff,
    minor: (dev & 0xff) + (Math.floor(dev / 0x100000) & 0xfffff) * 256,
  };
}

/**
 * Reports whether a device is the client side of a pseudo-terminal. The client sides of Unix98
 * pseudo-terminals have the major numbers 136–143 (Documentation/admin-guide/devices.txt).
 */
function isPseudoTerminal(rdev: number): boolean {
  const { major } = deviceNumber(rdev);
  return major >= 136 && major <= 143;
}

/**
 * Returns the process that holds an flock(2) on a file, from /proc/locks; undefined if no process does, or
 * none is shown.
 */
export function lockHolder(path: string): { readonly pid: number; readonly name: string } | undefined {
  try {
    const { dev, ino } = statSync(path);
    const { major, minor } = deviceNumber(dev);
    const hex = (value: number): string => value.toString(16).padStart(2, '0');
    const file = `${hex(major)}:${hex(minor)}:${ino}`;
    const fields = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .find((line) => line[1] === 'FLOCK' && line[5] === file);
    const pid = Number(fields?.[4]);
    if (fields === undefined || !(pid > 0)) return undefined;
    return { pid, name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim() };
  } catch {
    return undefined;
  }
}

/** A lock on a serial port. Other programs that lock ports (flock(2)) are excluded until it is released. */
interface PortLock {
  release(): void;
}

/**
 * Locks a port without changing any of its settings. /proc/locks would show who has a port, but systemd
 * services don't see that file (ProcSubset=pid), and reading it does not exclude a program that comes a
 * moment later.
 * @returns the lock, or the text of the error
 */
export function lockPort(path: string, libc: Libc): Result<PortLock> {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch (error) {
    return failure((error as Error).message);
  }
  if (libc.lockNow(fd) < 0) {
    closeSync(fd);
    return failure('cannot lock port');
  }
  return success({ release: () => closeSync(fd) });
}
